import GraphQL
import Postgres

/// A book to create: by hand, from an ISBN, or from a card of the catalog.
///
/// The statement does not fail if the book cannot be created. Therefore `createBooks` can create 50 books in one
/// transaction, and each of them succeeds or fails on its own.
struct BookCreation {
    let id: UUID
    private let isIDChosen: Bool
    private let title: String?
    private let authors: BookAuthors
    private let isbn: ISBN?
    private let cardID: UUID?
    private let shelfIDs: [UUID]
    private let status: String
    /// The reads of the input, and the read that the status adds.
    private let reads: [ReadInput]
    /// Whether the input has reads, which may have dates of any time.
    private let hasGivenReads: Bool
    private let category: String?
    private let genre: String?
    private let facts: BookFacts
    private let series: SeriesInput
    /// Whether to search for a cover.
    let fetchesCover: Bool

    static let titleCharactersMax = 500
    static let labelCharactersMax = 100
    static let shelvesMax = 100

    /// - Throws: `.badUserInput` with the name of the field, or `.notFound` if the id of a card or shelf is not a UUID.
    init(_ input: InputObject) throws(BookplateError) {
        id = try input.newID()
        isIDChosen = input.text("id") != nil
        title = try TextInput.optional(
            input.text("title"), field: "title", charactersMax: Self.titleCharactersMax)
        authors = try BookAuthors(input) ?? .none
        isbn = try ISBN.optional(input.text("isbn"))
        if let card = input.text("cardId") {
            guard let id = UUID(card) else { throw .notFound(FeedCard.noSuchCard) }
            cardID = id
        } else {
            cardID = nil
        }
        guard title != nil || isbn != nil || cardID != nil else {
            let isBlank = input.text("title") != nil
            throw .badUserInput(
                field: "title",
                isBlank ? "Title may not be empty." : "A book needs a title, an ISBN or a card.")
        }
        shelfIDs = try input.ids("shelfIds", max: Self.shelvesMax, else: Shelf.noSuchShelf) ?? []
        (reads, status) = try [ReadInput].ofNewBook(
            input["reads"]?.list, status: input.text("status") ?? "WANT_TO_READ")
        hasGivenReads = input["reads"]?.list?.isEmpty == false
        category = try TextInput.optional(
            input.text("category"), field: "category", charactersMax: Self.labelCharactersMax)
        genre = try TextInput.optional(
            input.text("genre"), field: "genre", charactersMax: Self.labelCharactersMax)
        facts = try BookFacts(input)
        series = try SeriesInput(input)
        fetchesCover = input["fetchCover"] != .boolean(false)
    }

    /// Appends the statement that creates the book.
    ///
    /// - Parameter hasCoverSources: Whether any source of covers is configured.
    /// - Returns: The key of the row to pass to `outcome`.
    func append(
        to pipeline: inout Pipeline, for viewer: Viewer, hasCoverSources: Bool
    ) -> ResultKey<InsertResult> {
        var parameters = Parameters.of(viewer.userID, id)
        parameters.append(uuid: cardID)
        parameters.append(text: isbn?.description)
        parameters.append(text: title)
        authors.append(to: &parameters)
        parameters.append(text: category)
        parameters.append(text: genre)
        parameters.append(text: status, as: .inferred)
        parameters.append(uuids: shelfIDs)
        parameters.append(bool: fetchesCover && hasCoverSources)
        parameters.append(bool: isIDChosen)
        parameters.append(text: facts.publisher)
        parameters.append(text: facts.publishedDate)
        parameters.append(int32: facts.pageCount)
        parameters.append(text: facts.language)
        parameters.append(text: facts.description)
        parameters.append(text: series.name)
        parameters.append(text: series.position)
        if !reads.isEmpty { parameters.append(json: .list(reads.map(\.json))) }
        let statement =
            switch (shelfIDs.isEmpty, reads.isEmpty) {
            case (true, true): Self.insert
            case (false, true): Self.insertOnShelves
            case (true, false): Self.insertWithReads
            case (false, false): Self.insertOnShelvesWithReads
            }
        let key = pipeline.append(statement, parameters)
        if hasGivenReads { pipeline.append(Self.refresh, .of(viewer.userID, id)) }
        return key
    }

