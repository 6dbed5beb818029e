import GraphQL
import ImageProcessing
import Postgres
import Requests

/// The content of a link: the only data of its reader that the page and `Query.shared` return.
struct SharedItem {
    /// The maximum number of books of a page.
    static let booksMax = 48
    /// The error is the same for a link that never existed, was revoked, or has expired.
    static let noSuchLink = BookplateError.notFound(.noSuchLink)

    let link: OpenedLink
    let token: SharedToken
    let facts: SharedFacts
    let books: [SharedBook]
    /// The cursor of the next page; nil on the last one.
    let endCursor: String?

    /// Finds what a link shares, in two round trips. In both of them, the link is looked up in the same transaction, so rows are read
    /// only while it is valid.
    ///
    /// - Throws: `noSuchLink`, also for a cursor that does not belong to the link.
    static func find(
        _ text: some StringProtocol, after cursor: String?, in request: RequestContext
    ) async throws(BookplateError) -> SharedItem {
        guard let token = SharedToken(text), let link = try await OpenedLink.find(token, request)
        else { throw noSuchLink }
        let keys = request.services.accounts.sessionKeys
        var after: SharedBook.Position?
        if let cursor {
            after = token.open(cursor, for: "cursor", keys: keys).flatMap { .init(bytes: $0) }
            guard after != nil else { throw noSuchLink }
        }
        var parameters = Parameters.of(link.owner)
        switch link.item {
        case .shelf(let id), .review(let id), .note(let id): parameters.append(uuid: id)
        case .year(let year): parameters.append(int32: year)
        }
        var ofBooks = parameters
        ofBooks.append(text: after?.key)
        ofBooks.append(uuid: after?.entry)
        let (results, found) = try await request.anonymous(isReadOnly: true) { pipeline in
            pipeline.append(OpenedLink.open, token.parameters)
            return (
                facts: pipeline.append(link.item.facts, parameters),
                books: pipeline.append(link.item.books, ofBooks)
            )
        }
        guard let facts = results[found.facts].first else { throw noSuchLink }
        let books = results[found.books]
        let last = books.count > booksMax ? books[booksMax - 1].position : nil
        return SharedItem(
            link: link, token: token, facts: facts, books: Array(books.prefix(booksMax)),
            endCursor: last.map { token.seal($0.bytes, for: "cursor", keys: keys) })
    }
}

/// A link that is valid now.
struct OpenedLink: RowDecodable {
    enum Item {
        case shelf(UUID), review(UUID), note(UUID), year(Int32)
    }

    let owner: UUID
    let item: Item
    /// The name of the tenant.
    let app: String
    /// Nil unless the link shows the name.
    let reader: String?

    init?(_ row: inout RowReader) {
        guard let owner = row.uuid() else { return nil }
        self.owner = owner
        let (shelf, review, note, year) = (row.uuid(), row.uuid(), row.uuid(), row.int32())
        guard
            let item = shelf.map(Item.shelf) ?? review.map(Item.review) ?? note.map(Item.note)
                ?? year.map(Item.year), let app = row.text()
        else { return nil }
        self.item = item
        self.app = app
        reader = row.text()
    }

    static let open = TypedStatement<Self>(
        "SELECT owner, shelf, review, note, of_year, app, reader FROM open_shared_link($1)")

    /// Returns the link if what it shares has this cover now.
    static func find(
        _ token: SharedToken, cover version: String, of book: UUID, _ request: RequestContext
    ) async throws(BookplateError) -> Self? {
        var parameters = token.parameters
        parameters.append(uuid: book)
        parameters.append(text: version)
        let (results, keys) = try await request.anonymous(isReadOnly: true) { pipeline in
            (
                link: pipeline.append(open, token.parameters),
                cover: pipeline.append(CoverOfLink.select, parameters)
            )
        }
        return results[keys.cover].isEmpty ? nil : results[keys.link].first
    }

    private struct CoverOfLink: RowDecodable {
        init?(_ row: inout RowReader) {
            guard row.bool() == true else { return nil }
        }

        static let select = TypedStatement<Self>(
            """
            SELECT true
            FROM shared_links l
            JOIN covers c ON c.user_id = l.user_id AND c.book_id = $2 AND c.version = $3
            WHERE l.user_id = app_user_id()
                AND l.token_hash = $1
                AND (
                    EXISTS (SELECT FROM shelf_books s WHERE s.user_id = l.user_id AND s.shelf_id = l.shelf_id AND s.book_id = $2)
                    OR EXISTS (SELECT FROM reviews r WHERE r.user_id = l.user_id AND r.id = l.review_id AND r.book_id = $2)
                    OR EXISTS (SELECT FROM notes n WHERE n.user_id = l.user_id AND n.id = l.note_id AND n.book_id = $2)
                    OR EXISTS (
                        SELECT
                        FROM reads d
                        WHERE d.user_id = l.user_id
                            AND d.book_id = $2
                            AND d.outcome = 'FINISHED'
                            AND d.finished_on >= l.year::text
                            AND d.finished_on < l.year || '~'
                    )
                )
            """)
    }

