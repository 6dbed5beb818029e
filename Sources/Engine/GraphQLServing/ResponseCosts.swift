/// The state of a rate limit after a request.
package struct RateLimitStatus: Sendable, Equatable {
    /// The name of the limit: `user`, `address`, or `tenant`.
    package var name: String
    package var unitsPerMinute: Int
    package var remainingUnits: Int
    /// The number of seconds until the limit is fully available, or until a refused request can be repeated.
    package var waitSeconds: Int

    package init(name: String, unitsPerMinute: Int, remainingUnits: Int, waitSeconds: Int) {
        self.name = name
        self.unitsPerMinute = unitsPerMinute
        self.remainingUnits = remainingUnits
        self.waitSeconds = waitSeconds
    }
}

/// The SQL statements and round trips of a request.
package struct DatabaseCost: Sendable, Equatable {
    package var statementCount: Int
    package var roundTripCount: Int

    package init(statementCount: Int, roundTripCount: Int) {
        self.statementCount = statementCount
        self.roundTripCount = roundTripCount
    }
}
