import NIOCore

/// A pipeline on its way through the pool, together with the caller that waits for it.
///
/// The caller is resumed exactly once: with the rows, a server error, or a failure such as a passed
/// deadline. Replies that arrive after that are discarded. The class is `Sendable` because it is
/// accessed only on the pool's loop.
final class Submission: @unchecked Sendable {
    typealias Outcome = Result<[Rows], PostgresError>

    let pipeline: Pipeline
    private let deadline: NIODeadline
    private var continuation: UnsafeContinuation<Outcome, Never>?
    /// How many times it was sent again.
    private(set) var retryCount = 0
    /// Whether its owner was costly when it was sent; see `PoolState`.
    var isCostly = false
    /// Whether a cancel request was sent for it.
    var isCancelRequested = false
    /// Whether it failed without any effect and for a temporary reason, so that it may be sent again.
    var isRetryable = false
    private var results: [Rows] = []
    /// The memory of `results`.
    private var rowBytes = 0
    private(set) var failure: ServerError?

    init(_ pipeline: Pipeline, deadline: NIODeadline) {
        self.pipeline = pipeline
        self.deadline = deadline
        results.reserveCapacity(pipeline.count)
    }

    /// Whether the caller has been resumed, so that any further result is discarded.
    var isAbandoned: Bool { continuation == nil }

    /// Sets the continuation of the caller, which `resume` resumes.
    func wait(_ continuation: UnsafeContinuation<Outcome, Never>) {
        self.continuation = continuation
    }

    /// Resumes the caller, unless it was resumed before.
    func resume(_ outcome: Outcome) {
        guard let waiting = continuation else { return }
        continuation = nil
        waiting.resume(returning: outcome)
    }

    /// Resumes the caller with the failure if the deadline has passed.
    ///
    /// - Returns: Whether the caller has been resumed, now or before.
    func expire(at now: NIODeadline, with failure: PostgresError) -> Bool {
        if now >= deadline { resume(.failure(failure)) }
        return isAbandoned
    }

    /// Keeps the rows of the next statement while the caller waits for them.
    func receive(_ rows: Rows) {
        if isAbandoned { return }
        rowBytes += rows.byteCount
        results.append(rows)
    }

    /// Resumes the caller with an error, and discards the rows, if they exceed the limit of the pipeline.
    ///
    /// - Parameter incompleteBytes: The size of the received part of the next result.
    /// - Returns: Whether it did so now.
    func refuseRows(incompleteBytes: Int = 0) -> Bool {
        guard !isAbandoned, pipeline.isReadOnly, let bytesMax = pipeline.rowBytesMax,
            rowBytes + incompleteBytes > bytesMax
        else { return false }
        results = []
        resume(.failure(.rowsTooLarge(bytesMax: bytesMax)))
        return true
    }

    /// Records a failure. Only the first one is reported; the others follow from it.
    func fail(_ error: ServerError) {
        failure = failure ?? error
    }

    /// Discards the results of the first attempt.
    func prepareToRetry() {
        retryCount += 1
        isRetryable = false
        results.removeAll(keepingCapacity: true)
        rowBytes = 0
        failure = nil
    }

    /// Resumes the caller with the results after the server has replied to every statement.
    func finish() {
        if let failure {
            resume(.failure(.server(failure)))
        } else {
            resume(.success(results))
        }
    }
}
