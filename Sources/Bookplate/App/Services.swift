import BookSources
import Identity
import Logging
import Postgres
import Telemetry

/// What requests share: keys, the tenants, what the catalogue's genres are. One for the process.
package final class Services: Sendable {
    package let keyring: SessionKeyring
    package let tenants = Tenants()
    let genres = Genres()
    let identities: Identities
    let rates: RateLimits
    /// Nil where the installation has no key for Apple's token endpoints.
    let apple: AppleClient?
    package let covers: Covers
    let hub: Hub
    /// Nil where all is read from the primary.
    let replica: Replica?
    package let bookSources: SourceChain
    package let coverSources: CoverSources
    let logger: Logger
    /// What the process counts.
    package let metrics: Metrics
    /// Operations that took longer are logged; nil where none are.
    let slowOperation: Duration?

    package var sessionKeys: SessionKeys { keyring.keys }

    /// - Parameters:
    ///   - issuers: the issuers of tenants that name none of their own.
    ///   - keySets: where the keys of identity tokens come from, by issuer.
    ///   - makeKeySet: the keys of a tenant's own provider, by their URL; nil where there are none.
    ///   - bookSources: who knows the books that the catalogue does not; none where it is not given.
    ///   - coverSources: who knows covers; nobody where it is not given.
    ///   - hub: wakes subscriptions; tells the replica of changes.
    package init(
        keyring: SessionKeyring, issuers: [String], keySets: [String: KeySetCache],
        makeKeySet: (@Sendable (String) -> KeySetCache)? = nil, rates: RateLimits = RateLimits(),
        apple: AppleClient? = nil, bookSources: SourceChain = SourceChain([]),
        coverSources: CoverSources = CoverSources(SourceChain([])), covers: Covers, hub: Hub,
        replica: Replica? = nil, logger: Logger,
        metrics: Metrics = Metrics(), slowOperation: Duration? = nil
    ) {
        self.keyring = keyring
        self.rates = rates
        self.apple = apple
        self.bookSources = bookSources
        self.coverSources = coverSources
        self.covers = covers
        self.hub = hub
        self.replica = replica
        self.logger = logger
        self.metrics = metrics
        self.slowOperation = slowOperation
        let imagers = metrics.gauge(
            "bookplate_imager_processes", "Programs beside the server that read images.")
        metrics.beforeReading { imagers.set(covers.images.runningCount) }
        identities = Identities(
            issuers: issuers, keySets: keySets, makeKeySet: makeKeySet, logger: logger)
    }

    /// Takes a request from an address that is no GraphQL request.
    ///
    /// - Returns: how long it has to wait; nil where it may go on.
    package func secondsToWait(from address: RateKey) -> Int? {
        let state = rates.take(1, viewer: nil, address: address, tenantMax: nil)
        return state.flatMap { $0.isAllowed ? nil : $0.waitSeconds }
    }

    /// A new access token, and when it runs out in seconds of Unix time.
    func accessToken(for viewer: Viewer) -> (token: String, expiresAt: Int64) {
        let now = unixSecondsNow()
        let expiresAt = now + Sessions.accessTokenSeconds
        let claims = AccessClaims(
            userID: viewer.userID, tenantID: viewer.tenantID,
            sessionID: viewer.sessionID, issuedAt: now, expiresAt: expiresAt)
        return (AccessToken.issue(claims, keys: sessionKeys), expiresAt)
    }

    /// The error that a client gets for a database error. Details that it does not get are logged.
    func describe(_ error: PostgresError, _ requestID: String) -> BookplateError {
        if let known = BookplateError(error) {
            if case .server(let server) = error, server.sqlState.rawValue == "BP411" {
                logger.notice(
                    "refused a sign-in",
                    metadata: ["request_id": "\(requestID)", "reason": "\(server.message)"])
            }
            return known
        }
        if error == .cancelled { return .cancelled }
        logger.error(
            "the database failed a request",
            metadata: ["request_id": "\(requestID)", "error": "\(error)"])
        return .internalError
    }
}
