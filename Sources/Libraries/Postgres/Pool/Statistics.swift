import Synchronization

/// Counts the statements and round trips of the pipelines it is attached to, and the time that they take.
package final class Statistics: Sendable {
    private let statements = Atomic<Int>(0)
    private let roundTrips = Atomic<Int>(0)
    private let onDatabaseTime: (@Sendable (_ nanoseconds: Int64, _ isWrite: Bool) -> Void)?

    /// - Parameter onDatabaseTime: Called when a pipeline has finished, with the time for which it has occupied its connection: that
    ///   of its statements, of locks that they have waited for, and of the commit.
    package init(
        onDatabaseTime: (@Sendable (_ nanoseconds: Int64, _ isWrite: Bool) -> Void)? = nil
    ) {
        self.onDatabaseTime = onDatabaseTime
    }

    /// The number of statements sent. The pool's own commands, such as preparing a statement, do not count.
    package var statementCount: Int { statements.load(ordering: .relaxed) }

    /// The number of pipelines sent; each is one round trip.
    package var roundTripCount: Int { roundTrips.load(ordering: .relaxed) }

    func count(statements count: Int) {
        statements.add(count, ordering: .relaxed)
        roundTrips.add(1, ordering: .relaxed)
    }

    func count(databaseNanoseconds: Int64, isWrite: Bool) {
        onDatabaseTime?(databaseNanoseconds, isWrite)
    }
}
