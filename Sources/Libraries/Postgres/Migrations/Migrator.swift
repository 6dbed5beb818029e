import Glibc

/// Applies the files of `migrations/` to a database while holding an advisory lock.
///
/// There are two kinds of files:
///
/// - A versioned file (`MigrationFile`) changes tables. Each one is applied once, in order. A transactional
///   file runs in one transaction with the insertion of its record into `schema_migrations`. After an
///   interruption it is therefore either applied and recorded or neither. A file with `-- no-transaction` is
///   recorded after its last statement, and starts over from its first statement if it was interrupted.
/// - A repeatable file (`RepeatableFile`) defines functions, triggers, policies, and grants. It is applied
///   when its checksum differs from the one in `schema_functions`. All such files are applied in one
///   transaction, after the versioned ones, because they describe the tables of the newest version.
///
/// If both kinds are pending, the repeatable files are applied in the transaction of the last versioned file.
/// The usual upgrade has at most one versioned file and is therefore atomic. Other sessions see either the old tables
/// and functions or the new ones: no table without its policies, no function that uses a dropped column. If
/// anything fails, the servers of the previous release continue to work with the schema that they know.
/// Earlier versioned files are committed one by one, so that locks are held only briefly. They leave the old
/// functions in place until the last transaction, so a file that removes something that the old functions use must
/// be the last one of its release, or be followed only by files with `-- same-transaction`, which run in the
/// transaction of the previous file. If the last file is not transactional, the repeatable files get a
/// transaction of their own.
///
/// Whichever step is interrupted, calling `up` again continues with it, because each step and its records
/// are committed together, and `up` starts by comparing the files with the records.
///
/// `schema_states` contains the combinations of a version and repeatable files that the database has had.
/// Servers are ready if the database has had theirs, so they stay ready when a newer release is applied. The
/// migrator also uses it to recognize that its own files are older than the database; `up` then refuses them.
package struct Migrator {
    let connection: AdminConnection
    let files: [MigrationFile]
    let repeatableFiles: [RepeatableFile]
    /// How long a statement waits for a lock before its migration fails.
    package var lockTimeout: Duration = .seconds(5)
    /// How many times a migration is retried after a lock timeout or a deadlock. Before each retry it
    /// releases its own locks, so that other sessions can proceed.
    package var lockRetriesMax = 5
    /// The delay before the first retry. Each further delay is twice as long.
    package var lockRetryDelay: Duration = .seconds(1)
    /// How long to wait for another migration to end before `.locked` is thrown.
    package var migrationLockTimeout: Duration = .seconds(10)
    /// Whether to apply repeatable files that the database had before it got its present ones.
    package var allowsEarlierFunctions = false

    /// - Parameter connection: A connection of the database owner's role. Its settings are changed.
    package init(_ connection: AdminConnection, _ files: MigrationFiles) {
        self.connection = connection
        self.files = files.versioned
        repeatableFiles = files.repeatable
    }

    /// Reads the migration files of a folder.
    package init(_ connection: AdminConnection, folder: String) throws(MigrationError) {
        self.init(connection, try MigrationFiles(folder: folder))
    }

    /// The migrations that `up` has applied, in order.
    package struct Applied: Sendable {
        package var migrations: [MigrationPlan.Record] = []
        package var functions: [RepeatableFile] = []

        package var isEmpty: Bool { migrations.isEmpty && functions.isEmpty }
    }

    /// Returns all migrations with their files and records.
    package func status() throws(MigrationError) -> MigrationPlan {
        try mappingErrors { () throws(PostgresError) in try plan(try tables()) }
    }

    /// Returns the contradictions between files and records. Pending migrations are not contradictions.
    package func verify() throws(MigrationError) -> [MigrationProblem] {
        try status().problems
    }

    /// Returns the versioned migrations that `up` would run, in order.
    package func pending(to target: Int64? = nil) throws(MigrationError) -> [MigrationFile] {
        try status().pending(to: target).map(\.file)
    }

    /// The problem that `allowsEarlierFunctions` allows.
    var allowedProblem: MigrationProblem? { allowsEarlierFunctions ? .earlierFunctions : nil }

    /// Applies the pending migrations: the versioned ones up to and including the target, and the repeatable
    /// ones unless the target is earlier than the newest version.
    ///
    /// - Parameters:
    ///   - onApplied: Called after each commit with the migrations that it contained.
    ///   - onRetry: Called when a migration did not get a lock, with the delay before the next attempt.
    /// - Returns: The migrations that were applied.
    @discardableResult
    package func up(
        to target: Int64? = nil, onApplied: (Applied) -> Void = { _ in },
        onRetry: (_ fileName: String, Duration) -> Void = { _, _ in }
    ) throws(MigrationError) -> Applied {
        try mappingErrors { () throws(PostgresError) in try configureSession() }
        try lock()
        defer { unlock() }
        let tables = try mappingErrors { () throws(PostgresError) in try self.tables() }
        let plan = try mappingErrors { () throws(PostgresError) in try self.plan(tables) }
        let batches = MigrationBatch.all(
            try plan.pending(to: target, allowing: allowedProblem), plan.repeatableStep(to: target))
        try mappingErrors { () throws(PostgresError) in try create(tables) }
        var applied = Applied()
        for batch in batches {
            let result = try run(batch, tables, onRetry)
            applied.migrations += result.migrations
            applied.functions += result.functions
            if !result.isEmpty { onApplied(result) }
        }
        return applied
    }

    /// Runs the work, and converts its error to `.database`.
    func mappingErrors<Value>(
        _ work: () throws(PostgresError) -> Value
    ) throws(MigrationError) -> Value {
        do throws(PostgresError) {
            return try work()
        } catch {
            throw .database(error)
        }
    }

    /// Resets the settings that a migration may have changed, and applies those of the migrator.
    func configureSession() throws(PostgresError) {
        try connection.execute(
            """
            RESET SESSION AUTHORIZATION;
            RESET ALL;
            SET lock_timeout = \(lockTimeout.timeoutMilliseconds);
            SET statement_timeout = 0;
            SET idle_in_transaction_session_timeout = 0;
            SET client_connection_check_interval = 1000;
            SET client_min_messages = warning
            """)
    }
}

