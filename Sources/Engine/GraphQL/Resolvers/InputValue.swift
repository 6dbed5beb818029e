/// A Swift type whose values are made from inputs: the arguments of a field, and the fields of input objects.
///
/// | Swift | inputs of the schema |
/// | --- | --- |
/// | `String` | `String`, `ID`, enums, custom scalars |
/// | `Int` | `Int`, custom scalars |
/// | `Double` | `Float`, custom scalars |
/// | `Bool` | `Boolean`, custom scalars |
/// | ``Value`` | all |
///
/// Optionals and arrays of such types are inputs too. An enum whose raw values are one of these types needs only the
/// conformance:
///
/// ```swift
/// enum Episode: String, InputValue { case newHope = "NEW_HOPE", empire = "EMPIRE" }
///
/// resolvers.query.field("hero") { request in
///     let episode: Episode? = try request.arguments.value("episode")
///     return hero(of: episode)
/// }
/// ```
public protocol InputValue: SendableMetatype {
    /// Converts a value that the engine has coerced to the type in the schema, with all default values.
    ///
    /// - Throws: The reason why the value cannot be converted.
    init(input value: Value) throws(CoercionError)
}

extension InputValue {
    /// The input coercion of a custom scalar whose values have this type in Swift. Values that cannot be converted are errors of
    /// the request, which name the scalar.
    ///
    /// ```swift
    /// let schema = try ExecutableSchema(sdl, scalars: ["Date": Day.scalarInput]) { resolvers in … }
    /// ```
    public static var scalarInput: ScalarInput {
        { value throws(CoercionError) in
            _ = try Self(input: value)
            return value
        }
    }
}

extension ArgumentValues {
    /// Returns an argument as a Swift value. An argument that is absent is nil, as one that is null.
    ///
    /// - Throws: The error of the field if the value cannot be converted.
    public func value<Input: InputValue>(
        _ name: String, as _: Input.Type = Input.self
    ) throws(FieldError) -> Input {
        do throws(CoercionError) {
            return try Input(input: self[name] ?? .null)
        } catch {
            throw FieldError(
                "Argument \"\(name)\" has an invalid value. \(error.message)",
                kind: .invalidInput)
        }
    }
}

extension Value {
    /// Returns a field of an input object as a Swift value. A field that is absent is nil, as one that is null.
    ///
    /// - Throws: The reason why the field cannot be converted.
    public func field<Input: InputValue>(
        _ name: String, as _: Input.Type = Input.self
    ) throws(CoercionError) -> Input {
        do throws(CoercionError) {
            return try Input(input: self[name] ?? .null)
        } catch {
            throw CoercionError("Field \"\(name)\" is invalid. \(error.message)")
        }
    }
}

extension InputValue where Self: RawRepresentable, RawValue: InputValue {
    /// Converts the raw value.
    public init(input value: Value) throws(CoercionError) {
        guard let result = Self(rawValue: try RawValue(input: value)) else {
            throw CoercionError(value, to: Self.self)
        }
        self = result
    }
}

extension String: InputValue {
    /// Converts a string.
    public init(input value: Value) throws(CoercionError) {
        guard let text = value.string else { throw CoercionError(value, to: Self.self) }
        self = text
    }
}

extension Int: InputValue {
    /// Converts an integer.
    public init(input value: Value) throws(CoercionError) {
        guard let number = value.int else { throw CoercionError(value, to: Self.self) }
        self = number
    }
}

extension Double: InputValue {
    /// Converts a number. Integers of more digits than a `Double` has are rounded.
    public init(input value: Value) throws(CoercionError) {
        switch value {
        case .float(let number): self = number
        case .int(let number): self = Double(number)
        case .bigInt(let digits): self = Double(digits) ?? .infinity
        default: throw CoercionError(value, to: Self.self)
        }
    }
}

extension Bool: InputValue {
    /// Converts a boolean.
    public init(input value: Value) throws(CoercionError) {
        guard let flag = value.boolean else { throw CoercionError(value, to: Self.self) }
        self = flag
    }
}

extension Value: InputValue {
    /// Takes the value as it is.
    public init(input value: Value) { self = value }
}

extension Optional: InputValue where Wrapped: InputValue {
    /// Converts null to nil.
    public init(input value: Value) throws(CoercionError) {
        self = value.isNull ? nil : try Wrapped(input: value)
    }
}

extension Array: InputValue where Element: InputValue {
    /// Converts the items of a list.
    public init(input value: Value) throws(CoercionError) {
        guard let items = value.list else { throw CoercionError(value, to: Self.self) }
        self = try items.map { item throws(CoercionError) in try Element(input: item) }
    }
}
