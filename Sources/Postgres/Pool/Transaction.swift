/// A transaction over several round trips, on a connection that is leased to it.
///
/// Prefer a segment, which is a transaction of its own and shares its connection: this is for what must
/// decide between statements.
package final class Transaction: @unchecked Sendable {
    /// How a transaction ends.
    package enum End<Value: Sendable>: Sendable {
        case commit(Value)
        case rollback(Value)
    }

    /// What it sees of others.
    package enum Mode: Sendable {
        /// Each statement sees what is committed when it begins.
        case readCommitted
        /// All statements see the same, and none changes anything.
        case snapshot
        /// As if transactions ran one after the other; be ready to run it again.
        case serializable
    }

    private let pool: ConnectionPool
    private let lease: Lease
    private let mode: Mode
    // Both belong to the pool's loop, as does all that the pool is called for here: hence Sendable.
    private var hasBegun = false
    private var isOver = false
    private var failure: PostgresError?

    init(_ pool: ConnectionPool, _ lease: Lease, _ mode: Mode) {
        self.pool = pool
        self.lease = lease
        self.mode = mode
    }

    /// Runs the segment in the transaction, in one round trip. BEGIN travels with the first.
    ///
    /// After an error the transaction can only be rolled back, which happens when its body throws.
    package func run(_ segment: Segment) async throws(PostgresError) -> [Rows] {
        try await pool.executor.perform { () async throws(PostgresError) in
            if self.isOver { throw .closed }
            do throws(PostgresError) {
                return try await self.submit(segment)
            } catch {
                self.failure = self.failure ?? error
                throw error
            }
        }
    }

    private func submit(_ segment: Segment) async throws(PostgresError) -> [Rows] {
        if hasBegun || segment.count == 0 { return try await pool.submit(segment, lease: lease) }
        hasBegun = true
        var beginning = segment
        beginning.prepend(mode.begin)
        do throws(PostgresError) {
            return Array(try await pool.submit(beginning, lease: lease).dropFirst())
        } catch {
            guard case .server(var serverError) = error else { throw error }
            serverError.statementIndex = serverError.statementIndex.map { $0 - 1 }
            throw .server(serverError)
        }
    }

    /// Commits, whether or not the task has been cancelled since.
    fileprivate func commit() async throws(PostgresError) {
        isOver = true
        guard hasBegun else { return pool.release(lease, isClean: true) }
        let rows: [Rows]
        do throws(PostgresError) {
            rows = try await pool.submit(.one(Mode.commit), lease: lease, isShielded: true)
        } catch {
            // An error of the server ends the transaction; after any other its end is not known.
            pool.release(lease, isClean: error.sqlState != nil)
            throw error
        }
        pool.release(lease, isClean: true)
        // The server rolls back where a statement had failed, and does not call that an error.
        guard rows.first?.commandTag == "COMMIT" else {
            throw failure ?? .unexpectedResult("COMMIT rolled back")
        }
    }

    /// Rolls back, whether or not the task has been cancelled; what goes wrong ends the session, which does the same.
    fileprivate func rollback() async {
        isOver = true
        guard hasBegun else { return pool.release(lease, isClean: true) }
        do throws(PostgresError) {
            _ = try await pool.submit(.one(Mode.rollback), lease: lease, isShielded: true)
            pool.release(lease, isClean: true)
        } catch {
            pool.release(lease, isClean: false)
        }
    }
}

extension Transaction.Mode {
    private static let beginReadCommitted = Statement("BEGIN ISOLATION LEVEL READ COMMITTED")
    private static let beginSnapshot = Statement("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
    private static let beginSerializable = Statement("BEGIN ISOLATION LEVEL SERIALIZABLE")
    fileprivate static let commit = Statement("COMMIT")
    fileprivate static let rollback = Statement("ROLLBACK")

    fileprivate var begin: Statement {
        switch self {
        case .readCommitted: Self.beginReadCommitted
        case .snapshot: Self.beginSnapshot
        case .serializable: Self.beginSerializable
        }
    }
}

extension ConnectionPool {
    /// Runs the body in a transaction on a connection of its own, and ends it as the body says.
    ///
    /// A body that throws is rolled back. With more than one connection, one is never leased, so as many
    /// transactions as there are others run at once; further ones wait in line.
    ///
    /// - Throws: what the body throws; `.connectionLost` or `.timeout` at COMMIT, when it may have happened or not.
    package func transaction<Value: Sendable>(
        _ mode: Transaction.Mode = .readCommitted,
        _ body: (Transaction) async throws(PostgresError) -> Transaction.End<Value>
    ) async throws(PostgresError) -> Value {
        try await executor.perform { () async throws(PostgresError) in
            let lease = try await self.acquire(timeout: self.configuration.segmentTimeout)
            let transaction = Transaction(self, lease, mode)
            let end: Transaction.End<Value>
            do throws(PostgresError) {
                end = try await body(transaction)
            } catch {
                await transaction.rollback()
                throw error
            }
            switch end {
            case .commit(let value):
                try await transaction.commit()
                return value
            case .rollback(let value):
                await transaction.rollback()
                return value
            }
        }
    }
}
