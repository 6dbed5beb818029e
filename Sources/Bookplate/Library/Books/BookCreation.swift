import GraphQL
import Postgres

/// A book to be made: by hand, from an ISBN, or from a card of the catalogue.
///
/// Making it never fails in the database, so that fifty can be made in one transaction and each
/// succeeds or fails by itself.
struct BookCreation {
    let id: UUID
    private let title: String?
    private let author: String?
    private let isbn: ISBN?
    private let cardID: UUID?
    private let shelfIDs: [UUID]
    private let status: String
    private let category: String?
    private let genre: String?
    /// Whether a cover is looked for.
    let wantsCover: Bool

    static let titleCharactersMax = 500
    static let authorCharactersMax = 500
    static let labelCharactersMax = 100
    static let shelvesMax = 100

    /// - Throws: `.badUserInput` naming the field, or `.notFound` for a card or shelf nobody has.
    init(_ input: InputObject) throws(BookplateError) {
        id = try input.newID()
        title = try TextInput.optional(
            input.text("title"), field: "title", charactersMax: Self.titleCharactersMax)
        author = try TextInput.optional(
            input.text("author"), field: "author", charactersMax: Self.authorCharactersMax)
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
        status = input.text("status") ?? "WANT_TO_READ"
        category = try TextInput.optional(
            input.text("category"), field: "category", charactersMax: Self.labelCharactersMax)
        genre = try TextInput.optional(
            input.text("genre"), field: "genre", charactersMax: Self.labelCharactersMax)
        wantsCover = input["fetchCover"] != .boolean(false)
    }

    /// - Parameter canSearch: whether there is anybody who could be asked for a cover.
    func append(to segment: inout Pipeline, for viewer: Viewer, canSearch: Bool) {
        var parameters = Parameters.of(viewer.userID, id)
        parameters.append(uuid: cardID)
        parameters.append(text: isbn?.description)
        parameters.append(text: title)
        parameters.append(text: author)
        parameters.append(text: category)
        parameters.append(text: genre)
        parameters.append(text: status, as: .inferred)
        parameters.append(uuids: shelfIDs)
        parameters.append(bool: wantsCover && canSearch)
        segment.append(Self.insert, parameters)
    }

    /// Adds, in the transaction that makes the book, the job that finds out about it.
    ///
    /// - Parameter canAsk: whether there is anybody who could be asked.
    func appendCompletion(to segment: inout Pipeline, for viewer: Viewer, canAsk: Bool) {
        guard canAsk, title != nil, cardID == nil, let isbn else { return }
        segment.enqueueCompletion(of: isbn, for: viewer)
    }

    /// What the statement made of it.
    enum Outcome {
        /// The book that is there now, made just now or by the same request before.
        case book(UUID)
        case refused(BookplateError)
        /// The ISBN is all that is said of the book, and the catalogue does not know it.
        case unknownISBN(ISBN)
        /// Another transaction has made the book a moment ago. Asked again, it is seen.
        case overtaken
    }

    func outcome(_ rows: Rows) -> Outcome {
        if rows.uuid(0, 0) != nil || rows.uuid(0, 1) != nil { return .book(id) }
        if let other = rows.uuid(0, 2) {
            return .refused(
                .conflict(
                    Self.isThere, id: other.description, field: cardID == nil ? "isbn" : "cardId"))
        }
        if rows.bool(0, 4) == true { return .refused(.notFound(Shelf.noSuchShelf)) }
        if rows.bool(0, 3) != true {
            if cardID != nil { return .refused(.notFound(FeedCard.noSuchCard)) }
            if title == nil, let isbn { return .unknownISBN(isbn) }
        }
        return .overtaken
    }

    static let isThere = "This book is in the library already."
    static let unknown = "No book with this ISBN is known. Add it with its title."

    /// The card's facts fill what the input leaves open. Answers in one row: the book made, the book
    /// that has the id, the book that is the same, whether a card was found, whether a shelf is missing.
    private static let insert = Statement(
        """
        WITH card AS (SELECT * FROM editions e \
        WHERE ($3 IS NOT NULL AND e.id = $3) OR ($3 IS NULL AND e.isbn13 = $4)), \
        missing AS (SELECT FROM unnest($10::uuid[]) AS w (id) \
        WHERE NOT EXISTS (SELECT FROM shelves s WHERE s.user_id = $1 AND s.id = w.id)), \
        made AS (INSERT INTO books (user_id, id, edition_id, title, author, isbn13, publisher, \
        published_date, page_count, category, genre, description, status, started_at, finished_at, \
        cover_status, cover_wanted_at) \
        SELECT $1, $2, card.id, coalesce($5, card.title), coalesce($6, card.authors[1]), \
        coalesce($4, card.isbn13), card.publisher, card.published_date, card.page_count, $7, \
        coalesce($8, card.genres[1]), card.description, $9::reading_status, \
        CASE WHEN $9::reading_status = 'READING' THEN now() END, \
        CASE WHEN $9::reading_status = 'READ' THEN now() END, \
        CASE WHEN $11 THEN 'FETCHING' ELSE 'NONE' END::cover_status, CASE WHEN $11 THEN now() END \
        FROM (SELECT) AS one LEFT JOIN card ON true \
        WHERE coalesce($5, card.title) IS NOT NULL AND ($3 IS NULL OR card.id IS NOT NULL) \
        AND NOT EXISTS (SELECT FROM missing) \
        ON CONFLICT DO NOTHING RETURNING id, added_at), \
        placed AS (INSERT INTO shelf_books (user_id, shelf_id, book_id, added_at) \
        SELECT $1, w.id, made.id, made.added_at FROM made, unnest($10::uuid[]) AS w (id)) \
        SELECT (SELECT id FROM made), \
        (SELECT id FROM books WHERE user_id = $1 AND id = $2), \
        (SELECT id FROM books WHERE user_id = $1 AND id <> $2 \
        AND (edition_id = (SELECT id FROM card) \
        OR isbn13 = coalesce($4, (SELECT isbn13 FROM card))) LIMIT 1), \
        EXISTS (SELECT FROM card), EXISTS (SELECT FROM missing)
        """)
}

extension ISBN {
    /// - Throws: `.badUserInput` saying what is wrong with it; nil and blanks are none.
    static func optional(_ text: String?) throws(BookplateError) -> ISBN? {
        guard let text, text.contains(where: { !$0.isWhitespace }) else { return nil }
        switch read(text) {
        case .success(let isbn): return isbn
        case .failure(let problem): throw .badUserInput(field: "isbn", problem.message)
        }
    }
}
