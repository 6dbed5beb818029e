import BookSources
import Bookplate
import Config
import Postgres

extension SourceLimits {
    /// Creates the limits of a backfill, which shares the daily budgets with the servers.
    convenience init(_ configuration: Configuration) throws {
        let requestsPerDay = configuration.sources.budgets.requestsPerDay.compactMap {
            source, count in SourceHost(rawValue: source.rawValue).map { ($0, count) }
        }
        let url = try configuration.database.adminRequired()
        let budgets = try SourceBudgets(
            Dictionary(requestsPerDay, uniquingKeysWith: { first, _ in first }), url: url)
        self.init(budget: budgets.requestBudget, onEvent: { printError($0.message) })
    }
}

extension SourceEvent {
    fileprivate var message: String {
        switch self {
        case .circuitOpened(let host, let pause):
            "\(host.rawValue) cannot be reached; no requests are sent to it for \(pause.components.seconds) s"
        case .circuitClosed(let host): "\(host.rawValue) can be reached again"
        case .budgetExhausted(let host, _, let resetsIn):
            "\(host.rawValue): the daily budget of background work is used up; it is reset at 00:00 UTC, "
                + "in \(Progress.time(Double(resetsIn.components.seconds)))"
        }
    }
}
