import Bookplate
import Config
import EventLoops
import Glibc
import GraphQLNIO
import Identity
import Logging
import NIOCore
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
        let keyring = try Self.keyring(configuration)
        try configuration.requirePublicURL()
        let identity = try IdentitySources(configuration, developmentSignIn, logger)
        let metrics = makeMetrics()
        let meter = metrics.makeLoopMeter(
            logLevel: isDevelopment ? .warning : .debug, logger)
        let home = try await DatabaseConnections.open(
            try configuration.homeDatabase(), configuration, metrics, meter, logger)
        let gauges = LiveGauges()
        metrics.report(gauges)
        metrics.reportProcess()
        let tracer = configuration.traces.map { Tracer(share: $0.share, metrics: metrics) }
        let factory = try ServedDatabaseFactory(
            configuration, keyring, identity, home: home, metrics, tracer, logger)
        var databases = [
            try factory.make(home, configuration.storage, variable: "BOOKPLATE_STORAGE")
        ]
        for other in configuration.otherDatabases {
            let connections = try await DatabaseConnections.open(
                DatabaseAddresses(other), configuration, metrics, meter, logger)
            databases.append(
                try factory.make(
                    connections, other.storage,
                    variable: "BOOKPLATE_STORAGE_\(other.name.uppercased())"))
        }
        metrics.report(databases)
        let unread = UnreadBytes(.init(configuration.limits))
        metrics.report(unread)
        let shutdown = ShutdownState()
        let notifier = ServiceManagerNotifier(
            configuration.serviceManager, home.group, logger)
        let routes = RouteFactory(
            configuration, schema: schema, databases: databases,
            developmentSignIn: developmentSignIn, unread: unread, shutdown: shutdown,
            metrics: metrics)
        let channels = HTTPChannels(
            executors: home.pools.values.map(\.executor),
            limits: HTTPLimits(configuration),
            proxies: try TrustedProxies(configuration.trustedProxies), logger: logger,
            accessLogLevel: configuration.accessLog ? .info : .debug,
            metrics: metrics, gauges: gauges, unread: unread, tracer: tracer
        ) { executor in
            try routes.routes(on: executor)
        }
        let server = HTTPServer(
            group: home.group, host: configuration.host, port: configuration.port,
            channels: channels, shutdown: shutdown,
            onListening: {
                logger.info("listening on \($0)")
                notifier.report(.ready)
            },
            onStopping: { notifier.report(.stopping) })
        var backgroundServices = try await makeBackgroundServices(
            configuration, databases, tracer, logger)
        if let reserve = MemoryReserve(
            percentMax: configuration.limits.memoryPercentMax, unread: unread, logger: logger)
        {
            backgroundServices.append(reserve)
        }
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

    /// Creates the services that run beside the HTTP server: jobs, reloading of configuration, and publishing.
    ///
    /// - Parameter databases: The home database, and the others.
    private static func makeBackgroundServices(
        _ configuration: Configuration, _ databases: [ServedDatabase], _ tracer: Tracer?,
        _ logger: Logger
    ) async throws -> [any Service] {
        var background: [any Service] = [FreeMemory(logger: logger)]
        for database in databases {
            let (connections, services) = (database.connections, database.services)
            let jobs = try await JobService(
                JobHandlers.all(services), connections.url, directURL: connections.directURL,
                connectionCount: DatabaseConnections.jobConnectionCount(configuration),
                logger: logger)
            background += [
                jobs, UsageService(services, database: jobs.pool, logger: logger),
                WebhookService(
                    dispatcher: WebhookDispatcher(database: jobs.pool, services: services)),
            ]
            if let broker = configuration.sources.broker {
                background.append(
                    EventService(broker, database: connections.firstPool, services: services))
            }
        }
        if let home = databases.first {
            background.append(
                ConfigurationWatcher(
                    home.services, database: home.connections.firstPool, logger: logger))
            background.append(
                RateSharingService(
                    sharing: RateSharing(home.services, database: home.connections.firstPool)))
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

    /// Runs the services until a stop signal, and then closes the connections to the databases.
    ///
    /// - Parameter running: The services in the order of their start. They are stopped in the reverse order, because
    ///   the last requests may still enqueue jobs.
    private static func serve(
        _ running: [any Service], _ databases: [ServedDatabase], _ logger: Logger
    ) async throws {
        let lifecycle = ServiceGroup(
            configuration: .init(
                services: running.map {
                    .init(service: $0, successTerminationBehavior: .gracefullyShutdownGroup)
                },
                gracefulShutdownSignals: [.sigterm, .sigint], logger: logger))
        let home = databases.first?.connections
        let replicaWatch = Task {
            if let home { await home.replica?.watch(primary: home.firstPool) }
        }
        defer { logger.info("stopped") }
        try await lifecycle.run()
        replicaWatch.cancel()
        for database in databases { await database.connections.close() }
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
