import Basics

/// A field of a record. The raw values are the labels of metrics.
package enum RecordField: String, Sendable, Hashable, CaseIterable {
    case title, subtitle, authors, contributors, isbns, publisher, language, genres, description
    case covers, works, series
    case publishedDate = "published_date"
    case pageCount = "page_count"
    case bio
}

/// Reads the fields of a source's record.
///
/// Each field may have any of the forms that sources use: a string, a number, an object with a name or a value, a key such as
/// `/authors/OL34184A`, or a list of these. A field that has a value of another form is left out and reported. It never makes the
/// other fields unreadable.
package struct RecordReader {
    package let json: JSON
    private let onUnreadable: (RecordField?, _ member: String) -> Void

    /// The maximum number of elements of a list that are read.
    private static let itemsMax = 200

    /// - Parameter onUnreadable: Called with each field that has an unreadable value.
    init(_ json: JSON, onUnreadable: @escaping (RecordField) -> Void = { _ in }) {
        self.json = json
        self.onUnreadable = { field, _ in if let field { onUnreadable(field) } }
    }

    /// - Parameter onUnreadableMember: Called with the name of each member that has an unreadable value.
    package init(_ json: JSON, onUnreadableMember: @escaping (String) -> Void) {
        self.json = json
        onUnreadable = { _, member in onUnreadableMember(member) }
    }

    /// Reads the member with the first of the names that has a value.
    ///
    /// - Parameter read: Returns nil if the value cannot be read.
    package func value<Value>(
        _ names: String..., as field: RecordField? = nil, _ read: (JSON) -> Value?
    ) -> Value? {
        var unreadable: String?
        for name in names {
            guard let member = json[name], member.hasContent else { continue }
            if let value = read(member) { return value }
            unreadable = unreadable ?? name
        }
        if let unreadable { onUnreadable(field, unreadable) }
        return nil
    }

    /// Reads the elements of a list, or a single value. An element that cannot be read is left out and reported; the others are
    /// kept.
    ///
    /// - Parameter read: Returns nil if an element cannot be read.
    package func list<Value>(
        _ name: String, as field: RecordField? = nil, _ read: (JSON) -> Value?
    ) -> [Value] {
        var isUnreadable = false
        let values = (json[name]?.itemsOrSelf ?? []).prefix(Self.itemsMax).compactMap {
            item -> Value? in
            guard item.hasContent else { return nil }
            let value = read(item)
            if value == nil { isUnreadable = true }
            return value
        }
        if isUnreadable { onUnreadable(field, name) }
        return values
    }

    /// A text of one line, without markup.
    package func line(_ name: String, as field: RecordField? = nil) -> String? {
        value(name, as: field) { $0.anyText.flatMap(plainLine) }
    }

    /// Texts of one line, without markup.
    package func lines(_ name: String, as field: RecordField? = nil) -> [String] {
        list(name, as: field) { $0.anyText.flatMap(plainLine) }
    }

    /// A text with paragraphs. The parts of a list are paragraphs.
    package func paragraphs(_ names: String..., as field: RecordField? = nil) -> String? {
        for name in names {
            let parts = list(name, as: field) { $0.anyText }
            if let text = plainText(parts.joined(separator: "\n\n")) { return text }
        }
        return nil
    }

    func date(_ name: String, as field: RecordField = .publishedDate) -> PartialDate? {
        // A text such as "unknown" is a form of an unknown date.
        value(name, as: field) { json in json.anyText.map { publishedDate($0) } } ?? nil
    }

    /// A plausible number of pages, from 1 to 99,999, as a number or as a text such as `320 p.`
    package func pageCount(_ names: String...) -> Int? {
        for name in names {
            let count = value(name, as: .pageCount) { json -> Int? in
                if let int = json.int { return int }
                if case .number(let number) = json, number > 0, number < 100_000 {
                    return Int(number)
                }
                return json.anyText.flatMap { text in
                    let digits = text.drop { !$0.isASCII || !$0.isNumber }
                        .prefix { $0.isASCII && $0.isNumber }
                    return Int(digits)
                }
            }
            if let count, count > 0, count < 100_000 { return count }
        }
        return nil
    }

    /// The language of the first element that has one. Nil for `und` and the like.
    package func language(_ name: String) -> String? {
        let texts = list(name, as: .language) { json in
            json["key"]?.anyText ?? json["code"]?.anyText ?? json.anyText
        }
        return texts.lazy.compactMap { text in
            Languages.tag(text.split(separator: "/").last.map { String($0) } ?? text)
        }.first
    }

    /// Numbers of editions. They may have hyphens and wrong check digits.
    package func isbns(_ name: String) -> [String] { list(name, as: .isbns) { $0.anyText } }
}
