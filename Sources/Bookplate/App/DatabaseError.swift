import Postgres

extension BookplateError {
    /// What a client is told of a database error; nil where it is ours to mend.
    ///
    /// Our SQL functions raise `BP4xx` with a sentence as message and, where it helps, the input
    /// field as column and an id as detail. `BP411` is a refusal that the operator hears of. Constraints say what they guard by their names.
    init?(_ error: PostgresError) {
        guard case .server(let server) = error else { return nil }
        switch server.sqlState.rawValue {
        case "BP401", "BP411": self = .unauthenticated
        case "BP429":
            self = .rateLimited(retryAfterSeconds: server.detail.flatMap { Int($0) } ?? 60)
        case "BP404": self = .notFound(server.message)
        case "BP400": self = .badUserInput(field: server.column ?? "input", server.message)
        case "BP413": self = .payloadTooLarge(server.message)
        case "BP409": self = .conflict(server.message, id: server.detail)
        case "23505", "23514", "23503":
            guard let constraint = server.constraint else { return nil }
            if constraint.hasSuffix("_user_id_fkey") {
                // The account was deleted while this request was under way.
                self = .unauthenticated
            } else if let known = Self.constraint(constraint) {
                self = known
            } else {
                return nil
            }
        default: return nil
        }
    }

    /// The error that a constraint means; nil for what input cannot reach.
    static func constraint(_ name: String) -> BookplateError? { constraints[name] }

    /// A constraint that input can reach, with the error it means. What can be said better before
    /// asking the database is said there; this is the last line, and it holds under concurrency.
    private static let constraints: [String: BookplateError] = [
        "shelves_name": .conflict(
            "There is a shelf with this name already. Choose another name.", field: "name"),
        "shelves_pkey": .conflict("There is a shelf with this id already.", field: "id"),
        "books_edition_id": .conflict("This book is in the library already.", field: "isbn"),
        "books_isbn13": .conflict(
            "A book with this ISBN is in the library already.", field: "isbn"),
        "shelf_books_user_id_shelf_id_fkey": .notFound("There is no such shelf."),
        "shelf_books_user_id_book_id_fkey": .notFound("There is no such book."),
        "reviews_user_id_book_id_fkey": .notFound("There is no such book."),
        "shelves_name_check": .badUserInput(
            field: "name", "A name has 1 to 100 characters, and none of them blank at its ends."),
        "books_title_check": .badUserInput(
            field: "title", "A title has 1 to 500 characters, and none of them blank at its ends."),
        "books_author_check": .badUserInput(
            field: "author", "Author may have at most 500 characters."),
        "books_isbn13_check": .badUserInput(field: "isbn", ISBN.Problem.length.message),
        "books_category_check": .badUserInput(
            field: "category", "Category may have at most 100 characters."),
        "books_genre_check": .badUserInput(
            field: "genre", "Genre may have at most 100 characters."),
        "books_current_page_check": .badUserInput(
            field: "currentPage", "This is a whole number from 0."),
        "reviews_rating_check": .badUserInput(field: "rating", "A rating is 1 to 5."),
        "reviews_text_check": .badUserInput(
            field: "text", "Text may have at most 100,000 characters."),
        "covers_user_id_book_id_fkey": .notFound("There is no such book in the library."),
    ]
}
