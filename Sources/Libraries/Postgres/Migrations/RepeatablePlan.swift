/// The comparison of the repeatable files with a database's records; no I/O.
package struct RepeatablePlan: Sendable {
    /// A row of `schema_functions`: a repeatable file as it was applied last.
    package struct Record: Sendable, Equatable {
        package let name: String
        /// The SHA-256 of the file's bytes, in hexadecimal.
        package let checksum: String
        /// When it was applied, in microseconds since the Unix epoch.
        package let appliedAt: Int64
    }

    /// How a file relates to its record. The raw values are part of the JSON output of `bookplate-admin`.
    package enum State: String, Sendable {
        case applied, pending, changed, missing
    }

    /// A repeatable migration that has a file, a record, or both.
    package struct Entry: Sendable {
        package let name: String
        /// The file; nil if it does not exist anymore.
        package let file: RepeatableFile?
        /// The record; nil if the file has not been applied.
        package let record: Record?
        let checksum: String?

        package var state: State {
            guard file != nil else { return .missing }
            guard let record else { return .pending }
            return record.checksum == checksum ? .applied : .changed
        }

        package var fileName: String { RepeatableFile.fileName(name) }
    }

    /// The files in the order in which they are applied, followed by the records without a file.
    package let entries: [Entry]
    /// The SHA-256 of the names and checksums of all files.
    package let checksum: String
    /// Whether the database has had exactly these versioned and repeatable files, now or in the past.
    private let isRecordedState: Bool

    /// - Parameters:
    ///   - checksums: The checksums of `files`, in the same order.
    ///   - checksum: The checksum of all files together.
    init(
        files: [RepeatableFile], checksums: [String], checksum: String, records: [Record],
        isRecordedState: Bool
    ) {
        let known = Dictionary(records.map { ($0.name, $0) }) { first, _ in first }
        let names = Set(files.map(\.name))
        let ofFiles = zip(files, checksums).map { file, checksum in
            Entry(name: file.name, file: file, record: known[file.name], checksum: checksum)
        }
        let ofRecords = records.filter { !names.contains($0.name) }.map { record in
            Entry(name: record.name, file: nil, record: record, checksum: nil)
        }
        entries = ofFiles + ofRecords
        self.checksum = checksum
        self.isRecordedState = isRecordedState
    }

    /// The contradictions between files and records. A changed file is not one, because it is applied again.
    ///
    /// If the database has had exactly these files, and its records differ now, it was migrated by a newer
    /// program after that.
    var problems: [MigrationProblem] {
        if isRecordedState, entries.contains(where: { [.changed, .missing].contains($0.state) }) {
            return [.earlierFunctions]
        }
        return entries.filter { $0.state == .missing }.map { .missingFunctions($0.name) }
    }

    /// The changes that bring the database to these files.
    var step: RepeatableStep {
        RepeatableStep(
            files: entries.compactMap { entry in
                guard let file = entry.file, let checksum = entry.checksum,
                    entry.state != .applied
                else { return nil }
                return (file, checksum)
            },
            removed: entries.filter { $0.state == .missing }.map(\.name), checksum: checksum)
    }

    /// Whether the database's records are exactly these files.
    var isComplete: Bool {
        isRecordedState && entries.allSatisfy { $0.state == .applied }
    }
}

/// The changes that one transaction makes to the repeatable files and their records.
struct RepeatableStep: Sendable {
    /// The files to apply, in order, with their checksums.
    let files: [(file: RepeatableFile, checksum: String)]
    /// The names of the records to delete.
    let removed: [String]
    /// The checksum of all repeatable files of the folder together.
    let checksum: String
}
