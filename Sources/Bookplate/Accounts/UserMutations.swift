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
        // Where it fails, the jobs do all once more, which changes nothing; and nobody has been told that Apple has heard.
        let settled = try? await request.anonymous { segment in
            AccountDeletion.appendWithdrawal(of: outcome.doneJobs, to: &segment)
            AccountDeletion.appendSettlement(
                isAppleTokenRevoked: outcome.isAppleTokenRevoked, for: viewer, to: &segment)
        }
        request.services.logger.notice(
            "an account was deleted", metadata: ["request_id": "\(request.requestID)"])
        return [
            deleted(
                viewer, books: deletion.books, reviews: deletion.reviews, covers: deletion.covers,
                isAppleTokenRevoked: settled?[1].bool(0, 0) ?? false)
        ]
    }

    /// The answer that the session has been given, or will be, when it deleted its account: for as long as its access token is
    /// good. Waits while the first request waits for Apple; one that does not come back has not heard of it.
    ///
    /// - Throws: `.unauthenticated` where it has ended in another way.
    private static func toldBefore(
        _ viewer: Viewer, _ request: RequestContext
    ) async throws(BookplateError) -> PlainObject {
        while true {
            let rows = try await request.anonymous {
                $0.append(findDeleted, .of(viewer.userID, viewer.sessionID))
            }[0]
            guard rows.count > 0 else { throw .unauthenticated }
            var isAppleTokenRevoked = rows.bool(0, 3)
            if isAppleTokenRevoked == nil, rows.bool(0, 4) == true {
                isAppleTokenRevoked = try await request.anonymous {
                    AccountDeletion.appendSettlement(
                        isAppleTokenRevoked: false, for: viewer, to: &$0)
                }[0].bool(0, 0)
            }
            if let isAppleTokenRevoked {
                return deleted(
                    viewer, books: Int(rows.int32(0, 0) ?? 0),
                    reviews: Int(rows.int32(0, 1) ?? 0), covers: Int(rows.int32(0, 2) ?? 0),
                    isAppleTokenRevoked: isAppleTokenRevoked)
            }
            // Cancelled: nobody is left to be told.
            guard (try? await Task.sleep(for: .milliseconds(200))) != nil else {
                throw .unauthenticated
            }
        }
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
        "SELECT books, reviews, covers, apple_token_revoked, is_overdue FROM deleted_account($1, $2)"
    )

    private static let updateProfile = Statement(
        """
        UPDATE users SET display_name = CASE WHEN $2 THEN $3 ELSE display_name END, \
        preferred_genres = CASE WHEN $4 THEN $5 ELSE preferred_genres END, updated_at = now() \
        WHERE id = $1
        """)
}
