import JobQueue
import Postgres

/// Collects the signals of the readers who changed something, for popularity and similar books.
///
/// Run `find` once, then `collect` in transactions of its own until it returns 0.
package enum SignalCollection {
    /// `$1` is whether all readers are collected instead of those who changed something.
    package static let find = Statement("SELECT find_readers_to_collect($1)")
    package static let collect = Statement("SELECT collect_signals(200)")

    static func run(in job: JobContext) async throws(JobError) {
        try await job.write { pipeline in
            // Waits for the lock of the feed's state, which a running refresh holds.
            pipeline.allowLongStatements()
            var parameters = Parameters()
            parameters.append(bool: false)
            pipeline.append(find, parameters)
        }
        var count: Int32
        repeat {
            if Task.isCancelled { throw .retry("The server stopped.") }
            let (results, index) = try await job.write { pipeline in
                pipeline.allowLongStatements()
                return pipeline.appendForRows(collect)
            }
            count = results[index].int32(0, 0) ?? 0
        } while count > 0
    }
}
