import GraphQL
import Identity
import Postgres
import Zip

/// Everything of one library as a zip archive: `library.json` with all there is to know, which can be imported
/// again, `goodreads_library_export.csv` for other systems, and `covers/`.
///
/// It asks for its rows page by page, so that a library of any size takes little memory, and leaves it to its
/// owner how they are got: a request asks its own database's pool, the admin CLI its connection.
///
///     while let step = export.next() {
///         switch step {
///         case .rows(let statement, let parameters): try export.take(rows: rows(statement, parameters))
///         case .cover(let book, let version): try export.take(cover: bytes(book, version))
///         }
///     }
///
/// Belongs to one task at a time.
package final class LibraryExport {
    /// What it needs next.
    package enum Step: Sendable {
        /// Given to `take(rows:)`. The first parameter is whose library it is.
        case rows(Statement, Parameters)
        /// Of the full size; given to `take(cover:)`.
        case cover(bookID: UUID, version: String)
    }

    private enum Phase {
        case profile, shelves, books, swipes, table, covers, done
    }

    private static let pageMax: Int32 = 500

    private let userID: UUID
    private let zip: ZipWriter
    /// Of the page at hand.
    private var coversLeft: [(bookID: UUID, version: String)] = []
    private var isLastPage = false
    private var phase = Phase.profile
    /// The last row of the page before.
    private var after: UUID?
    private var isFirstItem = true

    /// - Parameters:
    ///   - descriptor: where the archive goes; it stays open.
    ///   - time: now, in seconds of Unix time.
    package init(of userID: UUID, to descriptor: Int32, time: Int64) throws(ZipError) {
        self.userID = userID
        zip = try ZipWriter(descriptor: descriptor, time: time)
        try zip.begin("library.json")
        try zip.write(
            Array(
                """
                {"format":"\(BookplateFile.name)","version":1,\
                "exportedAt":"\(Instant(microseconds: time * 1_000_000).text)"
                """.utf8))
    }

    /// nil when the archive is complete.
    package func next() -> Step? {
        if let cover = coversLeft.last {
            return .cover(bookID: cover.bookID, version: cover.version)
        }
        var parameters = Parameters.of(userID)
        let statement: Statement
        switch phase {
        case .profile: return .rows(Self.profile, parameters)
        case .shelves: statement = Self.shelves
        case .books, .table: statement = Self.books
        case .swipes: statement = Self.swipes
        case .covers: statement = Self.covers
        case .done: return nil
        }
        parameters.append(uuid: after)
        parameters.append(int32: Self.pageMax)
        return .rows(statement, parameters)
    }

    /// Writes the rows of the statement that `next` gave.
    package func take(rows: Rows) throws(ZipError) {
        switch phase {
        case .profile:
            try zip.write(Array(",\n\"profile\":".utf8) + Self.json(Self.profile(rows)))
            try beginList("shelves", .shelves)
        case .shelves:
            try writeItems(rows, Self.shelf)
            if isLast(rows) { try beginList("books", .books, ending: true) }
        case .books:
            try writeItems(rows) { LibraryBook($0, $1).json }
            if isLast(rows) { try beginList("swipes", .swipes, ending: true) }
        case .swipes:
            try writeItems(rows, Self.swipe)
            if isLast(rows) {
                try zip.write(Array("\n]}\n".utf8))
                try zip.begin("goodreads_library_export.csv")
                try zip.write(GoodreadsTable.header)
                enter(.table)
            }
        case .table:
            for row in 0..<rows.count { try zip.write(GoodreadsTable.line(LibraryBook(rows, row))) }
            if isLast(rows) { enter(.covers) }
        case .covers:
            for row in 0..<rows.count {
                if let id = rows.uuid(row, 0), let version = rows.text(row, 1) {
                    coversLeft.append((id, version))
                }
            }
            isLastPage = isLast(rows)
            try finishIfDone()
        case .done: break
        }
    }

    /// Writes the cover that `next` named; nil where it went away meanwhile.
    package func take(cover bytes: [UInt8]?) throws(ZipError) {
        guard let (id, _) = coversLeft.popLast() else { return }
        if let bytes {
            try zip.begin("covers/\(id).jpg", byteCount: bytes.count, compresses: false)
            try zip.write(bytes)
        }
        try finishIfDone()
    }

    private func finishIfDone() throws(ZipError) {
        guard isLastPage, coversLeft.isEmpty else { return }
        try zip.finish()
        enter(.done)
    }

    private func enter(_ phase: Phase) {
        self.phase = phase
        after = nil
    }

    /// Remembers where the page ends; whether it is the last one.
    private func isLast(_ rows: Rows) -> Bool {
        after = rows.uuid(rows.count - 1, 0) ?? after
        return rows.count < Int(Self.pageMax)
    }

    private func beginList(_ name: String, _ phase: Phase, ending: Bool = false) throws(ZipError) {
        try zip.write(Array("\(ending ? "\n]" : ""),\n\"\(name)\":[".utf8))
        isFirstItem = true
        enter(phase)
    }

    private func writeItems(_ rows: Rows, _ item: (Rows, Int) -> Value) throws(ZipError) {
        var bytes: [UInt8] = []
        for row in 0..<rows.count {
            bytes += isFirstItem ? [UInt8(ascii: "\n")] : Array(",\n".utf8)
            bytes += Self.json(item(rows, row))
            isFirstItem = false
        }
        try zip.write(bytes)
    }

    private static func json(_ value: Value) -> [UInt8] {
        var writer = ResponseWriter()
        writer.write(value)
        return writer.bytes
    }

    // MARK: - Rows

    private static let profile = Statement(
        "SELECT id, display_name, email, preferred_genres, created_at FROM users WHERE id = $1")
    private static let shelves = Statement(
        """
        SELECT s.id, s.name, s.position, s.created_at FROM shelves s WHERE s.user_id = $1 \
        AND ($2::uuid IS NULL OR (s.position, s.id) > (SELECT l.position, l.id FROM shelves l \
        WHERE l.user_id = $1 AND l.id = $2)) ORDER BY s.position, s.id LIMIT $3
        """)
    private static let books = Statement(
        """
        SELECT b.id, b.edition_id, b.title, b.author, b.isbn13, b.publisher, b.published_date, \
        b.page_count, b.category, b.genre, b.description, b.status, b.current_page, b.added_at, \
        b.started_at, b.finished_at, b.updated_at, ARRAY(SELECT s.name FROM shelf_books sb \
        JOIN shelves s ON s.user_id = sb.user_id AND s.id = sb.shelf_id \
        WHERE sb.user_id = $1 AND sb.book_id = b.id ORDER BY s.position, s.id), \
        r.id, r.rating, r.text, r.created_at, r.updated_at \
        FROM books b LEFT JOIN reviews r ON r.user_id = $1 AND r.book_id = b.id \
        WHERE b.user_id = $1 AND ($2::uuid IS NULL OR b.id > $2) ORDER BY b.id LIMIT $3
        """)
    private static let swipes = Statement(
        """
        SELECT edition_id, action, swiped_at FROM swipes WHERE user_id = $1 \
        AND ($2::uuid IS NULL OR edition_id > $2) ORDER BY edition_id LIMIT $3
        """)
    private static let covers = Statement(
        """
        SELECT book_id, version FROM covers WHERE user_id = $1 \
        AND ($2::uuid IS NULL OR book_id > $2) ORDER BY book_id LIMIT $3
        """)

    private static func profile(_ rows: Rows) -> Value {
        .object([
            .init("id", rows.idValue(0, 0)), .init("displayName", rows.textValue(0, 1)),
            .init("email", rows.textValue(0, 2)),
            .init("preferredGenres", .list((rows.texts(0, 3) ?? []).map { .string($0) })),
            .init("createdAt", rows.instantValue(0, 4)),
        ])
    }

    private static func shelf(_ rows: Rows, _ row: Int) -> Value {
        .object([
            .init("id", rows.idValue(row, 0)), .init("name", rows.textValue(row, 1)),
            .init("position", rows.intValue(row, 2)),
            .init("createdAt", rows.instantValue(row, 3)),
        ])
    }

    private static func swipe(_ rows: Rows, _ row: Int) -> Value {
        .object([
            .init("cardId", rows.idValue(row, 0)), .init("action", rows.textValue(row, 1)),
            .init("swipedAt", rows.instantValue(row, 2)),
        ])
    }
}

