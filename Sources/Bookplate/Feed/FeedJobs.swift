import Postgres

/// Counts popularity anew and gives books their places by it; readers wait for none of it.
struct RefreshFeed: JobHandler {
    static let kind = "feed.refresh"
    static let settings = JobSettings(
        concurrency: 1, timeout: .seconds(1800), every: .seconds(3600))

    private static let refresh = Statement("SELECT refresh_feed()")

    func run(_ payload: NoPayload, in job: JobContext) async throws(JobError) {
        _ = try await job.write { segment in
            segment.takeLong()
            segment.append(Self.refresh)
        }
    }
}

/// Learns what was spoken of since the last time (`SimilarLearning`).
struct LearnSimilar: JobHandler {
    static let kind = "feed.similar"
    static let settings = JobSettings(
        concurrency: 1, timeout: .seconds(1800), every: .seconds(3600))

    func run(_ payload: NoPayload, in job: JobContext) async throws(JobError) {
        let rows = try await job.read { segment in
            segment.takeLong()
            segment.append(SimilarLearning.signals)
        }[1]
        var learning = SimilarLearning(rows, isIncremental: true)
        while learning.learn() < learning.total {
            if Task.isCancelled { throw .retry("The server stopped.") }
            await Task.yield()
        }
        let (replacing, finishing) = learning.writes()
        for parameters in replacing {
            _ = try await job.write { segment in
                segment.takeLong()
                segment.append(SimilarLearning.replace, parameters)
            }
        }
        _ = try await job.write { $0.append(SimilarLearning.finish, finishing) }
        job.logger.info(
            "similar books are learnt",
            metadata: ["editions": "\(learning.total)", "signals": "\(learning.signalCount)"])
    }
}

extension Segment {
    private static let takeLong = Statement(
        "SELECT set_config('statement_timeout', '600000', true)")

    /// What follows may take minutes: it is upkeep, which no request waits for.
    fileprivate mutating func takeLong() {
        timeout = .seconds(600)
        append(Self.takeLong)
    }
}
