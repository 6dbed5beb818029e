import GraphQL
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
        let rows: [Rows]
        do throws(BookplateError) {
            rows = try await request.write { segment, viewer in
                AccountDeletion.append(to: &segment, session: viewer.sessionID)
            }
        } catch .unauthenticated {
            return [try await toldBefore(viewer, request)]
        }
        guard let deletion = AccountDeletion(rows[...]) else { throw .unauthenticated }
        let outcome = await deletion.finish(request.services)
        if !outcome.doneJobs.isEmpty {
            // Where it fails, they are done once more, which changes nothing.
            _ = try? await request.anonymous { segment in
                AccountDeletion.appendWithdrawal(of: outcome.doneJobs, to: &segment)
                if outcome.isAppleTokenRevoked {
                    segment.append(noteAppleRevocation, .of(viewer.userID))
                }
            }
        }
        request.services.logger.notice(
            "an account was deleted", metadata: ["request_id": "\(request.requestID)"])
        return [
            deleted(
                viewer, books: deletion.books, reviews: deletion.reviews, covers: deletion.covers,
                isAppleTokenRevoked: outcome.isAppleTokenRevoked)
        ]
    }

    /// The answer that the session has been given, or should have been, when it deleted its account: for as long as its access
    /// token is good.
    ///
    /// - Throws: `.unauthenticated` where it has ended in another way.
    private static func toldBefore(
        _ viewer: Viewer, _ request: RequestContext
    ) async throws(BookplateError) -> PlainObject {
        let rows = try await request.anonymous {
            $0.append(findDeleted, .of(viewer.userID, viewer.sessionID))
        }
        guard rows[0].count > 0 else { throw .unauthenticated }
        return deleted(
            viewer, books: Int(rows[0].int32(0, 0) ?? 0), reviews: Int(rows[0].int32(0, 1) ?? 0),
            covers: Int(rows[0].int32(0, 2) ?? 0),
            isAppleTokenRevoked: rows[0].bool(0, 3) ?? false)
    }

    private static func deleted(
        _ viewer: Viewer, books: Int, reviews: Int, covers: Int, isAppleTokenRevoked: Bool
    ) -> PlainObject {
        PlainObject(leaves: [
            "id": .string(viewer.userID.description), "books": .int(books),
            "reviews": .int(reviews), "covers": .int(covers),
            "appleTokenRevoked": .boolean(isAppleTokenRevoked),
        ])
    }

    // MARK: - Statements

    private static let findDeleted = Statement(
        "SELECT books, reviews, covers, apple_token_revoked FROM deleted_account($1, $2)")
    private static let noteAppleRevocation = Statement("SELECT note_apple_revocation($1)")

    private static let updateProfile = Statement(
        """
        UPDATE users SET display_name = CASE WHEN $2 THEN $3 ELSE display_name END, \
        preferred_genres = CASE WHEN $4 THEN $5 ELSE preferred_genres END, updated_at = now() \
        WHERE id = $1
        """)
}
