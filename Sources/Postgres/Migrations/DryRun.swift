extension Migrator {
    /// The result of a migration that was run and rolled back.
    package struct Trial: Sendable {
        package let file: MigrationFile
        package let milliseconds: Int64
        /// The locks on existing tables that the earlier migrations did not already hold.
        package let locks: [TableLock]
    }

    /// Runs the pending migrations in one transaction and rolls it back.
    ///
    /// A migration with `-- no-transaction` cannot be rolled back, so it and all later ones are left out
    /// and returned as `untried`.
    package func dryRun(
        to target: Int64? = nil
    ) throws(MigrationError) -> (trials: [Trial], untried: [MigrationFile]) {
        try query { () throws(PostgresError) in try configureSession() }
        try lock()
        defer { unlock() }
        let pending = try status().pending(to: target).map(\.file)
        let possible = pending.prefix(while: \.isTransactional)
        let tables = try query { () throws(PostgresError) in try connection.tables() }
        try query { () throws(PostgresError) in
            try connection.execute("BEGIN")
            _ = try makeTable()
        }
        defer { try? connection.execute("ROLLBACK") }
        var held: [TableLock] = []
        var trials: [Trial] = []
        for file in possible {
            try file.checkEndsNoTransaction()
            let start = ContinuousClock.now
            let locks: [TableLock]
            do throws(PostgresError) {
                try connection.execute(file.sql)
                locks = try connection.locks(on: tables)
                try configureSession()
            } catch {
                throw .failed(file.fileName, error)
            }
            trials.append(
                Trial(
                    file: file, milliseconds: (ContinuousClock.now - start).milliseconds,
                    locks: locks.filter { !held.contains($0) }))
            held = locks
        }
        return (trials, Array(pending.dropFirst(possible.count)))
    }
}

extension MigrationFile {
    /// - Throws: `.endedTransaction` if a statement would end the transaction that the file runs in.
    func checkEndsNoTransaction() throws(MigrationError) {
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
