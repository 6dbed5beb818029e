/// Reads comma-separated values, one record at a time.
///
/// It accepts what real files contain: lines that end with CR, LF, or CRLF, quotes within an unquoted field, and text
/// after a closing quote. A damaged record does not affect the others: the next record begins on the next line. A quoted
/// field with line breaks whose closing quote is followed by text is damaged, because that quote most likely opens a field
/// of another record. `CSVDialect` finds out whether the fields of a file are quoted at all.
///
/// Spec: https://www.rfc-editor.org/rfc/rfc4180
package struct CSVReader: Sequence, IteratorProtocol {
    /// A record, or the reason why it cannot be read.
    package struct Record: Equatable, Sendable {
        /// The number of the record's first line, from 1. A record has several lines if a quoted field contains line
        /// breaks.
        package let line: Int
        package let fields: Result<[String], Problem>
    }

    /// The reason why a record cannot be read.
    package enum Problem: Error, Equatable, Sendable {
        case unclosedQuote, tooLong, tooManyFields

        /// A clause that can be part of a sentence.
        package var message: String {
            switch self {
            case .unclosedQuote: "the closing quote of a field is missing"
            case .tooLong: "the record is longer than \(CSVReader.recordBytesMax) bytes"
            case .tooManyFields: "the record has more than \(CSVReader.fieldsMax) fields"
            }
        }
    }

    /// The maximum size of a record. It is large enough for the longest review: 100,000 characters of up to four bytes.
    package static let recordBytesMax = 1 << 20
    package static let fieldsMax = 1000

    private var rest: ArraySlice<UInt8>
    private let separator: UInt8
    private let isQuoted: Bool
    private var line = 1
    /// The number of bytes that may still be read again after damaged records. Without a limit, the time for a file that
    /// has only damaged records would be quadratic.
    private var bytesToReread: Int

    private static let quote = UInt8(ascii: "\"")
    private static let lineFeed = UInt8(ascii: "\n")
    private static let carriageReturn = UInt8(ascii: "\r")

    /// - Parameters:
    ///   - bytes: Text in UTF-8, with or without a byte order mark. Bytes that are not UTF-8 are read as Windows-1252, and NUL
    ///     characters are left out.
    ///   - isQuoted: Whether fields may be quoted. If not, a quote is text, and each line is a record.
    package init(
        _ bytes: ArraySlice<UInt8>, separator: UInt8 = UInt8(ascii: ","), isQuoted: Bool = true
    ) {
        self.isQuoted = isQuoted
        rest = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes
        self.separator = separator
        bytesToReread = 4 * Swift.max(bytes.count, Self.recordBytesMax)
    }

    /// Returns the next record. Blank lines are skipped.
    package mutating func next() -> Record? {
        while endLine() {}
        guard !rest.isEmpty else { return nil }
        let start = (rest: rest, line: line)
        do throws(Problem) {
            return Record(line: start.line, fields: .success(try record()))
        } catch {
            let read = start.rest[..<rest.startIndex]
            if error != .tooManyFields, bytesToReread >= read.count {
                // Go back to the record's first line and ignore its quotes.
                bytesToReread -= read.count
                (rest, line) = start
            } else {
                line = start.line + Self.lineCount(read)
            }
            rest = rest.drop { $0 != Self.lineFeed && $0 != Self.carriageReturn }
            _ = endLine()
            return Record(line: start.line, fields: .failure(error))
        }
    }

    /// Reads a record including its line end.
    private mutating func record() throws(Problem) -> [String] {
        let end = rest.startIndex + Self.recordBytesMax
        var fields: [String] = []
        while true {
            guard fields.count < Self.fieldsMax else { throw .tooManyFields }
            fields.append(try field(endingBy: end))
            guard rest.first == separator else { break }
            rest = rest.dropFirst()
        }
        _ = endLine()
        return fields
    }

    /// Reads a field, without the separator or line end after it.
    private mutating func field(endingBy end: Int) throws(Problem) -> String {
        var bytes: [UInt8] = []
        func take(upTo index: Int) throws(Problem) {
            guard index <= end else { throw .tooLong }
            bytes += rest[..<index]
            rest = rest[index...]
        }
        if isQuoted, rest.first == Self.quote {
            rest = rest.dropFirst()
            while true {
                // Search for the closing quote only up to the maximum size of a record.
                let left = Swift.max(0, end - rest.startIndex + 1)
                guard let index = rest.prefix(left).firstIndex(of: Self.quote) else {
                    throw rest.endIndex > end ? .tooLong : .unclosedQuote
                }
                try take(upTo: index)
                rest = rest.dropFirst()
                guard rest.first == Self.quote else { break }
                bytes.append(Self.quote)
                rest = rest.dropFirst()
            }
            let lineCount = Self.lineCount(bytes)
            if lineCount > 0, let next = rest.first, !isEnd(next) { throw .unclosedQuote }
            line += lineCount
        }
        try take(upTo: rest.firstIndex(where: isEnd) ?? rest.endIndex)
        return ImportText.text(bytes)
    }

    private func isEnd(_ byte: UInt8) -> Bool {
        byte == separator || byte == Self.lineFeed || byte == Self.carriageReturn
    }

    /// Skips a line end if one is next. Returns whether it did.
    private mutating func endLine() -> Bool {
        guard let byte = rest.first, byte == Self.lineFeed || byte == Self.carriageReturn else {
            return false
        }
        let isPair = rest.starts(with: [Self.carriageReturn, Self.lineFeed])
        rest = rest.dropFirst(isPair ? 2 : 1)
        line += 1
        return true
    }

    /// Returns the number of line ends. CRLF counts as one.
    private static func lineCount(_ bytes: some Sequence<UInt8>) -> Int {
        var count = 0
        var last: UInt8 = 0
        for byte in bytes {
            if byte == carriageReturn || byte == lineFeed && last != carriageReturn { count += 1 }
            last = byte
        }
        return count
    }
}
