import Bookplate
import Config
import Identity
import Logging
import Postgres
import ServiceLifecycle

/// Reads again what operators change while the server runs: the file of the session keys, and the tenants.
///
/// Once a second a look at the file and a statement on a table of a few rows: cheaper than to be told, and nothing
/// is ever missed.
struct ConfigurationWatch: Service {
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
                // A database that is away is told of by those who need it.
                try? await services.tenants.refresh(from: database)
                try? await Task.sleep(for: Self.interval)
            }
        }
    }

    private func readKeys() {
        do throws(SessionKeysError) {
            if try services.keyring.refresh() {
                logger.notice("session keys were read again")
            }
        } catch {
            logger.error(
                "the session keys cannot be read again: those in use stay",
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
            signInsOfUserPerHour: some(limits.signInsPerMinuteMax).map { $0 * 4 })
    }
}
