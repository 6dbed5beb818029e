import GraphQL
import Identity
import JobQueue
import Postgres

/// Sign-in, refresh, sign-out: `Session` of the schema.
enum Sessions {
    static let accessTokenSeconds: Int64 = 15 * 60
    static let refreshTokenDays = 90
    /// How long a used refresh token still gives the pair it gave, for an answer that was lost.
    static let graceSeconds = 60
    static let displayNameCharactersMax = 100

    static let fields: [String: FieldResolver] = [
        "accessToken": .property, "expiresAt": .property, "refreshToken": .property,
        "isNewUser": .property, "user": .load(User.me),
    ]

    static let signInWithApple = PlainMutation(.one, isPublic: true) {
        arguments, request throws(BookplateError) in
        try request.services.rates.takeSignIn(from: request.address)
        let input = InputObject(arguments["input"])
        let displayName = try TextInput.optional(
            input.text("displayName"), field: "displayName",
            charactersMax: displayNameCharactersMax)
        let code = input.text("authorizationCode") ?? ""
        guard code.utf8.count <= AppleGrant.codeBytesMax else {
            throw .badUserInput(
                field: "authorizationCode", "This is no authorization code of Apple's.")
        }
        let identity = try await request.services.identities.verify(
            input.text("identityToken") ?? "", nonce: input.text("nonce"),
            among: try await request.services.tenants.all(for: request),
            requestID: request.requestID)
        let signIn = try await signIn(identity, code: code, displayName: displayName, request)
        if signIn.isFirst, !code.isEmpty, identity.isApples {
            await AppleGrant.keep(code: code, identity, for: signIn.viewer, request)
        }
        return [signIn.session]
    }

    private struct SignIn {
        let viewer: Viewer
        /// Whether this is no repetition.
        let isFirst: Bool
        let session: PlainObject
    }

    /// Finds or makes the user of an identity, and opens a session, in one round trip.
    ///
    /// The session follows from the token and what came with it: the same sign-in again, within the grace,
    /// gives the same session; the token in any other sign-in is refused.
    private static func signIn(
        _ identity: VerifiedIdentity, code: String, displayName: String?, _ request: RequestContext
    ) async throws(BookplateError) -> SignIn {
        let keys = request.services.sessionKeys
        let seed = keys.derive(identity.claims.tokenHash + Array(code.utf8), for: "sign-in")
        let secret = keys.derive(seed, for: "first refresh token")
        let sessionID = UUID(random: keys.derive(seed, for: "session id"))
        let newUserID = UUID.version7()
        let email = identity.claims.email
        let rows = try await request.anonymous { segment in
            var parameters = Parameters.of(newUserID, identity.tenant.id)
            parameters.append(text: identity.subject)
            segment.append(presentIdentity, parameters)
            parameters.append(text: email)
            parameters.append(text: displayName)
            segment.append(makeUser, parameters)
            segment.append(becomeUser)
            var profile = Parameters()
            profile.append(text: email)
            profile.append(text: displayName)
            segment.append(updateProfile, profile)
            var session = Parameters.of(sessionID)
            session.append(bytea: RefreshTicket.hash(secret))
            session.append(bytea: identity.claims.tokenHash)
            session.append(int64: identity.claims.expiresAt)
            session.append(int32: request.services.rates.signInsPerHourMax)
            segment.append(openSession, session)
            segment.append(isUserNew, .of(sessionID))
        }
        guard let userID = rows[2].uuid(0, 0), let isFirst = rows[4].bool(0, 0) else {
            throw .internalError
        }
        let ticket = RefreshTicket(
            tenantID: identity.tenant.id, userID: userID, sessionID: sessionID, secret: secret)
        let viewer = Viewer(
            userID: userID, tenantID: identity.tenant.id, sessionID: sessionID)
        if rows[5].bool(0, 1) == true { await dealDeck(to: viewer, request) }
        return SignIn(
            viewer: viewer, isFirst: isFirst,
            session: session(ticket, isNewUser: rows[5].bool(0, 0) == true, request))
    }

    static let refresh = PlainMutation(.one, isPublic: true) {
        arguments, request throws(BookplateError) in
        // By the address alone: whose ticket it is stands in it unproven.
        try request.services.rates.takeRefresh(from: request.address)
        guard let ticket = arguments["refreshToken"]?.string.flatMap({ RefreshTicket($0) }) else {
            throw .unauthenticated
        }
        let keys = request.services.sessionKeys
        let successor = ticket.successor(keys: keys)
        let rows = try await request.anonymous { segment in
            segment.append(presentTicket, .of(ticket.userID, ticket.tenantID))
            var parameters = Parameters.of(ticket.userID, ticket.sessionID)
            segment.append(readState, parameters)
            parameters.append(bytea: ticket.hash)
            parameters.append(bytea: successor.hash)
            segment.append(rotate, parameters)
        }
        let state = rows[1]
        guard let current = state.bytes(0, 0).map({ Array($0) }) else { throw .unauthenticated }
        if current == ticket.hash {
            let session = session(successor, isNewUser: false, request)
            if let viewer = request.viewer, state.bool(0, 3) == true {
                await dealDeck(to: viewer, request)
            }
            return [session]
        }
        let generation = Int(state.int32(0, 1) ?? 0)
        guard ticket.isAncestor(of: current, generations: generation, keys: keys) else {
            throw .unauthenticated
        }
        if current == successor.hash, state.bool(0, 2) == true {
            return [session(successor, isNewUser: false, request)]
        }
        // It was good once and has been used: somebody else has it, or its successor. Nobody can tell
        // who is who, so the session ends for both.
        request.services.logger.notice(
            "a used refresh token came again: its session is ended",
            metadata: [
                "request_id": "\(request.requestID)", "session_id": "\(ticket.sessionID)",
            ])
        _ = try await request.anonymous { segment in
            segment.append(presentTicket, .of(ticket.userID, ticket.tenantID))
            segment.append(revokeSession, .of(ticket.userID, ticket.sessionID))
        }
        throw .unauthenticated
    }

