import BookSources
import GraphQL
import Postgres

/// A row of a paginated query of an export. `$1` is the user, `$2` the id of the last row of the previous page or NULL,
/// and `$3` the size of a page.
protocol ExportedItem: RowDecodable {
    /// The id by which the next page continues.
    var id: UUID { get }
}

/// A row that becomes an element of a list in `library.json`. `BookplateFile` reads these lists.
protocol ExportedJSONItem: ExportedItem {
    var json: Value { get }
}

struct ExportedProfile: RowDecodable {
    let json: Value

    init?(_ row: inout RowReader) {
        json = .object([
            .init("id", .id(row.uuid())), .init("displayName", .text(row.text())),
            .init("email", .text(row.text())),
            .init("preferredGenres", .list((row.texts() ?? []).map { .string($0) })),
            .init("timeZone", .text(row.text())), .init("createdAt", .instant(row.timestamptz())),
        ])
    }

    static let query = TypedStatement<Self>(
        """
        SELECT id, display_name, email, preferred_genres, time_zone, created_at
        FROM users
        WHERE id = $1
        """)
}

struct ExportedShelf: ExportedJSONItem {
    let id: UUID
    let json: Value

    init?(_ row: inout RowReader) {
        guard let id = row.uuid() else { return nil }
        self.id = id
        json = .object([
            .init("id", .id(id)), .init("name", .text(row.text())),
            .init("position", .int(row.int32())), .init("createdAt", .instant(row.timestamptz())),
        ])
    }

    static let page = TypedStatement<Self>(
        """
        SELECT s.id, s.name, s.position, s.created_at
        FROM shelves s
        WHERE s.user_id = $1
          AND (
            $2::uuid IS NULL
            OR (s.position, s.id) > (
              SELECT l.position, l.id FROM shelves l WHERE l.user_id = $1 AND l.id = $2
            )
          )
        ORDER BY s.position, s.id
        LIMIT $3
        """)
}

struct ExportedSwipe: ExportedJSONItem {
    /// The id of the card.
    let id: UUID
    let json: Value

    init?(_ row: inout RowReader) {
        guard let id = row.uuid() else { return nil }
        self.id = id
        json = .object([
            .init("cardId", .id(id)), .init("action", .text(row.text())),
            .init("swipedAt", .instant(row.timestamptz())), .init("store", .text(row.text())),
        ])
    }

    static let page = TypedStatement<Self>(
        """
        SELECT edition_id, action, swiped_at, store
        FROM current_swipes
        WHERE user_id = $1 AND ($2::uuid IS NULL OR edition_id > $2)
        ORDER BY edition_id
        LIMIT $3
        """)
}

struct ExportedCover: ExportedItem {
    /// The id of the book.
    let id: UUID
    let version: String

    init?(_ row: inout RowReader) {
        guard let id = row.uuid(), let version = row.text() else { return nil }
        self.id = id
        self.version = version
    }

    static let page = TypedStatement<Self>(
        """
        SELECT book_id, version
        FROM covers
        WHERE user_id = $1 AND ($2::uuid IS NULL OR book_id > $2)
        ORDER BY book_id
        LIMIT $3
        """)
}

struct ExportedBook: ExportedJSONItem {
    let id: UUID
    let cardID: UUID?
    let title: String
    let author: String?
    let authors: [Contributor]
    let isbn13: String?
    let publisher: String?
    let publishedDate: String?
    let pageCount: Int32?
    let language: String?
    let category: String?
    let genre: String?
    let description: String?
    /// The name of the series, and the position in it.
    let series: String?
    let seriesPosition: String?
    let status: String
    let currentPage: Int32?
    let addedAt: Int64?
    let startedAt: Int64?
    let finishedAt: Int64?
    let updatedAt: Int64?
    /// The names of the book's shelves.
    let shelves: [String]
    /// The objects of the list `reads`, the latest read first.
    let reads: [Value]
    let review: ExportedReview?

    init?(_ row: inout RowReader) {
        guard let id = row.uuid() else { return nil }
        self.id = id
        cardID = row.uuid()
        title = row.text() ?? ""
        author = row.text()
        let names = row.texts() ?? []
        let roles = (row.texts() ?? []).map { AuthorRole(rawValue: $0) }
        authors = names.enumerated().map { index, name in
            Contributor(name: name, role: (index < roles.count ? roles[index] : nil) ?? .author)
        }
        isbn13 = row.text()
        publisher = row.text()
        publishedDate = row.text()
        pageCount = row.int32()
        language = row.text()
        category = row.text()
        genre = row.text()
        description = row.text()
        series = row.text()
        seriesPosition = row.text()
        status = row.text() ?? ""
        currentPage = row.int32()
        addedAt = row.timestamptz()
        startedAt = row.timestamptz()
        finishedAt = row.timestamptz()
        updatedAt = row.timestamptz()
        shelves = row.texts() ?? []
        reads = (try? parseJSON(Array((row.text() ?? "").utf8)))?.list ?? []
        review = ExportedReview(&row)
    }

    var isbn: ISBN? { isbn13.flatMap { ISBN($0) } }

