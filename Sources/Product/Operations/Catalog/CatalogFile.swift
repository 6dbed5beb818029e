import Bookplate

/// A file of books: one JSON object per line, or comma-separated values with the names of the columns in the first
/// line.
package struct CatalogFile {
    /// A line number with the book in that line, or the reason why the line is invalid.
    struct Entry {
        let line: Int
        let record: Result<CatalogRecord, CatalogRecord.Problem>
    }

    let entries: AnySequence<Entry>
    private static let lineBytesMax = 1 << 20

    /// The file cannot be read at all.
    package struct Unreadable: Error {
        /// The reason as a sentence.
        package let message: String
    }

    /// - Parameter bytes: JSON if the first character is a brace, otherwise a table.
    package init(_ bytes: [UInt8]) throws(Unreadable) {
        let blanks: Set<UInt8> = [0x20, 0x09, 0x0A, 0x0D, 0xEF, 0xBB, 0xBF]
        guard let first = bytes.first(where: { !blanks.contains($0) }) else {
            entries = AnySequence([])
            return
        }
        if first == UInt8(ascii: "{") {
            let lines = bytes.split(
                separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            entries = AnySequence(
                lines.lazy.enumerated().compactMap { Self.entry($1, number: $0 + 1) })
            return
        }
        var rows = CSVReader(bytes[...])
        let table: CatalogTable
        do {
            guard let header = rows.next() else { throw CatalogRecord.Problem("it is empty") }
            table = try CatalogTable(header: try header.fields.get())
        } catch let problem as CatalogRecord.Problem {
            throw Unreadable(message: "The file is not a table of books: \(problem.message).")
        } catch {
            throw Unreadable(message: "The first line is not a list of column names.")
        }
        entries = AnySequence(
            rows.lazy.map { row in
                Entry(
                    line: row.line,
                    record: row.fields.mapError { .init($0.message) }.flatMap { cells in
                        Result { () throws(CatalogRecord.Problem) in try table.record(cells) }
                    })
            })
    }

    /// Returns the entry of a line of JSON; nil if the line is blank.
    static func entry(_ line: ArraySlice<UInt8>, number: Int) -> Entry? {
        if line.allSatisfy({ $0 == 0x20 || $0 == 0x0D || $0 == 0x09 }) { return nil }
        return Entry(
            line: number,
            record: Result { () throws(CatalogRecord.Problem) in
                guard line.count <= lineBytesMax else {
                    throw .init("the line is longer than 1 MiB")
                }
                var record = try CatalogRecord(line: Array(line))
                record.problems = record.problems.map { $0.located(in: line) }
                return record
            }.mapError { $0.located(in: line) })
    }
}
