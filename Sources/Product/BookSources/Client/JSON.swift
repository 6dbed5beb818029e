import FoundationEssentials

/// A JSON value.
///
/// The sources change the structure of their responses. Members are therefore read individually, and a member of an unexpected
/// type is treated as absent.
enum JSON: Decodable, Equatable {
    case null
    case bool(Bool)
    case number(Double)
    case string(String)
    case array([JSON])
    case object([String: JSON])

    /// Parses JSON. Returns nil if it is malformed, or nested deeper than the decoder allows (512).
    init?(_ bytes: [UInt8]) {
        guard let json = try? JSONDecoder().decode(JSON.self, from: Data(bytes)) else { return nil }
        self = json
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let string = try? container.decode(String.self) {
            self = .string(string)
        } else if let number = try? container.decode(Double.self) {
            self = .number(number)
        } else if let bool = try? container.decode(Bool.self) {
            self = .bool(bool)
        } else if let array = try? container.decode([JSON].self) {
            self = .array(array)
        } else {
            self = .object(try container.decode([String: JSON].self))
        }
    }

    subscript(name: String) -> JSON? {
        if case .object(let members) = self { members[name] } else { nil }
    }

    /// The elements of an array. Empty for other values.
    var items: [JSON] {
        if case .array(let items) = self { items } else { [] }
    }

    /// The trimmed string. nil for blank strings and for other values.
    var text: String? {
        guard case .string(let string) = self else { return nil }
        let text = trimmed(string[...])
        return text.isEmpty ? nil : text
    }

    /// An integer, also if it is written as a string.
    var int: Int? {
        switch self {
        case .number(let number): Int(exactly: number)
        case .string(let string): Int(string)
        case .null, .bool, .array, .object: nil
        }
    }

    /// The strings in the array with this name.
    func texts(_ name: String) -> [String] { self[name]?.items.compactMap(\.text) ?? [] }

    /// A plausible number of pages: from 1 to 99,999.
    var pageCount: Int? { int.flatMap { $0 > 0 && $0 < 100_000 ? $0 : nil } }

    /// A string, or the string in `{type, value}`. Open Library uses both forms.
    var textOrValue: String? { text ?? self["value"]?.text }
}
