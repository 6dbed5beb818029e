import Foundation
import GRDB

/// A request that `SyncEngine` wants to send.
struct SyncRequest: Sendable {
    enum Purpose: Hashable, Sendable {
        case write(Int64, Operation)
        case pull
    }

    let purpose: Purpose
    let document: String
    let variables: JSON
}

/// The outcome of a request.
enum SyncOutcome: Sendable {
    case response(HTTPResponse)
    /// There is no response. The server may have done it.
    case unreachable
}

/// Decides what is sent to the server, and applies the responses. It does not send, wait, or start tasks, so a test can drive it
/// through every order of events.
///
/// Invariants:
/// - A write is sent again until it has been answered. The server makes the repetition harmless.
/// - The change log is read only while no write is in flight. A page therefore never shows a state before a write that was answered.
/// - A write stays in the queue, and its effect in the library, until the log has been read to its end after the answer.
///
/// Everything that must survive the end of the process is in the database. A new engine on the same database continues.
final class SyncEngine {
    private let writer: any DatabaseWriter
    private let environment: ClientEnvironment
    private var inFlight: Set<Int64> = []
    private var isPulling = false
    /// Whether the log may have more than the local library.
    private var needsPull = true
    /// The delay of everything after the server could not be reached, and of single writes after unknown errors.
    private var delay = Delay()
    private var pullDelay = Delay()
    private var writeDelays: [Int64: Delay] = [:]
    /// Whether the server has refused the access token. Nothing is sent until `resume`.
    private(set) var needsToken = false

    /// The maximum number of writes in flight.
    static let parallelWrites = 4

    init(_ writer: any DatabaseWriter, _ environment: ClientEnvironment) {
        self.writer = writer
        self.environment = environment
    }

    /// Returns the requests to send now. Call `received` for each of them.
    func next() throws -> [SyncRequest] {
        let now = environment.now()
        guard !needsToken, !isPulling, !delay.isActive(now) else { return [] }
        let waiting = Set(writeDelays.filter { $0.value.isActive(now) }.keys)
        let writes = try writer.read { db in
            try WriteQueue(db: db).sendable(
                limit: Self.parallelWrites - inFlight.count, inFlight: inFlight, waiting: waiting)
        }
        inFlight.formUnion(writes.compactMap(\.seq))
        if !writes.isEmpty {
            return writes.map {
                SyncRequest(
                    purpose: .write($0.seq ?? 0, $0.operation), document: $0.operation.document,
                    variables: $0.variables)
            }
        }
        guard needsPull, inFlight.isEmpty, !pullDelay.isActive(now) else { return [] }
        isPulling = true
        needsPull = false
        return [try writer.read { try Pull(db: $0).request() }]
    }

    /// The time at which `next` may return more, if nothing else happens. Nil if it is not known.
    var wakesAt: Date? {
        let now = environment.now()
        return ([delay, pullDelay] + writeDelays.values).filter { $0.isActive(now) }
            .compactMap(\.until).min()
    }

    /// The server could not be reached before a request was sent.
    func networkFailed(retryAfter: Double? = nil) {
        delay.extend(environment, atLeast: retryAfter)
    }

    /// Something has changed on the server.
    func pullSoon() { needsPull = true }

    /// The network is back: there is no reason to wait.
    func retryNow() {
        delay = Delay()
        pullDelay = Delay()
    }

    /// There is a new access token.
    func resume() { needsToken = false }

    /// Applies the outcome of a request.
    func received(_ outcome: SyncOutcome, for request: SyncRequest) throws {
        switch request.purpose {
        case .pull:
            isPulling = false
            try receivedPage(outcome)
        case .write(let seq, let operation):
            inFlight.remove(seq)
            try receivedAnswer(WriteAnswer(outcome, to: operation), seq)
        }
    }

    // MARK: Pages

    private func receivedPage(_ outcome: SyncOutcome) throws {
        do {
            guard case .response(let response) = outcome else {
                throw BookplateError.unreachable("")
            }
            let isComplete = try writer.write { try Pull(db: $0).apply(response) }
            if !isComplete { needsPull = true }
            delay = Delay()
            pullDelay = Delay()
        } catch let error as DatabaseError {
            throw error
        } catch let error as ServerError where error.code == .badUserInput {
            // The cursor is not one of this server, for example after it was restored from a backup.
            needsPull = true
            pullDelay.extend(environment)
            try writer.write { db in
                var position = try SyncPosition.load(db)
                (position.cursor, position.reset, position.missedReads) = (nil, nil, [])
                try position.upsert(db)
            }
        } catch {
            needsPull = true
            switch (error as? ServerError)?.code {
            case .unauthenticated?: needsToken = true
            case .rateLimited?, .serviceUnavailable?:
                delay.extend(environment, atLeast: (error as? ServerError)?.retryAfter)
            // The server responds, but this client does not understand it. Writes are still sent.
            case nil where error as? BookplateError == .invalidResponse(status: 200):
                pullDelay.extend(environment)
            case nil: delay.extend(environment)
            default: pullDelay.extend(environment)
            }
        }
    }

