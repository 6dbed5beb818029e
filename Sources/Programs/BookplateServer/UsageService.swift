import Bookplate
import Logging
import Postgres
import Requests
import ServiceLifecycle

/// Stores once per minute, and when the server stops, what requests have counted in memory: used elements of the schema, uses
/// of personal access tokens, and refused sign-ins.
struct UsageService: Service {
    private static let interval = Duration.seconds(60)

    private let services: Services
    private let database: ConnectionPool
    private let logger: Logger

    init(_ services: Services, database: ConnectionPool, logger: Logger) {
        self.services = services
        self.database = database
        self.logger = logger
    }

    func run() async {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                try? await Task.sleep(for: Self.interval)
                if !Task.isCancelled { await store() }
            }
        }
        await store()
    }

    private func store() async {
        do throws(PostgresError) {
            try await services.environment.usage.store(in: database)
            try await services.environment.tokenUses.store(in: database)
            try await services.accounts.auditEvents.store(in: database)
        } catch {
            logger.warning(
                "the usage of the schema and of tokens could not be stored; the counts are kept",
                metadata: ["error": "\(error)"])
        }
    }
}
