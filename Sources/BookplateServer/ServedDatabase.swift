import BookSources
import Bookplate
import Config
import EventLoops
import HTTPFetch
import ImageProcessing
import Logging
import ObjectStorage
import Postgres
import S3Storage
import Telemetry

/// A database with the services that use it.
struct ServedDatabase: Sendable {
    let connections: DatabaseConnections
    let services: Services

    func pool(on executor: EventLoopTaskExecutor) -> ConnectionPool? {
        connections.pools[ObjectIdentifier(executor.eventLoop)]
    }
}

/// Creates the services of each database. They share the rate limits, tenants, external sources, image processes, and webhook sender.
struct ServedDatabaseFactory {
    private let configuration: Configuration
    private let keyring: SessionKeyring
    private let identity: IdentitySources
    private let metrics: Metrics
    private let tracer: Tracer?
    private let logger: Logger
    private let rates: RateLimits
    private let sources: ExternalSources
    private let images: ImagerPool
    private let webhooks: WebhookSender
    /// The tenants of the home database.
    private let tenants = Tenants()
    /// nil if there is only one database.
    private let databases: UserDatabases?

    /// - Parameter home: The database at `DATABASE_URL`, which counts the requests to external sources.
    init(
        _ configuration: Configuration, _ keyring: SessionKeyring, _ identity: IdentitySources,
        home: DatabaseConnections, _ metrics: Metrics, _ tracer: Tracer?, _ logger: Logger
    ) throws {
        self.configuration = configuration
        self.keyring = keyring
        self.identity = identity
        self.metrics = metrics
        self.tracer = tracer
        self.logger = logger
        rates = RateLimits(.init(configuration.limits))
        sources = try ExternalSources(configuration, database: home.firstPool, metrics, logger)
        do throws(ImageError) {
            images = try ImagerPool()
        } catch {
            throw StartError(
                message:
                    "images cannot be processed: \(error). Run bookplate-admin doctor for instructions",
                code: 1)
        }
        webhooks = WebhookSender(
            fetcher: try Self.fetcher(configuration),
            allowsPlainHTTP: configuration.environment == .development)
        databases = configuration.otherDatabases.isEmpty ? nil : UserDatabases()
    }

    /// - Parameters:
    ///   - storage: The location of the database's covers.
    ///   - variable: The name of the variable with that location, for errors.
    func make(
        _ connections: DatabaseConnections, _ storage: Configuration.Storage, variable: String
    ) throws -> ServedDatabase {
        let store: any ObjectStore
        do throws(ObjectError) {
            store = try storage.open(
                leases: DatabaseLeases(connections.firstPool), metrics: metrics,
                timeout: Self.storeTimeout)
        } catch {
            throw StartError(
                message:
                    "\(variable) cannot be used: \(error.description). Run bookplate-admin doctor for instructions",
                code: 78)
        }
        let slowOperation = configuration.slowOperationMilliseconds
        let services = Services(
            accounts: AccountServices(
                keyring: keyring, issuers: identity.issuers, keySets: identity.keySets,
                makeKeySet: identity.makeKeySet, apple: identity.apple, tenants: tenants,
                metrics: metrics, logger: logger),
            rates: rates, bookSources: sources.books, coverSources: sources.covers,
            covers: Covers(
                store: store, images: images, fetcher: try Self.fetcher(configuration),
                publicURL: configuration.publicURL, bucketURL: storage.publicURL, logger: logger),
            webhooks: webhooks, hub: connections.hub, replica: connections.replica,
            databases: databases, logger: logger, metrics: metrics, tracer: tracer,
            slowOperation: slowOperation == 0 ? nil : .milliseconds(slowOperation))
        databases?.add(.init(services, pools: connections.pools))
        return ServedDatabase(connections: connections, services: services)
    }

    /// The time limit for a cover in a bucket, so that a client gets its response within five seconds. Jobs try again later.
    private static let storeTimeout = Duration.seconds(4)

    /// Returns a fetcher for URLs that others supply.
    private static func fetcher(_ configuration: Configuration) throws -> Fetcher {
        let allowed = try FetchAllowList(
            parsing: configuration.sources.fetchAllow.joined(separator: ","))
        return Fetcher(policy: FetchPolicy(userAgent: "bookplate", allowed: allowed))
    }
}
