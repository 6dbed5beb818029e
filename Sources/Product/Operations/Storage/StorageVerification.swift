import Basics
import Bookplate
import ObjectStorage
import Postgres

/// Compares every row with its files, and every file with the rows: `bookplate-admin storage verify`.
///
/// Removes each file whose content is wrong, unless in a dry run, so that the server sends a title card instead. If neither the full
/// nor the large variant of the cover of a book is left, and a search has found the cover, it is removed and searched again.
package struct StorageVerification {
    package enum Problem: String, Sendable, CaseIterable {
        /// The file of a row does not exist.
        case missing
        /// The content of a file does not match the checksum in its row, or the file cannot be read.
        case damaged
        /// No row refers to the version.
        case orphan
        /// The store did not create the file.
        case unknown
    }

    package struct Finding: Sendable {
        package let problem: Problem
        /// The path below the store's folder.
        package let file: String
    }

    package struct Summary: Sendable {
        package var covers = 0
        package var bytes = 0
        /// The number of unfinished writes of processes that have died. A sweep removes them.
        package var deadWrites = 0
        package var counts: [Problem: Int] = [:]
        /// The number of damaged files that were removed.
        package var removedFiles = 0
        /// The number of covers that are searched again.
        package var searchedCovers = 0
        /// The first problems, at most `findingsMax`.
        package var findings: [Finding] = []

        package var isSound: Bool { deadWrites == 0 && counts.isEmpty }

        mutating func add(_ problem: Problem, _ file: String) {
            counts[problem, default: 0] += 1
            if findings.count < StorageVerification.findingsMax {
                findings.append(.init(problem: problem, file: file))
            }
        }
    }

    package static let findingsMax = 1000
    private static let batchMax = 32

    private let store: any ObjectStore
    private let connection: AdminConnection
    private let graceSeconds: Int
    private let isDryRun: Bool

    /// - Parameters:
    ///   - graceSeconds: The minimum age of a file that is reported as an orphan.
    ///   - isDryRun: Whether nothing is removed.
    package init(
        _ store: any ObjectStore, graceSeconds: Int, isDryRun: Bool = true,
        _ connection: AdminConnection
    ) {
        self.store = store
        self.connection = connection
        self.graceSeconds = graceSeconds
        self.isDryRun = isDryRun
    }

    /// - Parameter onProgress: Called after each batch with the number of covers in it.
    package func run(
        onProgress: (Int) throws(StorageError) -> Void = { _ in }
    ) async throws(StorageError) -> Summary {
        var summary = Summary()
        let sweep = StorageSweep(store, graceSeconds: graceSeconds, isDryRun: true, connection)
        let swept = try await sweep.run(
            onFound: { found, file in summary.add(found == .orphan ? .orphan : .unknown, file) },
            onFolder: { () throws(StorageError) in try onProgress(0) })
        summary.deadWrites = swept.deadWrites
        var position: CoverRecord.Position?
        while true {
            let records = try page(after: position)
            guard let last = records.last else { return summary }
            position = .init(last)
            for (record, states) in try await states(of: records) {
                summary.covers += 1
                summary.bytes += record.byteCounts.reduce(0) { $0 + Int($1) }
                try await add(states, of: record, to: &summary)
            }
            try onProgress(records.count)
        }
    }

    private func page(
        after position: CoverRecord.Position?
    ) throws(StorageError) -> [CoverRecord] {
        try mappingError(StorageError.database) { () throws(PostgresError) in
            try CoverRecord.page(after: position, Self.batchMax, connection)
        }
    }

    private func add(
        _ states: [CoverRecord.State], of record: CoverRecord, to summary: inout Summary
    ) async throws(StorageError) {
        guard states.contains(where: { $0.bytes == nil }) else { return }
        // The cover may have been replaced, and its files removed, since the page was read.
        let isCurrent = try mappingError(StorageError.database) { () throws(PostgresError) in
            try record.isCurrent(connection)
        }
        guard isCurrent else { return }
        for (variant, state) in zip(Covers.variants, states) {
            switch state {
            case .intact: continue
            case .missing: summary.add(.missing, record.fileName(variant))
            case .damaged, .unreadable: summary.add(.damaged, record.fileName(variant))
            }
        }
        if !isDryRun, states.contains(.damaged) {
            try await withdraw(record, states, &summary)
        }
    }

    private func withdraw(
        _ record: CoverRecord, _ states: [CoverRecord.State], _ summary: inout Summary
    ) async throws(StorageError) {
        guard let key = record.key else { return }
        let hasSource = zip(Covers.variants, states).contains { variant, state in
            variant != .thumbnail && (state.bytes != nil || state == .unreadable)
        }
        if !hasSource {
            let isSearched = try connection.inTransaction(mapping: StorageError.database) {
                () throws(StorageError) in
                try mappingError(StorageError.database) { () throws(PostgresError) in
                    try record.searchAgain(connection)
                }
            }
            if isSearched { summary.searchedCovers += 1 }
        }
        try await mappingError(StorageError.store) { () async throws(ObjectError) in
            for (variant, state) in zip(Covers.variants, states) where state == .damaged {
                guard let path = ObjectPath(key, version: record.version, variant) else { continue }
                try await store.removeFile(path)
                summary.removedFiles += 1
            }
        }
    }

    private func states(
        of records: [CoverRecord]
    ) async throws(StorageError) -> [(CoverRecord, [CoverRecord.State])] {
        try await mapConcurrently(records) { [store] record throws(StorageError) in
            let states = try await record.states(in: store)
            return (record, states)
        }
    }
}
