import NIOCore

/// A segment on its way, and the caller who waits for it until its rows are there or the deadline has passed.
///
/// It belongs to the pool's loop: everything here is read and written there, hence Sendable.
final class Submission: @unchecked Sendable {
    typealias Outcome = Result<[Rows], PostgresError>

    let segment: Segment
    private let deadline: NIODeadline
    private var continuation: UnsafeContinuation<Outcome, Never>?
    /// How often it has been sent again.
    private(set) var retryCount = 0
    /// The server was asked to cancel it.
    var isCancelRequested = false
    /// It failed, and had no effect, for a reason that is gone now.
    var isWorthAnotherTry = false
    private var results: [Rows] = []
    private(set) var failure: ServerError?

    init(_ segment: Segment, deadline: NIODeadline) {
        self.segment = segment
        self.deadline = deadline
        results.reserveCapacity(segment.count)
    }

    /// Whether nobody waits any more; what still comes is thrown away.
    var isAbandoned: Bool { continuation == nil }

    func wait(_ continuation: UnsafeContinuation<Outcome, Never>) {
        self.continuation = continuation
    }

    /// Resumes the caller, if it has not been already.
    func resume(_ outcome: Outcome) {
        guard let waiting = continuation else { return }
        continuation = nil
        waiting.resume(returning: outcome)
    }

    /// Resumes the caller with the failure when the deadline has passed.
    ///
    /// - Returns: whether nobody waits any more.
    func expire(at now: NIODeadline, with failure: PostgresError) -> Bool {
        if now >= deadline { resume(.failure(failure)) }
        return isAbandoned
    }

    func receive(_ rows: Rows) {
        results.append(rows)
    }

    /// The first failure is the one to tell.
    func fail(_ error: ServerError) {
        failure = failure ?? error
    }

    /// Forgets what one attempt brought.
    func prepareToRetry() {
        retryCount += 1
        isWorthAnotherTry = false
        results.removeAll(keepingCapacity: true)
        failure = nil
    }

    /// The server has answered all of it.
    func finish() {
        if let failure {
            resume(.failure(.server(failure)))
        } else {
            resume(.success(results))
        }
    }
}
