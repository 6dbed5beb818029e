import Basics
import FoundationEssentials

/// A JSON value.
///
/// The sources change the structure of their responses. Members are therefore read individually, and a member of an unexpected
/// type is treated as absent. `RecordReader` reads the fields of a record, and accepts the forms that sources use for them.
package enum JSON: Decodable, Equatable {
    case null
    case bool(Bool)
    case number(Double)
    case string(String)
    case array([JSON])
    case object([String: JSON])

    /// Parses JSON. If it is invalid, it is repaired first, so that one bad character does not lose the other values.
    ///
    /// - Returns: nil if it is still malformed, or nested deeper than the decoder allows (512).
    init?(_ bytes: [UInt8]) {
        let json =
            (try? JSONDecoder().decode(JSON.self, from: Data(bytes)))
            ?? (try? JSONDecoder().decode(JSON.self, from: Data(repairedJSON(bytes))))
        guard let json else { return nil }
        self = json
    }

    package init(from decoder: any Decoder) throws {
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

    package subscript(name: String) -> JSON? {
        if case .object(let members) = self { members[name] } else { nil }
    }

    /// The elements of an array. Empty for other values.
    package var items: [JSON] {
        if case .array(let items) = self { items } else { [] }
    }

    /// The elements of an array, or the value itself if it is a single one. Empty for null.
    package var itemsOrSelf: [JSON] {
        switch self {
        case .array(let items): items
        case .null: []
        case .bool, .number, .string, .object: [self]
        }
    }

    /// The trimmed string without NUL characters, which PostgreSQL cannot store. nil for blank strings and for other values.
    package var text: String? {
        guard case .string(let string) = self else { return nil }
        let text = trimmed(
            string.utf8.contains(0) ? string.replacing("\0", with: "")[...] : string[...])
        return text.isEmpty ? nil : text
    }

    /// An integer, also if it is written as a string.
    package var int: Int? {
        switch self {
        case .number(let number): Int(exactly: number)
        case .string(let string): Int(trimmed(string[...]))
        case .null, .bool, .array, .object: nil
        }
    }

    /// The members in which an object has its text: `{"type": "/type/text", "value": "…"}`, `{"name": "…"}`.
    private static let textMembers = ["value", "name", "text", "title", "label"]

    /// The text of a string, of a whole number, of an object with a text, or of the first element of an array that has one.
    package var anyText: String? {
        switch self {
        case .string: return text
        case .number(let number): return Int(exactly: number).map { String($0) }
        // `lazy.compactMap(…).first` would call the closure twice on each level.
        case .array(let items):
            for item in items { if let text = item.anyText { return text } }
            return nil
        case .object:
            for name in Self.textMembers { if let text = self[name]?.anyText { return text } }
            return nil
        case .null, .bool: return nil
        }
    }

    /// Whether the value contains anything: it is not null, and not an empty string, array, or object.
    package var hasContent: Bool {
        switch self {
        case .null: false
        case .bool, .number: true
        case .string: text != nil
        case .array(let items): items.contains(where: \.hasContent)
        case .object(let members): members.values.contains(where: \.hasContent)
        }
    }
}