    /// Asks for the deck of somebody who comes back, before their first page does. In a transaction of its own: one that
    /// held the session and wanted the account would wait for its deletion, and that for it. Without the deck their pages
    /// only cost more, and a session that is given is not taken back for it.
    private static func dealDeck(to viewer: Viewer, _ request: RequestContext) async {
        _ = try? await request.anonymous { segment in
            segment.append(presentTicket, .of(viewer.userID, viewer.tenantID))
            segment.enqueue(PrepareDeck.self, NoPayload(), for: viewer.userID, key: "deck")
        }
    }

    static let signOut = LeafMutation { arguments, request throws(BookplateError) in
        _ = try await request.write { segment, viewer in
            var parameters = Parameters.of(viewer.userID, viewer.sessionID)
            parameters.append(bool: arguments["everywhere"]?.boolean ?? false)
            segment.append(revoke, parameters)
        }
        return .boolean(true)
    }

    /// The answer to a sign-in: tokens, and the caller from here on.
    private static func session(
        _ ticket: RefreshTicket, isNewUser: Bool, _ request: RequestContext
    ) -> PlainObject {
        let viewer = Viewer(
            userID: ticket.userID, tenantID: ticket.tenantID, sessionID: ticket.sessionID)
        request.viewer = viewer
        let (token, expiresAt) = request.services.accessToken(for: viewer)
        return PlainObject(leaves: [
            "accessToken": .string(token),
            "expiresAt": .string(Instant(microseconds: expiresAt * 1_000_000).text),
            "refreshToken": .string(ticket.text),
            "isNewUser": .boolean(isNewUser),
        ])
    }

    // MARK: - Statements

    /// Shows the identity's own row to the policies, and lets a new one be made.
    private static let presentIdentity = Statement(
        """
        SELECT set_config('app.user_id', $1::text, true), \
        set_config('app.tenant_id', $2::text, true), set_config('app.subject', $3, true)
        """)

    private static let makeUser = Statement(
        """
        INSERT INTO users (id, tenant_id, apple_sub, email, display_name) \
        VALUES ($1, $2, $3, $4, $5) ON CONFLICT (tenant_id, apple_sub) DO NOTHING
        """)

    private static let becomeUser = Statement(
        """
        SELECT id, set_config('app.user_id', id::text, true) FROM users \
        WHERE tenant_id = (SELECT app_tenant_id()) AND apple_sub = (SELECT app_subject())
        """)

    /// Apple says name and address once; what is known already is not overwritten by nothing.
    private static let updateProfile = Statement(
        """
        UPDATE users SET email = coalesce($1, email), display_name = coalesce(display_name, $2) \
        WHERE id = app_user_id() AND (email IS DISTINCT FROM coalesce($1, email) \
        OR display_name IS DISTINCT FROM coalesce(display_name, $2))
        """)

    private static let openSession = Statement(
        """
        SELECT open_session($1, $2, $3, to_timestamp($4), \(refreshTokenDays), \(graceSeconds), $5)
        """)

    /// Whether the user was made together with the session, and whether their frontiers are outdated.
    private static let isUserNew = Statement(
        """
        SELECT u.created_at = s.created_at, \(PrepareDeck.areFrontiersOutdated) FROM users u JOIN sessions s ON s.user_id = u.id \
        WHERE u.id = app_user_id() AND s.id = $1
        """)

    private static let presentTicket = Statement(
        """
        SELECT set_config('app.user_id', $1::text, true), \
        set_config('app.tenant_id', $2::text, true)
        """)

    /// The current hash, its generation, whether its predecessor's answer may have been lost, and whether the reader's
    /// frontiers are outdated.
    private static let readState = Statement(
        """
        SELECT refresh_hash, generation, rotated_at > now() - interval '\(graceSeconds) s', \
        \(PrepareDeck.areFrontiersOutdated) \
        FROM sessions WHERE user_id = $1 AND id = $2 AND revoked_at IS NULL AND expires_at > now() \
        FOR UPDATE
        """)

    private static let rotate = Statement(
        """
        UPDATE sessions SET refresh_hash = $4, generation = generation + 1, rotated_at = now(), \
        expires_at = now() + interval '\(refreshTokenDays) days' \
        WHERE user_id = $1 AND id = $2 AND refresh_hash = $3 \
        AND revoked_at IS NULL AND expires_at > now()
        """)

    private static let revokeSession = Statement(
        "UPDATE sessions SET revoked_at = now() WHERE user_id = $1 AND id = $2")

    private static let revoke = Statement(
        """
        UPDATE sessions SET revoked_at = now() \
        WHERE user_id = $1 AND (id = $2 OR $3) AND revoked_at IS NULL
        """)
}