    /// The ISBN by which a job completes the book's metadata; nil if no job is needed.
    var isbnToComplete: ISBN? { title != nil && cardID == nil ? isbn : nil }

    /// The result of the insert statement.
    enum Outcome {
        /// The book exists. This request, or an earlier attempt at the same request, has created it.
        case book(UUID)
        case rejected(BookplateError)
        /// The input has only an ISBN, and the catalog has no record of it.
        case unknownISBN(ISBN)
        /// A concurrent transaction has just created the same book. A second attempt will find it.
        case lostRace
    }

    /// - Parameter rows: The row that the insert statement has returned; empty if a concurrent transaction was faster.
    func outcome(_ rows: [InsertResult]) -> Outcome {
        guard let result = rows.first else { return .lostRace }
        if result.createdID != nil || result.existingID != nil { return .book(id) }
        if let other = result.sameBookID {
            return .rejected(
                .conflict(
                    Self.alreadyInLibrary, id: other.description,
                    field: cardID == nil ? "isbn" : "cardId"))
        }
        if result.isIDTaken { return .rejected(ChosenID.isTaken) }
        if result.isShelfMissing { return .rejected(.notFound(Shelf.noSuchShelf)) }
        if !result.isCardFound {
            if cardID != nil { return .rejected(.notFound(FeedCard.noSuchCard)) }
            if title == nil, let isbn { return .unknownISBN(isbn) }
        }
        return .lostRace
    }

    static let alreadyInLibrary = "This book is already in the library."
    static let unknownISBN = "No book with this ISBN is known. Add it with its title."

    // MARK: - Statement

    struct InsertResult: RowDecodable {
        /// The book that was created.
        let createdID: UUID?
        /// The book that already had the id.
        let existingID: UUID?
        /// Another book of the library with the same edition or ISBN.
        let sameBookID: UUID?
        /// Whether the catalog has a record of the card or ISBN.
        let isCardFound: Bool
        /// Whether one of the shelves does not exist.
        let isShelfMissing: Bool
        /// Whether the id belongs to another object.
        let isIDTaken: Bool

        init?(_ row: inout RowReader) {
            createdID = row.uuid()
            existingID = row.uuid()
            sameBookID = row.uuid()
            guard let isCardFound = row.bool(), let isShelfMissing = row.bool(),
                let isIDTaken = row.bool()
            else { return nil }
            self.isCardFound = isCardFound
            self.isShelfMissing = isShelfMissing
            self.isIDTaken = isIDTaken
        }
    }

