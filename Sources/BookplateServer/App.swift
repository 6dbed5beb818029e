import BookSources
import Bookplate
import Config
import EventLoops
import GraphQL
import Glibc
import HTTPFetch
import Identity
import Images
import Logging
import NIOCore
import NIOPosix
import Objects
import Postgres
import Server
import ServiceLifecycle
import Telemetry
import Version

/// The server: reads its configuration, opens the database, and serves until it is told to stop.
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

    /// - Returns: when a stop was asked for and the requests under way are answered.
    private static func run(_ configuration: Configuration) async throws {
        let logger = Logger(label: "bookplate", configuration)
        for variable in configuration.unknownVariables { logger.warning("\(variable)") }
        let schema = try BookplateSchema(sdl: BookplateSchema.text)
        let isDevelopment = configuration.environment == .development
        let development = isDevelopment ? DevelopmentSignIn(configuration) : nil
        let keyring = try Self.keyring(configuration)
        let identity = try IdentitySources(configuration, development, logger)
        let databaseURL = try configuration.database.required()
        try checkDatabase(databaseURL)
        let group = MultiThreadedEventLoopGroup.singleton
        let pools = try await openPools(databaseURL, on: group, configuration)
        guard let firstPool = pools.values.first else {
            throw StartError(message: "there is no event loop", code: 1)
        }
        let metrics = Metrics()
        metrics.gauge(
            "bookplate_build_info", "The version of the server, as a label. The value is always 1.",
            ["version": bookplateVersion]
        ).set(1)
        let replica: Replica? =
            if let url = configuration.database.readURL {
                Replica(Array(try await openPools(url, on: group, configuration).values), metrics)
            } else {
                nil
            }
        let hub = try await Hub.start(
            PostgresConfiguration(url: databaseURL), database: firstPool, replica: replica,
            logger: logger)
        let store = try openStore(configuration)
        let covers = try covers(store, configuration, logger)
        metrics.tell(of: Array(pools.values))
        let gauges = LiveGauges()
        metrics.tell(of: gauges)
        _ = JobGauges(metrics, database: firstPool)
        let slow = configuration.slowOperationMilliseconds
        let outside = try OutsideSources(
            configuration, database: firstPool, metrics, logger)
        let services = Services(
            keyring: keyring, issuers: identity.issuers,
            keySets: identity.keySets, makeKeySet: identity.makeKeySet,
            rates: RateLimits(.init(configuration.limits)), apple: identity.apple,
            bookSources: outside.books, coverSources: outside.covers, covers: covers, hub: hub,
            replica: replica, logger: logger, metrics: metrics,
            slowOperation: slow == 0 ? nil : .milliseconds(slow))

        var limits = RequestLimits()
        limits.parsing.tokensMax = configuration.limits.documentTokensMax
        limits.operation.depthMax = configuration.limits.selectionDepthMax
        limits.operation.fieldsMax = configuration.limits.fieldsMax
        limits.operation.aliasesMax = configuration.limits.aliasesMax
        limits.operation.costMax = configuration.limits.costMax
        limits.responseBytesMax = configuration.limits.responseBytesMax
        let unread = UnreadBytes(.init(configuration.limits))
        metrics.tell(of: unread)
        limits.validation = ValidationOptions(allowsIntrospection: configuration.introspection)
        let documents = DocumentPolicy(mode: .init(configuration.documents))
        let batchRequestsMax = configuration.limits.batchRequestsMax
        let explorer =
            configuration.explorer
            ? Explorer(
                schema: schema.schema, limits: limits, isDevelopment: isDevelopment,
                hasDevelopmentSignIn: development != nil) : nil
        let bodyBytesMax = configuration.limits.bodyBytesMax
        let socketOrigins = AllowedOrigins(
            configuration.allowedOrigins + [configuration.publicURL])
        let schemaText = configuration.introspection ? BookplateSchema.text : nil
        let server = HTTPServer(
            group: group, executors: pools.values.map(\.executor), host: configuration.host,
            port: configuration.port, proxies: TrustedProxies(configuration.trustedProxies),
            logger: logger, metrics: metrics, gauges: gauges, unread: unread,
            onListening: { logger.info("listening on \($0)") }
        ) { [limits] executor in
            let loop = executor.eventLoop
            guard let pool = pools[ObjectIdentifier(loop)] else {
                throw StartError(message: "an event loop has no connections", code: 1)
            }
            let runner = RequestRunner(
                schema, database: pool, services: services, limits: limits, documents: documents)
            let pictures = CoverService(
                runner, CoverEndpoints(runner, database: pool, services: services), store: store)
            let routes = standardRoutes(
                loop: loop, service: BookplateService(runner, isDevelopment: isDevelopment),
                bodyBytesMax: bodyBytesMax, batchRequestsMax: batchRequestsMax, explorer: explorer,
                schemaText: schemaText, socketOrigins: socketOrigins,
                objects: (pictures, ImageLimits.inputBytesMax),
                responseBytesMax: limits.responseBytesMax, unread: unread, metrics: metrics
            ) {
                await Bookplate.readiness(of: pool).map { .notReady($0) } ?? .ready
            }
            let exports = ExportRoute(ExportRequests(database: pool, services: services))
            return routes + [exports.route] + (development?.routes ?? [])
                + [appleNotificationRoute(services, database: pool)]
        }
        let jobs = try await JobService(
            JobHandlers.all(services), databaseURL,
            connectionCount: jobConnectionCount(configuration), logger: logger)
        var running: [any Service] = [
            jobs, ConfigurationWatch(services, database: jobs.pool, logger: logger),
        ]
        if let broker = configuration.sources.broker {
            running.append(
                EventService(broker, database: firstPool, services: services))
        }
        // Stopped in the reverse order: the last requests may still ask for work.
        let lifecycle = ServiceGroup(
            configuration: .init(
                services: (running + [server]).map {
                    .init(service: $0, successTerminationBehavior: .gracefullyShutdownGroup)
                },
                gracefulShutdownSignals: [.sigterm, .sigint], logger: logger))
        if development != nil { logger.notice("development sign-in is open, on loopback only") }
        let comparing = Task { await replica?.watch(primary: firstPool) }
        defer { logger.info("stopped") }
        try await lifecycle.run()
        comparing.cancel()
        await hub.close()
        await replica?.close()
        for pool in pools.values { await pool.close() }
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

    private static func openStore(_ configuration: Configuration) throws -> FileStore {
        guard case .folder(let path) = configuration.storage else {
            throw StartError(
                message: "BOOKPLATE_STORAGE is on S3, which this version cannot do: use file:PATH",
                code: 78)
        }
        do throws(ObjectError) {
            return try FileStore(path)
        } catch {
            throw StartError(
                message: "BOOKPLATE_STORAGE cannot be used: \(error.description)", code: 78)
        }
    }

    private static func covers(
        _ store: FileStore, _ configuration: Configuration, _ logger: Logger
    ) throws -> Covers {
        let allowed = try FetchAllowList(
            parsing: configuration.sources.fetchAllow.joined(separator: ","))
        do throws(ImageError) {
            return Covers(
                store: store, images: try ImagerPool(),
                fetcher: Fetcher(policy: FetchPolicy(userAgent: "bookplate", allowed: allowed)),
                publicURL: configuration.publicURL, logger: logger)
        } catch {
            throw StartError(message: "no images can be read: \(error)", code: 1)
        }
    }

    /// A quarter of the connections is for jobs.
    private static func jobConnectionCount(_ configuration: Configuration) -> Int {
        max(1, configuration.database.connectionsMax / 4)
    }

    /// Each event loop has connections of its own.
    private static func openPools(
        _ url: String, on group: any EventLoopGroup, _ configuration: Configuration
    ) async throws -> [ObjectIdentifier: ConnectionPool] {
        let loops = Array(group.makeIterator())
        var settings = PostgresConfiguration(url: url)
        let requestConnections =
            configuration.database.connectionsMax - jobConnectionCount(configuration)
        settings.connectionCount = max(1, requestConnections / loops.count)
        var pools: [ObjectIdentifier: ConnectionPool] = [:]
        for loop in loops {
            pools[ObjectIdentifier(loop)] = try await ConnectionPool.start(
                settings, on: EventLoopTaskExecutor(loop))
        }
        return pools
    }

    private static func stop(_ message: String, code: Int32) -> Never {
        var line = "bookplate: \(message)\n"
        line.withUTF8 { _ = Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
        exit(code)
    }
}

/// Why the server does not start, as a sentence for the operator.
struct StartError: Error {
    let message: String
    let code: Int32
}

extension UnreadBytes.Limits {
    init(_ limits: Configuration.Limits) {
        self.init()
        addressMax = limits.unreadBytesPerAddressMax
        processMax = limits.unreadBytesMax
        responseMax = limits.responseBytesMax
    }
}

extension DocumentPolicy.Mode {
    init(_ documents: Configuration.Documents) {
        self =
            switch documents {
            case .open: .open
            case .logged: .logged
            case .onlyKnown: .onlyKnown
            }
    }
}
