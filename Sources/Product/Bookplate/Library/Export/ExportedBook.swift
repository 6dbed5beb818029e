import BookSources
import GraphQL
import Postgres

/// A book with its review, its shelves, and its reads.
struct ExportedBook: ExportedJSONItem {
    let id: UUID
    let cardID: UUID?
    /// How the book is linked to its card; nil without one.
    let linkedBy: String?
    let title: String
    let subtitle: String?
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
    let status: String
    let binding: String?
    let originalYear: Int32?
    let moods: [String]
    let privateNotes: String?
    let contentNotes: String?
    let series: String?
    let seriesPosition: String?
    let currentPage: Int32?
    let addedAt: Int64?
    /// The day of `addedAt` in the reader's time zone, as `2021/03/14`.
    let addedOn: String
    let startedAt: Int64?
    let finishedAt: Int64?
    let updatedAt: Int64?
    /// The names of the book's shelves.
    let shelves: [String]
    /// The positions of the book on these shelves.
    let shelfPositions: [Value]
    /// The reads, the latest last, as in `library.json`.
    let reads: [Value]
    /// The copies, the oldest first, as in `library.json`.
    let copies: [Value]
    let review: ExportedReview?

    init?(_ row: inout RowReader) {
        guard let id = row.uuid() else { return nil }
        self.id = id
        cardID = row.uuid()
        linkedBy = row.text()
        title = row.text() ?? ""
        subtitle = row.text()
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
        status = row.text() ?? ""
        binding = row.text()
        originalYear = row.int32()
        moods = row.texts() ?? []
        privateNotes = row.text()
        contentNotes = row.text()
        series = row.text()
        seriesPosition = row.text()
        currentPage = row.int32()
        addedAt = row.timestamptz()
        addedOn = row.text() ?? ""
        startedAt = row.timestamptz()
        finishedAt = row.timestamptz()
        updatedAt = row.timestamptz()
        shelves = row.texts() ?? []
        let positions = row.text().flatMap { try? parseJSON(Array($0.utf8)) }
        shelfPositions = positions?.list ?? []
        let reads = row.text().flatMap { try? parseJSON(Array($0.utf8), limits: Self.readsLimits) }
        self.reads = reads?.list ?? []
        let copies = row.text().flatMap {
            try? parseJSON(Array($0.utf8), limits: Self.readsLimits)
        }
        self.copies = copies?.list ?? []
        review = ExportedReview(&row)
    }

    /// 200 reads with notes of 10,000 characters.
    private static let readsLimits = JSONLimits(bytesMax: 64 << 20)

    var isbn: ISBN? { isbn13.flatMap { ISBN($0) } }

