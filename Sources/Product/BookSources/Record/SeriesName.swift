/// The series of a book, and the book's position in it.
package struct SeriesName: Hashable, Sendable {
    package var name: String
    /// Such as `1`, `2.5`, `0.5`, `1-3`, or `8, Part 1 of 2`.
    package var position: String?

    package static let nameCharactersMax = 200
    package static let positionCharactersMax = 20

    package init(name: String, position: String?) {
        self.name = name
        self.position = position
    }

    /// Splits a title that ends with a series in parentheses: `The Hunger Games (The Hunger Games, #1)`. The name of the series may
    /// have parentheses, too. Of several series, the first counts, and the others are returned separately.
    package static func separate(
        _ title: String
    ) -> (title: String, series: SeriesName, others: [SeriesName])? {
        guard title.last == ")" else { return nil }
        var depth = 0
        var opening: String.Index?
        for index in title.indices.reversed() {
            if title[index] == ")" { depth += 1 }
            if title[index] == "(" { depth -= 1 }
            if depth == 0 {
                opening = index
                break
            }
        }
        guard let opening else { return nil }
        let rest = trimmed(title[..<opening])
        let inside = title[title.index(after: opening)...].dropLast()
        let series = numbered(inside)
        guard !rest.isEmpty, let first = series.first else { return nil }
        return (rest, first, Array(series.dropFirst()))
    }

    /// Reads `The Hunger Games, #1`, `Sprawl (#2.0)`, or `Discworld #1-3`. Of several series, as in
    /// `Mistborn (#1.0), The Cosmere (#3.0)`, the first counts. Nil for a text without a number.
    package init?(numbered text: some StringProtocol) {
        guard let first = Self.numbered(text).first else { return nil }
        self = first
    }

    /// Reads all series of a text such as `Mistborn (#1.0), The Cosmere (#3.0)`. Empty for a text without a number.
    package static func numbered(_ text: some StringProtocol) -> [SeriesName] {
        var rest = Substring(text)
        guard rest.utf8.count <= 1_000 else { return [] }
        var series: [SeriesName] = []
        for mark in rest.indices where rest.startIndex <= mark && rest[mark] == "#" {
            let name = name(rest[..<mark])
            guard !name.isEmpty, name.unicodeScalars.count <= nameCharactersMax,
                let (position, end) = position(startOf: rest[rest.index(after: mark)...])
            else { continue }
            series.append(SeriesName(name: name, position: position))
            rest = rest[end...].drop { $0.isWhitespace || "),;]".contains($0) }
        }
        return series
    }

    /// Reads a series as catalogs of libraries write it: `The Wheel of Time ; bk. 1`, `Discworld, v. 4`, or only a name. Nil for
    /// the series of a publisher, such as `Penguin Classics`.
    package init?(catalog text: String) {
        // The time of the regular expression grows with the third power of the length.
        guard text.utf8.count <= 300 else { return nil }
        let series: SeriesName
        if let numbered = SeriesName(numbered: text) {
            series = numbered
        } else if let match = text.wholeMatch(of: Self.volume) {
            series = SeriesName(
                name: Self.name(match.1), position: Self.position(trimmed(match.2)))
        } else {
            series = SeriesName(name: trimmed(text[...]), position: nil)
        }
        let words = Set(folded(series.name).split(separator: " ").map { String($0) })
        guard !series.name.isEmpty, series.name.unicodeScalars.count <= Self.nameCharactersMax,
            words.isDisjoint(with: Self.publishersWords)
        else { return nil }
        self = series
    }

    private nonisolated(unsafe) static let volume =
        /(.+?)[\s,;:(\[–-]+(?:bk|book|volume|vol|v|no|number|nr|part|pt|-)\.?\s*([0-9.½][0-9.½-]*)[)\]]?/
        .ignoresCase()

    /// Words in the names of series that are those of publishers.
    private static let publishersWords: Set = [
        "classic", "classics", "library", "edition", "editions", "paperback", "paperbacks", "press",
        "books", "reprint", "reprints", "publication", "publications", "penguin", "puffin",
        "collection", "thrift",
    ]

    private static func name(_ text: Substring) -> String {
        String(trimmed(text).reversed().drop { ", (:;[".contains($0) }.reversed())
    }

    /// A position at the start of a text: numbers and ranges, and after them the part of a divided volume.
    private nonisolated(unsafe) static let positions =
        /\s*((?:[-−]?[0-9½¼¾.]+[a-z]?(?:\s*[-–]\s*[0-9½¼¾.]+)?)(?:\s*[,&]\s*[0-9½¼¾.]+(?:\s*[-–]\s*[0-9½¼¾.]+)?)*(?:,?\s*(?:part|pt\.?|vol\.?|volume|book|section)\s*[0-9]+(?:\s*(?:of|\/)\s*[0-9]+)?)?)\s*/
        .ignoresCase()

    /// Reads the position at the start of a text, and returns it with the index after it. Nil if other words follow it, as in
    /// `#1 bestseller`.
    private static func position(startOf text: Substring) -> (String, end: String.Index)? {
        guard let match = text.prefix(100).prefixMatch(of: positions) else { return nil }
        let rest = text[match.range.upperBound...]
        // After a comma, only another series may follow.
        guard
            rest.isEmpty || rest.first == ")" || rest.first == ";" || rest.first == "]"
                || rest.first == "," && rest.contains("#")
        else { return nil }
        return normalized(match.1).map { ($0, match.range.upperBound) }
    }

    /// Returns a position without needless zeros: `1` for `1.0`, `0.5` for `½`. Nil if the text is not a number, a range of numbers, a
    /// list of these, or a part of a volume.
    package static func position(_ text: some StringProtocol) -> String? {
        guard text.utf8.count <= 100, let match = String(text).wholeMatch(of: positions) else {
            return nil
        }
        return normalized(match.1)
    }

    private static func normalized(_ text: Substring) -> String? {
        var position = ""
        var rest = text
        while let first = rest.first {
            guard first.isNumber else {
                position.append(first == "−" || first == "–" ? "-" : first)
                rest.removeFirst()
                continue
            }
            let number = rest.prefix { $0.isNumber || $0 == "." }
            guard let text = decimal(number) else { return nil }
            position += text
            rest = rest[number.endIndex...]
        }
        return (1...positionCharactersMax).contains(position.unicodeScalars.count) ? position : nil
    }

    /// Returns `1` for `1.0` and `1.5` for `1½`. Nil if the text is not a number.
    private static func decimal(_ text: Substring) -> String? {
        let fractions: [Character: Double] = ["½": 0.5, "¼": 0.25, "¾": 0.75]
        if let last = text.last, let fraction = fractions[last] {
            let whole = text.dropLast()
            guard let number = whole.isEmpty ? 0 : Int(whole), number < 1_000_000 else {
                return nil
            }
            return String(Double(number) + fraction)
        }
        guard text.allSatisfy({ $0.isASCII }), let number = Double(text) else { return nil }
        return number == number.rounded() && number < 1e6 ? String(Int(number)) : String(text)
    }
}
