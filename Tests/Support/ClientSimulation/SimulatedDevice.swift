import Foundation
import GRDB
import TestBasics

@testable import BookplateClient

/// The time of a simulation, and its random numbers.
///
/// `@unchecked`: a simulation has one thread.
final class SimulatedClock: @unchecked Sendable {
    var now = Date(timeIntervalSince1970: 1_790_000_000)
    private var generator: SeededGenerator

    init(seed: UInt64) { generator = SeededGenerator(seed) }

    func random() -> UInt64 { generator.next() }
}

/// The clock of a device, which may be wrong.
///
/// `@unchecked`: a simulation has one thread.
final class DeviceClock: @unchecked Sendable {
    private let clock: SimulatedClock
    var skew = 0.0
    init(_ clock: SimulatedClock) { self.clock = clock }
    var now: Date { clock.now.addingTimeInterval(skew) }
}

/// `@unchecked`: a simulation has one thread.
final class MemorySessionStore: SessionStore, @unchecked Sendable {
    private var session: StoredSession?
    init(_ session: StoredSession? = nil) { self.session = session }
    func load() throws -> StoredSession? { session }
    func save(_ session: StoredSession?) throws { self.session = session }
}

/// A transport without a network.
struct NoTransport: Transport {
    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        throw URLError(.notConnectedToInternet)
    }
    func stream(_ request: HTTPRequest) -> AsyncThrowingStream<Data, any Error> {
        AsyncThrowingStream { $0.finish(throwing: URLError(.notConnectedToInternet)) }
    }
}

/// A device of the reader: the client without its loop, which the simulation replaces.
final class SimulatedDevice {
    let number: Int
    let database: DatabaseQueue
    let library: Library
    let store: MemorySessionStore
    private let environment: ClientEnvironment
    private let feed: FeedPrefetch?
    private let ownClock: DeviceClock
    /// The number of seconds by which the clock of the device is ahead.
    var skew: Double {
        get { ownClock.skew }
        set { ownClock.skew = newValue }
    }
    private(set) var engine: SyncEngine
    private(set) var session: SessionState
    private var rejectedToken: String?
    /// The requests that were sent and have no response.
    var pending: [PendingRequest] = []
    /// The writes of the reader's changes, by their positions in the queue.
    var issued: [Int64: Write] = [:]
    /// The writes that the server has done, also those whose response was lost.
    var done: Set<Int64> = []
    /// The writes whose response said that they are done.
    var answered: Set<Int64> = []

    enum PendingRequest {
        case sync(SyncRequest, accessToken: String)
        case refresh(String)
    }

    /// - Parameter feed: how much of the feed the device keeps.
    init(
        _ number: Int, _ clock: SimulatedClock, _ tokens: StoredSession.Tokens,
        feed: FeedPrefetch? = nil
    ) throws {
        self.number = number
        self.feed = feed
        let ownClock = DeviceClock(clock)
        self.ownClock = ownClock
        environment = ClientEnvironment(
            transport: NoTransport(), now: { ownClock.now }, random: { clock.random() },
            timeZone: { .gmt })
        database = try DatabaseQueue()
        try LibraryDatabase.migrate(database)
        store = MemorySessionStore(StoredSession(userID: "reader", isGuest: false, tokens: tokens))
        let client = GraphQLClient(
            server: URL(fileURLWithPath: "/"), app: "test", transport: NoTransport())
        library = Library(
            userID: "reader", writer: database, folder: URL(fileURLWithPath: "/"),
            environment: environment, client: client,
            authenticator: try Authenticator(store, client, environment))
        engine = SyncEngine(database, environment, feed: feed)
        session = try SessionState(store)
    }

    /// The process ends and starts again. Only the database and the session store remain.
    func restart() throws {
        pending = []
        rejectedToken = nil
        engine = SyncEngine(database, environment, feed: feed)
        session = try SessionState(store)
    }

    /// Runs a change by the reader, and remembers its writes. A change that is not possible, such as one of a deleted book, is left out.
    func edit(_ body: (Library) throws -> Void) throws {
        do { try body(library) } catch is BookplateError {}
        let last = issued.keys.max() ?? 0
        let new = try database.read { db in
            let sql = "SELECT * FROM write WHERE seq > ?"
            return try Write.fetchAll(db.cachedStatement(sql: sql), arguments: [last])
        }
        for write in new { issued[write.seq ?? 0] = write }
    }

    /// Sends what can be sent.
    func send() throws {
        guard pending.isEmpty || pending.allSatisfy({ if case .sync = $0 { true } else { false } })
        else { return }
        switch try session.step(now: environment.now(), rejected: rejectedToken) {
        case .signIn: return
        case .refresh(let token):
            if pending.isEmpty { pending.append(.refresh(token)) }
        case .use(let token):
            engine.resume()
            pending += try engine.next().map { .sync($0, accessToken: token) }
        }
    }

    func received(_ outcome: SyncOutcome, for request: SyncRequest, accessToken: String) throws {
        try engine.received(outcome, for: request)
        if engine.needsToken { rejectedToken = accessToken }
    }

    /// - Parameter tokens: nil if the server refused the refresh token.
    func refreshed(_ tokens: StoredSession.Tokens?) throws {
        rejectedToken = nil
        if let tokens {
            try session.refreshed(tokens, now: environment.now())
        } else {
            try session.ended()
        }
    }

    func signIn(_ tokens: StoredSession.Tokens) throws {
        rejectedToken = nil
        try session.replace(StoredSession(userID: "reader", isGuest: false, tokens: tokens))
    }

    var needsSignIn: Bool { session.session?.tokens == nil }

    /// Whether nothing is left to do. Call this when `send` has sent nothing.
    var isQuiet: Bool {
        get throws {
            try pending.isEmpty && engine.wakesAt == nil
                && database.read { try Write.fetchCount($0) } == 0
        }
    }

    /// Dismisses all problems, and returns their number.
    func dismissProblems() throws -> Int {
        let problems = try database.read { try Problem.fetchAll($0) }
        for problem in problems { try library.dismiss(problem) }
        return problems.count
    }

    func snapshot() throws -> LibrarySnapshot { try database.read { try LibrarySnapshot($0) } }
}
