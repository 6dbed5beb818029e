/// The reason why a value is not a valid value of a scalar. `message` is a complete sentence.
public struct CoercionError: Error, Sendable, Equatable {
    /// A complete sentence for people, which is added to the error of the literal or variable.
    public var message: String
    /// The name of the Swift type with which `message` begins; nil for a message of the program.
    private let swiftType: String?

    /// Creates an error with a message for people.
    public init(_ message: String) {
        self.message = message
        swiftType = nil
    }

    /// Creates an error of a value that cannot be converted to a Swift type.
    init(_ value: Value, to type: Any.Type) {
        swiftType = "\(type)"
        message = "\(type) cannot represent the value \(inspect(value))."
    }

    /// Returns the message for a custom scalar. It names the scalar, because clients do not know the Swift type.
    func message(for scalar: String) -> String {
        guard let swiftType, message.hasPrefix(swiftType) else { return message }
        return scalar + message.dropFirst(swiftType.count)
    }

    /// Compares the messages.
    public static func == (left: CoercionError, right: CoercionError) -> Bool {
        left.message == right.message
    }
}

/// Input coercion of a custom scalar: converts a value from the request to the value that resolvers
/// receive.
///
/// It is never called with null. Literals are converted to JSON first, with enum values as strings and
/// integers beyond 64 bits as `.bigInt` with all their digits.
public typealias ScalarInput = @Sendable (Value) throws(CoercionError) -> Value

/// Input coercion of the five built-in scalars.
///
/// The result for `Int` is `.int`, for `Float` a finite `.float`, and for `String` and `ID`
/// `.string`.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Scalars.Built-in-Scalars
enum BuiltInScalar: String {
    case int = "Int"
    case float = "Float"
    case string = "String"
    case boolean = "Boolean"
    case id = "ID"

    init?(named name: String) {
        switch name {
        case "Int": self = .int
        case "Float": self = .float
        case "String": self = .string
        case "Boolean": self = .boolean
        case "ID": self = .id
        default: return nil
        }
    }

    /// Coerces a value from the request's variables.
    func coerce(_ value: Value) throws(CoercionError) -> Value {
        switch (self, value) {
        case (.int, .int(let number)):
            guard let number = Int32(exactly: number) else { throw notInt32(inspect(value)) }
            return .int(Int(number))
        case (.int, .float(let number)) where number.isFinite && number.rounded() == number:
            guard let number = Int32(exactly: number) else { throw notInt32(inspect(value)) }
            return .int(Int(number))
        case (.int, .bigInt): throw notInt32(inspect(value))
        case (.float, .int(let number)): return .float(Double(number))
        case (.float, .bigInt(let digits)):
            guard let number = Double(digits), number.isFinite else {
                throw mismatch(inspect(value))
            }
            return .float(number)
        case (.float, .float(let number)) where number.isFinite: return value
        case (.string, .string), (.boolean, .boolean), (.id, .string): return value
        case (.id, .int(let number)): return .string(String(number))
        case (.id, .bigInt(let digits)): return .string(digits)
        case (.id, .float(let number)):
            // JSON may write an integer as `5.0` or `5e0`. From 2^53 on, several such texts give the same `Double`, so the
            // number that the client wrote is not known.
            guard let number = Int(exactly: number), number.magnitude < 1 << 53 else {
                throw notID(inspect(value))
            }
            return .string(String(number))
        default: throw self == .id ? notID(inspect(value)) : mismatch(inspect(value))
        }
    }

    /// Returns whether every literal of the given kind is a valid value of this scalar, regardless
    /// of its content.
    func acceptsEveryLiteral(of kind: NodeKind) -> Bool {
        switch self {
        case .string: kind == .string
        case .id: kind == .string || kind == .int
        case .boolean: kind == .boolean
        case .int, .float: false
        }
    }

    /// Coerces a literal that is not a variable.
    func coerce(_ literal: ValueNode) throws(CoercionError) -> Value {
        switch (self, literal.kind) {
        case (.int, .int(let digits)):
            guard let number = Int32(digits) else { throw notInt32(digits) }
            return .int(Int(number))
        case (.float, .int(let digits)), (.float, .float(let digits)):
            guard let number = Double(digits), number.isFinite else { throw mismatch(digits) }
            return .float(number)
        case (.string, .string(let text)), (.id, .string(let text)): return .string(text.value)
        case (.id, .int(let digits)): return .string(digits)
        case (.boolean, .boolean(let value)): return .boolean(value)
        default: throw mismatch(print(literal))
        }
    }

    private func notInt32(_ found: String) -> CoercionError {
        CoercionError("Int cannot represent non 32-bit signed integer value: \(found)")
    }

    private func notID(_ found: String) -> CoercionError {
        CoercionError("ID cannot represent value: \(found)")
    }

    private func mismatch(_ found: String) -> CoercionError {
        let expected =
            switch self {
            case .int: "non-integer value"
            case .float: "non numeric value"
            case .string: "a non string value"
            case .boolean: "a non boolean value"
            case .id: "a non-string and non-integer value"
            }
        return CoercionError("\(rawValue) cannot represent \(expected): \(found)")
    }
}
