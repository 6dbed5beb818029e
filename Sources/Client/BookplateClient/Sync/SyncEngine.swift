import Foundation
import GRDB

/// A request that `SyncEngine` wants to send.
struct SyncRequest: Sendable {
    enum Purpose: Hashable, Sendable {
        case write(Int64, Operation)
        case pull
        case feed
    }

    let purpose: Purpose
    let document: String
    let variables: JSON
    /// The file in the folder of uploads that is sent with the request.
    var upload: String?
}

/// The outcome of a request.
enum SyncOutcome: Sendable {
    case response(HTTPResponse)
    /// There is no response. The server may have done it.
    case unreachable
    /// The request could not be sent, and never can be.
    case impossible(ServerError)
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
    /// How many cards of the feed are kept. Nil if the app does not use it.
    private let feed: FeedPrefetch?
    private var isFetchingFeed = false
    /// Whether the log may have more than the local library.
    private var needsPull = true
    /// The delay of everything after the server could not be reached, and of single writes after unknown errors.
    private var delay = Delay()
    private var pullDelay = Delay()
    private var feedDelay = Delay()
    private var writeDelays: [Int64: Delay] = [:]
    /// Whether the server has refused the access token. Nothing is sent until `resume`.
    private(set) var needsToken = false

    /// The maximum number of writes in flight.
    static let parallelWrites = 4

    init(
        _ writer: any DatabaseWriter, _ environment: ClientEnvironment, feed: FeedPrefetch? = nil
    ) {
        self.feed = feed
        self.writer = writer
        self.environment = environment
    }

    /// Returns the requests to send now. Call `received` for each of them.
    func next() throws -> [SyncRequest] {
        let now = environment.now()
        guard !needsToken, !delay.isActive(now) else { return [] }
        return try nextOfLibrary(now) + nextOfFeed(now)
    }

    private func nextOfFeed(_ now: Date) throws -> [SyncRequest] {
        guard let feed, !isFetchingFeed, !feedDelay.isActive(now) else { return [] }
        let variables: JSON? = try writer.read { db in
            let deck = Deck(db: db)
            guard try deck.isDue(feed, now: Timestamp(now)) else { return .none }
            return try deck.request(feed, now: Timestamp(now))
        }
        guard let variables else { return [] }
        isFetchingFeed = true
        return [
            SyncRequest(purpose: .feed, document: SyncDocuments.feed, variables: variables)
        ]
    }

