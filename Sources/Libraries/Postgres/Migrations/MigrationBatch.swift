import Glibc

/// Migrations that are applied and recorded together: versioned files, the repeatable files, or both.
struct MigrationBatch {
    var migrations: [(file: MigrationFile, checksum: String)] = []
    var repeatable: RepeatableStep?

    /// The name of the batch in messages.
    var fileName: String {
        migrations.first?.file.fileName ?? repeatable?.files.first?.file.fileName
            ?? RepeatableFile.folderName
    }

    /// Whether the batch runs in one transaction.
    var isTransactional: Bool { migrations.allSatisfy(\.file.isTransactional) }

    /// Returns one batch for each versioned file, or for several if the later ones join the previous ones. The repeatable
    /// files join the last batch if it is transactional; otherwise they are a batch of their own.
    static func all(
        _ migrations: [(file: MigrationFile, checksum: String)], _ step: RepeatableStep?
    ) -> [MigrationBatch] {
        var batches: [MigrationBatch] = []
        for migration in migrations {
            if migration.file.joinsPrevious, migration.file.isTransactional,
                batches.last?.isTransactional == true
            {
                batches[batches.count - 1].migrations.append(migration)
            } else {
                batches.append(MigrationBatch(migrations: [migration]))
            }
        }
        guard let step else { return batches }
        if batches.last?.isTransactional == true {
            batches[batches.count - 1].repeatable = step
        } else {
            batches.append(MigrationBatch(repeatable: step))
        }
        return batches
    }
}

extension Migrator {
    /// Runs a batch, and retries it after a lock timeout or a deadlock.
    func run(
        _ batch: MigrationBatch, _ tables: MigrationTables,
        _ onRetry: (_ fileName: String, Duration) -> Void
    ) throws(MigrationError) -> Applied {
        var delay = lockRetryDelay
        for _ in 0..<lockRetriesMax {
            do throws(MigrationError) {
                return try run(batch, tables)
            } catch {
                guard error.isTransient else { throw error }
                onRetry(batch.fileName, delay)
                usleep(UInt32(clamping: delay.milliseconds * 1000))
                delay *= 2
            }
        }
        return try run(batch, tables)
    }

    private func run(
        _ batch: MigrationBatch, _ tables: MigrationTables
    ) throws(MigrationError) -> Applied {
        if let (file, checksum) = batch.migrations.first, !file.isTransactional {
            return Applied(migrations: [try runWithoutTransaction(file, checksum, tables)])
        }
        do throws(MigrationError) {
            return try runTransaction(batch, tables)
        } catch {
            if connection.isInTransaction { try? connection.execute("ROLLBACK") }
            throw error
        }
    }

    private func runTransaction(
        _ batch: MigrationBatch, _ tables: MigrationTables
    ) throws(MigrationError) -> Applied {
        var applied = Applied()
        try running(batch.fileName) { () throws(PostgresError) in try connection.execute("BEGIN") }
        for (file, checksum) in batch.migrations {
            let start = ContinuousClock.now
            try execute(file)
            try running(file.fileName) { () throws(PostgresError) in
                let duration = ContinuousClock.now - start
                applied.migrations.append(try record(file, checksum, duration, in: tables))
                try configureSession()
            }
        }
        if let step = batch.repeatable {
            for (file, checksum) in step.files {
                try execute(file)
                try running(file.fileName) { () throws(PostgresError) in
                    try record(file, checksum, in: tables)
                }
            }
            try validateFunctions()
            try running(batch.fileName) { () throws(PostgresError) in
                try recordState(step, version: files.last?.version ?? 0, in: tables)
            }
            applied.functions = step.files.map(\.file)
        }
        try running(batch.fileName) { () throws(PostgresError) in
            try connection.execute("COMMIT")
            try configureSession()
        }
        return applied
    }

    private func runWithoutTransaction(
        _ file: MigrationFile, _ checksum: String, _ tables: MigrationTables
    ) throws(MigrationError) -> MigrationPlan.Record {
        do throws(PostgresError) {
            let start = ContinuousClock.now
            try connection.dropInvalidIndexes(namedIn: file.sql)
            for statement in splitStatements(file.sql) { try connection.execute(statement) }
            let duration = ContinuousClock.now - start
            let record = try self.record(file, checksum, duration, in: tables)
            try configureSession()
            return record
        } catch {
            if connection.isInTransaction { try? connection.execute("ROLLBACK") }
            // If this fails as well, the next run drops the indexes before it starts.
            try? connection.dropInvalidIndexes(namedIn: file.sql)
            throw .failed(file.fileName, error)
        }
    }

    /// Executes a versioned file in the current transaction.
    func execute(_ file: MigrationFile) throws(MigrationError) {
        try checkEndsNoTransaction(file.sql, file.fileName)
        try running(file.fileName) { () throws(PostgresError) in try connection.execute(file.sql) }
        guard connection.isInTransaction else { throw .endedTransaction(file.fileName) }
    }

    /// Executes a repeatable file in the current transaction.
    ///
    /// The bodies of its functions are not checked, so they can use functions of later files.
    /// `validateFunctions` checks them when all files have been executed.
    func execute(_ file: RepeatableFile) throws(MigrationError) {
        try checkEndsNoTransaction(file.sql, file.fileName)
        try running(file.fileName) { () throws(PostgresError) in
            try configureSession()
            try connection.execute("SET LOCAL check_function_bodies = off")
            try connection.execute(file.sql)
        }
        guard connection.isInTransaction else { throw .endedTransaction(file.fileName) }
    }

    /// Runs the work, and converts its error to `.failed` with the name of the file.
    func running(
        _ fileName: String, _ work: () throws(PostgresError) -> Void
    ) throws(MigrationError) {
        do throws(PostgresError) {
            try work()
        } catch {
            throw .failed(fileName, error)
        }
    }

    /// - Throws: `.endedTransaction` if a statement would end the transaction that the file runs in.
    private func checkEndsNoTransaction(
        _ sql: String, _ fileName: String
    ) throws(MigrationError) {
        let firstWords = splitStatements(sql).map { statement in
            statement.split(whereSeparator: \.isNewline).lazy
                .map { $0.drop(while: \.isWhitespace) }
                .first { !$0.isEmpty && !$0.hasPrefix("--") }?
                .prefix(while: \.isLetter).uppercased() ?? ""
        }
        // END is not in the list, because it also closes a function body that starts with BEGIN ATOMIC.
        if firstWords.contains(where: ["COMMIT", "ROLLBACK", "ABORT"].contains) {
            throw .endedTransaction(fileName)
        }
    }
}
