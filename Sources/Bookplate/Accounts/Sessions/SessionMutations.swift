import GraphQL
import Identity
import JobQueue
import Postgres

/// Sign-in, refresh, and sign-out, with the fields of the type `Session`.
enum Sessions {
    static let accessTokenSeconds: Int64 = 15 * 60
    static let refreshTokenDays = 90
    /// The time for which a used token returns the same result again, in case the first response was lost.
    static let graceSeconds = 60
    static let displayNameCharactersMax = 100

    static let fields: [String: FieldResolver] = [
        "accessToken": .property, "accessTokenExpiresAt": .property, "expiresAt": .property,
        "refreshToken": .property,
        "isNewUser": .property, "user": .load(User.me),
    ]

    /// Sets the caller of the rest of the request and returns the session with its tokens.
    private static func session(
        _ ticket: RefreshTicket, isNewUser: Bool, _ request: RequestContext
    ) -> PlainObject {
        let viewer = Viewer(
            userID: ticket.userID, tenantID: ticket.tenantID, sessionID: ticket.sessionID)
        request.viewer = viewer
        let (token, expiresAt) = request.services.accounts.accessToken(for: viewer)
        let expiry = Instant(microseconds: expiresAt * 1_000_000).text
        return PlainObject(leaves: [
            "accessToken": .string(token),
            "accessTokenExpiresAt": .string(expiry),
            "expiresAt": .string(expiry),
            "refreshToken": .string(ticket.text),
            "isNewUser": .boolean(isNewUser),
        ])
    }

    /// Enqueues the job that prepares the feed for a user who signs in or returns, before the first page is requested.
    ///
    /// The transaction is separate. A transaction that holds the session's lock and waits for the account's could deadlock
    /// with the account's deletion. Errors are ignored: without the job, the first page is only slower.
    private static func enqueueDeck(for viewer: Viewer, _ request: RequestContext) async {
        _ = try? await request.anonymous { pipeline in
            pipeline.append(setUser, .of(viewer.userID, viewer.tenantID))
            pipeline.enqueue(PrepareDeck.self, .init(), for: viewer.userID, key: "deck")
        }
    }

    /// Sets the user for row-level security.
    private static let setUser = Statement(
        """
        SELECT
            set_config('app.user_id', $1::text, true),
            set_config('app.tenant_id', $2::text, true)
        """)
}

// MARK: - Sign-in

extension Sessions {
    static let signIn = PlainMutation(.one, isPublic: true) {
        arguments, request throws(BookplateError) in
        // `SignInInput` has exactly one field.
        try await acceptAppleSignIn(
            InputObject(arguments["input"]?["apple"]), try DeviceName.read(arguments), request)
    }

    static let signInWithApple = PlainMutation(.one, isPublic: true) {
        arguments, request throws(BookplateError) in
        try await acceptAppleSignIn(
            InputObject(arguments["input"]), try DeviceName.read(arguments), request)
    }

    private static func acceptAppleSignIn(
        _ input: InputObject, _ deviceName: String?, _ request: RequestContext
    ) async throws(BookplateError) -> [PlainObject] {
        try request.services.rates.takeSignIn(from: request.address)
        let displayName = try TextInput.optional(
            input.text("displayName"), field: "displayName",
            charactersMax: displayNameCharactersMax)
        let code = input.text("authorizationCode") ?? ""
        guard code.utf8.count <= AppleGrant.codeBytesMax else {
            throw .badUserInput(
                field: "authorizationCode", "This is not an authorization code from Apple.")
        }
        let identity = try await request.services.accounts.identities.verify(
            input.text("identityToken") ?? "", nonce: input.text("nonce"),
            among: try await request.services.accounts.tenants.all(for: request),
            requestID: request.requestID)
        let signIn = try await startSession(
            for: identity, code: code, displayName: displayName, deviceName: deviceName, request)
        if signIn.isFirst, !code.isEmpty, identity.isFromApple {
            await AppleGrant.exchangeAndStore(code: code, identity, for: signIn.viewer, request)
        }
        return [signIn.session]
    }

    private struct SignIn {
        let viewer: Viewer
        /// False if this repeats a sign-in whose response may have been lost.
        let isFirst: Bool
        let session: PlainObject
    }

