import GraphQL
import ObjectStorage
import Postgres
import Requests
import Zip

/// Writes a library to a zip archive: `library.json` with all data, which can be imported again,
/// `goodreads_library_export.csv` for other applications, and `covers/`.
///
/// The rows are read in pages, so the memory needed does not depend on the size of the library. The caller fetches them:
/// a request uses the connection pool, and the admin CLI its own connection.
///
///     while let step = export.next() {
///         switch step {
///         case .rows(let statement, let parameters): try export.append(rows: rows(statement, parameters))
///         case .cover(let book, let version): try export.append(cover: bytes(book, version))
///         }
///     }
///
/// Only one task may use an export at a time.
package final class LibraryExport {
    /// The data that the export needs next.
    package enum Step: Sendable {
        /// A query whose rows are passed to `append(rows:)`. Its first parameter is the user's id.
        case rows(Statement, Parameters)
        /// A version of a book's cover whose full-size image is passed to `append(cover:)`.
        case cover(bookID: UUID, version: String)
    }

    /// The part of the archive that is being written, in the order of the parts.
    private enum Phase {
        case profile, identities, accessTokens, authorizedApps, shelves, books, progress, notes,
            ereaderDocuments, ereaderPositions, swipes, goodreadsTable, covers, done
    }

    /// The maximum number of rows of a page.
    private static let pageMax: Int32 = 500

    private let userID: UUID
    /// The part of the library; nil for all of it.
    private let part: ExportPart?
    private let zip: ZipWriter
    /// The covers of the current page that are not yet written, in reverse order.
    private var remainingCovers: [ExportedCover] = []
    /// Whether the current page of covers is the last one.
    private var isLastPage = false
    private var phase = Phase.profile
    /// The id of the last row of the previous page.
    private var after: UUID?
    /// Whether a list of `library.json` has begun and not ended.
    private var isInList = false
    /// Whether no item of the list has been written, so that the next one follows no comma.
    private var isFirstItem = true

    /// - Parameters:
    ///   - descriptor: The file to write the archive to. It is not closed.
    ///   - time: The current time in seconds since the Unix epoch.
    package convenience init(of userID: UUID, to descriptor: Int32, time: Int64) throws(ZipError) {
        try self.init(of: userID, part: nil, to: descriptor, time: time)
    }

    /// - Parameter part: The part of the library to write; nil for all of it.
    init(of userID: UUID, part: ExportPart?, to descriptor: Int32, time: Int64) throws(ZipError) {
        self.userID = userID
        self.part = part
        zip = try ZipWriter(descriptor: descriptor, time: time)
        try zip.begin("library.json")
        try zip.write(
            Array(
                """
                {"format":"\(BookplateFile.name)","version":1,\
                "exportedAt":"\(Instant(microseconds: time * 1_000_000).text)"
                """.utf8))
        if part?.isFirst == false { try beginBooks() }
    }

    /// Returns the next step; nil if the archive is complete.
    package func next() -> Step? {
        if let cover = remainingCovers.last {
            return .cover(bookID: cover.id, version: cover.version)
        }
        var parameters = Parameters.of(userID)
        let statement: Statement
        switch phase {
        case .profile: return .rows(ExportedProfile.query.statement, parameters)
        case .identities: statement = ExportedIdentity.page.statement
        case .accessTokens: statement = ExportedAccessToken.page.statement
        case .authorizedApps: statement = ExportedAuthorizedApp.page.statement
        case .shelves: statement = ExportedShelf.page.statement
        case .books, .goodreadsTable: statement = ExportedBook.page.statement
        case .progress: statement = ExportedProgress.page.statement
        case .notes: statement = ExportedNote.page.statement
        case .ereaderDocuments: statement = ExportedEReaderDocument.page.statement
        case .ereaderPositions: statement = ExportedEReaderPosition.page.statement
        case .swipes: statement = ExportedSwipe.page.statement
        case .covers: statement = ExportedCover.page.statement
        case .done: return nil
        }
        parameters.append(uuid: after)
        parameters.append(int32: Self.pageMax)
        if ![.identities, .accessTokens, .authorizedApps, .shelves].contains(phase) {
            parameters.append(uuid: phase == .swipes ? part?.swipes?.last : part?.books?.last)
        }
        if [.progress, .notes, .ereaderDocuments].contains(phase) {
            parameters.append(uuid: part?.books?.after)
        }
        return .rows(statement, parameters)
    }

    /// Writes the rows of the query that `next` has returned.
    package func append(rows: Rows) throws(ZipError) {
        switch phase {
        case .profile:
            let profile = rows.decode(ExportedProfile.self).first?.json ?? .null
            try zip.write(Array(",\n\"profile\":".utf8) + Self.json(profile))
            try beginList("identities", .identities)
        case .identities:
            if try writeItems(rows.decode(ExportedIdentity.self)) {
                try beginList("accessTokens", .accessTokens)
            }
        case .accessTokens:
            if try writeItems(rows.decode(ExportedAccessToken.self)) {
                try beginList("authorizedApps", .authorizedApps)
            }
        case .authorizedApps:
            if try writeItems(rows.decode(ExportedAuthorizedApp.self)) {
                try beginList("shelves", .shelves)
            }
        case .shelves:
            if try writeItems(rows.decode(ExportedShelf.self)) { try beginBooks() }
        case .books:
            if try writeItems(rows.decode(ExportedBook.self)) {
                try beginList("progressEntries", .progress)
            }
        case .progress:
            if try writeItems(rows.decode(ExportedProgress.self)) {
                try beginList("notes", .notes)
            }
        case .notes:
            if try writeItems(rows.decode(ExportedNote.self)) {
                try beginList("ereaderDocuments", .ereaderDocuments)
            }
        case .ereaderDocuments:
            if try writeItems(rows.decode(ExportedEReaderDocument.self)) {
                try beginList("ereaderPositions", .ereaderPositions)
                after = part?.books?.after
            }
        case .ereaderPositions:
            if try writeItems(rows.decode(ExportedEReaderPosition.self)) { try beginSwipes() }
        case .swipes:
            if try writeItems(rows.decode(ExportedSwipe.self)) { try endLibrary() }
        case .goodreadsTable:
            let books = rows.decode(ExportedBook.self)
            for book in books { try zip.write(GoodreadsTable.line(book)) }
            if endPage(books) { enter(.covers) }
        case .covers:
            let covers = rows.decode(ExportedCover.self)
            remainingCovers = covers.reversed()
            isLastPage = endPage(covers)
            try finishIfDone()
        case .done: break
        }
    }

    /// Writes the cover that `next` has requested; nil if it was removed in the meantime.
    package func append(cover bytes: [UInt8]?) throws(ZipError) {
        guard let cover = remainingCovers.popLast() else { return }
        if let bytes {
            try zip.begin("covers/\(cover.id).jpg", byteCount: bytes.count, compresses: false)
            try zip.write(bytes)
        }
        try finishIfDone()
    }

    private func finishIfDone() throws(ZipError) {
        guard isLastPage, remainingCovers.isEmpty else { return }
        try zip.finish()
        enter(.done)
    }

    private func enter(_ phase: Phase) {
        self.phase = phase
        after = nil
    }

    /// Records the position after a page. Returns whether it is the last page.
    private func endPage(_ items: [some ExportedItem]) -> Bool {
        after = items.last?.id ?? after
        return items.count < Int(Self.pageMax)
    }

    private func beginBooks() throws(ZipError) {
        guard part == nil || part?.books != nil else { return try beginSwipes() }
        try beginList("books", .books)
        after = part?.books?.after
    }

    private func beginSwipes() throws(ZipError) {
        guard part == nil || part?.swipes != nil else { return try endLibrary() }
        try beginList("swipes", .swipes)
        after = part?.swipes?.after
    }

    /// Ends `library.json` and begins what follows it. A part has no table for other applications.
    private func endLibrary() throws(ZipError) {
        try zip.write(Array("\(isInList ? "\n]" : "")}\n".utf8))
        isInList = false
        if part == nil {
            try zip.begin("goodreads_library_export.csv")
            try zip.write(GoodreadsTable.header)
            return enter(.goodreadsTable)
        }
        enter(.covers)
        after = part?.books?.after
        guard part?.books == nil else { return }
        // There are no covers without books.
        isLastPage = true
        try finishIfDone()
    }

    private func beginList(_ name: String, _ phase: Phase) throws(ZipError) {
        try zip.write(Array("\(isInList ? "\n]" : ""),\n\"\(name)\":[".utf8))
        isInList = true
        isFirstItem = true
        enter(phase)
    }

    /// Writes a page of a list. Returns whether it is the last page.
    private func writeItems(_ items: [some ExportedJSONItem]) throws(ZipError) -> Bool {
        var bytes: [UInt8] = []
        for item in items {
            bytes += isFirstItem ? [UInt8(ascii: "\n")] : Array(",\n".utf8)
            bytes += Self.json(item.json)
            isFirstItem = false
        }
        try zip.write(bytes)
        return endPage(items)
    }

    private static func json(_ value: Value) -> [UInt8] {
        var writer = ResponseWriter()
        writer.write(value)
        return writer.bytes
    }
}

extension LibraryExport {
    /// Returns the full-size image of a version of a cover; nil if it no longer exists or is unreadable.
    ///
    /// - Throws: An `ObjectError` if the store itself cannot be read.
    package static func coverBytes(
        of book: UUID, version: String, user: UUID, in store: any ObjectStore
    ) async throws(ObjectError) -> [UInt8]? {
        guard let key = ObjectKey(.bookCovers, folder: "\(user)", name: "\(book)"),
            let path = ObjectPath(key, version: version, .full)
        else { return nil }
        return try await store.readUnlessDamaged(path)
    }
}
