import GraphQL
import Postgres
import Requests

/// A book to create: by hand, from an ISBN, or from a card of the catalog.
///
/// The statement does not fail if the book cannot be created. Therefore `createBooks` can create 50 books in one
/// transaction, and each of them succeeds or fails on its own.
package struct BookCreation {
    let id: UUID
    private let isIDChosen: Bool
    private let title: String?
    private let authors: BookAuthors
    private let isbn: ISBN?
    private let cardID: UUID?
    private let shelfIDs: [UUID]
    private let status: ReadingStatus
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
    package static let labelCharactersMax = 100
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
            guard let id = UUID(card) else { throw .notFound(.noSuchCard) }
            cardID = id
        } else {
            cardID = nil
        }
        guard title != nil || isbn != nil || cardID != nil else {
            let isBlank = input.text("title") != nil
            throw .badUserInput(
                field: "title",
                .init(isBlank ? .empty : .emptyBook))
        }
        shelfIDs = try input.ids("shelfIds", max: Self.shelvesMax, else: .noSuchShelf) ?? []
        (reads, status) = try [ReadInput].ofNewBook(
            input["reads"]?.list,
            status: input.text("status").flatMap(ReadingStatus.init(rawValue:)) ?? .wantToRead)
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
    /// - Returns: The key of the book's id. There is no row if the book was not created; `appendObstacle` finds the reason.
    func append(
        to pipeline: inout Pipeline, for viewer: Viewer, hasCoverSources: Bool
    ) -> ResultKey<UUID> {
        var parameters = Parameters.of(viewer.userID, id)
        parameters.append(uuid: cardID)
        parameters.append(text: isbn?.description)
        parameters.append(text: title)
        authors.append(to: &parameters)
        parameters.append(text: category)
        parameters.append(text: genre)
        parameters.append(text: status.rawValue, as: .inferred)
        parameters.append(uuids: shelfIDs)
        parameters.append(bool: fetchesCover && hasCoverSources)
        parameters.append(text: facts.publisher)
        parameters.append(text: facts.publishedDate)
        parameters.append(int32: facts.pageCount)
        parameters.append(text: facts.language)
        parameters.append(text: facts.description)
        parameters.append(text: series.name)
        parameters.append(text: series.position)
        parameters.append(text: facts.subtitle)
        if !reads.isEmpty { parameters.append(jsonb: .list(reads.map(\.json))) }
        let shape = StatementShape(
            hasCard: cardID != nil, hasChosenID: isIDChosen, hasShelves: !shelfIDs.isEmpty,
            hasReads: !reads.isEmpty)
        let key = pipeline.append(Self.insertStatement(shape), parameters)
        if hasGivenReads { pipeline.append(Self.refresh, .of(viewer.userID, id)) }
        return key
    }

    /// Appends the statement that finds the reason why the book was not created.
    func appendObstacle(to pipeline: inout Pipeline, for viewer: Viewer) -> ResultKey<Obstacle> {
        var parameters = Parameters.of(viewer.userID, id)
        parameters.append(uuid: cardID)
        parameters.append(text: isbn?.description)
        parameters.append(uuids: shelfIDs)
        parameters.append(bool: isIDChosen)
        parameters.append(jsonb: .list(reads.map(\.json)))
        return pipeline.append(Self.obstacle, parameters)
    }

    /// The ISBN by which a job completes the book's metadata; nil if no job is needed.
    var isbnToComplete: ISBN? { title != nil && cardID == nil ? isbn : nil }

    enum Outcome {
        /// The book exists. This request, or an earlier attempt at the same request, has created it.
        case book(UUID)
        case rejected(BookplateError)
        /// The input has only an ISBN, and the catalog has no record of it.
        case unknownISBN(ISBN)
        /// A concurrent transaction has just created the same book. A second attempt will find it.
        case lostRace
    }

    /// Returns the outcome of an attempt that did not create the book.
    func outcome(_ obstacle: Obstacle?) -> Outcome {
        guard let obstacle else { return .lostRace }
        if obstacle.isBookThere { return .book(id) }
        if let other = obstacle.sameBookID {
            return .rejected(
                .conflict(
                    .init(.alreadyInLibrary), id: other.description,
                    field: cardID == nil ? "isbn" : "cardId"))
        }
        if obstacle.isIDTaken { return .rejected(ChosenID.takenError) }
        if obstacle.isShelfMissing { return .rejected(.notFound(.noSuchShelf)) }
        if !obstacle.isCardFound {
            if cardID != nil { return .rejected(.notFound(.noSuchCard)) }
            if title == nil, let isbn { return .unknownISBN(isbn) }
        }
        return .lostRace
    }

    // MARK: - Statements

    /// The reasons why a book was not created.
    struct Obstacle: RowDecodable {
        /// Whether the library has a book with the id: an earlier attempt at the same request has created it.
        let isBookThere: Bool
        /// Another book of the library with the same edition or ISBN.
        let sameBookID: UUID?
        /// Whether the catalog has a record of the card or ISBN.
        let isCardFound: Bool
        /// Whether one of the shelves does not exist.
        let isShelfMissing: Bool
        /// Whether the id of the book, or of one of its reads, belongs to another object.
        let isIDTaken: Bool

        init?(_ row: inout RowReader) {
            guard let isBookThere = row.bool() else { return nil }
            self.isBookThere = isBookThere
            sameBookID = row.uuid()
            guard let isCardFound = row.bool(), let isShelfMissing = row.bool(),
                let isIDTaken = row.bool()
            else { return nil }
            self.isCardFound = isCardFound
            self.isShelfMissing = isShelfMissing
            self.isIDTaken = isIDTaken
        }
    }

    /// The parameters of the insert statement, in the order of `append`. Parts that other statements have, too, contain `$1` and `$2`
    /// themselves.
    private enum Given {
        static let user = "$1"
        static let id = "$2"
        static let card = "$3"
        static let isbn = "$4"
        static let title = "$5"
        static let authors = "$6"
        static let roles = "$7"
        static let category = "$8"
        static let genre = "$9"
        static let status = "$10"
        static let shelves = "$11"
        /// Whether to search for a cover.
        static let searchesCover = "$12"
        static let publisher = "$13"
        static let publishedDate = "$14"
        static let pageCount = "$15"
        static let language = "$16"
        static let description = "$17"
        static let series = "$18"
        static let seriesPosition = "$19"
        static let subtitle = "$20"
        /// Only in statements with reads.
        static let reads = "$21"
    }

    /// The parts that an insert statement has. PostgreSQL prepares all parts of a statement, even those that have nothing to
    /// do, so a book from a card, without an id of the client, shelves, and reads, has a shorter statement.
    private struct StatementShape: Hashable {
        let hasCard: Bool
        let hasChosenID: Bool
        let hasShelves: Bool
        let hasReads: Bool

        static let all = (0..<16).map { number in
            StatementShape(
                hasCard: number & 1 != 0, hasChosenID: number & 2 != 0,
                hasShelves: number & 4 != 0, hasReads: number & 8 != 0)
        }
    }

    private static let insertStatements = Dictionary(
        uniqueKeysWithValues: StatementShape.all.map { ($0, makeInsertStatement($0)) })

    private static func insertStatement(_ shape: StatementShape) -> TypedStatement<UUID> {
        insertStatements[shape] ?? makeInsertStatement(shape)
    }

    /// Creates the book and puts it on its shelves. The card's metadata fills the fields that the input leaves out. An
    /// edition that is found by the title and author is only linked: its metadata may be that of another edition.
    private static func makeInsertStatement(_ shape: StatementShape) -> TypedStatement<UUID> {
        let columns = bookColumns(hasCard: shape.hasCard)
        return TypedStatement(
            """
            WITH \(shape.hasCard ? "" : foundEdition)created AS (
              INSERT INTO books (
                \(columns.map(\.name).joined(separator: ", "))
              )
              SELECT
                \(columns.map(\.value).joined(separator: ", "))
              \(shape.hasCard ? fromCard : fromFoundEdition)
                \(shape.hasChosenID ? "AND NOT (\(idIsTaken))" : "")
                \(shape.hasReads ? "AND NOT \(NewBookReads.isTaken(Given.reads))" : "")
                \(shape.hasShelves ? "AND NOT \(isShelfMissing(Given.shelves))" : "")
              ON CONFLICT DO NOTHING
              RETURNING id, added_at\(shape.hasShelves ? ", title, language, author" : "")\(shape.hasReads ? ", page_count, genre, authors, author_ids" : "")
            )\(shape.hasShelves ? shelved : "")\(shape.hasReads ? NewBookReads.added : "")
            SELECT id
            FROM created
            """)
    }

    /// Finds the reason why a book was not created. `$1` is the user, `$2` the id of the book, `$3` the card, `$4` the ISBN, `$5`
    /// are the shelves, `$6` is whether the client chose the id, and `$7` are the reads.
    private static let obstacle = TypedStatement<Obstacle>(
        """
        WITH card AS (
          SELECT e.id, e.isbn13
          FROM editions e
          WHERE ($3 IS NOT NULL AND e.id = $3) OR ($3 IS NULL AND e.isbn13 = $4)
        )
        SELECT
          EXISTS (SELECT FROM books WHERE user_id = $1 AND id = $2),
          (
            SELECT id
            FROM books
            WHERE user_id = $1
              AND id <> $2
              AND (
                edition_id = (SELECT id FROM card)
                OR isbn13 = coalesce($4, (SELECT isbn13 FROM card))
              )
            LIMIT 1
          ),
          EXISTS (SELECT FROM card),
          \(isShelfMissing("$5")),
          ($6 AND (\(idIsTaken))) OR \(NewBookReads.isTaken("$7"))
        """)

    private static let idIsTaken = ChosenID.isTaken(
        in: ["shelves", "reviews", "imports", "reads", "progress_entries", "notes"])

    /// Returns the condition that one of the shelves does not exist.
    private static func isShelfMissing(_ parameter: String) -> String {
        """
        EXISTS (
          SELECT
          FROM unnest(\(parameter)::uuid[]) AS requested (id)
          WHERE NOT EXISTS (SELECT FROM shelves s WHERE s.user_id = $1 AND s.id = requested.id)
        )
        """
    }

    private static let fromCard = """
        FROM editions card
        WHERE card.id = \(Given.card)
        """

    /// The edition with the ISBN, or else the one that the title and the authors mean.
    private static let foundEdition = """
        card AS (
          SELECT *
          FROM editions e
          WHERE e.isbn13 = \(Given.isbn)
        ), matched AS (
          SELECT m.edition_id, m.linked_by
          FROM match_books(
            ARRAY[\(Given.user)], ARRAY[\(Given.id)], ARRAY[\(Given.isbn)], ARRAY[\(Given.title)],
            ARRAY[author_text(\(Given.authors), \(Given.roles)::author_role[])], NULL
          ) m
          WHERE \(Given.title) IS NOT NULL AND NOT EXISTS (SELECT FROM card)
        ), 
        """

    /// One row even if the catalog has no edition.
    private static let fromFoundEdition = """
        FROM (SELECT) AS one
        LEFT JOIN card ON true
        LEFT JOIN matched ON true
        WHERE coalesce(\(Given.title), card.title) IS NOT NULL
        """

    /// The columns of the new book. `card` is the record of the catalog, and `matched` the edition found by title and author.
    private static func bookColumns(hasCard: Bool) -> [(name: String, value: String)] {
        [
            ("user_id", Given.user),
            ("id", Given.id),
            ("edition_id", hasCard ? "card.id" : "coalesce(card.id, matched.edition_id)"),
            (
                "linked_by",
                hasCard
                    ? "'CARD'"
                    : """
                    CASE
                      WHEN card.id IS NULL THEN coalesce(matched.linked_by, 'CARD')
                      ELSE 'ISBN'
                    END
                    """
            ),
            ("title", "coalesce(\(Given.title), card.title)"),
            // The subtitle of the catalog belongs to its title.
            (
                "subtitle",
                """
                coalesce(
                  \(Given.subtitle),
                  CASE
                    WHEN coalesce(\(Given.title), card.title) = card.title
                    THEN left(nullif(btrim(card.subtitle), ''), \(BookFacts.subtitleCharactersMax))
                  END
                )
                """
            ),
            (
                "authors",
                "CASE WHEN \(Given.authors) = '{}' THEN coalesce(card.authors, '{}') ELSE \(Given.authors) END"
            ),
            (
                "author_roles",
                "CASE WHEN \(Given.authors) = '{}' THEN coalesce(card.author_roles, '{}') ELSE \(Given.roles)::author_role[] END"
            ),
            ("isbn13", "coalesce(\(Given.isbn), card.isbn13)"),
            ("publisher", "coalesce(\(Given.publisher), card.publisher)"),
            ("published_date", "coalesce(\(Given.publishedDate), card.published_date)"),
            ("page_count", "coalesce(\(Given.pageCount), card.page_count)"),
            ("language", "coalesce(\(Given.language), card.language)"),
            ("category", Given.category),
            ("genre", "coalesce(\(Given.genre), card.genres[1])"),
            ("description", "coalesce(\(Given.description), card.description)"),
            ("series", Given.series),
            ("series_position", Given.seriesPosition),
            ("status", "\(Given.status)::reading_status"),
            ("started_at", "CASE WHEN \(Given.status)::reading_status = 'READING' THEN now() END"),
            ("finished_at", "CASE WHEN \(Given.status)::reading_status = 'READ' THEN now() END"),
            (
                "cover_status",
                "CASE WHEN \(Given.searchesCover) THEN 'FETCHING' ELSE 'NO_COVER' END::cover_status"
            ),
            ("cover_requested_at", "CASE WHEN \(Given.searchesCover) THEN now() END"),
        ]
    }

    private static let refresh = Statement("SELECT refresh_read_books($1, ARRAY[$2], false)")

    private static let shelved = """
        , shelved AS (
          INSERT INTO shelf_books (user_id, shelf_id, book_id, added_at, sort_title, sort_author)
          SELECT
            \(Given.user), requested.id, created.id, created.added_at,
            book_sort_title(created.title, created.language), book_sort_author(created.author)
          FROM created, unnest(\(Given.shelves)::uuid[]) AS requested (id)
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
        case .failure(let problem): throw .badUserInput(field: "isbn", .init(problem.reason))
        }
    }
}
