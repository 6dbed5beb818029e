import Glibc

/// Runs the pending files of `migrations/` in order while holding an advisory lock.
///
/// A transactional file runs in one transaction with the insertion of its record into
/// `schema_migrations`. After an interruption it is therefore either applied and recorded or neither,
/// and calling `up` again continues with it. A file with `-- no-transaction` is recorded after its last
/// statement, and starts over from its first statement if it was interrupted.
package struct Migrator {
    let connection: AdminConnection
    private let files: [MigrationFile]
    /// How long a statement waits for a lock before its migration fails.
    package var lockTimeout: Duration = .seconds(5)
    /// How many times a migration is retried after a lock timeout or a deadlock. Before each retry it
    /// releases its own locks, so that other sessions can proceed.
    package var lockRetriesMax = 5
    /// The delay before the first retry. Each further delay is twice as long.
    package var lockRetryDelay: Duration = .seconds(1)
    /// How long to wait for another migration to end before `.locked` is thrown.
    package var migrationLockTimeout: Duration = .seconds(10)

    /// The key of the advisory lock that migrations hold: "bookplat" in ASCII.
    private static let lockKey: Int64 = 0x626f_6f6b_706c_6174

    /// Reads the migration files.
    ///
    /// - Parameter connection: A connection of the database owner's role. Its settings are changed.
    package init(_ connection: AdminConnection, folder: String) throws(MigrationError) {
        self.connection = connection
        files = try MigrationFile.all(in: folder)
    }

    /// Returns all migrations with their files and records.
    package func status() throws(MigrationError) -> MigrationPlan {
        try query { () throws(PostgresError) in try plan(try table()) }
    }

    /// Returns the contradictions between files and records. Pending migrations are not contradictions.
    package func verify() throws(MigrationError) -> [MigrationProblem] {
        try status().problems
    }

    /// Returns the migrations that `up` would run, in order.
    package func pending(to target: Int64? = nil) throws(MigrationError) -> [MigrationFile] {
        try status().pending(to: target).map(\.file)
    }

    /// Runs the pending migrations up to and including the target.
    ///
    /// - Parameters:
    ///   - onApplied: Called after each migration.
    ///   - onRetry: Called when a migration did not get a lock, with the delay before the next attempt.
    /// - Returns: The records of the migrations that were run, in order.
    @discardableResult
    package func up(
        to target: Int64? = nil, onApplied: (MigrationPlan.Record) -> Void = { _ in },
        onRetry: (MigrationFile, Duration) -> Void = { _, _ in }
    ) throws(MigrationError) -> [MigrationPlan.Record] {
        try query { () throws(PostgresError) in try configureSession() }
        try lock()
        defer { unlock() }
        let (table, plan) = try query { () throws(PostgresError) in
            let table = try makeTable()
            return (table, try self.plan(table))
        }
        var records: [MigrationPlan.Record] = []
        for (file, checksum) in try plan.pending(to: target) {
            let record = try run(file, checksum, table, onRetry)
            records.append(record)
            onApplied(record)
        }
        return records
    }

    func query<Value>(
        _ work: () throws(PostgresError) -> Value
    ) throws(MigrationError) -> Value {
        do throws(PostgresError) {
            return try work()
        } catch {
            throw .database(error)
        }
    }
}

// MARK: One file

extension Migrator {
    /// Runs a file, and retries it after a lock timeout or a deadlock.
    private func run(
        _ file: MigrationFile, _ checksum: String, _ table: String,
        _ onRetry: (MigrationFile, Duration) -> Void
    ) throws(MigrationError) -> MigrationPlan.Record {
        var delay = lockRetryDelay
        for _ in 0..<lockRetriesMax {
            do throws(MigrationError) {
                return try run(file, checksum, table)
            } catch {
                guard case .failed(_, let reason) = error, let state = reason.sqlState,
                    [.lockNotAvailable, .deadlockDetected].contains(state)
                else { throw error }
                onRetry(file, delay)
                usleep(UInt32(clamping: delay.milliseconds * 1000))
                delay *= 2
            }
        }
        return try run(file, checksum, table)
    }

    private func run(
        _ file: MigrationFile, _ checksum: String, _ table: String
    ) throws(MigrationError) -> MigrationPlan.Record {
        if file.isTransactional { try file.checkEndsNoTransaction() }
        var hasEndedTransaction = false
        do throws(PostgresError) {
            let start = ContinuousClock.now
            if file.isTransactional {
                try connection.execute("BEGIN")
                try connection.execute(file.sql)
                hasEndedTransaction = !connection.isInTransaction
            } else {
                try connection.dropInvalidIndexes(namedIn: file.sql)
                for statement in splitStatements(file.sql) { try connection.execute(statement) }
            }
            if !hasEndedTransaction {
                let record = try record(file, checksum, ContinuousClock.now - start, table)
                if file.isTransactional { try connection.execute("COMMIT") }
                try configureSession()
                return record
            }
        } catch {
            if connection.isInTransaction { try? connection.execute("ROLLBACK") }
            // If this fails as well, the next run drops the indexes before it starts.
            if !file.isTransactional { try? connection.dropInvalidIndexes(namedIn: file.sql) }
            throw .failed(file.fileName, error)
        }
        throw .endedTransaction(file.fileName)
    }

