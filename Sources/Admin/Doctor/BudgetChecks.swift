import BookSources
import Bookplate
import Config
import Glibc
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
            let reason = Failure(error).message.split(separator: "\n").joined(separator: " ")
            return [.skipped("source budgets", reason)]
        }
        let budgets = configuration.sources.budgets.requestsPerDay
        let now = time(nil)
        return sources.map { source in
            result(
                source.rawValue, SourceHost(rawValue: source.rawValue).flatMap { usage[$0] },
                limit: budgets[source], secondsOfDay: now % 86_400)
        }
    }

    /// - Parameters:
    ///   - usage: nil if no request has been sent to the source today.
    ///   - limit: nil if the source has no budget.
    static func result(
        _ source: String, _ usage: SourceUsage?, limit: Int?, secondsOfDay: Int
    ) -> CheckResult {
        let check = "\(source) budget"
        guard let limit else { return .ok(check, "no limit on requests per day") }
        let (used, usedInBackground) = (usage?.used ?? 0, usage?.usedInBackground ?? 0)
        let reset = "resets at 00:00 UTC, in \(Progress.time(Double(86_400 - secondsOfDay)))"
        guard used < limit else {
            return .warning(
                check, "used up: \(used) of \(limit) requests today; \(reset)",
                "wait, or raise \(source) in BOOKPLATE_SOURCE_BUDGETS if the source allows more")
        }
        let backgroundLimit = SourceBudgets.backgroundLimit(limit)
        let isBackgroundPaused = usedInBackground >= backgroundLimit
        return .ok(
            check,
            "\(used) of \(limit) requests used today, \(usedInBackground) of \(backgroundLimit) by background work"
                + (isBackgroundPaused ? ", which is paused until the reset" : "") + "; \(reset)")
    }
}

extension Configuration.Sources {
    /// The sources that a server uses.
    fileprivate var enabledSources: [Configuration.SourceBudgets.Source] {
        Configuration.SourceBudgets.Source.allCases.filter { source in
            switch source {
            case .openLibrary: openLibraryURL != nil
            case .openLibraryCovers: openLibraryCoversURL != nil
            case .googleBooks: googleBooksURL != nil
            case .isbnDB: isbnDBURL != nil && isbnDBKey != nil
            case .webSearch: openAIURL != nil && openAIKey != nil
            }
        }
    }
}
