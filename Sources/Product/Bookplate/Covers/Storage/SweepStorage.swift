import JobQueue
import Logging
import ObjectStorage
import Postgres
import Telemetry

/// Sweeps the object store every six hours, on one of the servers.
struct SweepStorage: JobHandler {
    static let kind = "storage.sweep"
    static let settings = JobSettings(
        concurrency: 1, timeout: .seconds(3600), every: .seconds(6 * 3600))

    private let store: any ObjectStore
    private let counters: [(Counter, KeyPath<StorageSweep.Summary, Int> & Sendable)]

    init(_ services: Services) {
        store = services.covers.store
        let metrics = services.metrics
        counters = [
            ("dead_write", \.deadWrites), ("orphan", \.orphans), ("title_card", \.titleCards),
            ("removed_cover", \.removedCovers),
        ].map { what, count in
            let counter = metrics.counter(
                "bookplate_storage_swept_total", "Objects that sweeps of the store have removed.",
                ["what": what])
            return (counter, count)
        }
    }

    func run(_ payload: NoPayload, in job: JobContext) async throws(JobError) {
        let sweep = StorageSweep(store, progress: .ofServers) {
            statement, parameters throws(StorageError) in
            if Task.isCancelled { throw .cancelled }
            do throws(JobError) {
                let (results, rows) = try await job.write {
                    $0.appendForRows(statement, parameters)
                }
                return results[rows]
            } catch {
                guard case .database(let error) = error else { throw .cancelled }
                throw .database(error)
            }
        }
        let summary: StorageSweep.Summary
        do throws(StorageError) {
            summary = try await sweep.run()
        } catch .database(let error) {
            throw .database(error)
        } catch .foreign {
            throw .giveUp(StorageError.foreign.message)
        } catch {
            throw .retry(error.message)
        }
        for (counter, count) in counters { counter.increment(by: summary[keyPath: count]) }
        if !summary.isEmpty {
            job.logger.notice(
                "swept the object store",
                metadata: [
                    "dead_writes": .stringConvertible(summary.deadWrites),
                    "orphans": .stringConvertible(summary.orphans),
                    "orphan_bytes": .stringConvertible(summary.orphanBytes),
                    "title_cards": .stringConvertible(summary.titleCards),
                    "removed_covers": .stringConvertible(summary.removedCovers),
                ])
        }
    }
}
