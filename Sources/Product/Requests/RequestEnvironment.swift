import Logging
import Postgres
import Telemetry

/// The parts of the server that requests of every kind use. One per process.
package final class RequestEnvironment: Sendable {
    package let rates: RateLimits
    /// The keys of access tokens.
    let keyring: SessionKeyring
    let auditEvents: AuditEvents
    let knownTokens = KnownTokens()
    package let tokenUses = TokenUses()
    package let usage = SchemaUsage()
    /// Wakes subscriptions, and reports changes to the replica.
    package let hub: Hub
    /// The replica for reads; nil if all reads go to the primary.
    package let replica: Replica?
    /// When a request last waited in vain for the database.
    package let timeouts = RequestTimeouts()
    /// Returns the maximum requests per minute of all users of a tenant together; nil for no limit.
    let tenantMax: @Sendable (UUID) -> Int?
    /// The errors of the constraints that input can violate.
    private let constraints: [String: BookplateError]
    package let logger: Logger
    package let metrics: Metrics
    /// nil if traces are not exported.
    let tracer: Tracer?
    /// The duration after which an operation is logged as slow; nil if none is logged.
    let slowOperation: Duration?

    package init(
        rates: RateLimits, keyring: SessionKeyring, auditEvents: AuditEvents, hub: Hub,
        replica: Replica?, tenantMax: @escaping @Sendable (UUID) -> Int?,
        constraints: [String: BookplateError], logger: Logger, metrics: Metrics, tracer: Tracer?,
        slowOperation: Duration?
    ) {
        self.rates = rates
        self.keyring = keyring
        self.auditEvents = auditEvents
        self.hub = hub
        self.replica = replica
        self.tenantMax = tenantMax
        self.constraints = constraints
        self.logger = logger
        self.metrics = metrics
        self.tracer = tracer
        self.slowOperation = slowOperation
    }

    /// Charges a request that is not a GraphQL request to an address.
    ///
    /// - Returns: The number of seconds after which the request can be repeated; nil if it is allowed.
    package func secondsToWait(from address: RateKey, units: Int = 1) -> Int? {
        let state = rates.take(units, viewer: nil, address: address, tenantMax: nil)
        return state.flatMap { $0.isAllowed ? nil : $0.waitSeconds }
    }

    /// Converts a database error to the error that the client gets. Details that clients must not get are logged.
    ///
    /// - Parameters:
    ///   - isReadOnly: Whether the failed statements can change nothing.
    ///   - hasWritten: Whether the request may have changed something before.
    package func bookplateError(
        _ error: PostgresError, _ requestID: String, isReadOnly: Bool = false,
        hasWritten: Bool = false
    ) -> BookplateError {
        if let known = BookplateError(error, constraints: constraints) {
            if case .server(let server) = error, server.sqlState == .tokenReused {
                logger.notice(
                    "refused a sign-in",
                    metadata: ["request_id": "\(requestID)", "reason": "\(server.message)"])
                auditEvents.add(.signInRefused, reason: server.message)
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
