/// How the fields of a table are separated and quoted.
struct CSVDialect: Equatable {
    let separator: UInt8
    let isQuoted: Bool

    /// The maximum number of bytes that decide whether fields are quoted.
    private static let bytesMax = 4 << 20

    /// Finds out whether the fields of a file are quoted. Only tab-separated files may have unquoted fields: LibraryThing writes
    /// quotes in them as text, such as `"A" Is for Alibi`, and the quote must not be read as the beginning of a field that ends in a
    /// later record.
    ///
    /// The fields of a tab-separated file are quoted in each of these cases:
    ///
    /// - The first line has a quoted field. Programs that quote texts quote the names of the columns.
    /// - Each line has the right number of fields, and each field that begins with a quote also ends with one and has only doubled
    ///   quotes in between, at least in one field. Programs that quote only when needed write `"""A"" Is for Alibi"`.
    /// - Lines have other numbers of fields, because quoted fields have line breaks: read as quoted, each record has enough fields.
    init(separator: UInt8, of bytes: [UInt8]) {
        self.separator = separator
        isQuoted = separator != UInt8(ascii: "\t") || Self.hasQuotedFields(bytes, separator)
    }

    private static let quote = UInt8(ascii: "\"")

    private static func hasQuotedFields(_ bytes: [UInt8], _ separator: UInt8) -> Bool {
        let bytes = bytes.prefix(bytesMax)
        var lines = bytes.split { $0 == 0x0A || $0 == 0x0D }
        // The last line may be cut off.
        if bytes.count == bytesMax { _ = lines.popLast() }
        guard let header = lines.first else { return true }
        let names = header.split(separator: separator, omittingEmptySubsequences: false)
        if names.contains(where: isQuoted) { return true }
        var hasDoubledQuotes = false
        var hasQuotesAsText = false
        for line in lines.dropFirst() {
            let fields = line.split(separator: separator, omittingEmptySubsequences: false)
            guard fields.count >= names.count else {
                return hasOnlyCompleteRecords(bytes, separator, count: names.count)
            }
            for field in fields where field.first == quote {
                let inside = field.dropFirst().dropLast()
                guard isQuoted(field), let count = doubledQuotes(inside) else {
                    // If the field ends on a later line, that line has too few fields.
                    hasQuotesAsText = true
                    continue
                }
                if count > 0 { hasDoubledQuotes = true }
            }
        }
        return hasDoubledQuotes && !hasQuotesAsText
    }

    private static func isQuoted(_ field: ArraySlice<UInt8>) -> Bool {
        field.count > 1 && field.first == quote && field.last == quote
    }

    /// Returns the number of doubled quotes in a text; nil if it has a quote that is not doubled.
    private static func doubledQuotes(_ text: ArraySlice<UInt8>) -> Int? {
        var count = 0
        var index = text.startIndex
        while let next = text[index...].firstIndex(of: quote) {
            guard next + 1 < text.endIndex, text[next + 1] == quote else { return nil }
            count += 1
            index = next + 2
        }
        return count
    }

    /// Whether each record, read with quotes, has enough fields.
    private static func hasOnlyCompleteRecords(
        _ bytes: ArraySlice<UInt8>, _ separator: UInt8, count: Int
    ) -> Bool {
        CSVReader(bytes, separator: separator).allSatisfy {
            guard case .success(let fields) = $0.fields else { return false }
            return fields.count >= count
        }
    }
}

extension CSVReader {
    init(_ bytes: [UInt8], _ dialect: CSVDialect) {
        self.init(bytes[...], separator: dialect.separator, isQuoted: dialect.isQuoted)
    }
}
