/// A file of books: a JSON object a line, or a table of comma-separated values with its columns' names in the
/// first line.
package struct CatalogFile {
    /// A line, and the book or what is wrong with it.
    struct Entry {
        let line: Int
        let record: Result<CatalogRecord, CatalogRecord.Problem>
    }

    let entries: AnySequence<Entry>
    private static let lineBytesMax = 1 << 20

    /// Why a file cannot be read at all, as a sentence.
    package struct Unreadable: Error {
        package let message: String
    }

    /// - Parameter bytes: JSON where the first line begins with a brace, else a table.
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
            guard let header = rows.next() else { throw CatalogRecord.Problem("no line") }
            table = try CatalogTable(header: try header.fields.get())
        } catch let problem as CatalogRecord.Problem {
            throw Unreadable(message: "This is no table of books: \(problem.message).")
        } catch {
            throw Unreadable(message: "The first line is no list of columns.")
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

    /// The entry of a line of JSON; nil for a blank one.
    static func entry(_ line: ArraySlice<UInt8>, number: Int) -> Entry? {
        if line.allSatisfy({ $0 == 0x20 || $0 == 0x0D || $0 == 0x09 }) { return nil }
        return Entry(
            line: number,
            record: Result { () throws(CatalogRecord.Problem) in
                guard line.count <= lineBytesMax else {
                    throw .init("the line is longer than 1 MiB")
                }
                return try CatalogRecord(line: Array(line))
            })
    }
}
