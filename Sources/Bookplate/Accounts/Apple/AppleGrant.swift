import Identity
import JobQueue
import Postgres

/// What a person has granted an app at Apple. Its token is kept, sealed, to revoke the grant with.
enum AppleGrant {
    static let codeBytesMax = 2048
    /// Apple's codes live that long.
    static let codeLifetimeSeconds: Int64 = 300

    /// Exchanges the authorization code of a sign-in and keeps what it gives.
    ///
    /// The sign-in never fails with it: what Apple does not answer now is asked again in the background.
    static func keep(
        code: String, _ identity: VerifiedIdentity, for viewer: Viewer, _ request: RequestContext
    ) async {
        let services = request.services
        guard let apple = services.apple else { return }
        let clientID = identity.claims.audience
        do throws(AppleError) {
            let tokens = try await apple.exchange(code: code, clientID: clientID)
            guard isOwn(tokens, subject: identity.claims.subject) else {
                services.logger.notice(
                    "an authorization code is of somebody else: not kept",
                    metadata: ["request_id": "\(request.requestID)"])
                return
            }
            await write(request) { segment in
                store(tokens, clientID: clientID, of: viewer.userID, services, in: &segment)
            }
        } catch {
            services.logger.notice(
                "Apple did not take an authorization code",
                metadata: ["request_id": "\(request.requestID)", "reason": "\(error)"])
            guard error.mayRetry else { return }
            let payload = ExchangeAppleCode.Payload(
                clientID: clientID, subjectHash: sha256(identity.claims.subject.utf8),
                sealedCode: seal(code, clientID: clientID, services.sessionKeys),
                expiresAt: unixSecondsNow() + codeLifetimeSeconds)
            await write(request) { segment in
                segment.enqueue(
                    ExchangeAppleCode.self, payload, for: viewer.userID, after: .seconds(2))
            }
        }
    }

    /// Whether a grant is the person's own: else they could have somebody else's revoked.
    private static func isOwn(_ tokens: AppleTokens, subject: String) -> Bool {
        tokens.subject.map { $0.utf8.elementsEqual(subject.utf8) } ?? true
    }

    private static func write(
        _ request: RequestContext, _ fill: (inout Pipeline) -> Void
    ) async {
        do throws(BookplateError) {
            _ = try await request.write { segment, _ in fill(&segment) }
        } catch {
            // What the database said is in the log; the person is signed in all the same.
        }
    }

    static func store(
        _ tokens: AppleTokens, clientID: String, of userID: UUID, _ services: Services,
        in segment: inout Pipeline
    ) {
        var parameters = Parameters.of(userID)
        parameters.append(text: clientID)
        parameters.append(
            bytea: seal(tokens.refreshToken, clientID: clientID, services.sessionKeys))
        segment.append(insert, parameters)
    }

    private static let insert = Statement(
        """
        INSERT INTO apple_grants (user_id, client_id, sealed_token) VALUES ($1, $2, $3) \
        ON CONFLICT (user_id, client_id) \
        DO UPDATE SET sealed_token = excluded.sealed_token, granted_at = now()
        """)

    // MARK: - Sealing

    /// Bound to the client, and not to the user: it can be revoked when nothing says any more whose it was.
    private static func seal(_ secret: String, clientID: String, _ keys: SessionKeys) -> [UInt8] {
        keys.seal(Array(secret.utf8), context: Array(clientID.utf8))
    }

    /// - Throws: `.giveUp` where the key that sealed it is gone.
    static func open(
        _ sealed: [UInt8], clientID: String, _ keys: SessionKeys
    ) throws(JobError) -> String {
        guard let bytes = keys.open(sealed, context: Array(clientID.utf8)) else {
            throw .giveUp("It was sealed with a key that is not in the session keys' file.")
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
