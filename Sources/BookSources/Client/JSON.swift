import FoundationEssentials

/// A JSON value. The sources change the shapes of their answers, so these are read by name and not by type.
enum JSON: Decodable, Equatable {
    case null
    case bool(Bool)
    case number(Double)
    case string(String)
    case array([JSON])
    case object([String: JSON])

    /// nil for what is not JSON, or nested deeper than the decoder goes (512).
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

    /// The items of a list; none for what is no list.
    var items: [JSON] {
        if case .array(let items) = self { items } else { [] }
    }

    /// Trimmed; nil for what is no text or blank.
    var text: String? {
        guard case .string(let string) = self else { return nil }
        let text = trimmed(string[...])
        return text.isEmpty ? nil : text
    }

    /// A whole number, also one that is written as text.
    var int: Int? {
        switch self {
        case .number(let number): Int(exactly: number)
        case .string(let string): Int(string)
        case .null, .bool, .array, .object: nil
        }
    }

    /// The texts of the list of that name.
    func texts(_ name: String) -> [String] { self[name]?.items.compactMap(\.text) ?? [] }

    /// A number of pages that a book may have.
    var pageCount: Int? { int.flatMap { $0 > 0 && $0 < 100_000 ? $0 : nil } }

    /// A text, or the text of `{type, value}`: Open Library writes both.
    var textOrValue: String? { text ?? self["value"]?.text }
}
