/// A JSON value in a request or in the extensions of an error. Integers and other numbers are
/// distinguished, and members keep their order.
///
/// Variables are parsed to this type, and coerced arguments have it, with the name of an enum value
/// as a string. Results do not: data sources write them directly to the response.
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

    /// Returns a member of an object, or nil if it is absent or the value is not an object.
    ///
    /// An absent member is nil; a member that is null is `.null`.
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
