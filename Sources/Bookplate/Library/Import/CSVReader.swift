/// Reads comma-separated values, one record at a time.
///
/// Lenient where files are: lines may end in any way, a field that begins with no quote may hold some, and text may
/// follow a closing quote. A damaged record spoils nothing but itself: behind it, the next line begins a record
/// again. Quotes that close lines later, in the midst of text, are damage: they belong to another record.
///
/// Spec: https://www.rfc-editor.org/rfc/rfc4180
package struct CSVReader: Sequence, IteratorProtocol {
    /// A record, or why there is none.
    package struct Record: Equatable, Sendable {
        /// Where it begins, counted from 1; a quoted field may go over several lines.
        package let line: Int
        package let fields: Result<[String], Problem>
    }

    /// Why a record cannot be read.
    package enum Problem: Error, Equatable, Sendable {
        case openQuote, tooLong, tooManyFields, notText

        /// A clause.
        package var message: String {
            switch self {
            case .openQuote: "a quoted field is not closed where it ends"
            case .tooLong: "the record is longer than \(CSVReader.recordBytesMax) bytes"
            case .tooManyFields: "the record has more than \(CSVReader.fieldsMax) fields"
            case .notText: "the record is not UTF-8 text"
            }
        }
    }

    /// The longest review has 100,000 characters of at most four bytes.
    package static let recordBytesMax = 1 << 20
    package static let fieldsMax = 1000

    private var rest: ArraySlice<UInt8>
    private let separator: UInt8
    private var line = 1
    /// How much may be read again behind damage: a file of nothing else would be read for ever.
    private var bytesToReread: Int

    private static let quote = UInt8(ascii: "\"")
    private static let lineFeed = UInt8(ascii: "\n")
    private static let carriageReturn = UInt8(ascii: "\r")

    /// - Parameter bytes: UTF-8, with or without a byte order mark.
    package init(_ bytes: ArraySlice<UInt8>, separator: UInt8 = UInt8(ascii: ",")) {
        rest = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes
        self.separator = separator
        bytesToReread = 4 * Swift.max(bytes.count, Self.recordBytesMax)
    }

    /// The next record, blank lines passed over.
    package mutating func next() -> Record? {
        while endLine() {}
        guard !rest.isEmpty else { return nil }
        let start = (rest: rest, line: line)
        do throws(Problem) {
            return Record(line: start.line, fields: .success(try record()))
        } catch {
            let read = start.rest[..<rest.startIndex]
            if error != .tooManyFields, bytesToReread >= read.count {
                // Whatever the quotes said.
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

    /// Reads up to and with the line end.
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

    /// Reads up to the separator or the line end.
    private mutating func field(endingBy end: Int) throws(Problem) -> String {
        var bytes: [UInt8] = []
        func take(upTo place: Int) throws(Problem) {
            guard place <= end else { throw .tooLong }
            bytes += rest[..<place]
            rest = rest[place...]
        }
        if rest.first == Self.quote {
            rest = rest.dropFirst()
            while true {
                // A quote that never closes is not looked for farther than a record goes.
                let left = Swift.max(0, end - rest.startIndex + 1)
                guard let place = rest.prefix(left).firstIndex(of: Self.quote) else {
                    throw rest.endIndex > end ? .tooLong : .openQuote
                }
                try take(upTo: place)
                rest = rest.dropFirst()
                guard rest.first == Self.quote else { break }
                bytes.append(Self.quote)
                rest = rest.dropFirst()
            }
            let lineCount = Self.lineCount(bytes)
            if lineCount > 0, let next = rest.first, !isEnd(next) { throw .openQuote }
            line += lineCount
        }
        try take(upTo: rest.firstIndex(where: isEnd) ?? rest.endIndex)
        guard let text = String(validating: bytes, as: UTF8.self), !bytes.contains(0) else {
            throw .notText
        }
        return text
    }

    private func isEnd(_ byte: UInt8) -> Bool {
        byte == separator || byte == Self.lineFeed || byte == Self.carriageReturn
    }

    /// Goes behind a line end, if one is next.
    private mutating func endLine() -> Bool {
        guard let byte = rest.first, byte == Self.lineFeed || byte == Self.carriageReturn else {
            return false
        }
        let isPair = rest.starts(with: [Self.carriageReturn, Self.lineFeed])
        rest = rest.dropFirst(isPair ? 2 : 1)
        line += 1
        return true
    }

    /// Line ends, a carriage return and its line feed being one.
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
