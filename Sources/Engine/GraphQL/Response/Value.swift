/// A JSON value in a request or in the extensions of an error. Integers and other numbers are
/// distinguished, and members keep their order.
///
/// Variables are parsed to this type, and coerced arguments have it, with the name of an enum value
/// as a string. Results do not: data sources write them directly to the response.
public enum Value: Sendable, Equatable {
    /// `null`.
    case null
    /// `true` or `false`.
    case boolean(Bool)
    /// An integer of at most 64 bits.
    case int(Int)
    /// An integer that does not fit into 64 bits: its digits as they were written, after a `-` where it is negative.
    case bigInt(String)
    /// A number with a fraction or an exponent.
    case float(Double)
    /// A string, or the name of an enum value.
    case string(String)
    /// A list of values.
    case list([Value])
    /// An object with its members, in order.
    case object([Member])

    /// A member of an object.
    public struct Member: Sendable, Equatable {
        /// The name of the member.
        public var name: String
        /// The value of the member.
        public var value: Value

        /// Creates a member.
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

    /// The string; nil for other values.
    public var string: String? { if case .string(let value) = self { value } else { nil } }
    /// The integer; nil for other values, such as those with a fraction.
    public var int: Int? { if case .int(let value) = self { value } else { nil } }
    /// The boolean; nil for other values.
    public var boolean: Bool? { if case .boolean(let value) = self { value } else { nil } }
    /// The items of the list; nil for other values.
    public var list: [Value]? { if case .list(let value) = self { value } else { nil } }
    /// Whether the value is `null`.
    public var isNull: Bool { if case .null = self { true } else { false } }
}
