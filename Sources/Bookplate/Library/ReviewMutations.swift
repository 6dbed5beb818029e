import GraphQL
import Postgres

extension Review {
    static let textCharactersMax = 100_000

    static let write = RowMutation(type, by: bookID) {
        arguments, request, review throws(BookplateError) in
        let book = try arguments.id("id", replacing: "bookId", else: Book.noSuchBook)
        let input = InputObject(arguments["input"])
        guard input.isGiven("rating") || input.isGiven("text") else { throw isEmpty }
        let rating = input["rating"].flatMap { $0.isNull ? nil : $0 }
        if let rating, !(1...5).contains(rating.int ?? 0) {
            throw .badUserInput(field: "rating", "A rating must be from 1 to 5.")
        }
        let text = try TextInput.optional(
            input.text("text"), field: "text", charactersMax: textCharactersMax)
        let (results, statusKey) = try await request.write { pipeline, viewer in
            var parameters = Parameters.of(viewer.userID, book, .version7())
            parameters.append(int32: rating?.int.map { Int32(2 * $0) })
            parameters.append(text: text)
            parameters.append(bool: input.isGiven("rating"))
            parameters.append(bool: input.isGiven("text"))
            let status = pipeline.append(upsert, parameters)
            pipeline.replaceDeckSoon(of: viewer.userID)
            review.append([book], to: &pipeline, for: viewer)
            return status
        }
        guard let outcome = results[statusKey].first else { throw .notFound(Book.noSuchBook) }
        guard outcome.bookIsRead else {
            throw .badUserInput(
                field: "id",
                "Only books with the status READ can be reviewed. Change the book's status first.")
        }
        guard outcome.hasContent else { throw isEmpty }
        return try review.only(results.last, orElse: Book.noSuchBook)
    }

    private static let isEmpty = BookplateError.badUserInput(
        field: "rating",
        "A review needs a rating or a text. To delete a review, use deleteReview.")

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

    private struct Outcome: RowDecodable {
        let bookIsRead: Bool
        /// Whether the review would have a rating or a text.
        let hasContent: Bool

        init?(_ row: inout RowReader) {
            guard let bookIsRead = row.bool(), let hasContent = row.bool() else { return nil }
            self.bookIsRead = bookIsRead
            self.hasContent = hasContent
        }
    }

    /// Writes the review if the book's status is READ and the review is not empty. The rating and the text are unchanged if the
    /// input does not have them (`$6` and `$7` are false), and removed if they are null.
    private static let upsert = TypedStatement<Outcome>(
        """
        WITH given AS (
          SELECT
            b.id,
            b.status = 'READ' AS is_read,
            CASE WHEN $6 THEN $4::smallint ELSE r.half_stars END AS half_stars,
            CASE WHEN $7 THEN $5 ELSE r.text END AS text
          FROM books b
          LEFT JOIN reviews r ON r.user_id = b.user_id AND r.book_id = b.id
          WHERE b.user_id = $1 AND b.id = $2
        ), review AS (
          INSERT INTO reviews AS r (user_id, book_id, id, half_stars, text)
          SELECT $1, id, $3, half_stars, text
          FROM given
          WHERE is_read AND (half_stars IS NOT NULL OR text IS NOT NULL)
          ON CONFLICT (user_id, book_id) DO UPDATE
          SET half_stars = excluded.half_stars, text = excluded.text, updated_at = now()
        )
        SELECT is_read, half_stars IS NOT NULL OR text IS NOT NULL FROM given
        """)

    private static let deleteReview = TypedStatement<UUID>(
        "DELETE FROM reviews WHERE user_id = $1 AND book_id = $2 RETURNING id")
}
