import BookSources
import Bookplate
import Config
import Postgres

extension SourceLimits {
    /// The limits of a backfill. It shares the daily budgets with the servers.
    convenience init(_ configuration: Configuration) throws {
        let requestsPerDay = configuration.sources.budgets.requestsPerDay.compactMap {
            source, count in SourceHost(rawValue: source.rawValue).map { ($0, count) }
        }
        let url = try configuration.database.adminRequired()
        let budgets: SourceBudgets
        do throws(PostgresError) {
            budgets = try SourceBudgets(
                Dictionary(requestsPerDay, uniquingKeysWith: { first, _ in first }),
                url: url)
        } catch {
            throw Failure(error)
        }
        self.init(budget: budgets.requestBudget, onEvent: { tell($0.message) })
    }
}

extension SourceEvent {
    fileprivate var message: String {
        switch self {
        case .circuitOpened(let host, let pause):
            "\(host.rawValue) cannot be reached; it is not asked for \(pause.components.seconds) s"
        case .circuitClosed(let host): "\(host.rawValue) can be reached again"
        case .budgetExhausted(let host, _, let resetsIn):
            "\(host.rawValue): the daily budget of background work is used up; it resets at 00:00 UTC, "
                + "in \(Progress.time(Double(resetsIn.components.seconds)))"
        }
    }
}
