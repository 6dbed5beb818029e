extension Migrator {
    /// A migration that has not been applied.
    package enum PendingFile: Sendable, Equatable {
        case versioned(MigrationFile)
        case repeatable(RepeatableFile)

        package var fileName: String {
            switch self {
            case .versioned(let file): file.fileName
            case .repeatable(let file): file.fileName
            }
        }

        /// Whether the file runs in a transaction, so that it can be rolled back.
        package var isTransactional: Bool {
            switch self {
            case .versioned(let file): file.isTransactional
            case .repeatable: true
            }
        }
    }

    /// The result of a migration that was run and rolled back.
    package struct Trial: Sendable {
        package let file: PendingFile
        package let milliseconds: Int64
        /// The locks on existing tables that the earlier migrations did not already hold.
        package let locks: [TableLock]
    }

    /// Runs the pending migrations in one transaction and rolls it back.
    ///
    /// A migration with `-- no-transaction` cannot be rolled back, so it and all later ones, including the
    /// repeatable files, are left out and returned as `untried`.
    package func dryRun(
        to target: Int64? = nil
    ) throws(MigrationError) -> (trials: [Trial], untried: [PendingFile]) {
        try mappingErrors { () throws(PostgresError) in try configureSession() }
        try lock()
        defer { unlock() }
        let plan = try status()
        let step = plan.repeatableStep(to: target)
        let pending =
            try plan.pending(to: target, allowing: allowedProblem)
            .map { PendingFile.versioned($0.file) }
            + (step?.files ?? []).map { PendingFile.repeatable($0.file) }
        let possible = pending.prefix(while: \.isTransactional)
        let tables = try mappingErrors { () throws(PostgresError) in try connection.tables() }
        try mappingErrors { () throws(PostgresError) in
            try connection.execute("BEGIN")
            try create(try self.tables())
        }
        defer { try? connection.execute("ROLLBACK") }
        var held: [TableLock] = []
        var trials: [Trial] = []
        for file in possible {
            let start = ContinuousClock.now
            switch file {
            case .versioned(let file): try execute(file)
            case .repeatable(let file): try execute(file)
            }
            let duration = ContinuousClock.now - start
            let locks = try mappingErrors { () throws(PostgresError) in
                try configureSession()
                return try connection.locks(on: tables)
            }
            trials.append(
                Trial(
                    file: file, milliseconds: duration.milliseconds,
                    locks: locks.filter { !held.contains($0) }))
            held = locks
        }
        if step != nil, possible.count == pending.count { try validateFunctions() }
        return (trials, Array(pending.dropFirst(possible.count)))
    }
}