    // MARK: Answers

    private func receivedAnswer(_ answer: WriteAnswer, _ seq: Int64) throws {
        switch answer {
        case .done:
            delay = Delay()
            writeDelays[seq] = nil
            try writer.write { try WriteQueue(db: $0).markAnswered(seq) }
            needsPull = true
        case .refused(let error):
            delay = Delay()
            writeDelays[seq] = nil
            let time = environment.timestamp
            try writer.write { db in
                try LibraryState(db: db).receive { _ in
                    try WriteQueue(db: db).refuse(seq, error, at: time)
                }
            }
            // The refusal may be news about the library.
            needsPull = true
        case .unauthenticated: needsToken = true
        case .allWait(let retryAfter): delay.extend(environment, atLeast: retryAfter)
        case .waits(let error):
            writeDelays[seq, default: Delay()].extend(environment, atLeast: error.retryAfter)
            let time = environment.timestamp
            try writer.write { db in
                guard let write = try Write.fetchOne(db, key: seq) else { return }
                try WriteQueue(db: db).reportWaiting(write, error, at: time)
            }
        }
    }
}

/// The meaning of the response to a write.
enum WriteAnswer {
    case done
    /// The write can never succeed.
    case refused(ServerError)
    case unauthenticated
    /// The server cannot be reached, is overloaded, or limits the reader: nothing is sent for a while.
    case allWait(retryAfter: Double?)
    /// Only this write is sent again later.
    case waits(ServerError)

    /// A write is done only if the response has the result of its mutation. Other programs, such as the sign-in page of a hotel's
    /// network, also respond with status 200.
    init(_ outcome: SyncOutcome, to operation: Operation) {
        guard case .response(let response) = outcome else {
            self = .allWait(retryAfter: nil)
            return
        }
        guard let error = GraphQLClient.errors(of: response)?.first ?? Self.entryError(response)
        else {
            self =
                Self.hasResult(response, of: operation)
                ? .done : .allWait(retryAfter: response.retryAfter)
            return
        }
        switch error.code {
        case .badUserInput, .notFound, .conflict, .quotaExceeded, .forbidden:
            self = .refused(error)
        case .unauthenticated: self = .unauthenticated
        case .rateLimited, .serviceUnavailable:
            self = .allWait(retryAfter: error.retryAfter ?? response.retryAfter)
        default: self = .waits(error)
        }
    }

    private static func hasResult(_ response: HTTPResponse, of operation: Operation) -> Bool {
        let body = try? JSONDecoder().decode(JSON.self, from: response.body)
        guard let result = body?["data"]?[operation.rawValue] else { return false }
        return operation == .logProgress ? result.array.count == 1 : result != .null
    }

    /// The error of an entry of a batch, which is data of the response.
    private static func entryError(_ response: HTTPResponse) -> ServerError? {
        struct Entry: Decodable { let error: ServerError? }
        struct Batch: Decodable { let logProgress: [Entry]? }
        let batch = try? JSONDecoder().decode(GraphQLResponse<Batch>.self, from: response.body)
        return batch?.data?.logProgress?.first?.error
    }
}

/// A delay that doubles with each failure, up to five minutes or another limit.
struct Delay {
    private(set) var until: Date?
    /// The number of seconds from the last failure to `until`.
    private var length = 0.0
    private var failures = 0

    /// A delay also ends when the clock is set back before its beginning.
    func isActive(_ now: Date) -> Bool {
        guard let seconds = until?.timeIntervalSince(now) else { return false }
        return seconds > 0 && seconds <= length
    }

    /// Waits at least half of 1, 2, 4, … seconds, at random, so that devices do not come back all at once.
    ///
    /// Failures of several requests at the same time count once.
    mutating func extend(
        _ environment: ClientEnvironment, atLeast seconds: Double? = nil,
        longest limit: Double = 300
    ) {
        let now = environment.now()
        if let until, isActive(now) {
            length = max(until.timeIntervalSince(now), seconds ?? 0)
        } else {
            let longest = min(pow(2, Double(failures)), limit)
            let share = 0.5 + Double(environment.random() >> 11) / Double(1 << 54)
            length = max(longest * share, seconds ?? 0)
            failures += 1
        }
        let end = now.addingTimeInterval(length)
        until = end
        // The sum may be rounded.
        length = end.timeIntervalSince(now)
    }
}
