import JobQueue
import Postgres

/// Links books without an edition to editions that the catalog got or corrected after the books were added.
///
/// The triggers on `editions` find the books by their keys, and enqueue this job. Books that are added or changed are
/// linked by the statement that does it.
struct LinkBooks: JobHandler {
    static let kind = "library.link"
    static let settings = JobSettings(
        concurrency: 1, attemptsMax: 10, timeout: .seconds(600), retryDelay: .seconds(30))
    /// The number of books per transaction. Their readers' mutations wait for its end.
    private static let batchMax: Int32 = 200

    private static let link = TypedStatement<Batch>(
        "SELECT looked_at, changed_readers FROM link_waiting_books($1)")

    private struct Batch: RowDecodable {
        /// The number of books that were looked at. 0 means that none is left.
        let count: Int32
        let changedReaders: [UUID]

        init?(_ row: inout RowReader) {
            guard let count = row.int32(), let readers = row.uuids() else { return nil }
            self.count = count
            changedReaders = readers
        }
    }

    func run(_ payload: NoPayload, in job: JobContext) async throws(JobError) {
        while !Task.isCancelled {
            let batches = try await job.write { pipeline in
                var parameters = Parameters()
                parameters.append(int32: Self.batchMax)
                return pipeline.append(Self.link, parameters)
            }
            guard let batch = batches.first, batch.count > 0 else { return }
            if !batch.changedReaders.isEmpty {
                await job.notifyChanges(of: batch.changedReaders)
            }
        }
        throw .retry("The server stopped.")
    }
}
