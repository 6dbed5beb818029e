import GraphQL
import Identity
import Postgres
import Requests

/// Sign-in with an identity token.
extension Sessions {
    static let signIn = PlainMutation(.one, isPublic: true) {
        arguments, request throws(BookplateError) in
        let input = try await IdentityInput(arguments["input"], request)
        let signIn = try await startSession(
            for: input, on: try DeviceSettings(arguments, request), request)
        if signIn.isFirst {
            await input.storeAppleGrant(for: signIn.viewer, request)
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
    ///
    /// If a guest sends the request, the guest gets the identity, or is merged into the account of the identity.
    private static func startSession(
        for input: IdentityInput, on device: DeviceSettings, _ request: RequestContext
    ) async throws(BookplateError) -> SignIn {
        let identity = input.identity
        let keys = request.services.accounts.sessionKeys
        let seed = keys.derive(
            identity.claims.tokenHash + Array(input.authorizationCode.utf8), for: "sign-in")
        let secret = keys.derive(seed, for: "first refresh token")
        let sessionID = UUID(random: keys.derive(seed, for: "session id"))
        let guest = possibleGuest(request, in: identity.tenant)
        let (results, found) = try await request.anonymous { pipeline in
            pipeline.append(setIdentity, identity.parameters)
            var user = Parameters.of(UUID.version7())
            user.append(text: identity.claims.email)
            user.append(text: input.displayName)
            user.append(uuid: guest?.userID)
            user.append(uuid: guest?.sessionID)
            if guest != nil {
                pipeline.timeout = mergeTimeout
                pipeline.append(allowLongStatements)
            }
            let userRow = pipeline.append(findUser, user)
            var profile = Parameters()
            profile.append(text: identity.claims.email)
            profile.append(text: input.displayName)
            profile.append(texts: device.languages)
            pipeline.append(updateProfile, profile)
            device.appendTimeZone(to: &pipeline)
            var session = Parameters.of(sessionID)
            session.append(bytea: RefreshTicket.hash(secret))
            session.append(bytea: identity.claims.tokenHash)
            session.append(int64: identity.claims.expiresAt)
            session.append(int32: request.services.rates.signInsPerHourMax)
            session.append(text: device.name)
            let isFirst = pipeline.append(openSession, session)
            let state = pipeline.append(selectUserState, .of(sessionID))
            return (user: userRow, isFirst: isFirst, state: state)
        }
        guard let user = results[found.user].first, let isFirst = results[found.isFirst].first
        else { throw .internalError }
        let state = results[found.state].first
        if let outcome = user.guestOutcome {
            request.services.accounts.guestMetrics.count(outcome)
            request.services.logger.notice(
                "a guest has signed in",
                metadata: ["request_id": "\(request.requestID)", "outcome": "\(outcome)"])
        }
        let ticket = RefreshTicket(
            tenantID: identity.tenant.id, userID: user.id, sessionID: sessionID, secret: secret)
        let viewer = Viewer(userID: user.id, tenantID: identity.tenant.id, sessionID: sessionID)
        if state?.needsDeck == true { await enqueueDeck(for: viewer, request) }
        return SignIn(
            viewer: viewer, isFirst: isFirst,
            session: session(ticket, isNewUser: state?.isNew == true, request))
    }

    /// Returns the caller of the request, who may be a guest of the tenant; nil for other callers.
    private static func possibleGuest(_ request: RequestContext, in tenant: Tenant) -> Viewer? {
        guard let viewer = request.viewer, viewer.tenantID == tenant.id, !viewer.usesPersonalToken
        else { return nil }
        return viewer
    }

    /// Sets the verified identity for row-level security. The user is not known yet.
    private static let setIdentity = Statement(
        """
        SELECT
            set_config('app.user_id', '', true),
            set_config('app.tenant_id', $1::text, true),
            set_config('app.subject', $2, true)
        """)

    private struct FoundUser: RowDecodable {
        let id: UUID
        /// UPGRADED or MERGED if a guest has sent the request; nil for other callers.
        let guestOutcome: String?

        init?(_ row: inout RowReader) {
            guard let id = row.uuid() else { return nil }
            self.id = id
            guestOutcome = row.text()
        }
    }

    /// The time limit of a sign-in that may merge the library of a guest. It is shorter than the server's response
    /// timeout.
    private static let mergeTimeout = Duration.seconds(25)
    private static let allowLongStatements = Statement(
        "SELECT set_config('statement_timeout', '\(mergeTimeout.components.seconds * 1000)', true)")

    private static let findUser = TypedStatement<FoundUser>(
        "SELECT user_id, guest_outcome FROM sign_in($1, $2, $3, $4, $5)")

    /// Apple sends the name and the e-mail address only at the first sign-in, so missing values do not replace known ones. The
    /// languages are set only if there are none yet. Decks in other languages are then outdated.
    private static let updateProfile = Statement(
        """
        WITH outdated AS (
            UPDATE feed_readers f
            SET signals_version = f.signals_version + 1, deck_due_at = least(f.deck_due_at, now())
            FROM users u
            WHERE f.user_id = app_user_id() AND u.id = app_user_id() AND u.languages = '{}' AND $3::text[] <> '{}'
        )
        UPDATE users
        SET email = coalesce($1, email),
            display_name = coalesce(display_name, $2),
            languages = CASE WHEN languages = '{}' THEN $3 ELSE languages END
        WHERE id = app_user_id()
            AND (
                email IS DISTINCT FROM coalesce($1, email)
                OR display_name IS DISTINCT FROM coalesce(display_name, $2)
                OR (languages = '{}' AND $3 <> '{}')
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
