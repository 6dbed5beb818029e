import BookSources
import Bookplate
import Config
import Glibc
import Operations
import Postgres

/// Reports today's budgets of the enabled external sources.
enum BudgetChecks {
    static func results(_ configuration: Configuration) -> [CheckResult] {
        let sources = configuration.sources.enabledSources
        guard !sources.isEmpty else { return [] }
        guard let url = configuration.database.adminURL else {
            return [.skipped("source budgets", "no database is configured")]
        }
        let usage: [SourceHost: SourceUsage]
        do throws(PostgresError) {
            usage = try SourceUsage.today(try AdminConnection(url))
        } catch {
            let reason = Failure.reason(error)
            return [.skipped("source budgets", reason)]
        }
        let budgets = configuration.sources.budgets.requestsPerDay
        let secondsLeft = SourceBudgetStatus.secondsUntilReset(at: time(nil))
        return sources.map { source in
            let check = "\(source.rawValue) budget"
            guard let limit = budgets[source] else {
                return .ok(check, "no limit on requests per day")
            }
            let usage = SourceHost(rawValue: source.rawValue).flatMap { usage[$0] }
            return result(
                check, SourceBudgetStatus(usage, limit: limit), source.rawValue,
                secondsLeft: secondsLeft)
        }
    }

    private static func result(
        _ check: String, _ budget: SourceBudgetStatus, _ source: String, secondsLeft: Int
    ) -> CheckResult {
        let reset = "resets at 00:00 UTC, in \(Progress.time(Double(secondsLeft)))"
        guard !budget.isUsedUp else {
            return .warning(
                check, "used up: \(budget.used) of \(budget.limit) requests today; \(reset)",
                "wait, or raise \(source) in BOOKPLATE_SOURCE_BUDGETS if the source allows more")
        }
        return .ok(
            check,
            "\(budget.used) of \(budget.limit) requests used today, "
                + "\(budget.usedInBackground) of \(budget.backgroundLimit) by background work"
                + (budget.isBackgroundPaused ? ", which is paused until the reset" : "")
                + "; \(reset)")
    }
}
