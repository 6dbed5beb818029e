import GraphQL
import Identity
import JobQueue
import Postgres
import Requests

/// Refresh and sign-out, with the fields of the type `Session`. Sign-in is in `SignIn.swift`.
package enum Sessions {
    static let accessTokenSeconds: Int64 = 15 * 60
    static let refreshTokenDays = 90
    /// The time for which a used token returns the same result again, in case the first response was lost.
    static let graceSeconds = 60
    package static let displayNameCharactersMax = 100

    static let fields: [String: FieldResolver] = [
        "accessToken": .property, "accessTokenExpiresAt": .property, "refreshToken": .property,
        "isNewUser": .property, "user": .load(User.me),
    ]

    /// Makes the user of the session the caller for the rest of the request, and returns the session with its tokens.
    static func session(
        _ ticket: RefreshTicket, isNewUser: Bool, _ request: RequestContext
    ) -> PlainObject {
        let viewer = Viewer(
            userID: ticket.userID, tenantID: ticket.tenantID, sessionID: ticket.sessionID)
        request.viewer = viewer
        let (token, expiresAt) = request.services.accounts.accessToken(for: viewer)
        return PlainObject(leaves: [
            "accessToken": .string(token),
            "accessTokenExpiresAt": .string(Instant(microseconds: expiresAt * 1_000_000).text),
            "refreshToken": .string(ticket.text),
            "isNewUser": .boolean(isNewUser),
        ])
    }

    /// Enqueues the job that prepares the feed for a user who signs in or returns, before the first page is requested.
    ///
    /// The transaction is separate. A transaction that holds the session's lock and waits for the account's could deadlock
    /// with the account's deletion. Errors are ignored: without the job, the first page is only slower.
    static func enqueueDeck(for viewer: Viewer, _ request: RequestContext) async {
        _ = try? await request.anonymous { pipeline in
            pipeline.append(setUser, .of(viewer.userID, viewer.tenantID))
            pipeline.enqueue(PrepareDeck.self, .init(), for: viewer.userID, key: "deck")
        }
    }

    /// Sets the user for row-level security.
    static let setUser = Statement(
        """
        SELECT
            set_config('app.user_id', $1::text, true),
            set_config('app.tenant_id', $2::text, true)
        """)
}

// MARK: - Refresh

extension Sessions {
    static let refresh = PlainMutation(.one, isPublic: true) {
        arguments, request throws(BookplateError) in
        // Limited by address only, because the user in the ticket is not verified yet.
        try request.services.rates.takeRefresh(from: request.address)
        let deviceName = try DeviceName.read(arguments)
        guard let ticket = arguments["refreshToken"]?.string.flatMap({ RefreshTicket($0) }) else {
            throw .unauthenticated
        }
        let keys = request.services.accounts.sessionKeys
        let successor = ticket.successor(keys: keys)
        let states: [SessionState] = try await request.anonymous { pipeline in
            pipeline.append(setUser, .of(ticket.userID, ticket.tenantID))
            var parameters = Parameters.of(ticket.userID, ticket.sessionID)
            let state = pipeline.append(selectState, parameters)
            parameters.append(bytea: ticket.hash)
            parameters.append(bytea: successor.hash)
            parameters.append(text: deviceName)
            pipeline.append(rotate, parameters)
            return state
        }
        guard let state = states.first else { throw .unauthenticated }
        if state.refreshHash == ticket.hash {
            let session = session(successor, isNewUser: false, request)
            if let viewer = request.viewer, state.needsDeck {
                await enqueueDeck(for: viewer, request)
            }
            return [session]
        }
        guard
            await ticket.isAncestor(
                of: state.refreshHash, generations: state.generation, keys: keys)
        else {
            // Counts as a guess.
            try request.services.rates.takeSignIn(from: request.address)
            throw .unauthenticated
        }
        if state.refreshHash == successor.hash, state.isInGracePeriod {
            return [session(successor, isNewUser: false, request)]
        }
        // The token was valid once and has been used, so it or its successor was stolen. The server cannot distinguish
        // the user from the thief and revokes the session of both.
        request.services.logger.notice(
            "a refresh token was reused: its session is revoked",
            metadata: [
                "request_id": "\(request.requestID)", "session_id": "\(ticket.sessionID)",
            ])
        try await request.anonymous { pipeline in
            pipeline.append(setUser, .of(ticket.userID, ticket.tenantID))
            pipeline.append(revokeSession, .of(ticket.userID, ticket.sessionID))
        }
        throw .unauthenticated
    }