// MARK: The lock

extension Migrator {
    /// The key of the advisory lock that migrations hold: "bookplat" in ASCII.
    private static let lockKey: Int64 = 0x626f_6f6b_706c_6174

    /// Acquires the advisory lock, so that servers which start at the same time do not migrate concurrently.
    ///
    /// - Throws: `.locked` after `migrationLockTimeout`.
    func lock() throws(MigrationError) {
        // The lock would belong to a session that other clients use.
        if connection.pooler == .transaction {
            throw .database(.connectFailed(Pooler.refusal))
        }
        if connection.pooler == .raw { throw .database(.connectFailed(Pooler.rawRefusal)) }
        let deadline = ContinuousClock.now + migrationLockTimeout
        while true {
            let rows = try mappingErrors { () throws(PostgresError) in
                try connection.query("SELECT pg_try_advisory_lock(\(Migrator.lockKey))")
            }
            if rows.bool(0, 0) == true { return }
            if ContinuousClock.now >= deadline { break }
            usleep(100_000)
        }
        let holder = try mappingErrors { () throws(PostgresError) in
            try connection.query(
                """
                SELECT format('%s, process %s, connected since %s', coalesce(nullif(application_name, ''), '?'),
                    pid, date_trunc('second', backend_start))
                FROM pg_locks JOIN pg_stat_activity USING (pid)
                WHERE locktype = 'advisory' AND granted AND objsubid = 1 AND database = (
                        SELECT oid FROM pg_database WHERE datname = current_database())
                    AND (classid::bigint << 32) | objid::bigint = \(Migrator.lockKey)
                """)
        }
        throw .locked(by: holder.text(0, 0) ?? "it has just finished; run the command again")
    }

    func unlock() { try? connection.execute("SELECT pg_advisory_unlock(\(Migrator.lockKey))") }
}