    private func record(
        _ file: MigrationFile, _ checksum: String, _ duration: Duration, _ table: String
    ) throws(PostgresError) -> MigrationPlan.Record {
        var parameters = Parameters()
        parameters.append(int64: file.version)
        parameters.append(text: file.name)
        parameters.append(text: checksum)
        parameters.append(int64: duration.milliseconds)
        let rows = try connection.query(
            """
            INSERT INTO \(table) (version, name, checksum, milliseconds) VALUES ($1, $2, $3, $4)
            RETURNING version, name, checksum, applied_at, milliseconds
            """, parameters)
        return try MigrationPlan.Record(rows, 0)
    }

    /// Resets the settings that a migration may have changed, and applies those of the migrator.
    func configureSession() throws(PostgresError) {
        try connection.execute(
            """
            RESET SESSION AUTHORIZATION;
            RESET ALL;
            SET lock_timeout = \(lockTimeout.milliseconds);
            SET statement_timeout = 0;
            SET idle_in_transaction_session_timeout = 0;
            SET client_connection_check_interval = 1000;
            SET client_min_messages = warning
            """)
    }
}

// MARK: The lock

extension Migrator {
    /// Acquires the advisory lock, so that servers which start at the same time do not migrate concurrently.
    ///
    /// - Throws: `.locked` after `migrationLockTimeout`.
    func lock() throws(MigrationError) {
        let deadline = ContinuousClock.now + migrationLockTimeout
        while true {
            let rows = try query { () throws(PostgresError) in
                try connection.query("SELECT pg_try_advisory_lock(\(Migrator.lockKey))")
            }
            if rows.bool(0, 0) == true { return }
            if ContinuousClock.now >= deadline { break }
            usleep(100_000)
        }
        let holder = try query { () throws(PostgresError) in
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

// MARK: Reading

extension Migrator {
    /// Returns the qualified name of `schema_migrations`, which no later change of `search_path` affects.
    private func table() throws(PostgresError) -> String {
        let rows = try connection.query("SELECT quote_ident(current_schema())")
        guard let schema = rows.text(0, 0) else {
            throw .unexpectedResult("no schema of the search_path exists")
        }
        return "\(schema).schema_migrations"
    }

    /// Creates `schema_migrations` if it does not exist, and returns its qualified name.
    func makeTable() throws(PostgresError) -> String {
        let table = try self.table()
        try connection.execute(
            """
            CREATE TABLE IF NOT EXISTS \(table) (
                version bigint PRIMARY KEY,
                name text NOT NULL,
                checksum text NOT NULL,
                applied_at timestamptz NOT NULL DEFAULT now(),
                milliseconds bigint NOT NULL)
            """)
        return table
    }

    private func plan(_ table: String) throws(PostgresError) -> MigrationPlan {
        var texts = Parameters()
        texts.appendArray(of: .bytea) { elements in
            for file in files {
                Array(file.sql.utf8).withUnsafeBytes { elements.append(cell: $0) }
            }
        }
        let hashed = try connection.query(
            """
            SELECT encode(sha256(file), 'hex') FROM unnest($1) WITH ORDINALITY AS f (file, number)
            ORDER BY number
            """, texts)
        let checksums = (0..<hashed.count).compactMap { hashed.text($0, 0) }
        var name = Parameters()
        name.append(text: table)
        guard try !connection.query("SELECT to_regclass($1)", name).isNull(0, 0) else {
            return MigrationPlan(files: files, checksums: checksums, records: [])
        }
        let rows = try connection.query(
            """
            SELECT version, name, checksum, applied_at, milliseconds FROM \(table) ORDER BY version
            """)
        var records: [MigrationPlan.Record] = []
        for row in 0..<rows.count { records.append(try MigrationPlan.Record(rows, row)) }
        return MigrationPlan(files: files, checksums: checksums, records: records)
    }
}

extension MigrationPlan.Record {
    /// - Parameter rows: Rows with version, name, checksum, applied_at, and milliseconds.
    fileprivate init(_ rows: Rows, _ row: Int) throws(PostgresError) {
        guard let version = rows.int64(row, 0), let name = rows.text(row, 1),
            let checksum = rows.text(row, 2), let appliedAt = rows.timestamptz(row, 3),
            let milliseconds = rows.int64(row, 4)
        else { throw .unexpectedResult("schema_migrations has unexpected columns or values") }
        self.init(
            version: version, name: name, checksum: checksum, appliedAt: appliedAt,
            milliseconds: milliseconds)
    }
}
