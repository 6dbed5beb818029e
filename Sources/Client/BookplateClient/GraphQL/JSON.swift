import Foundation

/// A JSON value: the variables of a request, and the stored input of a queued write.
public enum JSON: Hashable, Sendable {
    case null
    case bool(Bool)
    /// Integers are exact up to 2^53, which is more than GraphQL's `Int` can hold.
    case number(Double)
    case string(String)
    case array([JSON])
    case object([String: JSON])

    /// A string, or null if there is none.
    public init(_ string: String?) { self = string.map(JSON.string) ?? .null }

    /// A number, or null if there is none.
    public init(_ number: Int?) { self = number.map { .number(Double($0)) } ?? .null }

    /// A number, or null if there is none.
    public init(_ number: Double?) { self = number.map(JSON.number) ?? .null }

    /// The string, if this value is one.
    public var string: String? {
        if case .string(let value) = self { value } else { nil }
    }

    /// The number, if this value is one.
    public var number: Double? {
        if case .number(let value) = self { value } else { nil }
    }

    /// The number as an integer, if this value is a whole number.
    public var int: Int? { number.flatMap(Int.init(exactly:)) }

    /// The Boolean value, if this value is one.
    public var bool: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    /// The elements; empty if this value is not an array.
    public var array: [JSON] {
        if case .array(let value) = self { value } else { [] }
    }

    /// The member of an object, if this value is one and has it.
    public subscript(_ name: String) -> JSON? {
        if case .object(let members) = self { members[name] } else { nil }
    }
}

extension JSON: Codable {
    /// Decodes any JSON value.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode([JSON].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: JSON].self))
        }
    }

    /// Encodes the value.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        }
    }
}

extension JSON: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral,
    ExpressibleByNilLiteral
{
    /// Creates a value from its text.
    public init(stringLiteral value: String) { self = .string(value) }
    /// Creates a value from a literal.
    public init(integerLiteral value: Int) { self = .number(Double(value)) }
    /// Creates a value from a literal.
    public init(floatLiteral value: Double) { self = .number(value) }
    /// Creates a value from a literal.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// Creates a value from a literal.
    public init(arrayLiteral elements: JSON...) { self = .array(elements) }
    /// Creates a value from a literal.
    public init(dictionaryLiteral elements: (String, JSON)...) {
        self = .object(Dictionary(elements) { _, last in last })
    }
    /// Creates a value from a literal.
    public init(nilLiteral: ()) { self = .null }
}

extension JSON {
    static func text(_ value: some Encodable) throws -> String {
        String(decoding: try JSONEncoder().encode(value), as: UTF8.self)
    }
}
