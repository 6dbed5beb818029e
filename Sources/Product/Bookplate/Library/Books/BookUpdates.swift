import GraphQL
import Postgres
import Requests

/// Updates of several books in one transaction. Each succeeds or fails on its own.
///
/// One statement does them all. If several entries are about the same book, they are applied in their order: the statement is
/// repeated with the second entry of each book, then with the third, and so on.
struct BookUpdates {
    struct Entry {
        let id: UUID
        let update: BookUpdate
    }

    private let entries: [Entry]
    /// The indices of the entries that each statement applies.
    private let rounds: [[Int]]

    init(_ entries: [Entry]) {
        self.entries = entries
        rounds = roundsWithoutRepetitions(of: entries.map(\.id))
    }

    /// Appends the updates, and what follows from them: links to the catalog, lookups of new ISBNs, and a new deck.
    ///
    /// - Returns: The keys to pass to `errors`.
    func append(
        to pipeline: inout Pipeline, for viewer: Viewer, hasBookSources: Bool
    ) -> [ResultKey<Outcome>] {
        let keys = rounds.map { round in
            var parameters = Parameters.of(viewer.userID)
            parameters.append(
                jsonb: .list(round.map { entries[$0].update.json(of: entries[$0].id) }))
            return pipeline.append(Self.update, parameters)
        }
        let linked = entries.filter(\.update.changesWork).map(\.id)
        if !linked.isEmpty {
            var parameters = Parameters.of(viewer.userID)
            parameters.append(uuids: linked)
            pipeline.append(Self.link, parameters)
        }
        if entries.contains(where: \.update.changesFeed) {
            pipeline.replaceDeckSoon(of: viewer.userID)
        }
        if hasBookSources {
            pipeline.enqueueCompletions(of: entries.compactMap(\.update.isbn), for: viewer)
        }
        return keys
    }

    /// Returns the error of each entry; nil if it was applied.
    func errors(_ results: PipelineResults, _ keys: [ResultKey<Outcome>]) -> [BookplateError?] {
        var errors = [BookplateError?](repeating: .internalError, count: entries.count)
        for (round, key) in zip(rounds, keys) {
            for (index, outcome) in zip(round, results[key]) { errors[index] = outcome.error }
        }
        return errors
    }

    struct Outcome: RowDecodable {
        let error: BookplateError?

        init?(_ row: inout RowReader) {
            let problem = row.text()
            let sameBook = row.uuid()
            let page = row.int32() ?? 0
            let pageCount = row.int32() ?? 0
            error =
                switch problem {
                case nil: nil
                case "BOOK": .notFound(.noSuchBook)
                case "SHELF": .notFound(.noSuchShelf)
                case "CARD": .notFound(.noSuchCard)
                case "EDITION":
                    .conflict(
                        .init(.alreadyInLibrary), id: sameBook?.description, field: "cardId")
                case "ISBN":
                    .conflict(
                        .init(.alreadyInLibrary),
                        id: sameBook?.description, field: "isbn")
                case "PAGE":
                    .badUserInput(
                        field: "currentPage",
                        .init(.beyondEnd, max: Int(pageCount)))
                case "PAGE_COUNT":
                    .badUserInput(
                        field: "pageCount",
                        .init(.belowProgress, min: Double(page))
                    )
                default: .internalError
                }
        }
    }

    // MARK: - Statements

    /// The columns that an update can assign, with their types. The dates and the current page follow from `change_reads`.
    private static let columns = [
        ("title", "text"), ("subtitle", "text"), ("authors", "text[]"),
        ("author_roles", "author_role[]"),
        ("isbn13", "text"), ("publisher", "text"),
        ("published_date", "text"), ("page_count", "int"), ("language", "text"),
        ("category", "text"), ("genre", "text"), ("description", "text"), ("series", "text"),
        ("series_position", "text"), ("binding", "text"), ("private_notes", "text"),
        ("content_notes", "text"), ("moods", "text[]"),
        ("edition_id", "uuid"), ("linked_by", "book_link"),
        ("status", "reading_status"),
    ]

    private static let assignments = columns.map { column, type in
        let value =
            type.hasSuffix("[]")
            ? "ARRAY(SELECT jsonb_array_elements_text(i.new -> '\(column)'))"
            : "(i.new ->> '\(column)')"
        return
            "\(column) = CASE WHEN i.new ? '\(column)' THEN \(value)::\(type) ELSE b.\(column) END"
    }.joined(separator: ",\n")

