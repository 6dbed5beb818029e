import Basics
import EventLoops
import ImageProcessing
import Requests
import Zip

/// An uploaded file whose records are read one at a time.
///
/// Reading a large file takes longer than an event loop may be blocked, so it happens on `threads` and on those of jobs.
struct ImportFile {
    static let bytesMax = 25 << 20
    /// The maximum uncompressed size of `library.json`.
    static let unpackedBytesMax = 100 << 20
    /// The maximum uncompressed size of an archive in relation to its compressed size. Text of libraries is compressed to a tenth.
    /// Each archive may have `bytesMax`, because the parts of an export have less than that.
    static let unpackedRatioMax = 100
    static let recordsMax = 100_000
    static let tooManyRecords = "A file to import may have at most \(recordsMax) records."

    /// The threads that read files for requests, by reader.
    static let threads = WorkThreads<UUID>(waitingOfKeyMax: 4, waitingMax: 64)

    /// The maximum number of reported columns, and of the characters in their names.
    static let ignoredColumnsMax = 200
    static let columnCharactersMax = 100

    let format: ImportFormat
    /// The covers of a Bookplate archive.
    private(set) var covers: [(book: UUID, bytes: [UInt8])] = []
    let content: Content

    enum Content {
        case table(any TableFormat.Type, [UInt8], CSVDialect, names: [String])
        case libraryThing(JSONItems)
        case bookplate(BookplateFile)
    }

    /// - Parameters:
    ///   - format: The format of the file; nil to detect it from the content.
    ///   - hasCovers: Whether to unpack the covers of an archive.
    /// - Throws: `.badUserInput` if no library can be read from the file.
    init(
        _ bytes: [UInt8], format: ImportFormat?, hasCovers: Bool = true
    ) throws(BookplateError) {
        guard bytes.count <= Self.bytesMax else { throw Self.tooLarge }
        if ZipReader.isZip(bytes), format == nil || format == .bookplate {
            let archive = try Self.unpacked(bytes, hasCovers: hasCovers)
            self.format = .bookplate
            content = .bookplate(
                try Self.checked { () throws(ImportProblem) in
                    try BookplateFile(try Self.items(archive.library))
                })
            covers = archive.covers
            return
        }
        let text = ImportText.withoutMark(bytes)
        guard let first = text.first(where: { $0 > UInt8(ascii: " ") }) else {
            throw .badUserInput(field: "file", .init(.empty, detail: "The file is empty."))
        }
        if first == UInt8(ascii: "{"), format?.table == nil || format == .libraryThing {
            (self.format, content) = try Self.checked { () throws(ImportProblem) in
                try Self.json(text, format: format)
            }
            return
        }
        guard let (found, content) = Self.table(text, format: format) else {
            throw Self.invalid(Self.unknownFormatMessage(format))
        }
        self.format = found
        self.content = content
    }

    private static func checked<Value>(
        _ read: () throws(ImportProblem) -> Value
    ) throws(BookplateError) -> Value {
        try mappingError({ invalid($0.message) }, read)
    }

    /// The maximum number of records, and of members that are not records.
    private static let countMax = recordsMax + 1_000

    private static func items(_ bytes: [UInt8]) throws(ImportProblem) -> JSONItems {
        do throws(ImportProblem) {
            return try JSONItems(bytes, membersMax: recordsMax)
        } catch {
            throw ImportProblem("The file is not JSON: \(error.message)")
        }
    }

    private static func json(
        _ bytes: [UInt8], format: ImportFormat?
    ) throws(ImportProblem) -> (ImportFormat, Content) {
        var counter = JSONItemCounter()
        counter.add(bytes)
        guard counter.count <= countMax else { throw ImportProblem(tooManyRecords) }
        let items = try items(ImportText.utf8(bytes))
        if format != .bookplate, let member = items.members.first,
            let first = try? items.value(member), LibraryThingFile.isBook(first)
        {
            return (.libraryThing, .libraryThing(items))
        }
        guard format != .libraryThing else {
            throw ImportProblem(unknownFormatMessage(format))
        }
        return (.bookplate, .bookplate(try BookplateFile(items)))
    }

    /// Finds the separator with which the first line has the columns of a format.
    private static func table(
        _ bytes: [UInt8], format: ImportFormat?
    ) -> (ImportFormat, Content)? {
        for separator in [UInt8(ascii: ","), UInt8(ascii: "\t"), UInt8(ascii: ";")] {
            let dialect = CSVDialect(separator: separator, of: bytes)
            var reader = CSVReader(bytes, dialect)
            guard case .success(let header)? = reader.next()?.fields else { continue }
            let names = header.map(\.trimmed)
            let columns = Set(names.map(ImportColumns.normalized))
            for (candidate, table) in ImportFormat.tables where (format ?? candidate) == candidate {
                let needed = table.needed + (format == nil ? table.distinctive : [])
                guard needed.allSatisfy({ columns.contains(ImportColumns.normalized($0)) }) else {
                    continue
                }
                return (candidate, .table(table, bytes, dialect, names: names))
            }
        }
        return nil
    }

    private static func unknownFormatMessage(_ format: ImportFormat?) -> String {
        switch format {
        case nil:
            "This is not an export in a known format. Upload the file exactly as you downloaded it from Goodreads, "
                + "The StoryGraph, Hardcover, LibraryThing, Calibre, Openreads, or Bookplate."
        case .bookplate?:
            "This is not an export of Bookplate. Upload the archive or its library.json."
        case let format?: "This is not an export of \(format.name): columns are missing."
        }
    }

    private static func unpacked(
        _ bytes: [UInt8], hasCovers: Bool
    ) throws(BookplateError) -> (library: [UInt8], covers: [(book: UUID, bytes: [UInt8])]) {
        var library: [UInt8]?
        var covers: [(book: UUID, bytes: [UInt8])] = []
        var limits = ZipReader.Limits()
        limits.bytesMax = min(
            unpackedBytesMax + bytesMax, max(bytesMax, unpackedRatioMax * bytes.count))
        var counter = JSONItemCounter()
        do throws(ZipError) {
            try ZipReader.read(bytes, limits: limits) { name in
                if name == "library.json" { return unpackedBytesMax }
                return hasCovers && coverID(name) != nil ? ImageLimits.inputBytesMax : nil
            } accepts: { name, part in
                if name == "library.json" { counter.add(part) }
                return counter.count <= countMax
            } _: { name, content in
                if let id = coverID(name) {
                    covers.append((id, content))
                } else {
                    library = content
                }
            }
        } catch .tooLarge where counter.count > countMax {
            throw .badUserInput(
                field: "file",
                .init(.tooMany, max: Double(recordsMax), detail: tooManyRecords))
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

    static let tooLarge = BookplateError.badUserInput(
        field: "file", .init(.fileTooLarge, max: bytesMax >> 20))

    static func invalid(_ message: String) -> BookplateError {
        .badUserInput(field: "file", .init(.invalidFile, detail: message))
    }
}
