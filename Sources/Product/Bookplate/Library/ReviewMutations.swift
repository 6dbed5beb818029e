import GraphQL
import Postgres
import Requests

extension Review {
    static let textCharactersMax = 100_000

    static let write = RowMutation(type, by: bookID) {
        arguments, request, review throws(BookplateError) in
        let book = try arguments.id("id", else: .noSuchBook)
        let input = InputObject(arguments["input"])
        let rating = try GivenRating(input)
        let hasSpoilers = input["hasSpoilers"]
        guard rating != nil || input.isGiven("text") || hasSpoilers != nil else { throw noContent }
        let text = try TextInput.optional(
            input.text("text"), field: "text", charactersMax: textCharactersMax)
        let (results, statusKey) = try await request.write { pipeline, viewer in
            var parameters = Parameters.of(viewer.userID, book, .version7())
            parameters.append(int32: rating?.halfStars)
            parameters.append(text: text)
            parameters.append(bool: rating != nil)
            parameters.append(bool: input.isGiven("text"))
            parameters.append(bool: rating?.isWhole ?? false)
            parameters.append(uuid: viewer.tenantID)
            parameters.append(bool: hasSpoilers.map { $0.boolean ?? false })
            let status = pipeline.append(upsert, parameters)
            pipeline.replaceDeckSoon(of: viewer.userID)
            review.append([book], to: &pipeline, for: viewer)
            return status
        }
        guard let outcome = results[statusKey].first else { throw .notFound(.noSuchBook) }
        guard outcome.isAllowed else {
            throw .badUserInput(
                field: "stars", .init(.halfStarsOff))
        }
        guard outcome.hasContent else { throw noContent }
        return try review.only(results.last, orElse: .noSuchBook)
    }

    private static let noContent = BookplateError.badUserInput(
        field: "rating",
        .init(.emptyReview))

    /// The rating in an input object, as `stars` or `rating`.
    struct GivenRating: Equatable {
        /// From 1 to 10; nil to remove the rating.
        let halfStars: Int32?
        /// Whether it was sent in whole stars, by an app that may not know half stars.
        let isWhole: Bool

        /// - Returns: Nil if the input has neither field.
        /// - Throws: `.badUserInput` for a rating that does not exist, and for two of them.
        init?(_ input: InputObject) throws(BookplateError) {
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
                halfStars = Int32(2 * rating)
            case (nil, let stars?):
                guard (0.5...5).contains(stars), let number = Int32(exactly: 2 * stars) else {
                    throw .badUserInput(
                        field: "stars", .init(.invalidStars, min: 0.5, max: 5))
                }
                halfStars = number
            case (nil, nil):
                halfStars = nil
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
        /// Whether the rating has whole stars, or the tenant's app has half stars.
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
    /// if the app shows the stars of the review as this rating. The mark of spoilers is unchanged if `$10` is null.
    private static let upsert = TypedStatement<Outcome>(
        """
        WITH given AS (
          SELECT
            b.id,
            $4::int IS NULL OR $4 % 2 = 0 OR t.half_stars AS is_allowed,
            CASE
              WHEN $6 AND NOT ($8 AND \(rating) IS NOT DISTINCT FROM $4 / 2) THEN $4::smallint
              ELSE r.half_stars
            END AS half_stars,
            CASE WHEN $7 THEN $5 ELSE r.text END AS text,
            coalesce($10, r.has_spoilers, false) AS has_spoilers
          FROM books b
          JOIN tenants t ON t.id = $9
          LEFT JOIN reviews r ON r.user_id = b.user_id AND r.book_id = b.id
          WHERE b.user_id = $1 AND b.id = $2
        ), review AS (
          INSERT INTO reviews AS r (user_id, book_id, id, half_stars, text, has_spoilers)
          SELECT $1, id, $3, half_stars, text, has_spoilers
          FROM given
          WHERE is_allowed AND (half_stars IS NOT NULL OR text IS NOT NULL)
          ON CONFLICT (user_id, book_id) DO UPDATE
          SET
            half_stars = excluded.half_stars,
            text = excluded.text,
            has_spoilers = excluded.has_spoilers,
            updated_at = excluded.updated_at
        )
        SELECT is_allowed, half_stars IS NOT NULL OR text IS NOT NULL FROM given
        """)

    private static let deleteReview = TypedStatement<UUID>(
        "DELETE FROM reviews WHERE user_id = $1 AND book_id = $2 RETURNING id")
}
