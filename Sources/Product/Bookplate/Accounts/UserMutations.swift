import GraphQL
import Postgres
import Requests

extension User {
    package static let preferredGenresMax = 50

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
                    field: "preferredGenres", .init(.tooMany, max: preferredGenresMax))
            }
            genres = try await request.services.genres.genres(
                named: names, field: "preferredGenres", for: request
            ).map(\.name)
        }
        let languages = try languages(input)
        let timeZone = try await knownTimeZone(input, request)
        let (results, updated) = try await request.write { pipeline, viewer in
            var parameters = Parameters.of(viewer.userID)
            parameters.append(bool: input.isGiven("displayName"))
            parameters.append(text: displayName)
            parameters.append(bool: genres != nil)
            parameters.append(texts: genres ?? [])
            parameters.append(text: timeZone)
            parameters.append(bool: languages != nil)
            parameters.append(texts: languages ?? [])
            pipeline.append(updateProfile, parameters)
            if genres != nil || languages != nil { pipeline.replaceDeck(of: viewer.userID) }
            return user.append([viewer.userID], to: &pipeline, for: viewer)
        }
        return try user.only(results[updated], orElse: .noSuchUser)
    }

    /// Returns the languages of the input without repetitions; nil if the field is absent, and none if it is null.
    private static func languages(_ input: InputObject) throws(BookplateError) -> [String]? {
        guard input.isGiven("languages") else { return nil }
        let texts = input["languages"]?.list?.compactMap(\.string) ?? []
        guard texts.count <= ReaderLanguages.countMax else {
            throw .badUserInput(
                field: "languages", .init(.tooMany, max: ReaderLanguages.countMax))
        }
        for text in texts where ReaderLanguages.known([text]).isEmpty {
            throw .badUserInput(
                field: "languages",
                .init(.invalidLanguage, value: String(text.prefix(40)))
            )
        }
        return ReaderLanguages.known(texts)
    }

    /// Returns the time zone of the input, under its current name; nil if the field is absent, and UTC if it is null.
    private static func knownTimeZone(
        _ input: InputObject, _ request: RequestContext
    ) async throws(BookplateError) -> String? {
        guard input.isGiven("timeZone") else { return nil }
        guard let name = input.text("timeZone") else { return "UTC" }
        guard DeviceSettings.isPlausible(name) else {
            throw .badUserInput(field: "timeZone", .init(.unknownTimeZone))
        }
        let found = try await request.read { pipeline, _ in
            var parameters = Parameters()
            parameters.append(text: name)
            return pipeline.append(findTimeZone, parameters)
        }
        guard let known = found.first else {
            throw .badUserInput(field: "timeZone", .init(.unknownTimeZone))
        }
        return known
    }

    static let deleteAccount = PlainMutation(.one) {
        arguments, request throws(BookplateError) in
        let viewer = try request.caller()
        guard arguments["confirm"]?.string.flatMap({ UUID($0) }) == viewer.userID else {
            throw .badUserInput(
                field: "confirm", .init(.wrongConfirmation))
        }
        let deletion: AccountDeletion?
        do throws(BookplateError) {
            let (results, keys) = try await request.write { pipeline, viewer in
                AccountDeletion.append(to: &pipeline, session: viewer.sessionID)
            }
            deletion = AccountDeletion(results, keys)
        } catch .unauthenticated {
            return [try await earlierResult(for: viewer, request)]
        }
        guard let deletion else { throw .unauthenticated }
        let outcome = await deletion.finish(request.services)
        // If this fails, the jobs repeat the work, which has no effect, and the response says that Apple's token is
        // not revoked.
        let settled: [Bool]? = try? await request.anonymous { pipeline in
            AccountDeletion.appendWithdrawal(of: outcome.doneJobs, to: &pipeline)
            return AccountDeletion.appendSettlement(
                isAppleTokenRevoked: outcome.isAppleTokenRevoked, for: viewer, to: &pipeline)
        }
        request.services.logger.notice(
            "an account was deleted", metadata: ["request_id": "\(request.requestID)"])
        return [
            deleted(
                viewer, books: deletion.books, reviews: deletion.reviews, covers: deletion.covers,
                isAppleTokenRevoked: settled?.first ?? false)
        ]
    }

    /// Returns the result of an earlier request of the same session that deleted the account. It is available until the
    /// session's access token expires.
    ///
    /// Waits while the earlier request waits for Apple. If that request takes too long, the result says that Apple's
    /// token is not revoked.
    ///
    /// - Throws: `.unauthenticated` if the session has ended in another way.
    private static func earlierResult(
        for viewer: Viewer, _ request: RequestContext
    ) async throws(BookplateError) -> PlainObject {
        while true {
            let found: [DeletedAccount] = try await request.anonymous {
                $0.append(findDeleted, .of(viewer.userID, viewer.sessionID))
            }
            guard let account = found.first else { throw .unauthenticated }
            var isAppleTokenRevoked = account.isAppleTokenRevoked
            if isAppleTokenRevoked == nil, account.isOverdue {
                let settled: [Bool] = try await request.anonymous {
                    AccountDeletion.appendSettlement(
                        isAppleTokenRevoked: false, for: viewer, to: &$0)
                }
                isAppleTokenRevoked = settled.first
            }
            if let isAppleTokenRevoked {
                return deleted(
                    viewer, books: account.books, reviews: account.reviews, covers: account.covers,
                    isAppleTokenRevoked: isAppleTokenRevoked)
            }
            // If the task is cancelled, the client has disconnected and the error is not sent.
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

    private struct DeletedAccount: RowDecodable {
        let books: Int
        let reviews: Int
        let covers: Int
        /// nil while the request that deleted the account waits for Apple.
        let isAppleTokenRevoked: Bool?
        /// Whether that request should have ended by now.
        let isOverdue: Bool

        init?(_ row: inout RowReader) {
            books = Int(row.int32() ?? 0)
            reviews = Int(row.int32() ?? 0)
            covers = Int(row.int32() ?? 0)
            isAppleTokenRevoked = row.bool()
            isOverdue = row.bool() == true
        }
    }

    private static let findDeleted = TypedStatement<DeletedAccount>(
        """
        SELECT books, reviews, covers, apple_token_revoked, deleted_at < now() - interval '10 seconds'
        FROM account_tombstones
        WHERE user_hash = sha256(uuid_send($1))
            AND session_hash = sha256(uuid_send($2))
            -- Longer than an access token is valid.
            AND deleted_at > now() - interval '1 hour'
        """)

    private static let updateProfile = Statement(
        """
        UPDATE users
        SET display_name = CASE WHEN $2 THEN $3 ELSE display_name END,
            preferred_genres = CASE WHEN $4 THEN $5 ELSE preferred_genres END,
            time_zone = coalesce($6, time_zone),
            languages = CASE WHEN $7 THEN $8 ELSE languages END,
            updated_at = now()
        WHERE id = $1
        """)

    private static let findTimeZone = TypedStatement<String>(
        "SELECT zone FROM zone_to_store($1) AS zone WHERE zone IS NOT NULL")
}
