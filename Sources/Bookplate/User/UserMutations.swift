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
        let rows = try await request.write { segment, _ in AccountDeletion.append(to: &segment) }
        guard let deletion = AccountDeletion(rows[...]) else { throw .unauthenticated }
        let outcome = await deletion.finish(request.services)
        if !outcome.doneJobs.isEmpty {
            // Where it fails, they are done once more, which changes nothing.
            _ = try? await request.anonymous {
                AccountDeletion.appendWithdrawal(of: outcome.doneJobs, to: &$0)
            }
        }
        request.services.logger.notice(
            "an account was deleted", metadata: ["request_id": "\(request.requestID)"])
        return [
            PlainObject(leaves: [
                "id": .string(viewer.userID.description),
                "books": .int(deletion.books), "reviews": .int(deletion.reviews),
                "covers": .int(deletion.covers),
                "appleTokenRevoked": .boolean(outcome.isAppleTokenRevoked),
            ])
        ]
    }

    // MARK: - Statements

    private static let updateProfile = Statement(
        """
        UPDATE users SET display_name = CASE WHEN $2 THEN $3 ELSE display_name END, \
        preferred_genres = CASE WHEN $4 THEN $5 ELSE preferred_genres END, updated_at = now() \
        WHERE id = $1
        """)
}
