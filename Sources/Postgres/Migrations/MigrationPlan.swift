/// What the files and the records of a database say of each other; no I/O.
package struct MigrationPlan: Sendable {
    /// A migration that was run, as `schema_migrations` has it.
    package struct Record: Sendable, Equatable {
        package let version: Int64
        package let name: String
        /// SHA-256 of the file's bytes, in hexadecimal.
        package let checksum: String
        /// Microseconds of Unix time.
        package let appliedAt: Int64
        /// How long it took.
        package let milliseconds: Int64
    }

    /// A migration, by file, by record or by both.
    package struct Entry: Sendable {
        package let version: Int64
        package let name: String
        /// Nil where it is not here any more.
        package let file: MigrationFile?
        /// Nil where it has not been run.
        package let record: Record?
        let checksum: String?
    }

    /// All that either side knows, in order.
    package let entries: [Entry]
    /// What does not fit, in order.
    package let problems: [MigrationProblem]

    /// - Parameter checksums: of the files, in their order.
    init(files: [MigrationFile], checksums: [String], records: [Record]) {
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
        entries = (ofFiles + ofRecords).sorted { $0.version < $1.version }
        let latest = records.map(\.version).max() ?? 0
        problems = entries.compactMap { entry in
            switch (entry.file, entry.record) {
            case (let file?, let record?):
                record.checksum == entry.checksum ? nil : .drifted(file.fileName)
            case (nil, let record?): .unknown(version: record.version, name: record.name)
            case (let file?, nil): file.version < latest ? .gap(file.fileName) : nil
            case (nil, nil): nil
            }
        }
    }

    /// What is still to be run, up to and with the version, in order, each with its checksum.
    ///
    /// - Throws: `.mismatch` where something must be mended first; `.unknownTarget`.
    func pending(
        to target: Int64? = nil
    ) throws(MigrationError) -> [(file: MigrationFile, checksum: String)] {
        let blocking = problems.filter(\.isBlocking)
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
}
