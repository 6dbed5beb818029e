import GraphQL
import GraphQLServing
import Identity

/// Authenticates the clients of long-lived connections.
extension RequestRunner {
    package func authenticateConnection(
        _ bearerToken: String, for kind: ConnectionKind,
        onSessionEnd: @escaping @Sendable () -> Void
    ) async throws(ConnectionAuthenticationError) -> AuthenticatedConnection {
        let (viewer, tokenLifetime) = try await connectionCaller(bearerToken, kind)
        let context = makeContext(viewer, "")
        // Watch the session before checking it, so that no end of the session is missed in between.
        let watch = environment.hub.watch(
            session: viewer.sessionID, of: viewer.userID, onEnd: onSessionEnd)
        do throws(BookplateError) {
            try await context.read { _, _ in }
        } catch {
            throw ConnectionAuthenticationError(error)
        }
        return AuthenticatedConnection(
            tokenLifetime: tokenLifetime, session: viewer.sessionID.description, watch: watch)
    }

    /// The longest time for which a connection is open without a new token.
    private static let tokenLifetimeMax = Duration.seconds(365 * 86_400)

    /// Returns the caller of a long-lived connection, and the time until the token expires.
    private func connectionCaller(
        _ bearerToken: String, _ kind: ConnectionKind
    ) async throws(ConnectionAuthenticationError) -> (Viewer, Duration) {
        var address: RateKey?
        if case .socket(let client) = kind { address = client.map { RateKey($0) } }
        if TokenCredential.isToken(bearerToken) {
            do throws(BookplateError) {
                let token = try await personalToken(bearerToken, address, "")
                if case .socket = kind { try charge(token.viewer, address) }
                let lifetime = token.lifetime ?? Self.tokenLifetimeMax
                return (token.viewer, min(lifetime, Self.tokenLifetimeMax))
            } catch {
                throw ConnectionAuthenticationError(error)
            }
        }
        let verified = tokens.verify(bearerToken, "")
        if case .socket = kind {
            do throws(BookplateError) {
                try charge((try? verified.get()).map { Viewer($0) }, address)
            } catch {
                // An expired token stays invalid, so the client need not wait.
                if case .failure(.expired) = verified { throw .unauthenticated }
                throw ConnectionAuthenticationError(error)
            }
        }
        guard case .success(let claims) = verified else { throw .unauthenticated }
        return (Viewer(claims), .seconds(claims.expiresAt - unixSecondsNow()))
    }

    /// Charges the authentication of a WebSocket to the user if the token is valid, and to the address otherwise.
    private func charge(_ viewer: Viewer?, _ address: RateKey?) throws(BookplateError) {
        try RequestCharges(environment, viewer, address).admit(1)
    }
}
