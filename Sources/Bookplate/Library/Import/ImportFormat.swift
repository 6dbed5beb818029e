import ImageProcessing
import Postgres
import Zip

/// Whose export a file is.
package enum ImportFormat: String, Sendable, CaseIterable {
    case goodreads = "GOODREADS"
    case storyGraph = "STORYGRAPH"
    case bookplate = "BOOKPLATE"
}

/// A file as it was uploaded, and the records in it, one at a time.
struct ImportFile {
    static let bytesMax = 25 << 20
    /// Of `library.json`, unpacked.
    static let unpackedBytesMax = 100 << 20
    static let recordsMax = 50_000

    let format: ImportFormat
    /// The pictures of a Bookplate archive, by book.
    private(set) var covers: [(book: UUID, bytes: [UInt8])] = []
    private let content: Content

    private enum Content {
        case csv(ArraySlice<UInt8>, separator: UInt8, columns: [String: Int])
        case records([ImportRecord])
    }

    /// - Parameter format: nil to tell by the content.
    /// - Throws: `.badUserInput` or `.payloadTooLarge` with a sentence where no library can be read from it.
    init(_ bytes: [UInt8], format: ImportFormat?) throws(BookplateError) {
        guard bytes.count <= Self.bytesMax else {
            throw Self.refused("A file to import has at most \(Self.bytesMax >> 20) MB.")
        }
        if ZipReader.isZip(bytes), format == nil || format == .bookplate {
            let archive = try Self.unpacked(bytes)
            self.format = .bookplate
            content = .records(try BookplateFile.records(archive.library))
            covers = archive.covers
            return
        }
        let first = bytes.first { $0 > UInt8(ascii: " ") && $0 != 0xEF && $0 != 0xBB && $0 != 0xBF }
        guard let first else { throw Self.refused("The file is empty.") }
        if first == UInt8(ascii: "{"), format == nil || format == .bookplate {
            self.format = .bookplate
            content = .records(try BookplateFile.records(bytes))
            return
        }
        for separator in [UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "\t")] {
            var reader = CSVReader(bytes[...], separator: separator)
            guard case .success(let header)? = reader.next()?.fields else { continue }
            let names = header.map(\.trimmed)
            let columns = Dictionary(zip(names, names.indices)) { first, _ in first }
            for (candidate, needed) in [
                (ImportFormat.goodreads, GoodreadsRecord.columns),
                (.storyGraph, StoryGraphRecord.columns),
            ]
            where (format ?? candidate) == candidate && needed.allSatisfy({ columns[$0] != nil }) {
                self.format = candidate
                content = .csv(bytes[...], separator: separator, columns: columns)
                return
            }
        }
        throw Self.refused(Self.unknown(as: format))
    }

    private static func unknown(as format: ImportFormat?) -> String {
        switch format {
        case nil:
            "This is no export of Goodreads, The StoryGraph or Bookplate that we know. "
                + "Send the file as it was downloaded."
        case .goodreads: "This is no export of Goodreads: its columns are missing."
        case .storyGraph: "This is no export of The StoryGraph: its columns are missing."
        case .bookplate: "This is no export of Bookplate: send the archive or its library.json."
        }
    }

    private static func unpacked(
        _ bytes: [UInt8]
    ) throws(BookplateError) -> (library: [UInt8], covers: [(book: UUID, bytes: [UInt8])]) {
        var library: [UInt8]?
        var covers: [(book: UUID, bytes: [UInt8])] = []
        var limits = ZipReader.Limits()
        limits.bytesMax = unpackedBytesMax + bytesMax
        do throws(ZipError) {
            try ZipReader.read(bytes, limits: limits) { name in
                if name == "library.json" { return unpackedBytesMax }
                return coverID(name) == nil ? nil : ImageLimits.inputBytesMax
            } _: { name, content in
                if let id = coverID(name) {
                    covers.append((id, content))
                } else {
                    library = content
                }
            }
        } catch .tooLarge {
            throw refused("The archive unpacks to more than can be imported.")
        } catch {
            throw refused("The archive is damaged.")
        }
        guard let library else { throw refused("The archive has no library.json.") }
        return (library, covers)
    }

    /// Of `covers/{id}.jpg`.
    private static func coverID(_ name: String) -> UUID? {
        guard name.hasPrefix("covers/"), name.hasSuffix(".jpg") else { return nil }
        return UUID(name.dropFirst(7).dropLast(4))
    }

    static func refused(_ message: String) -> BookplateError {
        .badUserInput(field: "file", message)
    }

    /// The records from the first on.
    func records() -> ImportRecords {
        switch content {
        case .csv(let bytes, let separator, let columns):
            var reader = CSVReader(bytes, separator: separator)
            _ = reader.next()  // the header
            return ImportRecords(format: format, columns: columns, reader: reader)
        case .records(let records):
            return ImportRecords(records: records)
        }
    }
}

/// The records of a file, read as they are asked for.
struct ImportRecords: Sequence, IteratorProtocol {
    private enum Source {
        case csv(ImportFormat, columns: [String: Int], CSVReader)
        case records(IndexingIterator<[ImportRecord]>)
    }

    private var source: Source

    fileprivate init(format: ImportFormat, columns: [String: Int], reader: CSVReader) {
        source = .csv(format, columns: columns, reader)
    }

    fileprivate init(records: [ImportRecord]) { source = .records(records.makeIterator()) }

    mutating func next() -> ImportRecord? {
        switch source {
        case .records(var records):
            defer { source = .records(records) }
            return records.next()
        case .csv(let format, let columns, var reader):
            defer { source = .csv(format, columns: columns, reader) }
            return reader.next().map { Self.record($0, columns, format) }
        }
    }

    private static func record(
        _ record: CSVReader.Record, _ columns: [String: Int], _ format: ImportFormat
    ) -> ImportRecord {
        do throws(ImportFields.Problem) {
            let cells: [String]
            switch record.fields {
            case .success(let fields): cells = fields
            case .failure(let problem): throw .init("It cannot be read: \(problem.message).")
            }
            guard cells.count >= columns.count else {
                // Damage, and whatever is in it is in the wrong place.
                throw .init("It has fewer fields than the file has columns.")
            }
            let fields = ImportFields(columns: columns, fields: cells)
            let (book, problem) =
                format == .storyGraph
                ? try StoryGraphRecord.book(fields) : try GoodreadsRecord.book(fields)
            return ImportRecord(line: record.line, content: .book(book), problem: problem)
        } catch {
            return ImportRecord(line: record.line, content: .nothing, problem: error.message)
        }
    }
}
