import EventLoops
import GraphQL
import Logging
import NIOPosix
import Postgres
import Synchronization
import TestBasics
import TestSupport
import Testing

@testable import Bookplate
@testable import JobQueue
@testable import Requests

/// Records the runs of this suite's handlers and calls a closure in each run.
final class Recorder: Sendable {
    struct Run: Equatable, Sendable {
        let word: String
        let attempt: Int
        let userID: UUID?
    }

    private let runs = Mutex<[Run]>([])
    private let onRun: @Sendable (Run, JobContext) async throws(JobError) -> Void

    init(
        _ onRun: @escaping @Sendable (Run, JobContext) async throws(JobError) -> Void = { _, _ in }
    ) {
        self.onRun = onRun
    }

    var all: [Run] { runs.withLock { $0 } }
    var words: [String] { all.map(\.word) }

    func record(_ run: Run, in job: JobContext) async throws(JobError) {
        runs.withLock { $0.append(run) }
        try await onRun(run, job)
    }
}

struct Word: Codable, Sendable {
    let word: String
}

struct Echo: JobHandler {
    static let kind = "test.echo"
    static let settings = JobSettings(
        concurrency: 3, attemptsMax: 3, retryDelay: .milliseconds(1))

    let recorder: Recorder

    func run(_ payload: Word, in job: JobContext) async throws(JobError) {
        let run = Recorder.Run(word: payload.word, attempt: job.attempt, userID: job.userID)
        try await recorder.record(run, in: job)
    }
}

struct Ticker: JobHandler {
    static let kind = "test.ticker"
    static let settings = JobSettings(
        concurrency: 1, attemptsMax: 1, every: .milliseconds(20))

    let recorder: Recorder

    func run(_ payload: NoPayload, in job: JobContext) async throws(JobError) {
        let run = Recorder.Run(word: "tick", attempt: job.attempt, userID: job.userID)
        try await recorder.record(run, in: job)
    }
}