    private func nextOfLibrary(_ now: Date) throws -> [SyncRequest] {
        guard !isPulling else { return [] }
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
                    variables: $0.variables, upload: $0.upload)
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
        return ([delay, pullDelay, feedDelay] + writeDelays.values).filter { $0.isActive(now) }
            .compactMap(\.until).min()
    }

    /// The server could not be reached before a request was sent.
    func networkFailed(retryAfter: Double? = nil) {
        delay.extend(environment, atLeast: retryAfter)
    }

    /// The files that the queue has not sent, or whose covers have not arrived.
    func neededUploads() throws -> Set<String> {
        try writer.read { db in
            let writes = try Write.filter(Column("operation") == Operation.setCover.rawValue)
                .fetchAll(db)
            return Set(writes.compactMap(\.upload))
        }
    }

    /// Something has changed on the server.
    func pullSoon() { needsPull = true }

    /// The network is back: there is no reason to wait.
    func retryNow() {
        delay = Delay()
        pullDelay = Delay()
        feedDelay = Delay()
    }

    /// There is a new access token.
    func resume() { needsToken = false }

    /// Applies the outcome of a request.
    func received(_ outcome: SyncOutcome, for request: SyncRequest) throws {
        switch request.purpose {
        case .pull:
            isPulling = false
            try receivedPage(outcome)
        case .feed:
            isFetchingFeed = false
            try receivedCards(outcome, to: request.variables)
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
            wait(\.pullDelay, after: error)
        }
    }

    private func receivedCards(_ outcome: SyncOutcome, to variables: JSON) throws {
        struct Response: Decodable { let feed: Page<FeedCard>? }
        guard let feed else { return }
        let now = environment.timestamp
        do {
            guard case .response(let response) = outcome else {
                throw BookplateError.unreachable("")
            }
            let decoded: Response = try GraphQLClient.data(of: response)
            guard let page = decoded.feed else {
                throw BookplateError.invalidResponse(status: response.status)
            }
            try writer.write {
                try Deck(db: $0).store(page, to: variables, feed, now: now)
            }
            delay = Delay()
            feedDelay = Delay()
        } catch let error as DatabaseError {
            throw error
        } catch let error as ServerError where error.code == .badUserInput {
            // The cursor is not one of this server.
            feedDelay.extend(environment)
            try writer.write { try Deck(db: $0).forgetCursor() }
        } catch {
            wait(\.feedDelay, after: error)
        }
    }

    /// Waits after a query has failed.
    ///
    /// - Parameter own: the delay of this kind of query.
    private func wait(_ own: ReferenceWritableKeyPath<SyncEngine, Delay>, after error: any Error) {
        switch (error as? ServerError)?.code {
        case .unauthenticated?: needsToken = true
        case .rateLimited?, .serviceUnavailable?:
            delay.extend(environment, atLeast: (error as? ServerError)?.retryAfter)
        // The server responds, but this client does not understand it. Writes are still sent.
        case nil where error as? BookplateError == .invalidResponse(status: 200):
            self[keyPath: own].extend(environment)
        case nil: delay.extend(environment)
        default: self[keyPath: own].extend(environment)
        }
    }

    // MARK: Answers

    private func receivedAnswer(_ answer: WriteAnswer, _ seq: Int64) throws {
        switch answer {
        case .done(let savedBook):
            delay = Delay()
            writeDelays[seq] = nil
            try writer.write { db in
                try WriteQueue(db: db).markAnswered(seq)
                guard let savedBook, try WriteQueue(db: db).hasOtherBook(seq, savedBook) else {
                    return
                }
                try LibraryState(db: db).receive { _ in
                    try WriteQueue(db: db).saved(savedBook, for: seq)
                }
            }
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
            // The sources of books are down. That is not a problem of the reader.
            guard error.code != .upstreamUnavailable else { return }
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
    /// - Parameter savedBook: the book in the library of a card that was liked or bought.
    case done(savedBook: String?)
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
        let response: HTTPResponse
        switch outcome {
        case .response(let received): response = received
        case .unreachable:
            self = .allWait(retryAfter: nil)
            return
        case .impossible(let error):
            self = .refused(error)
            return
        }
        guard let error = GraphQLClient.errors(of: response)?.first ?? Self.entryError(response)
        else {
            let result = Self.result(response, of: operation)
            self =
                result.map { .done(savedBook: $0["saved"]?.array.first?["id"]?.string) }
                ?? .allWait(retryAfter: response.retryAfter)
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

    private static func result(_ response: HTTPResponse, of operation: Operation) -> JSON? {
        let body = try? JSONDecoder().decode(JSON.self, from: response.body)
        guard let result = body?["data"]?[operation.rawValue],
            operation == .logProgress ? result.array.count == 1 : result != .null
        else { return .none }
        return result
    }

    /// The error of an entry of a batch, which is data of the response.
    private static func entryError(_ response: HTTPResponse) -> ServerError? {
        struct Entry: Decodable { let error: ServerError? }
        struct Swipes: Decodable { let unknownCardIds: [String] }
        struct Batch: Decodable {
            let logProgress: [Entry]?
            let recordSwipes: Swipes?
        }
        let batch = try? JSONDecoder().decode(GraphQLResponse<Batch>.self, from: response.body)
        if let unknown = batch?.data?.recordSwipes?.unknownCardIds.first {
            return ServerError(
                "The catalog no longer has the card \(unknown).", code: .notFound, field: "cardId")
        }
        return batch?.data?.logProgress?.first?.error
    }
}

/// A delay that doubles with each failure, up to five minutes or another limit.
struct Delay {
    private(set) var until: Date?
    /// The number of seconds from the last failure to `until`.
    private var length = 0.0
    private(set) var failures = 0

    /// Waits after a failure.
    mutating func wait(
        _ environment: ClientEnvironment, longest limit: Double = 300
    ) async throws {
        extend(environment, longest: limit)
        try await environment.sleep(.seconds(length))
    }

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
