import Basics

extension AdminConnection {
    /// Runs the work in a transaction that is then committed or rolled back. It is also rolled back after an error.
    ///
    /// - Parameter convert: Converts the errors of the transaction itself.
    package func inTransaction<Value, Failure: Error>(
        commits: Bool = true, mapping convert: (PostgresError) -> Failure,
        _ work: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try mappingError(convert) { () throws(PostgresError) in try execute("BEGIN") }
        do throws(Failure) {
            let value = try work()
            try mappingError(convert) { () throws(PostgresError) in
                try execute(commits ? "COMMIT" : "ROLLBACK")
            }
            return value
        } catch {
            try? execute("ROLLBACK")
            throw error
        }
    }

    /// Runs the work in a transaction. A dry run rolls it back and reports the locks that it held on existing tables.
    ///
    /// - Parameter convert: Converts the errors of the transaction itself.
    package func attempt<Value, Failure: Error>(
        isDryRun: Bool, mapping convert: (PostgresError) -> Failure,
        _ work: () throws(Failure) -> Value
    ) throws(Failure) -> Attempt<Value> {
        guard isDryRun else {
            let value = try inTransaction(mapping: convert, work)
            return Attempt(result: value, isDryRun: false, locks: [])
        }
        let tables = try mappingError(convert) { () throws(PostgresError) in try self.tables() }
        return try inTransaction(commits: false, mapping: convert) { () throws(Failure) in
            let value = try work()
            let locks = try mappingError(convert) { () throws(PostgresError) in
                try self.locks(on: tables)
            }
            return Attempt(result: value, isDryRun: true, locks: locks)
        }
    }
}

/// The result of a transaction that may have been a dry run.
package struct Attempt<Result> {
    package var result: Result
    package let isDryRun: Bool
    /// The tables that a dry run has locked. Empty otherwise.
    package var locks: [TableLock]

    package init(result: Result, isDryRun: Bool, locks: [TableLock]) {
        self.result = result
        self.isDryRun = isDryRun
        self.locks = locks
    }
}
