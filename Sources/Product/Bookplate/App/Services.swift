import BookSources
import Logging
import Requests
import Telemetry

/// The parts of the server that requests and jobs use. One per process.
package final class Services: Sendable {
    /// The parts that every request uses.
    package let environment: RequestEnvironment
    package let accounts: AccountServices
    /// The external sources of book metadata. Empty if none is configured.
    package let bookSources: SourceChain
    /// The external sources of covers. Empty if none is configured.
    package let coverSources: CoverSources
    package let covers: Covers
    let webhooks: WebhookSender
    let genres = Genres()

    package init(
        accounts: AccountServices, rates: RateLimits = RateLimits(),
        bookSources: SourceChain = SourceChain([]),
        coverSources: CoverSources = CoverSources(SourceChain([])), covers: Covers,
        webhooks: WebhookSender, hub: Hub,
        replica: Replica? = nil, logger: Logger, metrics: Metrics = Metrics(),
        tracer: Tracer? = nil, slowOperation: Duration? = nil
    ) {
        let tenants = accounts.tenants
        environment = RequestEnvironment(
            rates: rates, keyring: accounts.keyring, auditEvents: accounts.auditEvents, hub: hub,
            replica: replica, tenantMax: { tenants.requestsPerMinuteMax(of: $0) },
            constraints: violableConstraints, logger: logger, metrics: metrics, tracer: tracer,
            slowOperation: slowOperation)
        self.accounts = accounts
        self.bookSources = bookSources
        self.coverSources = coverSources
        self.covers = covers
        self.webhooks = webhooks
        let imagers = metrics.gauge(
            "bookplate_imager_processes", "Running processes of bookplate-imager.")
        metrics.beforeReading { imagers.set(covers.images.runningCount) }
    }

    var rates: RateLimits { environment.rates }
    var hub: Hub { environment.hub }
    var logger: Logger { environment.logger }
    package var metrics: Metrics { environment.metrics }
}
