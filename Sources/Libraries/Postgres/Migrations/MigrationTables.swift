/// The qualified names of the migrator's tables, which no later change of `search_path` affects.
struct MigrationTables {
    /// The versioned migrations that were run.
    let migrations: String
    /// The repeatable files as they were applied last.
    let functions: String
    /// The combinations of a version and repeatable files that the database has had.
    let states: String
}

// MARK: Reading

extension Migrator {
    func tables() throws(PostgresError) -> MigrationTables {
        let rows = try connection.query("SELECT quote_ident(current_schema())")
        guard let schema = rows.text(0, 0) else {
            throw .unexpectedResult("no schema of the search_path exists")
        }
        return MigrationTables(
            migrations: "\(schema).schema_migrations", functions: "\(schema).schema_functions",
            states: "\(schema).schema_states")
    }

    /// Compares the files with the records.
    func plan(_ tables: MigrationTables) throws(PostgresError) -> MigrationPlan {
        MigrationPlan(
            files: files, checksums: try checksums(files.map(\.sql)),
            records: try records(in: tables),
            repeatable: try repeatablePlan(tables))
    }

    private func repeatablePlan(_ tables: MigrationTables) throws(PostgresError) -> RepeatablePlan {
        let checksums = try self.checksums(repeatableFiles.map(\.sql))
        let lines = zip(repeatableFiles, checksums).map { "\($0.name) \($1)\n" }.sorted()
        let checksum = try self.checksums([lines.joined()])[0]
        return RepeatablePlan(
            files: repeatableFiles, checksums: checksums, checksum: checksum,
            records: try repeatableRecords(in: tables),
            isRecordedState: try hasState(checksum, in: tables))
    }

    /// Returns the SHA-256 of each text, in hexadecimal.
    private func checksums(_ texts: [String]) throws(PostgresError) -> [String] {
        var parameters = Parameters()
        parameters.appendArray(of: .bytea) { elements in
            for text in texts {
                Array(text.utf8).withUnsafeBytes { elements.append(cell: $0) }
            }
        }
        let rows = try connection.query(
            """
            SELECT encode(sha256(file), 'hex')
            FROM unnest($1) WITH ORDINALITY AS f (file, number)
            ORDER BY number
            """, parameters)
        let checksums = (0..<rows.count).compactMap { rows.text($0, 0) }
        guard checksums.count == texts.count else { throw .unexpectedResult("missing checksums") }
        return checksums
    }

    private func exists(_ table: String) throws(PostgresError) -> Bool {
        var name = Parameters()
        name.append(text: table)
        return try !connection.query("SELECT to_regclass($1)", name).isNull(0, 0)
    }

    private func records(
        in tables: MigrationTables
    ) throws(PostgresError) -> [MigrationPlan.Record] {
        guard try exists(tables.migrations) else { return [] }
        let rows = try connection.query(
            """
            SELECT version, name, checksum, applied_at, milliseconds
            FROM \(tables.migrations)
            ORDER BY version
            """)
        var records: [MigrationPlan.Record] = []
        for row in 0..<rows.count { records.append(try MigrationPlan.Record(rows, row)) }
        return records
    }

    private func repeatableRecords(
        in tables: MigrationTables
    ) throws(PostgresError) -> [RepeatablePlan.Record] {
        guard try exists(tables.functions) else { return [] }
        let rows = try connection.query(
            "SELECT name, checksum, applied_at FROM \(tables.functions) ORDER BY name COLLATE \"C\""
        )
        var records: [RepeatablePlan.Record] = []
        for row in 0..<rows.count {
            guard let name = rows.text(row, 0), let checksum = rows.text(row, 1),
                let appliedAt = rows.timestamptz(row, 2)
            else { throw .unexpectedResult("schema_functions has unexpected columns or values") }
            records.append(.init(name: name, checksum: checksum, appliedAt: appliedAt))
        }
        return records
    }

    /// Whether the database has had the newest version of the folder with these repeatable files.
    private func hasState(
        _ checksum: String, in tables: MigrationTables
    ) throws(PostgresError) -> Bool {
        guard try exists(tables.states) else { return false }
        var parameters = Parameters()
        parameters.append(int64: files.last?.version ?? 0)
        parameters.append(text: checksum)
        return try connection.query(
            "SELECT EXISTS (SELECT FROM \(tables.states) WHERE version = $1 AND functions = $2)",
            parameters
        ).bool(0, 0) == true
    }
}

// MARK: Writing

extension Migrator {
    /// Creates the tables that do not exist.
    func create(_ tables: MigrationTables) throws(PostgresError) {
        try connection.execute(
            """
            CREATE TABLE IF NOT EXISTS \(tables.migrations) (
                version bigint PRIMARY KEY,
                name text NOT NULL,
                checksum text NOT NULL,
                applied_at timestamptz NOT NULL DEFAULT now(),
                milliseconds bigint NOT NULL
            );
            CREATE TABLE IF NOT EXISTS \(tables.functions) (
                name text PRIMARY KEY,
                checksum text NOT NULL,
                applied_at timestamptz NOT NULL DEFAULT now()
            );
            CREATE TABLE IF NOT EXISTS \(tables.states) (
                version bigint NOT NULL,
                functions text NOT NULL,
                applied_at timestamptz NOT NULL DEFAULT now(),
                PRIMARY KEY (version, functions)
            )
            """)
    }

    func record(
        _ file: MigrationFile, _ checksum: String, _ duration: Duration, in tables: MigrationTables
    ) throws(PostgresError) -> MigrationPlan.Record {
        var parameters = Parameters()
        parameters.append(int64: file.version)
        parameters.append(text: file.name)
        parameters.append(text: checksum)
        parameters.append(int64: duration.milliseconds)
        let rows = try connection.query(
            """
            INSERT INTO \(tables.migrations) (version, name, checksum, milliseconds)
            VALUES ($1, $2, $3, $4)
            RETURNING version, name, checksum, applied_at, milliseconds
            """, parameters)
        return try MigrationPlan.Record(rows, 0)
    }

    func record(
        _ file: RepeatableFile, _ checksum: String, in tables: MigrationTables
    ) throws(PostgresError) {
        var parameters = Parameters()
        parameters.append(text: file.name)
        parameters.append(text: checksum)
        try connection.query(
            """
            INSERT INTO \(tables.functions) (name, checksum)
            VALUES ($1, $2)
            ON CONFLICT (name) DO UPDATE
                SET checksum = excluded.checksum, applied_at = excluded.applied_at
            """, parameters)
    }

    /// Deletes the records of removed files, and records that the database has the files of the folder.
    func recordState(
        _ step: RepeatableStep, version: Int64, in tables: MigrationTables
    ) throws(PostgresError) {
        for name in step.removed {
            var parameters = Parameters()
            parameters.append(text: name)
            try connection.query("DELETE FROM \(tables.functions) WHERE name = $1", parameters)
        }
        var parameters = Parameters()
        parameters.append(int64: version)
        parameters.append(text: step.checksum)
        try connection.query(
            """
            INSERT INTO \(tables.states) (version, functions)
            VALUES ($1, $2)
            ON CONFLICT (version, functions) DO UPDATE SET applied_at = excluded.applied_at
            """, parameters)
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
