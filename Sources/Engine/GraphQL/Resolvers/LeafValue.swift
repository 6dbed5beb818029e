/// A Swift type whose values are leaves of a response. The results of closures contain them.
///
/// | Swift | scalars of the schema |
/// | --- | --- |
/// | `String` | `String`, `ID`, enums, custom scalars |
/// | `Int` | `Int`, `Float`, `ID`, custom scalars |
/// | `Double` | `Float`, custom scalars |
/// | `Bool` | `Boolean`, custom scalars |
/// | ``Value`` | custom scalars |
///
/// An enum whose raw values are one of these types needs only the conformance:
///
/// ```swift
/// enum Episode: String, LeafValue { case newHope = "NEW_HOPE", empire = "EMPIRE" }
/// ```
///
/// Another type, such as a date, implements both requirements, mostly by calling those of `String`.
public protocol LeafValue: SendableMetatype {
    /// Returns whether the values can be written as this scalar or enum. Checked when the server starts.
    static func canBeWritten(as type: TypeDefinition) -> Bool

    /// Writes the value as JSON.
    ///
    /// - Parameters:
    ///   - type: The scalar or enum that the field returns.
    ///   - writer: The buffer of the response.
    /// - Returns: `.value`, or an error if this value is not a value of the type, such as an `Int` of more than 32 bits.
    ///
    /// Spec: https://spec.graphql.org/September2025/#sec-Scalars.Result-Coercion-and-Serialization
    func write(as type: TypeDefinition, to writer: inout ResponseWriter) -> LeafResult
}

extension LeafValue where Self: RawRepresentable, RawValue: LeafValue {
    /// Returns whether the raw values can be written as this scalar or enum.
    public static func canBeWritten(as type: TypeDefinition) -> Bool {
        RawValue.canBeWritten(as: type)
    }

    /// Writes the raw value.
    public func write(as type: TypeDefinition, to writer: inout ResponseWriter) -> LeafResult {
        rawValue.write(as: type, to: &writer)
    }
}

extension String: LeafValue {
    /// Returns true for `String`, `ID`, enums, and custom scalars.
    public static func canBeWritten(as type: TypeDefinition) -> Bool {
        if case .enumeration = type.kind { return true }
        return type.isCustomScalar || type.builtInScalar == .string || type.builtInScalar == .id
    }

    /// Writes a JSON string. It must be a value of the type if that is an enum.
    public func write(as type: TypeDefinition, to writer: inout ResponseWriter) -> LeafResult {
        if case .enumeration(let values) = type.kind, !values.contains(where: { $0.name == self }) {
            return .error(FieldError("Enum \"\(type.name)\" cannot represent value: \"\(self)\""))
        }
        writer.write(self)
        return .value
    }
}

extension Int: LeafValue {
    /// Returns true for `Int`, `Float`, `ID`, and custom scalars.
    public static func canBeWritten(as type: TypeDefinition) -> Bool {
        switch type.builtInScalar {
        case .int, .float, .id: true
        case .string, .boolean: false
        case nil: type.isCustomScalar
        }
    }

    /// Writes a JSON number, or a string for `ID`. `Int` has 32 bits.
    public func write(as type: TypeDefinition, to writer: inout ResponseWriter) -> LeafResult {
        switch type.builtInScalar {
        case .id: writer.write(String(self))
        case .int where Int32(exactly: self) == nil:
            return .error(
                FieldError("Int cannot represent non 32-bit signed integer value: \(self)"))
        default: writer.write(self)
        }
        return .value
    }
}

extension Double: LeafValue {
    /// Returns true for `Float` and custom scalars.
    public static func canBeWritten(as type: TypeDefinition) -> Bool {
        type.isCustomScalar || type.builtInScalar == .float
    }

    /// Writes a JSON number. JSON has no NaN and no infinities.
    public func write(as type: TypeDefinition, to writer: inout ResponseWriter) -> LeafResult {
        guard writer.write(self) else {
            return .error(FieldError("Float cannot represent non numeric value: \(self)"))
        }
        return .value
    }
}

extension Bool: LeafValue {
    /// Returns true for `Boolean` and custom scalars.
    public static func canBeWritten(as type: TypeDefinition) -> Bool {
        type.isCustomScalar || type.builtInScalar == .boolean
    }

    /// Writes `true` or `false`.
    public func write(as type: TypeDefinition, to writer: inout ResponseWriter) -> LeafResult {
        writer.write(self)
        return .value
    }
}

extension Value: LeafValue {
    /// Returns true for custom scalars.
    public static func canBeWritten(as type: TypeDefinition) -> Bool { type.isCustomScalar }

    /// Writes the value as JSON. Null is written as the field's null.
    public func write(as type: TypeDefinition, to writer: inout ResponseWriter) -> LeafResult {
        if isNull { return .null }
        writer.write(self)
        return .value
    }
}

extension TypeDefinition {
    /// Whether the type is a scalar that the schema defines.
    fileprivate var isCustomScalar: Bool {
        if case .scalar = kind { builtInScalar == nil } else { false }
    }
}