    var json: Value {
        .object([
            .init("id", .id(id)),
            .init("cardId", .id(cardID)),
            .init("linkedBy", .text(linkedBy)),
            .init("title", .string(title)),
            .init("subtitle", .text(subtitle)),
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
            .init("binding", .text(binding)),
            .init("originalPublicationYear", .int(originalYear)),
            .init("moods", .list(moods.map { .string($0) })),
            .init("privateNotes", .text(privateNotes)),
            .init("contentNotes", .text(contentNotes)),
            .init(
                "series",
                .list(
                    series.map {
                        [
                            .object([
                                .init("name", .string($0)),
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
            .init("shelfPositions", .list(shelfPositions)),
            .init("reads", .list(reads)),
            .init("copies", .list(copies)),
            .init("review", review?.json ?? .null),
        ])
    }

    static let page = TypedStatement<Self>(
        """
        SELECT
          b.id, b.edition_id, CASE WHEN b.edition_id IS NOT NULL THEN b.linked_by::text END, b.title, b.subtitle, b.author, b.authors, b.author_roles, b.isbn13, b.publisher,
          b.published_date, b.page_count, b.language, b.category, b.genre, b.description, b.status, b.binding, b.original_year, b.moods,
          b.private_notes, b.content_notes, coalesce(b.series, btrim(e.series)),
          CASE WHEN b.series_id IS NULL THEN e.series_position ELSE b.series_position END, b.current_page, b.added_at,
          to_char(b.added_at AT TIME ZONE known_zone((SELECT u.time_zone FROM users u WHERE u.id = $1)), 'YYYY/MM/DD'),
          b.started_at, b.finished_at, b.updated_at,
          ARRAY(
            SELECT s.name
            FROM shelf_books sb
            JOIN shelves s ON s.user_id = sb.user_id AND s.id = sb.shelf_id
            WHERE sb.user_id = $1 AND sb.book_id = b.id
            ORDER BY s.position, s.id
          ),
          (
            SELECT jsonb_agg(sb.position ORDER BY s.position, s.id)::text
            FROM shelf_books sb
            JOIN shelves s ON s.user_id = sb.user_id AND s.id = sb.shelf_id
            WHERE sb.user_id = $1 AND sb.book_id = b.id
          ),
          (
            SELECT jsonb_agg(
              jsonb_build_object(
                'id', d.id, 'startedOn', d.started_on, 'finishedOn', d.finished_on, 'outcome', d.outcome,
                'format', d.format, 'lengthSeconds', d.length_seconds, 'note', d.note,
                'createdAt', to_char(d.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
                'updatedAt', to_char(d.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
              )
              ORDER BY d.sorted_on, d.created_at, d.id
            )::text
            FROM reads d
            WHERE d.user_id = $1 AND d.book_id = b.id
          ),
          (
            SELECT jsonb_agg(
              jsonb_build_object(
                'id', c.id, 'format', c.format, 'place', c.place, 'note', c.note, 'loan', loan_of_copy(c),
                'pastLoans', c.past_loans,
                'createdAt', to_char(c.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
                'updatedAt', to_char(c.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
              )
              ORDER BY c.created_at, c.id
            )::text
            FROM book_copies c
            WHERE c.user_id = $1 AND c.book_id = b.id
          ),
          r.id, \(Review.rating), r.quarter_stars, r.text, r.has_spoilers, r.created_at, r.updated_at
        FROM books b
        LEFT JOIN reviews r ON r.user_id = $1 AND r.book_id = b.id
        LEFT JOIN editions e ON e.id = b.edition_id AND e.series_id IS NOT NULL
        WHERE b.user_id = $1
          AND \(PageRange.after("b.id"))
          AND \(PageRange.until("b.id"))
        ORDER BY b.id
        LIMIT $3
        """)
}

/// The review of a book. It is decoded from columns of the book's row.
struct ExportedReview: RowDecodable {
    let id: UUID?
    /// Nil for a review without a rating.
    let rating: Int32?
    let quarterStars: Int32?
    let text: String?
    let hasSpoilers: Bool
    let createdAt: Int64?
    let updatedAt: Int64?

    init?(_ row: inout RowReader) {
        id = row.uuid()
        guard id != nil else { return nil }
        rating = row.int32()
        quarterStars = row.int32()
        text = row.text()
        hasSpoilers = row.bool() ?? false
        createdAt = row.timestamptz()
        updatedAt = row.timestamptz()
    }

    var json: Value {
        .object([
            .init("id", .id(id)), .init("rating", .int(rating)),
            .init("stars", quarterStars.map { .float(Double($0) / 4) } ?? .null),
            .init("text", .text(text)), .init("hasSpoilers", .boolean(hasSpoilers)),
            .init("createdAt", .instant(createdAt)), .init("updatedAt", .instant(updatedAt)),
        ])
    }
}

/// A point in a read.
struct ExportedProgress: ExportedJSONItem {
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

    /// `$5` is the id of the last book before the part, or NULL.
    static let page = TypedStatement<Self>(
        """
        SELECT p.id, p.read_id, p.at, p.page, p.percent, p.seconds, p.note, p.created_at, p.updated_at
        FROM progress_entries p
        JOIN reads r ON r.user_id = $1 AND r.id = p.read_id
        WHERE p.user_id = $1
          AND \(PageRange.after("p.id"))
          AND ($4::uuid IS NULL OR r.book_id <= $4)
          AND ($5::uuid IS NULL OR r.book_id > $5)
        ORDER BY p.id
        LIMIT $3
        """)
}
