import Identity
import JobQueue
import Postgres
import Requests

/// A user's authorization of an app at Apple. Its refresh token is stored encrypted, to revoke the authorization when the
/// account is deleted.
enum AppleGrant {
    static let codeBytesMax = 2048
    /// The lifetime of Apple's authorization codes.
    static let codeLifetimeSeconds: Int64 = 300

    /// Exchanges the authorization code of a sign-in and stores the resulting token.
    ///
    /// Errors do not fail the sign-in. If Apple is unavailable, a job tries again.
    static func exchangeAndStore(
        code: String, _ identity: VerifiedIdentity, for viewer: Viewer, _ request: RequestContext
    ) async {
        let services = request.services
        guard let apple = services.accounts.apple else { return }
        let clientID = identity.claims.audience
        do throws(AppleError) {
            let tokens = try await apple.exchange(code: code, clientID: clientID)
            guard isOwn(tokens, subject: identity.claims.subject) else {
                services.logger.notice(
                    "ignored an authorization code of another Apple user",
                    metadata: ["request_id": "\(request.requestID)"])
                return
            }
            await write(request) { pipeline in
                store(tokens, clientID: clientID, of: viewer.userID, services, in: &pipeline)
            }
        } catch {
            services.logger.notice(
                "could not exchange an authorization code at Apple",
                metadata: ["request_id": "\(request.requestID)", "reason": "\(error)"])
            guard error.mayRetry else { return }
            let payload = ExchangeAppleCode.Payload(
                clientID: clientID, subjectHash: sha256(identity.claims.subject.utf8),
                sealedCode: seal(code, clientID: clientID, services.accounts.sessionKeys),
                expiresAt: unixSecondsNow() + codeLifetimeSeconds)
            await write(request) { pipeline in
                pipeline.enqueue(
                    ExchangeAppleCode.self, payload, for: viewer.userID, after: .seconds(2))
            }
        }
    }

    /// Whether the tokens belong to the user who signs in. Otherwise a user could revoke another user's authorization.
    private static func isOwn(_ tokens: AppleTokens, subject: String) -> Bool {
        tokens.subject.map { $0.utf8.elementsEqual(subject.utf8) } ?? true
    }

    private static func write(
        _ request: RequestContext, _ fill: (inout Pipeline) -> Void
    ) async {
        do throws(BookplateError) {
            try await request.write { pipeline, _ in fill(&pipeline) }
        } catch {
            // The error is already logged, and the sign-in succeeds without the token.
        }
    }

    static func store(
        _ tokens: AppleTokens, clientID: String, of userID: UUID, _ services: Services,
        in pipeline: inout Pipeline
    ) {
        var parameters = Parameters.of(userID)
        parameters.append(text: clientID)
        parameters.append(
            bytea: seal(tokens.refreshToken, clientID: clientID, services.accounts.sessionKeys))
        pipeline.append(insert, parameters)
    }

    private static let insert = Statement(
        """
        INSERT INTO apple_grants (user_id, client_id, sealed_token)
        VALUES ($1, $2, $3)
        ON CONFLICT (user_id, client_id) DO UPDATE
        SET sealed_token = excluded.sealed_token
        """)

    // MARK: - Sealing

    /// Encrypts a secret. The context is the client ID and not the user, because the token is revoked after the user's row is
    /// deleted.
    private static func seal(_ secret: String, clientID: String, _ keys: SessionKeys) -> [UInt8] {
        keys.seal(Array(secret.utf8), context: Array(clientID.utf8))
    }

    /// Decrypts a secret.
    ///
    /// - Throws: `.giveUp` if the key file does not contain its key any more.
    static func open(
        _ sealed: [UInt8], clientID: String, _ keys: SessionKeys
    ) throws(JobError) -> String {
        guard let bytes = keys.open(sealed, context: Array(clientID.utf8)) else {
            throw .giveUp(
                "The token was encrypted with a key that the session key file does not contain.")
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
