import ImageProcessing
import Postgres
import Zip

/// The application that has exported a file.
package enum ImportFormat: String, Sendable, CaseIterable {
    case goodreads = "GOODREADS"
    case storyGraph = "STORYGRAPH"
    case bookplate = "BOOKPLATE"
}

/// An uploaded file whose records are read one at a time.
struct ImportFile {
    static let bytesMax = 25 << 20
    /// The maximum uncompressed size of `library.json`.
    static let unpackedBytesMax = 100 << 20
    static let recordsMax = 50_000

    let format: ImportFormat
    /// The covers of a Bookplate archive.
    private(set) var covers: [(book: UUID, bytes: [UInt8])] = []
    private let content: Content

    private enum Content {
        case csv(ArraySlice<UInt8>, separator: UInt8, columns: [String: Int])
        case records([ImportRecord])
    }

    /// - Parameter format: The format of the file; nil to detect it from the content.
    /// - Throws: `.badUserInput` if no library can be read from the file.
    init(_ bytes: [UInt8], format: ImportFormat?) throws(BookplateError) {
        guard bytes.count <= Self.bytesMax else {
            throw Self.invalid("A file to import may have at most \(Self.bytesMax >> 20) MB.")
        }
        if ZipReader.isZip(bytes), format == nil || format == .bookplate {
            let archive = try Self.unpacked(bytes)
            self.format = .bookplate
            content = .records(try BookplateFile.records(archive.library))
            covers = archive.covers
            return
        }
        let first = bytes.first { $0 > UInt8(ascii: " ") && $0 != 0xEF && $0 != 0xBB && $0 != 0xBF }
        guard let first else { throw Self.invalid("The file is empty.") }
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
        throw Self.invalid(Self.unknownFormatMessage(format))
    }

    private static func unknownFormatMessage(_ format: ImportFormat?) -> String {
        switch format {
        case nil:
            "This is not an export of Goodreads, The StoryGraph, or Bookplate in a known format. "
                + "Upload the file exactly as you downloaded it."
        case .goodreads: "This is not an export of Goodreads: columns are missing."
        case .storyGraph: "This is not an export of The StoryGraph: columns are missing."
        case .bookplate:
            "This is not an export of Bookplate. Upload the archive or its library.json."
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
            throw invalid("The uncompressed archive is too large to import.")
        } catch {
            throw invalid("The archive is damaged.")
        }
        guard let library else { throw invalid("The archive has no library.json.") }
        return (library, covers)
    }

    /// Returns the book's id if this is the path of a cover, `covers/{id}.jpg`.
    private static func coverID(_ name: String) -> UUID? {
        guard name.hasPrefix("covers/"), name.hasSuffix(".jpg") else { return nil }
        return UUID(name.dropFirst(7).dropLast(4))
    }

    static func invalid(_ message: String) -> BookplateError {
        .badUserInput(field: "file", message)
    }

    /// Returns the records, beginning with the first.
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

/// The records of a file, read lazily.
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
            case .failure(let problem):
                throw .init("The record cannot be read: \(problem.message).")
            }
            guard cells.count >= columns.count else {
                // The record is damaged: its values may be in the wrong columns.
                throw .init("The record has fewer fields than the file has columns.")
            }
            let fields = ImportFields(columns: columns, fields: cells)
            let book =
                format == .storyGraph
                ? try StoryGraphRecord.book(fields) : try GoodreadsRecord.book(fields)
            return ImportRecord(line: record.line, content: .book(book))
        } catch {
            return ImportRecord(line: record.line, content: .nothing, problem: error.message)
        }
    }
}
