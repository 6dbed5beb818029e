import Bookplate
import Config
import EventLoops
import GraphQL
import GraphQLExplorer
import GraphQLNIO
import ImageProcessing
import Logging
import NIOCore
import ObjectStorage
import Postgres
import Requests
import Server
import Telemetry

/// Creates the routes of each event loop.
struct RouteFactory: Sendable {
    private let configuration: Configuration
    private let schema: BookplateSchema
    private let pools: [ObjectIdentifier: ConnectionPool]
    private let imageFilesMax: Int
    private let services: Services
    private let developmentSignIn: DevelopmentSignIn?
    private let unread: UnreadBytes
    private let shutdown: ShutdownState
    private let metrics: Metrics
    private let limits: RequestLimits
    private let documents: DocumentPolicy
    private let explorer: Explorer?
    private let socketOrigins: AllowedOrigins
    private let tools: ToolCatalog
    private let readinessLog: ReadinessLog

    /// - Parameter pools: The connection pools by the identity of their event loop.
    init(
        _ configuration: Configuration, schema: BookplateSchema,
        pools: [ObjectIdentifier: ConnectionPool], services: Services,
        developmentSignIn: DevelopmentSignIn?, unread: UnreadBytes, shutdown: ShutdownState,
        metrics: Metrics, logger: Logger
    ) {
        self.configuration = configuration
        self.schema = schema
        self.pools = pools
        self.services = services
        self.developmentSignIn = developmentSignIn
        self.unread = unread
        self.shutdown = shutdown
        self.metrics = metrics
        limits = RequestLimits(configuration)
        documents = DocumentPolicy(mode: .init(configuration.documents))
        explorer =
            configuration.explorer
            ? Explorer(
                schema: schema.schema, limits: limits,
                isDevelopment: configuration.environment == .development,
                hasDevelopmentSignIn: developmentSignIn != nil) : nil
        socketOrigins = AllowedOrigins(configuration.allowedOrigins + [configuration.publicURL])
        tools = ToolCatalog(schema, limits: limits)
        readinessLog = ReadinessLog(logger)
        imageFilesMax =
            DescriptorShares(loopCount: pools.count, filesPerLoopMax: imageFilesPerLoopMax)
            .filesPerLoopMax
    }

    /// Creates the routes of an event loop. Called on that loop.
    ///
    /// - Throws: `StartError` if the loop has no connection pool.
    func routes(on executor: EventLoopTaskExecutor) throws -> [Route] {
        let loop = executor.eventLoop
        guard let pool = pools[ObjectIdentifier(loop)] else {
            throw StartError(message: "an event loop has no connections", code: 1)
        }
        let runner = RequestRunner(
            schema, database: pool, services: services, limits: limits, documents: documents,
            isDevelopment: configuration.environment == .development,
            acceptsOnError: configuration.onError)
        let covers = CoverService(
            runner, CoverEndpoints(runner, database: pool, services: services))
        let standard = standardRoutes(
            loop: loop,
            service: runner,
            bodyBytesMax: configuration.limits.bodyBytesMax,
            batchRequestsMax: configuration.limits.batchRequestsMax, explorer: explorer,
            schemaText: configuration.introspection ? BookplateSchema.text : nil,
            socketOrigins: socketOrigins,
            objects: (covers, ImageLimits.inputBytesMax, imageFilesMax),
            responseBytesMax: limits.responseBytesMax, unread: unread, metrics: metrics,
            shutdown: shutdown
        ) {
            let reason = await Requests.readiness(of: pool, after: services.environment.timeouts)
            readinessLog.record(reason)
            return reason.map { .notReady($0) } ?? .ready
        }
        let mcp = MCPEndpoint(
            service: Tools(runner, tools, database: pool, services: services),
            bodyBytesMax: configuration.limits.bodyBytesMax, origins: socketOrigins,
            publicURL: configuration.publicURL,
            offersTokens: { [tenants = services.accounts.tenants] in
                tenants.offerToolTokens(slug: $0)
            }, unread: unread)
        let exports = ExportRoute(ExportEndpoint(database: pool, services: services))
        return standard + [exports.route] + mcp.routes
            + (developmentSignIn?.routes(services.accounts.tenants, database: pool) ?? [])
            + [appleNotificationRoute(services, database: pool)]
            + EReaderRoutes(database: pool, services: services).routes
            + OAuthRoutes(
                database: pool, services: services, publicURL: configuration.publicURL
            ).routes
            + [SharedRoute(SharedEndpoint(database: pool, services: services)).route]
    }
}

extension RequestLimits {
    fileprivate init(_ configuration: Configuration) {
        self = .bookplate
        parsing.tokensMax = configuration.limits.documentTokensMax
        operation.depthMax = configuration.limits.selectionDepthMax
        operation.fieldsMax = configuration.limits.fieldsMax
        operation.aliasesMax = configuration.limits.aliasesMax
        operation.costMax = configuration.limits.costMax
        responseBytesMax = configuration.limits.responseBytesMax
        validation = ValidationOptions(allowsIntrospection: configuration.introspection)
    }
}

extension DocumentPolicy.Mode {
    fileprivate init(_ documents: Configuration.Documents) {
        self =
            switch documents {
            case .open: .open
            case .logged: .logged
            case .onlyKnown: .onlyKnown
            }
    }
}