    /// Finds or creates the user of an identity and opens a session, in one round trip.
    ///
    /// The session's ID and secret are derived from the identity token and the authorization code. Repeating the sign-in
    /// within the grace period therefore returns the same session. A token that was already used in another sign-in
    /// is rejected.
    private static func startSession(
        for identity: VerifiedIdentity, code: String, displayName: String?, deviceName: String?,
        _ request: RequestContext
    ) async throws(BookplateError) -> SignIn {
        let keys = request.services.accounts.sessionKeys
        let seed = keys.derive(identity.claims.tokenHash + Array(code.utf8), for: "sign-in")
        let secret = keys.derive(seed, for: "first refresh token")
        let sessionID = UUID(random: keys.derive(seed, for: "session id"))
        let newUserID = UUID.version7()
        let email = identity.claims.email
        let (results, found) = try await request.anonymous { pipeline in
            var user = Parameters.of(newUserID, identity.tenant.id)
            user.append(text: identity.subject)
            pipeline.append(setIdentity, user)
            user.append(text: email)
            user.append(text: displayName)
            pipeline.append(createUser, user)
            let userID = pipeline.append(selectUser)
            var profile = Parameters()
            profile.append(text: email)
            profile.append(text: displayName)
            pipeline.append(updateProfile, profile)
            var session = Parameters.of(sessionID)
            session.append(bytea: RefreshTicket.hash(secret))
            session.append(bytea: identity.claims.tokenHash)
            session.append(int64: identity.claims.expiresAt)
            session.append(int32: request.services.rates.signInsPerHourMax)
            session.append(text: deviceName)
            let isFirst = pipeline.append(openSession, session)
            let state = pipeline.append(selectUserState, .of(sessionID))
            return (userID: userID, isFirst: isFirst, state: state)
        }
        guard let userID = results[found.userID].first,
            let isFirst = results[found.isFirst].first
        else { throw .internalError }
        let state = results[found.state].first
        let ticket = RefreshTicket(
            tenantID: identity.tenant.id, userID: userID, sessionID: sessionID, secret: secret)
        let viewer = Viewer(
            userID: userID, tenantID: identity.tenant.id, sessionID: sessionID)
        if state?.needsDeck == true { await enqueueDeck(for: viewer, request) }
        return SignIn(
            viewer: viewer, isFirst: isFirst,
            session: session(ticket, isNewUser: state?.isNew == true, request))
    }

    /// Makes the identity's own row visible to row-level security, and allows inserting it.
    private static let setIdentity = Statement(
        """
        SELECT
            set_config('app.user_id', $1::text, true),
            set_config('app.tenant_id', $2::text, true),
            set_config('app.subject', $3, true)
        """)

    private static let createUser = Statement(
        """
        INSERT INTO users (id, tenant_id, apple_sub, email, display_name)
        VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT (tenant_id, apple_sub) DO NOTHING
        """)

    /// Returns the ID of the user and sets it for row-level security.
    private static let selectUser = TypedStatement<UUID>(
        """
        SELECT id, set_config('app.user_id', id::text, true)
        FROM users
        WHERE tenant_id = (SELECT app_tenant_id()) AND apple_sub = (SELECT app_subject())
        """)

    /// Apple sends the name and the e-mail address only at the first sign-in, so missing values do not replace known ones.
    private static let updateProfile = Statement(
        """
        UPDATE users
        SET email = coalesce($1, email), display_name = coalesce(display_name, $2)
        WHERE id = app_user_id()
            AND (
                email IS DISTINCT FROM coalesce($1, email)
                OR display_name IS DISTINCT FROM coalesce(display_name, $2)
            )
        """)

    /// Returns whether the session is new, and not the result of an earlier, identical sign-in.
    private static let openSession = TypedStatement<Bool>(
        """
        SELECT open_session(
            $1, $2, $3, to_timestamp($4), \(refreshTokenDays), \(graceSeconds), $5, $6
        )
        """)

    private struct UserState: RowDecodable {
        /// Whether the user was created together with the session.
        let isNew: Bool
        /// Whether the user's feed must be prepared.
        let needsDeck: Bool

        init?(_ row: inout RowReader) {
            isNew = row.bool() == true
            needsDeck = row.bool() == true
        }
    }

    private static let selectUserState = TypedStatement<UserState>(
        """
        SELECT u.created_at = s.created_at, \(PrepareDeck.isDeckNeeded(by: "u.id"))
        FROM users u
        JOIN sessions s ON s.user_id = u.id
        WHERE u.id = app_user_id() AND s.id = $1
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
            ticket.isAncestor(of: state.refreshHash, generations: state.generation, keys: keys)
        else { throw .unauthenticated }
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
        /// How often the refresh token was rotated.
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

    /// Returns the state before the rotation, and locks the session.
    private static let selectState = TypedStatement<SessionState>(
        """
        SELECT
            refresh_hash, generation,
            rotated_at > now() - interval '\(graceSeconds) s',
            \(PrepareDeck.isDeckNeeded(by: "$1"))
        FROM sessions
        WHERE user_id = $1 AND id = $2 AND revoked_at IS NULL AND expires_at > now()
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
        """)

    private static let revokeSession = Statement(
        "UPDATE sessions SET revoked_at = now() WHERE user_id = $1 AND id = $2")
}

// MARK: - Sign-out

extension Sessions {
    static let signOut = PlainMutation(.one) { arguments, request throws(BookplateError) in
        let everywhere = arguments["everywhere"]?.boolean ?? false
        let id = arguments["id"]?.string
        guard id == nil || !everywhere else {
            throw .badUserInput(field: "everywhere", "Send either `id` or `everywhere`.")
        }
        let sessions = try await request.write { pipeline, viewer in
            var parameters = Parameters.of(viewer.userID)
            // An id that is not a UUID is that of no session, so the parameter is null.
            parameters.append(uuid: id.map { UUID($0) } ?? viewer.sessionID)
            parameters.append(bool: everywhere)
            if everywhere {
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