    private struct SessionState: RowDecodable {
        /// The hash of the current refresh token's secret.
        let refreshHash: [UInt8]
        /// The number of times that the refresh token was rotated.
        let generation: Int
        /// Whether the last rotation was so recent that its response may have been lost.
        let isInGracePeriod: Bool
        /// Whether the user's feed must be prepared.
        let needsDeck: Bool

        init?(_ row: inout RowReader) {
            guard let refreshHash = row.bytes() else { return nil }
            self.refreshHash = refreshHash
            generation = Int(row.int32() ?? 0)
            isInGracePeriod = row.bool() == true
            needsDeck = row.bool() == true
        }
    }

    /// Returns the state before the rotation, and locks the session. Returns no row if the user belongs to another tenant than
    /// that of the ticket, which the ticket's secret does not protect.
    private static let selectState = TypedStatement<SessionState>(
        """
        SELECT
            refresh_hash, generation,
            rotated_at > now() - interval '\(graceSeconds) s',
            \(PrepareDeck.isDeckNeeded(by: "$1"))
        FROM sessions
        WHERE user_id = $1 AND id = $2 AND revoked_at IS NULL AND expires_at > now()
            AND \(isOfTenant)
        FOR UPDATE
        """)

    private static let rotate = Statement(
        """
        UPDATE sessions
        SET refresh_hash = $4,
            generation = generation + 1,
            rotated_at = now(),
            device_name = coalesce($5, device_name),
            expires_at = now() + interval '\(refreshTokenDays) days'
        WHERE user_id = $1 AND id = $2 AND refresh_hash = $3
            AND revoked_at IS NULL AND expires_at > now()
            AND \(isOfTenant)
        """)

    /// The condition that the user belongs to the tenant of `setUser`.
    private static let isOfTenant =
        "EXISTS (SELECT FROM users u WHERE u.id = $1 AND u.tenant_id = (SELECT app_tenant_id()))"

    private static let revokeSession = Statement(
        "UPDATE sessions SET revoked_at = now() WHERE user_id = $1 AND id = $2")
}

// MARK: - Sign-out

extension Sessions {
    static let signOut = PlainMutation(.one) { arguments, request throws(BookplateError) in
        let everywhere = arguments["everywhere"]?.boolean ?? false
        let id = arguments["id"]?.string
        guard id == nil || !everywhere else {
            throw .badUserInput(
                field: "everywhere", .init(.conflictingFields, value: "`id`, `everywhere`"))
        }
        let sessions = try await request.write { pipeline, viewer in
            var parameters = Parameters.of(viewer.userID)
            // An id that is not a UUID is that of no session, so the parameter is null.
            parameters.append(uuid: id.map { UUID($0) } ?? viewer.sessionID)
            parameters.append(bool: everywhere)
            if everywhere {
                pipeline.append(AuthorizedApp.deleteRequests)
                pipeline.append(AuthorizedApp.deleteAll, .of(viewer.userID))
                pipeline.append(PersonalAccessToken.deleteAll, .of(viewer.userID))
            }
            return pipeline.append(revokeSessions, parameters)
        }
        return [PlainObject(leaves: ["endedSessions": .int(sessions.count)])]
    }

    private static let revokeSessions = TypedStatement<UUID>(
        """
        UPDATE sessions
        SET revoked_at = now()
        WHERE user_id = $1 AND (id = $2 OR $3) AND revoked_at IS NULL
        RETURNING id
        """)
}
