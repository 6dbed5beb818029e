import GraphQL
import Identity
import Postgres

extension User {
    static let preferredGenresMax = 50

    static let update = RowMutation(type) { arguments, request, user throws(BookplateError) in
        let input = InputObject(arguments["input"])
        let displayName = try TextInput.optional(
            input.text("displayName"), field: "displayName",
            charactersMax: Sessions.displayNameCharactersMax)
        var genres: [String]?
        if input.isGiven("preferredGenres") {
            let names = input["preferredGenres"]?.list?.compactMap(\.string) ?? []
            guard names.count <= preferredGenresMax else {
                throw .badUserInput(
                    field: "preferredGenres", "At most \(preferredGenresMax) genres.")
            }
            // Throws for names that the catalogue does not have.
            _ = try await request.services.genres.ids(
                named: names, field: "preferredGenres", for: request)
            genres = names
        }
        let rows = try await request.write { segment, viewer in
            var parameters = Parameters.of(viewer.userID)
            parameters.append(bool: input.isGiven("displayName"))
            parameters.append(text: displayName)
            parameters.append(bool: genres != nil)
            parameters.append(texts: genres ?? [])
            segment.append(updateProfile, parameters)
            user.append([viewer.userID], to: &segment, for: viewer)
        }
        return try user.only(rows[1], orElse: "There is no such user.")
    }

    static let deleteAccount = PlainMutation(.one) {
        arguments, request throws(BookplateError) in
        let viewer = try request.caller()
        guard arguments["confirm"]?.string.flatMap({ UUID($0) }) == viewer.userID else {
            throw .badUserInput(
                field: "confirm", "To delete the account, send your own user id as confirm.")
        }
        let rows = try await request.write { segment, viewer in
            var parameters = Parameters.of(viewer.userID)
            parameters.append(bytea: sha256(viewer.userID.bytes))
            segment.append(leaveTombstone, parameters)
            segment.append(deleteUser, .of(viewer.userID))
        }
        await request.services.covers.removeAll(of: viewer.userID)
        return [
            PlainObject(leaves: [
                "id": .string(viewer.userID.description),
                "books": .int(Int(rows[0].int32(0, 0) ?? 0)),
                "reviews": .int(Int(rows[0].int32(0, 1) ?? 0)),
                "covers": .int(Int(rows[0].int32(0, 2) ?? 0)),
            ])
        ]
    }

    // MARK: - Statements

    /// Mutations that look at a whole library before they change it go one after the other: those of
    /// shelves, which have an order, and of new books, which must be told of one another.
    ///
    /// The lock is the weakest that does so: rows that refer to the user can be made meanwhile.
    static let takeTurns = Statement("SELECT FROM users WHERE id = $1 FOR NO KEY UPDATE")

    private static let updateProfile = Statement(
        """
        UPDATE users SET display_name = CASE WHEN $2 THEN $3 ELSE display_name END, \
        preferred_genres = CASE WHEN $4 THEN $5 ELSE preferred_genres END, updated_at = now() \
        WHERE id = $1
        """)

    private static let leaveTombstone = Statement(
        """
        WITH counted AS (SELECT \
        (SELECT count(*) FROM books WHERE user_id = $1)::int AS books, \
        (SELECT count(*) FROM reviews WHERE user_id = $1)::int AS reviews, \
        (SELECT count(*) FROM covers WHERE user_id = $1)::int AS covers), \
        left_behind AS (INSERT INTO account_tombstones (user_hash, books, reviews, covers) \
        SELECT $2, books, reviews, covers FROM counted) \
        SELECT books, reviews, covers FROM counted
        """)

    /// Foreign keys take everything that is the user's, sessions too, in the same transaction.
    private static let deleteUser = Statement("DELETE FROM users WHERE id = $1")
}