/// A row of an export's books.
struct LibraryBook {
    private let rows: Rows
    private let row: Int

    init(_ rows: Rows, _ row: Int) {
        self.rows = rows
        self.row = row
    }

    var id: UUID? { rows.uuid(row, 0) }
    var title: String { rows.text(row, 2) ?? "" }
    var author: String? { rows.text(row, 3) }
    var isbn: ISBN? { rows.text(row, 4).flatMap { ISBN($0) } }
    var publisher: String? { rows.text(row, 5) }
    var publishedDate: String? { rows.text(row, 6) }
    var pageCount: Int32? { rows.int32(row, 7) }
    var status: String { rows.text(row, 11) ?? "" }
    var addedAt: Instant? { rows.timestamptz(row, 13).map(Instant.init(microseconds:)) }
    var finishedAt: Instant? { rows.timestamptz(row, 15).map(Instant.init(microseconds:)) }
    var shelves: [String] { rows.texts(row, 17) ?? [] }
    var rating: Int32? { rows.int32(row, 19) }
    var review: String? { rows.text(row, 20) }

    /// As `BookplateFile` reads it.
    var json: Value {
        var members: [Value.Member] = [
            .init("id", rows.idValue(row, 0)), .init("cardId", rows.idValue(row, 1)),
        ]
        for (name, column) in [
            ("title", 2), ("author", 3), ("isbn13", 4), ("publisher", 5), ("publishedDate", 6),
        ] { members.append(.init(name, rows.textValue(row, column))) }
        members.append(.init("pageCount", rows.intValue(row, 7)))
        for (name, column) in [("category", 8), ("genre", 9), ("description", 10), ("status", 11)] {
            members.append(.init(name, rows.textValue(row, column)))
        }
        members.append(.init("currentPage", rows.intValue(row, 12)))
        for (name, column) in [
            ("addedAt", 13), ("startedAt", 14), ("finishedAt", 15), ("updatedAt", 16),
        ] { members.append(.init(name, rows.instantValue(row, column))) }
        members.append(.init("shelves", .list(shelves.map { .string($0) })))
        members.append(
            .init(
                "review",
                rating == nil
                    ? .null
                    : .object([
                        .init("id", rows.idValue(row, 18)), .init("rating", rows.intValue(row, 19)),
                        .init("text", rows.textValue(row, 20)),
                        .init("createdAt", rows.instantValue(row, 21)),
                        .init("updatedAt", rows.instantValue(row, 22)),
                    ])))
        return .object(members)
    }
}

/// Cells as JSON; NULL is null.
extension Rows {
    fileprivate func idValue(_ row: Int, _ column: Int) -> Value {
        uuid(row, column).map { .string($0.description) } ?? .null
    }

    fileprivate func textValue(_ row: Int, _ column: Int) -> Value {
        text(row, column).map { .string($0) } ?? .null
    }

    fileprivate func intValue(_ row: Int, _ column: Int) -> Value {
        int32(row, column).map { .int(Int($0)) } ?? .null
    }

    fileprivate func instantValue(_ row: Int, _ column: Int) -> Value {
        timestamptz(row, column).map { .string(Instant(microseconds: $0).preciseText) } ?? .null
    }
}