    static func find(
        _ token: SharedToken, _ request: RequestContext
    ) async throws(BookplateError) -> Self? {
        let links: [Self] = try await request.anonymous(isReadOnly: true) {
            $0.append(open, token.parameters)
        }
        return links.first
    }
}

extension OpenedLink.Item {
    /// The value of the schema's enum `SharedKind`.
    var kind: String {
        switch self {
        case .shelf: "SHELF"
        case .review: "REVIEW"
        case .note: "NOTE"
        case .year: "YEAR"
        }
    }

    fileprivate var facts: TypedStatement<SharedFacts> {
        switch self {
        case .shelf: SharedFacts.ofShelf
        case .review: SharedFacts.ofReview
        case .note: SharedFacts.ofNote
        case .year: SharedFacts.ofYear
        }
    }

    fileprivate var books: TypedStatement<SharedBook> {
        switch self {
        case .shelf: SharedBook.ofShelf
        case .review: SharedBook.ofReview
        case .note: SharedBook.ofNote
        case .year: SharedBook.ofYear
        }
    }
}

/// The facts of a shared object, without its books. The facts of other kinds are nil.
struct SharedFacts: RowDecodable {
    /// The name of the shelf, or the title of the book; nil for a year.
    let title: String?
    let quarterStars: Int?
    let hasSpoilers: Bool
    /// The text of the review, or the quote of the note.
    let text: String?
    /// The reader's own words in a note.
    let comment: String?
    let chapter: String?
    let page: Int?
    let bookCount: Int
    let pageCount: Int
    let seconds: Int
    /// The number of finished reads in each month.
    let months: [Int]

    init?(_ row: inout RowReader) {
        title = row.text()
        quarterStars = row.int32().map { Int($0) }
        hasSpoilers = row.bool() == true
        text = row.text()
        comment = row.text()
        chapter = row.text()
        page = row.int32().map { Int($0) }
        bookCount = Int(row.int64() ?? 0)
        pageCount = Int(row.int64() ?? 0)
        seconds = Int(row.int64() ?? 0)
        months = (row.texts() ?? []).map { Int($0) ?? 0 }
    }

    private static let noYear = "0::bigint, 0::bigint, 0::bigint, NULL::text[]"

    static let ofShelf = TypedStatement<Self>(
        """
        SELECT s.name, NULL::int, false, NULL::text, NULL::text, NULL::text, NULL::int, \(noYear)
        FROM shelves s
        WHERE s.user_id = $1 AND s.id = $2
        """)
    static let ofReview = TypedStatement<Self>(
        """
        SELECT
            b.title::text, r.quarter_stars::int, r.has_spoilers, r.text::text, NULL::text, NULL::text, NULL::int, \(noYear)
        FROM reviews r
        JOIN books b ON b.user_id = r.user_id AND b.id = r.book_id
        WHERE r.user_id = $1 AND r.id = $2
        """)
    static let ofNote = TypedStatement<Self>(
        """
        SELECT
            b.title::text, NULL::int, false, n.text::text, n.comment::text, n.chapter::text, n.page::int, \(noYear)
        FROM notes n
        JOIN books b ON b.user_id = n.user_id AND b.id = n.book_id
        WHERE n.user_id = $1 AND n.id = $2
        """)
    static let ofYear = TypedStatement<Self>(
        """
        SELECT
            NULL::text, NULL::int, false, NULL::text, NULL::text, NULL::text, NULL::int,
            coalesce(
                (
                    SELECT k.number
                    FROM reading_counts k
                    WHERE k.user_id = $1 AND k.kind = 'BOOKS' AND k.year = $2 AND k.key = ''
                ), 0
            )::bigint,
            coalesce(r.pages, 0)::bigint, coalesce(r.seconds, 0)::bigint,
            ARRAY(
                SELECT coalesce(m.number, 0)::text
                FROM generate_series(1, 12) n
                LEFT JOIN reading_counts m
                    ON m.user_id = $1 AND m.kind = 'MONTH' AND m.year = $2 AND m.key = lpad(n::text, 2, '0')
                ORDER BY n
            )
        FROM (VALUES (1)) one (row)
        LEFT JOIN reading_counts r ON r.user_id = $1 AND r.kind = 'READS' AND r.year = $2 AND r.key = ''
        """)
}

