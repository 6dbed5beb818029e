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
import Requests
import S3Storage
import Server
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
        try configuration.requirePublicURL()
        let identity = try IdentitySources(configuration, developmentSignIn, logger)
        let metrics = makeMetrics()
        let meter = metrics.makeLoopMeter(
            logLevel: isDevelopment ? .warning : .debug, logger)
        let database = try await DatabaseConnections.open(
            configuration, metrics, meter, logger)
        // After the checks above, so that a start that fails does not create a key file in the current folder.
        let keyring = try Self.keyring(configuration)
        let gauges = LiveGauges()
        metrics.report(Array(database.pools.values))
        metrics.report(gauges)
        metrics.reportProcess()
        if case .folder(let path) = configuration.storage { metrics.reportFreeSpace(of: path) }
        if let backups = configuration.backups { metrics.reportBackups(in: backups) }
        _ = JobGauges(metrics, database: database.firstPool)
        GuestGauge.add(to: metrics, database: database.firstPool)
        WebhookGauges.add(to: metrics, database: database.firstPool)
        let tracer = configuration.traces.map { Tracer(share: $0.share, metrics: metrics) }
        let services = try makeServices(
            configuration, keyring, identity, database, metrics, tracer, logger)
        let unread = UnreadBytes(.init(configuration.limits))
        metrics.report(unread)
        let shutdown = ShutdownState()
        let notifier = ServiceManagerNotifier(
            configuration.serviceManager, database.group, logger)
        let routes = RouteFactory(
            configuration, schema: schema, pools: database.pools, services: services,
            developmentSignIn: developmentSignIn, unread: unread, shutdown: shutdown,
            metrics: metrics, logger: logger)
        let channels = HTTPChannels(
            executors: database.pools.values.map(\.executor),
            limits: HTTPLimits(configuration),
            proxies: try TrustedProxies(configuration.trustedProxies), logger: logger,
            accessLogLevel: configuration.accessLog ? .info : .debug,
            metrics: metrics, gauges: gauges, unread: unread, tracer: tracer
        ) { executor in
            try routes.routes(on: executor)
        }
        let server = HTTPServer(
            group: database.group, host: configuration.host, port: configuration.port,
            channels: channels, shutdown: shutdown,
            onListening: {
                logger.info("listening on \($0)")
                notifier.report(.ready)
            },
            onStopping: { notifier.report(.stopping) })
        var backgroundServices = try await makeBackgroundServices(
            configuration, services, database, tracer, logger)
        if let reserve = MemoryReserve(
            percentMax: configuration.limits.memoryPercentMax, unread: unread, logger: logger)
        {
            backgroundServices.append(reserve)
        }
        if developmentSignIn != nil {
            logger.notice("development sign-in is open, on loopback only")
        }
        try await serve([notifier] + backgroundServices + [server], database, logger)
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
        _ database: DatabaseConnections, _ metrics: Metrics, _ tracer: Tracer?, _ logger: Logger
    ) throws -> Services {
        let slowOperation = configuration.slowOperationMilliseconds
        let sources = try ExternalSources(
            configuration, database: database.firstPool, metrics, logger)
        return Services(
            accounts: AccountServices(
                keyring: keyring, issuers: identity.issuers, keySets: identity.keySets,
                makeKeySet: identity.makeKeySet, apple: identity.apple, metrics: metrics,
                logger: logger),
            rates: RateLimits(.init(configuration.limits)), bookSources: sources.books,
            coverSources: sources.covers,
            covers: try covers(configuration, database, metrics, logger),
            webhooks: WebhookSender(
                fetcher: try fetcher(configuration),
                allowsPlainHTTP: configuration.environment == .development),
            hub: database.hub, replica: database.replica, logger: logger, metrics: metrics,
            tracer: tracer, slowOperation: slowOperation == 0 ? nil : .milliseconds(slowOperation))
    }

    private static func covers(
        _ configuration: Configuration, _ database: DatabaseConnections, _ metrics: Metrics,
        _ logger: Logger
    ) throws -> Covers {
        let store: any ObjectStore
        do throws(ObjectError) {
            store = try configuration.storage.open(
                leases: DatabaseLeases(database.firstPool), metrics: metrics,
                timeout: storeTimeout)
        } catch {
            throw StartError(
                message:
                    "BOOKPLATE_STORAGE cannot be used: \(error.description). Run bookplate-admin doctor for instructions",
                code: 78)
        }
        let images: ImagerPool
        do throws(ImageError) {
            images = try ImagerPool()
        } catch {
            throw StartError(
                message:
                    "images cannot be processed: \(error). Run bookplate-admin doctor for instructions",
                code: 1)
        }
        return Covers(
            store: store, images: images, fetcher: try fetcher(configuration),
            publicURL: configuration.publicURL, bucketURL: configuration.storage.publicURL,
            logger: logger)
    }

    /// The time limit for a cover in a bucket, so that a client gets its response within five seconds. Jobs try again later.
    private static let storeTimeout = Duration.seconds(4)

    /// Returns a fetcher for URLs that others supply.
    private static func fetcher(_ configuration: Configuration) throws -> Fetcher {
        let allowed = try FetchAllowList(
            parsing: configuration.sources.fetchAllow.joined(separator: ","))
        return Fetcher(policy: FetchPolicy(userAgent: "bookplate", allowed: allowed))
    }

    /// Creates the services that run beside the HTTP server: jobs, reloading of configuration, and publishing.
    private static func makeBackgroundServices(
        _ configuration: Configuration, _ services: Services, _ database: DatabaseConnections,
        _ tracer: Tracer?, _ logger: Logger
    ) async throws -> [any Service] {
        let jobs = try await JobService(
            JobHandlers.all(services), database.url, directURL: database.directURL,
            connectionCount: configuration.database.jobConnectionCount,
            writeTurns: database.writeTurns, logger: logger)
        var background: [any Service] = [
            FreeMemory(logger: logger),
            jobs, UsageService(services, database: jobs.pool, logger: logger),
            WebhookService(
                dispatcher: WebhookDispatcher(database: jobs.pool, services: services)),
            ConfigurationWatcher(services, database: database.firstPool, logger: logger),
            RateSharingService(
                sharing: RateSharing(services.environment, database: database.firstPool)),
        ]
        if let broker = configuration.sources.broker {
            background.append(
                EventService(broker, database: database.firstPool, services: services))
        }
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
        return background
    }

    /// Runs the services until a stop signal, and then closes the connections to the database.
    ///
    /// - Parameter running: The services in the order of their start. They are stopped in the reverse order, because
    ///   the last requests may still enqueue jobs.
    private static func serve(
        _ running: [any Service], _ database: DatabaseConnections, _ logger: Logger
    ) async throws {
        let lifecycle = ServiceGroup(
            configuration: .init(
                services: running.map {
                    .init(service: $0, successTerminationBehavior: .gracefullyShutdownGroup)
                },
                gracefulShutdownSignals: [.sigterm, .sigint], logger: logger))
        let replicaWatch = Task { await database.replica?.watch(primary: database.firstPool) }
        defer { logger.info("stopped") }
        try await lifecycle.run()
        replicaWatch.cancel()
        await database.close()
    }

    private static func keyring(_ configuration: Configuration) throws -> SessionKeyring {
        let file = try configuration.sessionKeysFile()
        do throws(SessionKeysError) {
            return try SessionKeyring(
                file: file, makesMissing: configuration.environment == .development)
        } catch {
            throw StartError(
                message:
                    "the session keys in \(file) cannot be used: \(error). Run bookplate-admin doctor, which says what to do",
                code: 78)
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
        filesPerLoopMax = imageFilesPerLoopMax
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
