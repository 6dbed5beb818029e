import Glibc

/// Brings a database up to the files of `migrations/`, one after the other, under one lock.
///
/// Each file is run in a transaction together with its record in `schema_migrations`, so whenever this
/// is interrupted a file has been run and recorded, or neither, and the same call goes on from there.
/// A file that says `-- no-transaction` is recorded after its last statement, and run again from its
/// first when it was interrupted.
package struct Migrator {
    let connection: AdminConnection
    private let files: [MigrationFile]
    /// How long a statement waits for a lock before its migration fails.
    package var lockTimeout: Duration = .seconds(5)
    /// How often a migration is tried again that did not get a lock in that time, or was in a deadlock: others had it,
    /// and were let through meanwhile.
    package var lockRetriesMax = 5
    /// Before the first of those; each next one waits twice as long.
    package var lockRetryDelay: Duration = .seconds(1)
    /// How long to wait for another migration to end.
    package var turnTimeout: Duration = .seconds(10)

    /// "bookplat" in ASCII: the advisory lock of those who migrate.
    private static let lockKey: Int64 = 0x626f_6f6b_706c_6174

    /// - Parameter connection: of the owner's role; its settings are changed.
    package init(_ connection: AdminConnection, folder: String) throws(MigrationError) {
        self.connection = connection
        files = try MigrationFile.all(in: folder)
    }

    /// What has been run and what has not.
    package func status() throws(MigrationError) -> MigrationPlan {
        try query { () throws(PostgresError) in try plan(try table()) }
    }

    /// What does not fit between files and database; empty when all is well. Pending ones are no problem.
    package func verify() throws(MigrationError) -> [MigrationProblem] {
        try status().problems
    }

    /// What `up` would run, in order.
    package func pending(to target: Int64? = nil) throws(MigrationError) -> [MigrationFile] {
        try status().pending(to: target).map(\.file)
    }

    /// Runs what has not been run, up to and with the version.
    ///
    /// - Parameters:
    ///   - onApplied: told of each as soon as it is done.
    ///   - onRetry: told of a file that did not get a lock, and how long it waits to try again.
    /// - Returns: what was run, in order.
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
    /// Runs a file, again as long as it gets no lock and may try.
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
            // Where this fails too, the next run begins with it.
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

    /// Forgets what a file may have set, and sets what holds for all.
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
    /// Waits for its turn, so that two servers which start together do not get into each other's way.
    func lock() throws(MigrationError) {
        let deadline = ContinuousClock.now + turnTimeout
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
        throw .locked(by: holder.text(0, 0) ?? "it has just ended; try again")
    }

    func unlock() { try? connection.execute("SELECT pg_advisory_unlock(\(Migrator.lockKey))") }
}

// MARK: Reading

extension Migrator {
    /// The qualified name of the table of records, so that no file's search_path leads elsewhere.
    private func table() throws(PostgresError) -> String {
        let rows = try connection.query("SELECT quote_ident(current_schema())")
        guard let schema = rows.text(0, 0) else {
            throw .unexpectedResult("the search_path leads to no schema")
        }
        return "\(schema).schema_migrations"
    }

    /// Makes the table of records where there is none; a migration may grant it to others.
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
    /// - Parameter rows: of version, name, checksum, applied_at and milliseconds.
    fileprivate init(_ rows: Rows, _ row: Int) throws(PostgresError) {
        guard let version = rows.int64(row, 0), let name = rows.text(row, 1),
            let checksum = rows.text(row, 2), let appliedAt = rows.timestamptz(row, 3),
            let milliseconds = rows.int64(row, 4)
        else { throw .unexpectedResult("schema_migrations is not as it was made") }
        self.init(
            version: version, name: name, checksum: checksum, appliedAt: appliedAt,
            milliseconds: milliseconds)
    }
}