    /// Creates the book and puts it on its shelves. The card's metadata fills the fields that the input leaves out. An
    /// edition that is found by the title and author is only linked: its metadata may be that of another edition.
    ///
    /// PostgreSQL prepares all parts of a statement, even those that have nothing to do. Therefore there are statements with
    /// and without shelves and reads, and the other books are looked up only if none was created.
    private static func insertStatement(
        onShelves: Bool, withReads: Bool
    ) -> TypedStatement<InsertResult> {
        TypedStatement(
            """
            WITH card AS (
              SELECT *
              FROM editions e
              WHERE ($3 IS NOT NULL AND e.id = $3) OR ($3 IS NULL AND e.isbn13 = $4)
            ), missing_shelves AS (
              SELECT
              \(onShelves ? missingShelves : "WHERE false")
            ), taken AS MATERIALIZED (
              SELECT
              WHERE ($14 AND (\(ChosenID.isTaken(in: ["shelves", "reviews", "imports", "reads", "progress_entries", "notes"]))))
                \(withReads ? NewBookReads.taken : "")
            ), matched AS (
              -- The edition that the title and the authors mean, if no card does.
              SELECT m.edition_id, m.linked_by
              FROM match_books(
                ARRAY[$1], ARRAY[$2], ARRAY[$4], ARRAY[$5],
                ARRAY[author_text($6, $7::author_role[])], NULL
              ) m
              WHERE $3 IS NULL AND $5 IS NOT NULL AND NOT EXISTS (SELECT FROM card)
            ), created AS (
              INSERT INTO books (
                user_id, id, edition_id, linked_by, title, authors, author_roles, written_author, isbn13, publisher,
                published_date, page_count, language, category, genre, description, series, series_position, status, started_at,
                finished_at, cover_status, cover_requested_at
              )
              SELECT
                $1,
                $2,
                coalesce(card.id, matched.edition_id),
                CASE
                  WHEN card.id IS NULL THEN coalesce(matched.linked_by, 'CARD')
                  WHEN $3 IS NULL THEN 'ISBN'
                  ELSE 'CARD'
                END,
                coalesce($5, card.title),
                CASE WHEN $6 = '{}' THEN coalesce(card.authors, '{}') ELSE $6 END,
                CASE WHEN $6 = '{}' THEN coalesce(card.author_roles, '{}') ELSE $7::author_role[] END,
                $8,
                coalesce($4, card.isbn13),
                coalesce($15, card.publisher),
                coalesce($16, card.published_date),
                coalesce($17, card.page_count),
                coalesce($18, card.language),
                $9,
                coalesce($10, card.genres[1]),
                coalesce($19, card.description),
                $20,
                $21,
                $11::reading_status,
                CASE WHEN $11::reading_status = 'READING' THEN now() END,
                CASE WHEN $11::reading_status = 'READ' THEN now() END,
                CASE WHEN $13 THEN 'FETCHING' ELSE 'NONE' END::cover_status,
                CASE WHEN $13 THEN now() END
              -- One row even if there is no card.
              FROM (SELECT) AS one
              LEFT JOIN card ON true
              LEFT JOIN matched ON true
              WHERE coalesce($5, card.title) IS NOT NULL
                AND ($3 IS NULL OR card.id IS NOT NULL)
                AND NOT EXISTS (SELECT FROM missing_shelves)
                AND NOT EXISTS (SELECT FROM taken)
              ON CONFLICT DO NOTHING
              RETURNING id, added_at\(withReads ? ", page_count, genre, authors, author_ids" : "")
            )\(onShelves ? shelved : "")\(withReads ? NewBookReads.added : "")
            SELECT
              (SELECT id FROM created),
              CASE
                WHEN NOT EXISTS (SELECT FROM created)
                THEN (SELECT id FROM books WHERE user_id = $1 AND id = $2)
              END,
              CASE
                WHEN NOT EXISTS (SELECT FROM created)
                THEN (
                  SELECT id
                  FROM books
                  WHERE user_id = $1 AND id <> $2
                    AND (
                      edition_id = (SELECT id FROM card)
                      OR isbn13 = coalesce($4, (SELECT isbn13 FROM card))
                    )
                  LIMIT 1
                )
              END,
              EXISTS (SELECT FROM card),
              EXISTS (SELECT FROM missing_shelves),
              EXISTS (SELECT FROM taken)
            """)
    }

    private static let insert = insertStatement(onShelves: false, withReads: false)
    private static let insertOnShelves = insertStatement(onShelves: true, withReads: false)
    private static let insertWithReads = insertStatement(onShelves: false, withReads: true)
    private static let insertOnShelvesWithReads = insertStatement(onShelves: true, withReads: true)
    private static let refresh = Statement("SELECT refresh_read_books($1, ARRAY[$2], false)")

    private static let missingShelves = """
        FROM unnest($12::uuid[]) AS requested (id)
          WHERE NOT EXISTS (SELECT FROM shelves s WHERE s.user_id = $1 AND s.id = requested.id)
        """
    private static let shelved = """
        , shelved AS (
          INSERT INTO shelf_books (user_id, shelf_id, book_id, added_at)
          SELECT $1, requested.id, created.id, created.added_at
          FROM created, unnest($12::uuid[]) AS requested (id)
        )
        """
}

extension ISBN {
    /// Reads an optional input field. Returns nil if it is absent or blank.
    ///
    /// - Throws: `.badUserInput` with the reason why the text is not an ISBN.
    static func optional(_ text: String?) throws(BookplateError) -> ISBN? {
        guard let text, text.contains(where: { !$0.isWhitespace }) else { return nil }
        switch read(text) {
        case .success(let isbn): return isbn
        case .failure(let problem): throw .badUserInput(field: "isbn", problem.message)
        }
    }
}
