import GraphQL
import Postgres

extension Review {
    static let textCharactersMax = 100_000

    static let write = RowMutation(type, by: bookID) {
        arguments, request, review throws(BookplateError) in
        let book = try arguments.id("id", replacing: "bookId", else: Book.noSuchBook)
        let input = InputObject(arguments["input"])
        guard let rating = input["rating"]?.int, (1...5).contains(rating) else {
            throw .badUserInput(field: "rating", "A rating must be from 1 to 5.")
        }
        let text = try TextInput.optional(
            input.text("text"), field: "text", charactersMax: textCharactersMax)
        let (results, statusKey) = try await request.write { pipeline, viewer in
            var parameters = Parameters.of(viewer.userID, book, .version7())
            parameters.append(int32: Int32(rating))
            parameters.append(text: text)
            parameters.append(bool: input.isGiven("text"))
            let status = pipeline.append(upsert, parameters)
            pipeline.replaceDeckSoon(of: viewer.userID)
            review.append([book], to: &pipeline, for: viewer)
            return status
        }
        guard let status = results[statusKey].first else { throw .notFound(Book.noSuchBook) }
        guard status == "READ" else {
            throw .badUserInput(
                field: "id",
                "Only books with the status READ can be reviewed. Change the book's status first.")
        }
        return try review.only(results.last, orElse: Book.noSuchBook)
    }

    /// Succeeds even if there is no review, so that clients can retry the mutation.
    static let delete = PlainMutation(.one) { arguments, request throws(BookplateError) in
        let bookID = try arguments.id("id", replacing: "bookId", else: Book.noSuchBook)
        let reviews = try await request.write { pipeline, viewer in
            let reviews = pipeline.append(deleteReview, .of(viewer.userID, bookID))
            pipeline.replaceDeckSoon(of: viewer.userID)
            return reviews
        }
        var payload = PlainObject(ids: ["book": [bookID]])
        if let review = reviews.first { payload.leaves["id"] = .string(review.description) }
        return [payload]
    }

    static let deletePayloadFields: [String: FieldResolver] = [
        "id": .property, "book": .load(RowsOfPlainObject(.one, Book.type)),
    ]

    /// Writes the review if the book's status is READ, and returns that status. The text is unchanged if the input
    /// does not have it (`$6` is false) and removed if it is null.
    private static let upsert = TypedStatement<String>(
        """
        WITH book AS (
          SELECT id, status FROM books WHERE user_id = $1 AND id = $2
        ), review AS (
          INSERT INTO reviews AS r (user_id, book_id, id, rating, text)
          SELECT $1, id, $3, $4, $5 FROM book WHERE status = 'READ'
          ON CONFLICT (user_id, book_id) DO UPDATE
          SET rating = excluded.rating,
              text = CASE WHEN $6 THEN excluded.text ELSE r.text END,
              updated_at = now()
          RETURNING id
        )
        SELECT status FROM book
        """)

    private static let deleteReview = TypedStatement<UUID>(
        "DELETE FROM reviews WHERE user_id = $1 AND book_id = $2 RETURNING id")
}