    var json: Value {
        .object([
            .init("id", .id(id)),
            .init("cardId", .id(cardID)),
            .init("title", .string(title)),
            .init("author", .text(author)),
            .init(
                "authors",
                .list(
                    authors.map { author in
                        .object([
                            .init("name", .string(author.name)),
                            .init("role", .string(author.role.rawValue)),
                        ])
                    })),
            .init("isbn13", .text(isbn13)),
            .init("publisher", .text(publisher)),
            .init("publishedDate", .text(publishedDate)),
            .init("pageCount", .int(pageCount)),
            .init("language", .text(language)),
            .init("category", .text(category)),
            .init("genre", .text(genre)),
            .init("description", .text(description)),
            .init(
                "series",
                .list(
                    series.map { name in
                        [
                            .object([
                                .init("name", .string(name)),
                                .init("position", .text(seriesPosition)),
                            ])
                        ]
                    } ?? [])),
            .init("status", .string(status)),
            .init("currentPage", .int(currentPage)),
            .init("addedAt", .instant(addedAt)),
            .init("startedAt", .instant(startedAt)),
            .init("finishedAt", .instant(finishedAt)),
            .init("updatedAt", .instant(updatedAt)),
            .init("shelves", .list(shelves.map { .string($0) })),
            .init("reads", .list(reads)),
            .init("review", review?.json ?? .null),
        ])
    }

    static let page = TypedStatement<Self>(
        """
        SELECT
          b.id, b.edition_id, b.title, b.author, b.authors, b.author_roles, b.isbn13, b.publisher, b.published_date,
          b.page_count, b.language, b.category, b.genre, b.description, coalesce(b.series, btrim(e.series)),
          CASE WHEN b.series_id IS NULL THEN e.series_position ELSE b.series_position END, b.status, b.current_page,
          b.added_at, b.started_at, b.finished_at, b.updated_at,
          ARRAY(
            SELECT s.name
            FROM shelf_books sb
            JOIN shelves s ON s.user_id = sb.user_id AND s.id = sb.shelf_id
            WHERE sb.user_id = $1 AND sb.book_id = b.id
            ORDER BY s.position, s.id
          ),
          (\(reads)),
          r.id, \(Review.rating), \(Review.stars), r.text, r.created_at, r.updated_at
        FROM books b
        LEFT JOIN reviews r ON r.user_id = $1 AND r.book_id = b.id
        LEFT JOIN editions e ON e.id = b.edition_id AND e.series_id IS NOT NULL
        WHERE b.user_id = $1 AND ($2::uuid IS NULL OR b.id > $2)
        ORDER BY b.id
        LIMIT $3
        """)
}

extension ExportedBook {
    /// The reads of a book as a JSON list.
    fileprivate static let reads = """
        SELECT json_agg(
              json_build_object(
                'id', e.id, 'startedOn', e.started_on, 'finishedOn', e.finished_on, 'outcome', e.outcome, 'format', e.format,
                'lengthSeconds', e.length_seconds, 'note', e.note,
                'createdAt', to_char(e.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
                'updatedAt', to_char(e.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
              )
              ORDER BY e.sorted_on DESC, e.created_at DESC, e.id DESC
            )::text
            FROM reads e
            WHERE e.user_id = $1 AND e.book_id = b.id
        """
}

struct ExportedProgressEntry: ExportedJSONItem {
    let id: UUID
    let json: Value

    init?(_ row: inout RowReader) {
        guard let id = row.uuid() else { return nil }
        self.id = id
        json = .object([
            .init("id", .id(id)), .init("readId", .id(row.uuid())),
            .init("at", .instant(row.timestamptz())), .init("page", .int(row.int32())),
            .init("percent", row.float8().map { .float($0) } ?? .null),
            .init("seconds", .int(row.int32())), .init("note", .text(row.text())),
            .init("createdAt", .instant(row.timestamptz())),
            .init("updatedAt", .instant(row.timestamptz())),
        ])
    }

    static let page = TypedStatement<Self>(
        """
        SELECT id, read_id, at, page, percent, seconds, note, created_at, updated_at
        FROM progress_entries
        WHERE user_id = $1 AND ($2::uuid IS NULL OR id > $2)
        ORDER BY id
        LIMIT $3
        """)
}

struct ExportedReview: RowDecodable {
    let id: UUID?
    /// In whole stars, rounded up. Nil for a review without a rating.
    let rating: Int32?
    let stars: Double?
    let text: String?
    let createdAt: Int64?
    let updatedAt: Int64?

    init?(_ row: inout RowReader) {
        id = row.uuid()
        guard id != nil else { return nil }
        rating = row.int32()
        stars = row.float8()
        text = row.text()
        createdAt = row.timestamptz()
        updatedAt = row.timestamptz()
    }

    var json: Value {
        .object([
            .init("id", .id(id)), .init("rating", .int(rating)),
            .init("stars", stars.map { .float($0) } ?? .null), .init("text", .text(text)),
            .init("createdAt", .instant(createdAt)), .init("updatedAt", .instant(updatedAt)),
        ])
    }
}

/// Cells as JSON values. NULL becomes null.
extension Value {
    fileprivate static func id(_ id: UUID?) -> Value { id.map { .string($0.description) } ?? .null }

    fileprivate static func text(_ text: String?) -> Value { text.map { .string($0) } ?? .null }

    fileprivate static func int(_ number: Int32?) -> Value {
        number.map { .int(Int($0)) } ?? .null
    }

    fileprivate static func instant(_ microseconds: Int64?) -> Value {
        microseconds.map { .string(Instant(microseconds: $0).preciseText) } ?? .null
    }
}
