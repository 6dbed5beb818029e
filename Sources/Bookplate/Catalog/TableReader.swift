/// Reads comma-separated values, one record at a time: quoted cells with commas, line ends and doubled quotes in
/// them, any line end, a byte order mark in front.
///
/// Stricter than the reader of imports: here a cell that is damaged spoils its own line, and no more; there it is a
/// reader's own words, of which as much as can be is kept.
///
/// Spec: https://www.rfc-editor.org/rfc/rfc4180
package struct TableReader: Sequence, IteratorProtocol {
    /// A record, or why there is none.
    package struct Record: Sendable {
        /// Of its first character, counted from 1.
        package let line: Int
        package let cells: Result<[String], Problem>
    }

    package enum Problem: Error, Equatable, Sendable {
        case tooLong
        case notUTF8
        /// A quoted cell that does not end, or goes on behind its quotes.
        case quotes

        /// A clause that follows the line's number.
        package var message: String {
            switch self {
            case .tooLong: "the record is longer than 1 MiB or has more than 1000 cells"
            case .notUTF8: "the record is not UTF-8"
            case .quotes: "a quoted cell is not closed where it ends"
            }
        }
    }

    private static let recordBytesMax = 1 << 20
    private static let cellsMax = 1000

    private var rest: ArraySlice<UInt8>
    private var line = 1

    package init(_ bytes: ArraySlice<UInt8>) {
        rest = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes
    }

    /// The next record that is not blank.
    package mutating func next() -> Record? {
        while let first = rest.first, first == UInt8(ascii: "\n") || first == UInt8(ascii: "\r") {
            if first == UInt8(ascii: "\n") { line += 1 }
            rest = rest.dropFirst()
        }
        guard !rest.isEmpty else { return nil }
        let start = (rest: rest, line: line)
        do throws(Problem) {
            return Record(line: start.line, cells: .success(try cells()))
        } catch {
            // Whatever the quotes said, the next line begins a record again.
            rest = start.rest
            line = start.line + 1
            rest = rest.drop { $0 != UInt8(ascii: "\n") }.dropFirst()
            return Record(line: start.line, cells: .failure(error))
        }
    }

    /// Reads up to and with the line end.
    private mutating func cells() throws(Problem) -> [String] {
        var cells: [String] = []
        let start = rest.startIndex
        while true {
            guard cells.count < Self.cellsMax else { throw .tooLong }
            cells.append(try cell(from: start))
            switch rest.popFirst() {
            case UInt8(ascii: ","): continue
            case UInt8(ascii: "\r"):
                if rest.first == UInt8(ascii: "\n") { rest = rest.dropFirst() }
                line += 1
                return cells
            case UInt8(ascii: "\n"):
                line += 1
                return cells
            default: return cells
            }
        }
    }

    private mutating func cell(from start: Int) throws(Problem) -> String {
        var bytes: [UInt8] = []
        func text() throws(Problem) -> String {
            guard let text = String(validating: bytes, as: UTF8.self) else { throw .notUTF8 }
            return text
        }
        let isEnd: (UInt8) -> Bool = { byte in
            byte == UInt8(ascii: ",") || byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r")
        }
        guard rest.first == UInt8(ascii: "\"") else {
            let end = rest.firstIndex(where: isEnd) ?? rest.endIndex
            guard end - start <= Self.recordBytesMax else { throw .tooLong }
            bytes = Array(rest[rest.startIndex..<end])
            rest = rest[end...]
            return try text()
        }
        rest = rest.dropFirst()
        while true {
            guard let quote = rest.firstIndex(of: UInt8(ascii: "\"")),
                quote - start <= Self.recordBytesMax
            else { throw .quotes }
            let part = rest[rest.startIndex..<quote]
            line += part.count { $0 == UInt8(ascii: "\n") }
            bytes += part
            rest = rest[(quote + 1)...]
            guard rest.first == UInt8(ascii: "\"") else { break }
            bytes.append(UInt8(ascii: "\""))
            rest = rest.dropFirst()
        }
        guard rest.first.map(isEnd) != false else { throw .quotes }
        return try text()
    }
}
