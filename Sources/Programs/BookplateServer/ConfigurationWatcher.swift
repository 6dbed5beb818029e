import Bookplate
import Config
import Identity
import Logging
import Postgres
import Requests
import ServiceLifecycle

/// Reloads what operators change while the server runs: the file with the session keys, and the tenants.
///
/// It checks the file and queries a table of a few rows once per second. Polling is cheap, and unlike notifications it
/// misses no change.
struct ConfigurationWatcher: Service {
    private static let interval = Duration.seconds(1)

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
                readKeys()
                // Requests report an unavailable database, so the error is ignored here.
                try? await services.accounts.tenants.refresh(from: database)
                try? await Task.sleep(for: Self.interval)
            }
        }
    }

    private func readKeys() {
        do throws(SessionKeysError) {
            if try services.accounts.keyring.refresh() {
                logger.notice("session keys reloaded")
            }
        } catch {
            logger.error(
                "the session keys cannot be reloaded; the current ones stay in use",
                metadata: ["error": "\(error)"])
        }
    }
}

extension RateLimits.Settings {
    init(_ limits: Configuration.Limits) {
        func some(_ number: Int) -> Int? { number == 0 ? nil : number }
        self.init(
            perCaller: some(limits.requestsPerMinuteMax),
            perAddress: some(limits.addressRequestsPerMinuteMax),
            signIns: some(limits.signInsPerMinuteMax),
            refreshes: some(limits.refreshesPerMinuteMax),
            guests: some(limits.guestsPerMinuteMax),
            guestsOfTenant: some(limits.tenantGuestsPerMinuteMax),
            signInsOfUserPerHour: some(limits.signInsPerMinuteMax).map { $0 * 4 },
            nanosecondsPerUnit: some(limits.millisecondsPerUnit).map { Int64($0) * 1_000_000 })
    }
}