/// A book of a shared object. The page and the API show its title, author, and cover.
struct SharedBook: RowDecodable {
    /// The position of a book in its list, for cursors.
    struct Position {
        let key: String
        let entry: UUID

        var bytes: [UInt8] { entry.bytes + key.utf8 }

        init(key: String, entry: UUID) {
            self.key = key
            self.entry = entry
        }

        init?(bytes: [UInt8]) {
            guard bytes.count >= 16,
                let entry = bytes.prefix(16).withUnsafeBytes({ UUID(bytes: $0) })
            else { return nil }
            self.init(key: String(decoding: bytes.dropFirst(16), as: UTF8.self), entry: entry)
        }
    }

    struct Cover {
        /// Nil for the reader's own cover.
        let edition: String?
        let version: String
        let width: Int
        let height: Int
    }

    let position: Position
    let id: UUID
    let title: String
    let author: String?
    let cover: Cover?
    /// The dominant color of the cover, or that of a title card.
    let color: String

    init?(_ row: inout RowReader) {
        guard let key = row.text(), let entry = row.uuid(), let id = row.uuid(),
            let title = row.text()
        else { return nil }
        position = Position(key: key, entry: entry)
        self.id = id
        self.title = title
        author = row.text()
        let genre = row.text()
        let edition = row.text()
        let (version, width, height) = (row.text(), row.int32(), row.int32())
        color = row.text() ?? TitleCardPalette.of(genre).dominantColor
        cover =
            if let version, let width, let height {
                Cover(edition: edition, version: version, width: Int(width), height: Int(height))
            } else {
                nil
            }
    }

    /// Returns a statement for the books of a list, of which it reads one more than a page has.
    ///
    /// OFFSET 0 keeps PostgreSQL from reading all books of the reader for a join.
    ///
    /// - Parameter entries: A query for `book_id`, the text or time `key`, and `entry`, the rest of the order.
    private static func statement(_ entries: String) -> TypedStatement<Self> {
        TypedStatement(
            """
            SELECT
                l.key::text, l.entry, b.id, b.title::text, b.author, b.genre::text,
                i.image[1], i.image[2], i.image[3]::int, i.image[4]::int, i.image[5]
            FROM (\(entries)) l
            CROSS JOIN LATERAL (
                SELECT *
                FROM books b
                WHERE b.user_id = $1 AND b.id = l.book_id
                OFFSET 0
            ) b
            CROSS JOIN LATERAL (SELECT \(CoverImage.shown.sql) AS image) i
            ORDER BY l.key DESC, l.entry DESC
            """)
    }

    private static let lastID = "'ffffffff-ffff-ffff-ffff-ffffffffffff'"

    /// Relies on this plan: the entries of a page come from the index `shelf_books_added_at`.
    static let ofShelf = statement(
        """
        SELECT s.book_id, s.added_at AS key, s.book_id AS entry
        FROM shelf_books s
        WHERE s.user_id = $1
            AND s.shelf_id = $2
            AND (s.added_at, s.book_id) < (coalesce($3::text::timestamptz, 'infinity'), coalesce($4, \(lastID)))
        ORDER BY s.added_at DESC, s.book_id DESC
        LIMIT \(SharedItem.booksMax + 1)
        """)
    static let ofYear = statement(
        """
        SELECT d.book_id, d.finished_on AS key, d.id AS entry
        FROM reads d
        WHERE d.user_id = $1
            AND d.outcome = 'FINISHED'
            AND d.finished_on >= $2::int::text
            AND d.finished_on < $2::int || '~'
            AND (d.finished_on, d.id) < (coalesce($3::text, '~'), coalesce($4, \(lastID)))
        ORDER BY d.finished_on DESC, d.id DESC
        LIMIT \(SharedItem.booksMax + 1)
        """)
    static let ofReview = statement(
        """
        SELECT r.book_id, '' AS key, r.book_id AS entry
        FROM reviews r
        WHERE r.user_id = $1 AND r.id = $2 AND $3::text IS NULL AND $4::uuid IS NULL
        """)
    static let ofNote = statement(
        """
        SELECT n.book_id, '' AS key, n.book_id AS entry
        FROM notes n
        WHERE n.user_id = $1 AND n.id = $2 AND $3::text IS NULL AND $4::uuid IS NULL
        """)
}
