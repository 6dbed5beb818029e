import Identity
import Logging
import Postgres
import Requests
import Telemetry

/// The parts of the server that sign users in and verify their tokens. One per process.
package final class AccountServices: Sendable {
    package let keyring: SessionKeyring
    package let tenants = Tenants()
    let identities: Identities
    package let auditEvents = AuditEvents()
    /// The client of Apple's token endpoints; nil if the operator has configured no key for them.
    let apple: AppleClient?
    let guestMetrics: GuestMetrics

    /// - Parameters:
    ///   - issuers: The issuers of identity tokens for tenants that have no issuer of their own.
    ///   - keySets: The key sets of identity tokens, by issuer.
    ///   - makeKeySet: Returns the key set of a tenant's own provider; nil if they are not supported.
    package init(
        keyring: SessionKeyring, issuers: [String], keySets: [String: KeySetCache],
        makeKeySet: (@Sendable (KeySetCache.Source) -> KeySetCache)? = nil,
        apple: AppleClient? = nil,
        metrics: Metrics = Metrics(), logger: Logger
    ) {
        self.keyring = keyring
        self.apple = apple
        guestMetrics = GuestMetrics(metrics)
        identities = Identities(
            issuers: issuers, keySets: keySets, makeKeySet: makeKeySet, auditEvents: auditEvents,
            logger: logger)
    }

    package var sessionKeys: SessionKeys { keyring.keys }

    /// Returns a new access token and the time when it expires, in seconds since the Unix epoch.
    func accessToken(for viewer: Viewer) -> (token: String, expiresAt: Int64) {
        let now = unixSecondsNow()
        let expiresAt = now + Sessions.accessTokenSeconds
        let claims = AccessClaims(
            userID: viewer.userID, tenantID: viewer.tenantID, sessionID: viewer.sessionID,
            issuedAt: now, expiresAt: expiresAt)
        return (AccessToken.issue(claims, keys: sessionKeys), expiresAt)
    }
}
