/// A value of the request or of an error's extensions: JSON, with numbers kept apart and members in order.
///
/// Variables arrive as this, and coerced arguments leave as this: an enum value is its name as a string.
/// Results never take this form: they go from their source to the response's bytes.
public enum Value: Sendable, Equatable {
    case null
    case boolean(Bool)
    case int(Int)
    /// An integer that does not fit into 64 bits: its digits as they were written, after a `-` where it is negative.
    case bigInt(String)
    case float(Double)
    case string(String)
    case list([Value])
    case object([Member])

    public struct Member: Sendable, Equatable {
        public var name: String
        public var value: Value

        public init(_ name: String, _ value: Value) {
            self.name = name
            self.value = value
        }
    }

    /// The member of an object; nil where it is absent or the value is no object.
    ///
    /// Absent and null differ: an absent member is nil, a null one `.null`.
    public subscript(name: String) -> Value? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.name == name }?.value
    }

    public var string: String? { if case .string(let value) = self { value } else { nil } }
    public var int: Int? { if case .int(let value) = self { value } else { nil } }
    public var boolean: Bool? { if case .boolean(let value) = self { value } else { nil } }
    public var list: [Value]? { if case .list(let value) = self { value } else { nil } }
    public var isNull: Bool { if case .null = self { true } else { false } }
}
