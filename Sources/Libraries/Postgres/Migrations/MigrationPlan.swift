/// The comparison of the migration files with a database's records; no I/O.
package struct MigrationPlan: Sendable {
    /// A row of `schema_migrations`: a versioned migration that was run.
    package struct Record: Sendable, Equatable {
        package let version: Int64
        package let name: String
        /// The SHA-256 of the file's bytes, in hexadecimal.
        package let checksum: String
        /// When it was run, in microseconds since the Unix epoch.
        package let appliedAt: Int64
        /// How long it ran, in milliseconds.
        package let milliseconds: Int64
    }

    /// A versioned migration that has a file, a record, or both.
    package struct Entry: Sendable {
        package let version: Int64
        package let name: String
        /// The file; nil if there is none for the record.
        package let file: MigrationFile?
        /// The record; nil if the migration has not been run.
        package let record: Record?
        let checksum: String?

        package var fileName: String { "\(version)_\(name).sql" }
    }

    /// All versioned migrations that have a file or a record, in order.
    package let entries: [Entry]
    package let repeatable: RepeatablePlan
    /// The contradictions between files and records, in order.
    package let problems: [MigrationProblem]

    /// - Parameter checksums: The checksums of `files`, in the same order.
    init(
        files: [MigrationFile], checksums: [String], records: [Record], repeatable: RepeatablePlan
    ) {
        let known = Dictionary(records.map { ($0.version, $0) }) { first, _ in first }
        let versions = Set(files.map(\.version))
        let ofFiles = zip(files, checksums).map { file, checksum in
            Entry(
                version: file.version, name: file.name, file: file, record: known[file.version],
                checksum: checksum)
        }
        let ofRecords = records.filter { !versions.contains($0.version) }.map { record in
            Entry(
                version: record.version, name: record.name, file: nil, record: record, checksum: nil
            )
        }
        let entries = (ofFiles + ofRecords).sorted { $0.version < $1.version }
        let latest = records.map(\.version).max() ?? 0
        self.entries = entries
        self.repeatable = repeatable
        problems =
            entries.compactMap { entry in
                switch (entry.file, entry.record) {
                case (let file?, let record?):
                    record.checksum == entry.checksum ? nil : .drifted(file.fileName)
                case (nil, let record?): .unknown(version: record.version, name: record.name)
                case (let file?, nil): file.version < latest ? .gap(file.fileName) : nil
                case (nil, nil): nil
                }
            } + repeatable.problems
    }

    /// The names of the files that have not been applied as they are now, in order.
    package var pendingFileNames: [String] {
        entries.filter { $0.record == nil }.map(\.fileName)
            + repeatable.entries.filter { [.pending, .changed].contains($0.state) }.map(\.fileName)
    }

    /// Returns the versioned migrations to run, up to and including the target, in order, with their
    /// checksums.
    ///
    /// - Parameter allowed: A problem that does not prevent the migrations.
    /// - Throws: `.mismatch` if a problem must be fixed first; `.unknownTarget`.
    func pending(
        to target: Int64? = nil, allowing allowed: MigrationProblem? = nil
    ) throws(MigrationError) -> [(file: MigrationFile, checksum: String)] {
        let blocking = problems.filter { $0.isBlocking && $0 != allowed }
        guard blocking.isEmpty else { throw .mismatch(blocking) }
        if let target, !entries.contains(where: { $0.version == target }) {
            throw .unknownTarget(target)
        }
        return entries.compactMap { entry in
            guard let file = entry.file, let checksum = entry.checksum, entry.record == nil,
                entry.version <= target ?? .max
            else { return nil }
            return (file, checksum)
        }
    }

    /// Returns what to do with the repeatable files after the versioned ones; nil if there is nothing to do.
    ///
    /// They belong to the newest version. With an earlier target they are not applied, because they may use
    /// tables that do not exist yet.
    func repeatableStep(to target: Int64? = nil) -> RepeatableStep? {
        if let target, let newest = entries.last?.version, target < newest { return nil }
        let isPending = entries.contains { $0.record == nil }
        return isPending || !repeatable.isComplete ? repeatable.step : nil
    }
}
