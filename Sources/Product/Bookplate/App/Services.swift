import BookSources
import Logging
import Postgres
import Telemetry

/// The parts of the server that requests and jobs use. One per process.
package final class Services: Sendable {
    package let accounts: AccountServices
    let rates: RateLimits
    /// The external sources of book metadata. Empty if none is configured.
    package let bookSources: SourceChain
    /// The external sources of covers. Empty if none is configured.
    package let coverSources: CoverSources
    package let covers: Covers
    let webhooks: WebhookSender
    let genres = Genres()
    package let usage = SchemaUsage()
    package let tokenUses = TokenUses()
    /// Wakes subscriptions, and reports changes to the replica.
    let hub: Hub
    /// The replica for reads; nil if all reads go to the primary.
    let replica: Replica?
    /// When a request last waited in vain for the database.
    package let timeouts = RequestTimeouts()
    let logger: Logger
    package let metrics: Metrics
    /// nil if traces are not exported.
    let tracer: Tracer?
    /// The duration after which an operation is logged as slow; nil if none is logged.
    let slowOperation: Duration?

    package init(
        accounts: AccountServices, rates: RateLimits = RateLimits(),
        bookSources: SourceChain = SourceChain([]),
        coverSources: CoverSources = CoverSources(SourceChain([])), covers: Covers,
        webhooks: WebhookSender, hub: Hub,
        replica: Replica? = nil, logger: Logger, metrics: Metrics = Metrics(),
        tracer: Tracer? = nil, slowOperation: Duration? = nil
    ) {
        self.accounts = accounts
        self.rates = rates
        self.bookSources = bookSources
        self.coverSources = coverSources
        self.covers = covers
        self.webhooks = webhooks
        self.hub = hub
        self.replica = replica
        self.logger = logger
        self.metrics = metrics
        self.tracer = tracer
        self.slowOperation = slowOperation
        let imagers = metrics.gauge(
            "bookplate_imager_processes", "Running processes of bookplate-imager.")
        metrics.beforeReading { imagers.set(covers.images.runningCount) }
    }

    /// Converts a database error to the error that the client gets. Details that clients must not get are logged.
    ///
    /// - Parameters:
    ///   - isReadOnly: Whether the failed statements can change nothing.
    ///   - hasWritten: Whether the request may have changed something before.
    func bookplateError(
        _ error: PostgresError, _ requestID: String, isReadOnly: Bool = false,
        hasWritten: Bool = false
    ) -> BookplateError {
        if let known = BookplateError(error) {
            if case .server(let server) = error, server.sqlState == .tokenReused {
                logger.notice(
                    "refused a sign-in",
                    metadata: ["request_id": "\(requestID)", "reason": "\(server.message)"])
                accounts.auditEvents.add(.signInRefused, reason: server.message)
            }
            return known
        }
        if error.isTimeout { timeouts.record() }
        switch error {
        case .cancelled: return .cancelled
        // The input is the cause.
        case .tooLarge(let limit, let count): return .operationTooComplex(limit, count: count)
        // The pool logs these errors once, not for each request.
        case .connectFailed, .poolExhausted, .closed:
            return .serviceUnavailable(
                retryAfterSeconds: 1, outcome: hasWritten ? .unknown : .notDone)
        default: break
        }
        logger.error(
            "a request failed because of a database error",
            metadata: ["request_id": "\(requestID)", "error": "\(error)"])
        guard error.isTemporary else { return .internalError }
        let isUnchanged = !hasWritten && (isReadOnly || error.hadNoEffect)
        return .serviceUnavailable(
            retryAfterSeconds: 1, outcome: isUnchanged ? .notDone : .unknown)
    }
}
