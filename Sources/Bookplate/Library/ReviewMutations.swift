import GraphQL
import Postgres

extension Review {
    static let textCharactersMax = 100_000

    static let write = RowMutation(type, by: bookID) {
        arguments, request, review throws(BookplateError) in
        let book = try arguments.id("bookId", else: Book.noSuchBook)
        let input = InputObject(arguments["input"])
        guard let rating = input["rating"]?.int, (1...5).contains(rating) else {
            throw .badUserInput(field: "rating", "A rating is 1 to 5.")
        }
        let text = try TextInput.optional(
            input.text("text"), field: "text", charactersMax: textCharactersMax)
        let rows = try await request.write { segment, viewer in
            var parameters = Parameters.of(viewer.userID, book, .version7())
            parameters.append(int32: Int32(rating))
            parameters.append(text: text)
            parameters.append(bool: input.isGiven("text"))
            segment.append(upsert, parameters)
            review.append([book], to: &segment, for: viewer)
        }
        guard let status = rows[0].text(0, 0) else { throw .notFound(Book.noSuchBook) }
        guard status == "READ" else {
            throw .badUserInput(
                field: "bookId", "A review is for a book you have read. Mark it as READ first.")
        }
        return try review.only(rows[1], orElse: Book.noSuchBook)
    }

    /// Answers the book's id also when there is no review, so that it can be sent again.
    static let delete = LeafMutation { arguments, request throws(BookplateError) in
        let bookID = try arguments.id("bookId", else: Book.noSuchBook)
        _ = try await request.write { segment, viewer in
            segment.append(deleteReview, .of(viewer.userID, bookID))
        }
        return .string(bookID.description)
    }

    /// Answers the book's status. An absent text stays, null clears it.
    private static let upsert = Statement(
        """
        WITH book AS (SELECT id, status FROM books WHERE user_id = $1 AND id = $2), \
        review AS (INSERT INTO reviews AS r (user_id, book_id, id, rating, text) \
        SELECT $1, id, $3, $4, $5 FROM book WHERE status = 'READ' \
        ON CONFLICT (user_id, book_id) DO UPDATE SET rating = excluded.rating, \
        text = CASE WHEN $6 THEN excluded.text ELSE r.text END, updated_at = now() RETURNING id) \
        SELECT status FROM book
        """)

    private static let deleteReview = Statement(
        "DELETE FROM reviews WHERE user_id = $1 AND book_id = $2")
}
