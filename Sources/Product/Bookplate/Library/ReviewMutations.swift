import GraphQL
import Postgres
import Requests

extension Review {
    static let textCharactersMax = 100_000

    static let write = RowMutation(type, by: bookID) {
        arguments, request, review throws(BookplateError) in
        let book = try arguments.id("id", else: .noSuchBook)
        let input = InputObject(arguments["input"])
        let step = try await request.ratingStep
        let rating = try GivenRating(input, step: step)
        let hasSpoilers = input["hasSpoilers"]
        guard rating != nil || input.isGiven("text") || hasSpoilers != nil else { throw noContent }
        let text = try TextInput.optional(
            input.text("text"), field: "text", charactersMax: textCharactersMax)
        let (results, statusKey) = try await request.write { pipeline, viewer in
            var parameters = Parameters.of(viewer.userID, book, .version7())
            parameters.append(int32: rating?.quarterStars)
            parameters.append(text: text)
            parameters.append(bool: rating != nil)
            parameters.append(bool: input.isGiven("text"))
            parameters.append(bool: rating?.isWhole ?? false)
            parameters.append(int32: step.quarterStars)
            parameters.append(bool: hasSpoilers.map { $0.boolean ?? false })
            let status = pipeline.append(upsert, parameters)
            pipeline.replaceDeckSoon(of: viewer.userID)
            review.append([book], to: &pipeline, for: viewer)
            return status
        }
        guard let outcome = results[statusKey].first else { throw .notFound(.noSuchBook) }
        guard outcome.isAllowed else {
            throw invalidStars(step)
        }
        guard outcome.hasContent else { throw noContent }
        return try review.only(results.last, orElse: .noSuchBook)
    }

    private static let noContent = BookplateError.badUserInput(
        field: "rating",
        .init(.emptyReview))

    private static func invalidStars(_ step: RatingStep) -> BookplateError {
        .badUserInput(field: "stars", .init(.invalidStars, min: step.stars, max: 5))
    }

    /// The rating in an input object, as `stars` or `rating`.
    struct GivenRating: Equatable {
        /// From 1 to 20; nil to remove the rating.
        let quarterStars: Int32?
        /// Whether it was sent in whole stars, by an app that may know only whole stars.
        let isWhole: Bool

        /// - Returns: Nil if the input has neither field.
        /// - Parameter step: The step of ratings, for the error.
        /// - Throws: `.badUserInput` for a rating that does not exist, and for two of them.
        init?(_ input: InputObject, step: RatingStep) throws(BookplateError) {
            guard input.isGiven("rating") || input.isGiven("stars") else { return nil }
            let rating = input["rating"].flatMap { $0.isNull ? nil : $0.int ?? 0 }
            // Arguments of type Float are always coerced to `float`.
            var stars: Double?
            if case .float(let value) = input["stars"] { stars = value }
            switch (rating, stars) {
            case (_?, _?):
                throw .badUserInput(
                    field: "stars", .init(.conflictingFields, value: "`rating`, `stars`"))
            case (let rating?, nil):
                guard (1...5).contains(rating) else {
                    throw .badUserInput(field: "rating", .init(.outOfRange, min: 1, max: 5))
                }
                quarterStars = Int32(4 * rating)
            case (nil, let stars?):
                guard (0.25...5).contains(stars), let number = Int32(exactly: 4 * stars) else {
                    throw invalidStars(step)
                }
                quarterStars = number
            case (nil, nil):
                quarterStars = nil
            }
            isWhole = rating != nil
        }
    }

    /// Succeeds even if there is no review, so that clients can retry the mutation.
    static let delete = PlainMutation(.one) { arguments, request throws(BookplateError) in
        let bookID = try arguments.id("id", else: .noSuchBook)
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
        /// Whether the rating is a multiple of the step, or the present one.
        let isAllowed: Bool
        /// Whether the review would have a rating or a text.
        let hasContent: Bool

        init?(_ row: inout RowReader) {
            guard let isAllowed = row.bool(), let hasContent = row.bool() else { return nil }
            self.isAllowed = isAllowed
            self.hasContent = hasContent
        }
    }

    /// Writes the review if the rating is allowed and the review is not empty. The rating and the text are unchanged if the input
    /// does not have them (`$6` and `$7` are false), and removed if they are null. A rating in whole stars (`$8`) is unchanged, too,
    /// if the app shows the stars of the review as this rating. `$9` is the step of ratings in quarter stars. The mark of spoilers is unchanged if `$10` is null.
    private static let upsert = TypedStatement<Outcome>(
        """
        WITH given AS (
          SELECT
            b.id,
            $4::int IS NULL OR $4 % $9 = 0 OR $4 IS NOT DISTINCT FROM r.quarter_stars AS is_allowed,
            CASE
              WHEN $6 AND NOT ($8 AND \(rating) IS NOT DISTINCT FROM $4 / 4) THEN $4::smallint
              ELSE r.quarter_stars
            END AS quarter_stars,
            CASE WHEN $7 THEN $5 ELSE r.text END AS text,
            coalesce($10, r.has_spoilers, false) AS has_spoilers
          FROM books b
          LEFT JOIN reviews r ON r.user_id = b.user_id AND r.book_id = b.id
          WHERE b.user_id = $1 AND b.id = $2
        ), review AS (
          INSERT INTO reviews AS r (user_id, book_id, id, quarter_stars, text, has_spoilers)
          SELECT $1, id, $3, quarter_stars, text, has_spoilers
          FROM given
          WHERE is_allowed AND (quarter_stars IS NOT NULL OR text IS NOT NULL)
          ON CONFLICT (user_id, book_id) DO UPDATE
          SET
            quarter_stars = excluded.quarter_stars,
            text = excluded.text,
            has_spoilers = excluded.has_spoilers,
            updated_at = excluded.updated_at
        )
        SELECT is_allowed, quarter_stars IS NOT NULL OR text IS NOT NULL FROM given
        """)

    private static let deleteReview = TypedStatement<UUID>(
        "DELETE FROM reviews WHERE user_id = $1 AND book_id = $2 RETURNING id")
}
