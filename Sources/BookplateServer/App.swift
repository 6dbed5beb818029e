import BookSources
import Bookplate
import Config
import EventLoops
import Glibc
import GraphQLNIO
import HTTPFetch
import Identity
import ImageProcessing
import JobQueue
import Logging
import NIOCore
import ObjectStorage
import Postgres
import S3Storage
import ServiceLifecycle
import Telemetry
import Version

/// The server program. It reads the configuration, opens the database, and serves requests until a stop signal.
@main
enum App {
    @concurrent static func main() async {
        do {
            try CommandLineArguments.handle(Array(CommandLine.arguments.dropFirst()))
            try await run(try Configuration.load())
        } catch let error as ConfigError {
            stop("\(error)", code: 78)
        } catch let error as StartError {
            stop(error.message, code: error.code)
        } catch let error as ListenError {
            stop("\(error)", code: 69)
        } catch {
            stop("cannot start: \(error)", code: 1)
        }
    }

    /// Starts the server, and returns after a stop signal when the requests in progress have finished.
    private static func run(_ configuration: Configuration) async throws {
        let logger = Logger(label: "bookplate", configuration)
        for variable in configuration.unknownVariables { logger.warning("\(variable)") }
        let schema = try BookplateSchema(
            sdl: BookplateSchema.text, hasIncrementalDelivery: configuration.incremental)
        let isDevelopment = configuration.environment == .development
        let developmentSignIn = isDevelopment ? DevelopmentSignIn(configuration) : nil
        let keyring = try Self.keyring(configuration)
        try configuration.requirePublicURL()
        let identity = try IdentitySources(configuration, developmentSignIn, logger)
        let metrics = makeMetrics()
        let databases = try await Databases.open(configuration, metrics, logger)
        let store = try openStore(configuration, databases, metrics)
        let covers = try covers(store, configuration, logger)
        let gauges = LiveGauges()
        metrics.report(Array(databases.pools.values))
        metrics.report(gauges)
        metrics.reportProcess()
        _ = JobGauges(metrics, database: databases.firstPool)
        GuestGauge.add(to: metrics, database: databases.firstPool)
        WebhookGauges.add(to: metrics, database: databases.firstPool)
        let tracer = configuration.traces.map { Tracer(share: $0.share, metrics: metrics) }
        let services = try makeServices(
            configuration, keyring, identity, covers, databases, metrics, tracer, logger)
        let unread = UnreadBytes(.init(configuration.limits))
        metrics.report(unread)
        let shutdown = ShutdownState()
        let notifier = ServiceManagerNotifier(
            configuration.serviceManager, databases.group, logger)
        let routes = RouteFactory(
            configuration, schema: schema, pools: databases.pools, services: services,
            store: store, developmentSignIn: developmentSignIn, unread: unread, shutdown: shutdown,
            metrics: metrics)
        let server = HTTPServer(
            group: databases.group, executors: databases.pools.values.map(\.executor),
            host: configuration.host, port: configuration.port, limits: HTTPLimits(configuration),
            proxies: TrustedProxies(configuration.trustedProxies), logger: logger,
            accessLogLevel: configuration.accessLog ? .info : .debug,
            metrics: metrics, gauges: gauges, unread: unread, tracer: tracer, shutdown: shutdown,
            onListening: {
                logger.info("listening on \($0)")
                notifier.report(.ready)
            },
            onStopping: { notifier.report(.stopping) }
        ) { executor in
            try routes.routes(on: executor)
        }
        let backgroundServices = try await makeBackgroundServices(
            configuration, services, databases, tracer, logger)
        if developmentSignIn != nil {
            logger.notice("development sign-in is open, on loopback only")
        }
        try await serve([notifier] + backgroundServices + [server], databases, logger)
    }

    private static func makeMetrics() -> Metrics {
        let metrics = Metrics()
        metrics.gauge(
            "bookplate_build_info", "The version of the server, as a label. The value is always 1.",
            ["version": bookplateVersion]
        ).set(1)
        return metrics
    }

    private static func makeServices(
        _ configuration: Configuration, _ keyring: SessionKeyring, _ identity: IdentitySources,
        _ covers: Covers, _ databases: Databases, _ metrics: Metrics,
        _ tracer: Tracer?, _ logger: Logger
    ) throws -> Services {
        let slowOperation = configuration.slowOperationMilliseconds
        let externalSources = try ExternalSources(
            configuration, database: databases.firstPool, metrics, logger)
        let accounts = AccountServices(
            keyring: keyring, issuers: identity.issuers, keySets: identity.keySets,
            makeKeySet: identity.makeKeySet, apple: identity.apple, metrics: metrics,
            logger: logger)
        return Services(
            accounts: accounts, rates: RateLimits(.init(configuration.limits)),
            bookSources: externalSources.books, coverSources: externalSources.covers,
            covers: covers, webhooks: try webhooks(configuration), hub: databases.hub,
            replica: databases.replica, logger: logger,
            metrics: metrics, tracer: tracer,
            slowOperation: slowOperation == 0 ? nil : .milliseconds(slowOperation))
    }