    /// The entries have no page beyond the end.
    private static let changedReads = BookUpdate.changedReads(
        "i.id", status: "(i.new ->> 'status')", page: "(i.new ->> 'current_page')",
        pageMax: BookUpdate.unlimited)

    /// Applies the entries of `$2`, an array of objects such as `{"id": "…", "values": {"status": "READ"}, "shelf_ids": []}`,
    /// to the books of the reader `$1`. No two entries have the same id. With an `edition_id`, the facts of that edition replace
    /// those of the book, and the entry's own values replace both.
    ///
    /// Returns for each entry, in order: what is wrong with it, or NULL; the book that has its ISBN; and the page and the number
    /// of pages that the book would have. Entries with a problem change nothing. The transaction holds the lock of the user, so
    /// no other one can add a book or remove a shelf between the checks and the update. An ISBN or an edition that a book of the
    /// batch gives up is free after the batch.
    ///
    /// Relies on this plan: for each entry, the book by its key, by its ISBN, and by its edition. The size of the library
    /// does not matter.
    private static let update = TypedStatement<Outcome>(
        """
        WITH input AS MATERIALIZED (
            SELECT
                i.n,
                i.id,
                i.new,
                i.shelf_ids,
                i.is_card_unknown,
                b.id IS NULL AS is_unknown,
                b.added_at,
                i.new ->> 'isbn13' AS isbn13,
                i.new ->> 'edition_id' AS edition_id,
                CASE
                    WHEN i.new ->> 'current_page' IS NOT NULL THEN (i.new ->> 'current_page')::int
                    -- A percentage or a time is at another page of a book with another number of pages.
                    WHEN num_nonnulls(p.page, p.percent, p.seconds) > 0 THEN p.page
                    WHEN i.new ? 'current_page' THEN NULL
                    ELSE b.current_page
                END AS page,
                CASE WHEN i.new ? 'page_count' THEN (i.new ->> 'page_count')::int ELSE b.page_count END AS page_count
            FROM (
                SELECT
                    e.n,
                    (e.entry ->> 'id')::uuid AS id,
                    coalesce(c.facts, '{}') || (e.entry -> 'values') AS new,
                    e.entry -> 'values' ? 'edition_id' AND c.facts IS NULL AS is_card_unknown,
                    CASE
                        WHEN e.entry ? 'shelf_ids'
                        THEN ARRAY(SELECT jsonb_array_elements_text(e.entry -> 'shelf_ids')::uuid)
                    END AS shelf_ids
                FROM jsonb_array_elements($2) WITH ORDINALITY AS e (entry, n)
                LEFT JOIN LATERAL (
                    \(factsOfCard)
                ) c ON true
            ) i
            LEFT JOIN LATERAL (
                SELECT *
                FROM books b
                WHERE b.user_id = $1 AND b.id = i.id
                OFFSET 0
            ) b ON true
            LEFT JOIN LATERAL newest_progress($1, i.id) p ON i.new ?| '{current_page, page_count}'
        ), checked AS MATERIALIZED (
            SELECT
                i.*,
                coalesce(c.id, o.id) AS same_book,
                CASE
                    WHEN i.is_unknown THEN 'BOOK'
                    WHEN i.is_card_unknown THEN 'CARD'
                    WHEN EXISTS (
                        SELECT
                        FROM unnest(i.shelf_ids) AS requested (id)
                        WHERE NOT EXISTS (SELECT FROM shelves s WHERE s.user_id = $1 AND s.id = requested.id)
                    ) THEN 'SHELF'
                    WHEN c.id IS NOT NULL THEN 'EDITION'
                    WHEN o.id IS NOT NULL THEN 'ISBN'
                    WHEN i.new ? 'current_page' AND i.page > i.page_count THEN 'PAGE'
                    WHEN i.new ? 'page_count' AND i.page > i.page_count THEN 'PAGE_COUNT'
                END AS problem
            FROM input i
            LEFT JOIN LATERAL (
                SELECT b.id
                FROM books b
                WHERE b.user_id = $1 AND b.isbn13 = i.isbn13 AND b.id <> i.id
                OFFSET 0
            ) o ON true
            LEFT JOIN LATERAL (
                SELECT b.id
                FROM books b
                WHERE b.user_id = $1 AND b.edition_id = i.edition_id::uuid AND b.id <> i.id
                OFFSET 0
            ) c ON true
        ), accepted AS MATERIALIZED (
            -- The first of several entries with the same ISBN or edition gets it.
            SELECT
                c.*,
                c.problem IS NULL
                    AND (c.isbn13 IS NULL OR row_number() OVER same_isbn = 1)
                    AND (c.edition_id IS NULL OR row_number() OVER same_edition = 1) AS is_accepted,
                CASE
                    WHEN c.isbn13 IS NULL OR row_number() OVER same_isbn = 1 THEN first_value(c.id) OVER same_edition
                    ELSE first_value(c.id) OVER same_isbn
                END AS first_with_same
            FROM checked c
            WINDOW
                same_isbn AS (PARTITION BY c.isbn13, c.problem IS NULL ORDER BY c.n),
                same_edition AS (PARTITION BY c.edition_id, c.problem IS NULL ORDER BY c.n)
        ), updated AS (
            UPDATE books b
            SET \(assignments),
                started_at = r.started_at,
                finished_at = r.finished_at,
                current_page = CASE
                    WHEN i.new ->> 'current_page' IS NOT NULL THEN (i.new ->> 'current_page')::int
                    WHEN i.new ? 'current_page' AND NOT \(BookUpdate.hasProgress("i.id")) THEN NULL
                    ELSE r.current_page
                END,
                updated_at = now()
            FROM accepted i
            CROSS JOIN LATERAL \(changedReads) r
            WHERE b.user_id = $1 AND b.id = i.id AND i.is_accepted AND i.new <> '{}'
        ), shelved AS (
            INSERT INTO shelf_books (user_id, shelf_id, book_id, added_at)
            SELECT $1, requested.id, i.id, i.added_at
            FROM accepted i
            CROSS JOIN unnest(i.shelf_ids) AS requested (id)
            WHERE i.is_accepted
            ON CONFLICT DO NOTHING
        ), removed AS (
            DELETE FROM shelf_books sb
            USING accepted i
            WHERE sb.user_id = $1
                -- Without the array, PostgreSQL reads all shelved books of the reader.
                AND sb.book_id = ANY(ARRAY(SELECT id FROM accepted WHERE is_accepted AND shelf_ids IS NOT NULL))
                AND sb.book_id = i.id
                AND sb.shelf_id <> ALL(i.shelf_ids)
        )
        SELECT
            CASE WHEN NOT i.is_accepted THEN coalesce(i.problem, 'ISBN') END,
            coalesce(i.same_book, i.first_with_same),
            i.page,
            i.page_count
        FROM accepted i
        ORDER BY i.n
        """)

