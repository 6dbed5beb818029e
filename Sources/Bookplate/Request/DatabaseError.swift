import Postgres

extension BookplateError {
    /// What a client is told of a database error; nil where it is ours to mend.
    ///
    /// Our SQL functions raise `BP4xx` with a sentence as message and, where it helps, the input
    /// field as column and an id as detail. Constraints say what they guard by their names.
    init?(_ error: PostgresError) {
        guard case .server(let server) = error else { return nil }
        switch server.sqlState.rawValue {
        case "BP401": self = .unauthenticated
        case "BP404": self = .notFound(server.message)
        case "BP400": self = .badUserInput(field: server.column ?? "input", server.message)
        case "BP413": self = .payloadTooLarge(server.message)
        case "BP409": self = .conflict(server.message, id: server.detail)
        case "23505", "23514", "23503":
            guard let constraint = server.constraint else { return nil }
            if constraint.hasSuffix("_user_id_fkey") {
                // The account was deleted while this request was under way.
                self = .unauthenticated
            } else if let known = Self.constraints[constraint] {
                self = known
            } else {
                return nil
            }
        default: return nil
        }
    }

    /// A constraint that input can reach, with the error it means. What can be said better before
    /// asking the database is said there; this is the last line, and it holds under concurrency.
    private static let constraints: [String: BookplateError] = [
        "shelves_name": .conflict("There is a shelf with this name already. Choose another name."),
        "shelves_pkey": .conflict("There is a shelf with this id already."),
        "books_edition_id": .conflict("This book is in the library already."),
        "books_isbn13": .conflict("A book with this ISBN is in the library already."),
        "shelf_books_user_id_shelf_id_fkey": .notFound("There is no such shelf."),
        "shelf_books_user_id_book_id_fkey": .notFound("There is no such book."),
        "reviews_user_id_book_id_fkey": .notFound("There is no such book."),
        "covers_user_id_book_id_fkey": .notFound("There is no such book in the library."),
    ]
}