    /// Creates the services that run beside the HTTP server: jobs, reloading of configuration, and publishing.
    private static func makeBackgroundServices(
        _ configuration: Configuration, _ services: Services, _ databases: Databases,
        _ tracer: Tracer?, _ logger: Logger
    ) async throws -> [any Service] {
        let jobs = try await JobService(
            JobHandlers.all(services), databases.url, directURL: databases.directURL,
            connectionCount: Databases.jobConnectionCount(configuration), logger: logger)
        var background: [any Service] = [
            jobs, ConfigurationWatcher(services, database: jobs.pool, logger: logger),
            UsageService(services, database: jobs.pool, logger: logger),
            WebhookService(
                dispatcher: WebhookDispatcher(database: jobs.pool, services: services)),
            RateSharingService(
                sharing: RateSharing(services, database: databases.firstPool)),
            FreeMemory(logger: logger),
        ]
        if let tracer, let traces = configuration.traces {
            background.append(
                try TraceService(
                    traces, tracer,
                    OTLPResource(
                        version: bookplateVersion,
                        environment: configuration.environment.rawValue,
                        instance: String(UInt64.random(in: 1...UInt64.max), radix: 16)),
                    logger: logger))
        }
        if let broker = configuration.sources.broker {
            background.append(
                EventService(broker, database: databases.firstPool, services: services))
        }
        return background
    }

    /// Runs the services until a stop signal, and then closes the connections to the database.
    ///
    /// - Parameter running: The services in the order of their start. They are stopped in the reverse order, because
    ///   the last requests may still enqueue jobs.
    private static func serve(
        _ running: [any Service], _ databases: Databases, _ logger: Logger
    ) async throws {
        let lifecycle = ServiceGroup(
            configuration: .init(
                services: running.map {
                    .init(service: $0, successTerminationBehavior: .gracefullyShutdownGroup)
                },
                gracefulShutdownSignals: [.sigterm, .sigint], logger: logger))
        let replicaWatch = Task { await databases.replica?.watch(primary: databases.firstPool) }
        defer { logger.info("stopped") }
        try await lifecycle.run()
        replicaWatch.cancel()
        await databases.close()
    }

    private static func keyring(_ configuration: Configuration) throws -> SessionKeyring {
        let file = try configuration.sessionKeysFile()
        do throws(SessionKeysError) {
            return try SessionKeyring(
                file: file, makesMissing: configuration.environment == .development)
        } catch {
            throw StartError(
                message: "the session keys in \(file) cannot be used: \(error)", code: 78)
        }
    }

    private static func openStore(
        _ configuration: Configuration, _ databases: Databases, _ metrics: Metrics
    ) throws -> any ObjectStore {
        do throws(ObjectError) {
            return try configuration.storage.open(
                leases: DatabaseLeases(databases.firstPool), metrics: metrics)
        } catch {
            throw StartError(
                message: "BOOKPLATE_STORAGE cannot be used: \(error.description)", code: 78)
        }
    }

    /// Returns a fetcher for URLs that others supply.
    private static func fetcher(_ configuration: Configuration) throws -> Fetcher {
        let allowed = try FetchAllowList(
            parsing: configuration.sources.fetchAllow.joined(separator: ","))
        return Fetcher(policy: FetchPolicy(userAgent: "bookplate", allowed: allowed))
    }

    private static func webhooks(_ configuration: Configuration) throws -> WebhookSender {
        WebhookSender(
            fetcher: try fetcher(configuration),
            allowsPlainHTTP: configuration.environment == .development)
    }

    private static func covers(
        _ store: any ObjectStore, _ configuration: Configuration, _ logger: Logger
    ) throws -> Covers {
        let fetcher = try fetcher(configuration)
        do throws(ImageError) {
            return Covers(
                store: store, images: try ImagerPool(),
                fetcher: fetcher, publicURL: configuration.publicURL,
                bucketURL: configuration.storage.publicURL, logger: logger)
        } catch {
            throw StartError(message: "images cannot be processed: \(error)", code: 1)
        }
    }

    private static func stop(_ message: String, code: Int32) -> Never {
        var line = "bookplate: \(message)\n"
        line.withUTF8 { _ = Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
        exit(code)
    }
}

/// An error that prevents the server from starting, with a message for the operator and the exit code of the process.
struct StartError: Error {
    let message: String
    let code: Int32
}

extension HTTPLimits {
    init(_ configuration: Configuration) {
        self.init()
        stopDelay = .seconds(configuration.stopDelaySeconds)
    }
}

extension UnreadBytes.Limits {
    init(_ limits: Configuration.Limits) {
        self.init()
        addressMax = limits.unreadBytesPerAddressMax
        processMax = limits.unreadBytesMax
        responseMax = limits.responseBytesMax
    }
}
