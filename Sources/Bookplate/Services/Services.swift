import BookSources
import Identity
import Logging
import Postgres
import Telemetry

/// What requests share: keys, the tenants, what the catalogue's genres are. One for the process.
package final class Services: Sendable {
    package let sessionKeys: SessionKeys
    let tenants = Tenants()
    let genres = Genres()
    let identities: Identities
    package let covers: Covers
    let hub: Hub
    package let bookSources: SourceChain
    let logger: Logger
    /// What the process counts.
    package let metrics: Metrics
    /// Operations that took longer are logged; nil where none are.
    let slowOperation: Duration?

    /// - Parameters:
    ///   - issuers: the issuers of tenants that name none of their own.
    ///   - keySets: where the keys of identity tokens come from, by issuer.
    ///   - bookSources: who knows the books that the catalogue does not; none where it is not given.
    ///   - hub: wakes subscriptions.
    package init(
        sessionKeys: SessionKeys, issuers: [String], keySets: [String: KeySetCache],
        bookSources: SourceChain = SourceChain([]), covers: Covers, hub: Hub, logger: Logger,
        metrics: Metrics = Metrics(), slowOperation: Duration? = nil
    ) {
        self.bookSources = bookSources
        self.sessionKeys = sessionKeys
        self.covers = covers
        self.hub = hub
        self.logger = logger
        self.metrics = metrics
        self.slowOperation = slowOperation
        identities = Identities(issuers: issuers, keySets: keySets, logger: logger)
    }

    /// A new access token, and when it runs out in seconds of Unix time.
    func accessToken(for viewer: Viewer) -> (token: String, expiresAt: Int64) {
        let now = unixSecondsNow()
        let expiresAt = now + Sessions.accessTokenSeconds
        let claims = AccessClaims(
            userID: .init(viewer.userID), tenantID: .init(viewer.tenantID),
            sessionID: .init(viewer.sessionID), issuedAt: now, expiresAt: expiresAt)
        return (AccessToken.issue(claims, keys: sessionKeys), expiresAt)
    }

    /// What a client is told of a database error; what it is not told goes to the log.
    func describe(_ error: PostgresError, _ requestID: String) -> BookplateError {
        if let known = BookplateError(error) { return known }
        // The client went away, and nobody reads the answer.
        if error == .cancelled { return .internalError }
        logger.error(
            "the database failed a request",
            metadata: ["request_id": "\(requestID)", "error": "\(error)"])
        return .internalError
    }
}
