import BookSources
import Bookplate

/// The state of a source's budget of requests per UTC day.
package struct SourceBudgetStatus: Sendable, Equatable {
    package let limit: Int
    /// The number of requests that are used up today.
    package let used: Int
    /// The part of `limit` that background work may use.
    package let backgroundLimit: Int
    /// The part of `used` that background work has used.
    package let usedInBackground: Int

    package var isUsedUp: Bool { used >= limit }
    package var isBackgroundPaused: Bool { usedInBackground >= backgroundLimit }

    /// - Parameter usage: Today's usage; nil if no request has been sent to the source today.
    package init(_ usage: SourceUsage?, limit: Int) {
        self.limit = limit
        used = usage?.used ?? 0
        backgroundLimit = SourceBudgets.backgroundLimit(limit)
        usedInBackground = usage?.usedInBackground ?? 0
    }

    /// Returns the number of seconds until the budgets are reset.
    ///
    /// - Parameter time: The current time in seconds since the Unix epoch.
    package static func secondsUntilReset(at time: Int) -> Int { 86_400 - time % 86_400 }
}
