import Synchronization

/// What the segments it is attached to have cost, for assertions and for a request's log line.
package final class Statistics: Sendable {
    private let statements = Atomic<Int>(0)
    private let roundTrips = Atomic<Int>(0)

    package init() {}

    /// Statements sent, but for the pool's own: preparing, BEGIN, COMMIT.
    package var statementCount: Int { statements.load(ordering: .relaxed) }

    /// Segments sent; each is one wait for the database. BEGIN travels with the first segment, COMMIT alone.
    package var roundTripCount: Int { roundTrips.load(ordering: .relaxed) }

    func count(statements count: Int) {
        statements.add(count, ordering: .relaxed)
        roundTrips.add(1, ordering: .relaxed)
    }
}