    /// The values that a book takes over from the card of an entry. The page that the reader has reached stays, unless it is
    /// beyond the end, or follows from a percentage or a time. A description stays if the card has none.
    private static let factsOfCard = """
        SELECT jsonb_build_object(
                'linked_by', 'CARD',
                'title', c.title,
                'subtitle', left(nullif(btrim(c.subtitle), ''), \(BookFacts.subtitleCharactersMax)),
                'authors', c.authors,
                'author_roles', c.author_roles,
                'isbn13', c.isbn13,
                'publisher', c.publisher,
                'published_date', c.published_date,
                'page_count', c.page_count,
                'language', c.language,
                'description', coalesce(c.description, b.description)
            ) || CASE
                WHEN b.current_page > c.page_count
                    AND NOT EXISTS (SELECT FROM newest_progress($1, b.id) p WHERE p.page IS NULL)
                THEN jsonb_build_object('current_page', c.page_count)
                ELSE '{}'
            END AS facts
        FROM editions c
        LEFT JOIN books b ON b.user_id = $1 AND b.id = (e.entry ->> 'id')::uuid
        WHERE c.id = (e.entry -> 'values' ->> 'edition_id')::uuid
        OFFSET 0
        """

    /// Links the books to the editions with their new ISBNs, titles, and authors. A card that the reader chose stays.
    private static let link = Statement(
        "SELECT link_books(array_fill($1::uuid, ARRAY[cardinality($2)]), $2::uuid[])")
}

/// Divides the indices of ids into lists in which no id is repeated: the first list has the first index of each id, the second
/// list the second index, and so on.
func roundsWithoutRepetitions(of ids: [UUID]) -> [[Int]] {
    var rounds: [[Int]] = []
    var counts: [UUID: Int] = [:]
    for (index, id) in ids.enumerated() {
        let round = counts[id, default: 0]
        counts[id] = round + 1
        if round == rounds.count { rounds.append([]) }
        rounds[round].append(index)
    }
    return rounds
}
