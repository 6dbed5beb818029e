import ObjectStorage
import Postgres

/// Compares every row with its files and every file with the rows: `bookplate-admin storage verify`.
package struct StorageVerification {
    package enum Problem: String, Sendable, CaseIterable {
        /// A row's file is not there, or its bytes are not those that were stored.
        case missing, damaged
        /// A version that no row names; a file that nobody here made.
        case orphan, stranger
    }

    package struct Finding: Sendable {
        package let problem: Problem
        /// Below the store's folder.
        package let file: String
    }

    package struct Summary: Sendable {
        package var covers = 0
        package var bytes = 0
        /// Writes of processes that have died; a sweep ends them.
        package var deadWrites = 0
        package var counts: [Problem: Int] = [:]
        /// The first of them.
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

    private let store: FileStore
    private let connection: AdminConnection
    private let graceSeconds: Int

    /// - Parameter graceSeconds: files that are younger are no orphans yet.
    package init(_ store: FileStore, graceSeconds: Int, _ connection: AdminConnection) {
        self.store = store
        self.connection = connection
        self.graceSeconds = graceSeconds
    }

    /// - Parameter onProgress: how many covers more were looked at.
    package func run(
        onProgress: (Int) throws(StorageError) -> Void = { _ in }
    ) async throws(StorageError) -> Summary {
        var summary = Summary()
        let sweep = StorageSweep(store, graceSeconds: graceSeconds, isDryRun: true, connection)
        let swept = try await sweep.run(
            onFound: { found, file in summary.add(found == .orphan ? .orphan : .stranger, file) },
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
                try note(states, of: record, &summary)
            }
            try onProgress(records.count)
        }
    }

    private func page(
        after position: CoverRecord.Position?
    ) throws(StorageError) -> [CoverRecord] {
        do throws(PostgresError) {
            return try CoverRecord.page(after: position, Self.batchMax, connection)
        } catch {
            throw .database(error)
        }
    }

    private func note(
        _ states: [CoverRecord.State], of record: CoverRecord, _ summary: inout Summary
    ) throws(StorageError) {
        guard states.contains(where: { $0.bytes == nil }) else { return }
        do throws(PostgresError) {
            // It was replaced meanwhile, and its files went.
            guard try record.isCurrent(connection) else { return }
        } catch {
            throw .database(error)
        }
        for (variant, state) in zip(CoverRecord.variants, states) {
            switch state {
            case .whole: continue
            case .missing: summary.add(.missing, record.fileName(variant))
            case .damaged: summary.add(.damaged, record.fileName(variant))
            }
        }
    }

    private func states(
        of records: [CoverRecord]
    ) async throws(StorageError) -> [(CoverRecord, [CoverRecord.State])] {
        try await concurrently(records) { [store] record throws(StorageError) in
            let states = try await record.states(in: store)
            return (record, states)
        }
    }
}

/// Does something for all elements at once, and gives the results in their order.
func concurrently<Element: Sendable, Value: Sendable>(
    _ elements: [Element],
    _ work: @Sendable @escaping (Element) async throws(StorageError) -> Value
) async throws(StorageError) -> [Value] {
    let results = await withTaskGroup(of: (Int, Result<Value, StorageError>).self) { group in
        for (index, element) in elements.enumerated() {
            group.addTask {
                // A variable, because of a compiler bug: docs/decisions/task-group-tuples.md.
                let result: Result<Value, StorageError>
                do throws(StorageError) {
                    result = .success(try await work(element))
                } catch {
                    result = .failure(error)
                }
                return (index, result)
            }
        }
        var results: [(Int, Result<Value, StorageError>)] = []
        for await result in group { results.append(result) }
        return results.sorted { $0.0 < $1.0 }
    }
    var values: [Value] = []
    for (_, result) in results { values.append(try result.get()) }
    return values
}

extension StorageSweep {
    /// As an operator sweeps. In a dry run every transaction is undone.
    package init(
        _ store: any ObjectStore, graceSeconds: Int, isDryRun: Bool,
        progress: SweepProgress? = nil, _ connection: AdminConnection
    ) {
        self.init(store, graceSeconds: graceSeconds, isDryRun: isDryRun, progress: progress) {
            statement, parameters throws(StorageError) in
            do throws(PostgresError) {
                guard isDryRun else { return try connection.query(statement.text, parameters) }
                try connection.execute("BEGIN")
                defer { try? connection.execute("ROLLBACK") }
                return try connection.query(statement.text, parameters)
            } catch {
                throw .database(error)
            }
        }
    }
}
