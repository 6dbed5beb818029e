import Foundation
import Testing

@testable import BookplateClient
@testable import ClientSimulation

@Suite struct SessionTests {
    private let clock = SimulatedClock(seed: 1)

    private func tokens(_ number: Int, expiresIn seconds: Double) -> StoredSession.Tokens {
        StoredSession.Tokens(
            accessToken: "access-\(number)",
            accessTokenExpiresAt: Timestamp(clock.now.addingTimeInterval(seconds)),
            refreshToken: "refresh-\(number)")
    }

    private func state(_ tokens: StoredSession.Tokens?) throws -> SessionState {
        try SessionState(
            MemorySessionStore(StoredSession(userID: "reader", isGuest: false, tokens: tokens)))
    }

    @Test(arguments: [(900.0, false), (61, false), (60, true), (-5, true)])
    func tokensAreRefreshedAMinuteBeforeTheyExpire(_ seconds: Double, _ refreshes: Bool) throws {
        var state = try state(tokens(1, expiresIn: seconds))
        let step = try state.step(now: clock.now)
        #expect(
            step
                == (refreshes ? .refresh(refreshToken: "refresh-1") : .use(accessToken: "access-1"))
        )
    }

    @Test func refusedTokenIsRefreshed() throws {
        var state = try state(tokens(1, expiresIn: 900))
        #expect(
            try state.step(now: clock.now, rejected: "access-1")
                == .refresh(refreshToken: "refresh-1"))
    }

    @Test func endedSessionNeedsASignInAndKeepsTheReader() throws {
        var state = try state(tokens(1, expiresIn: 900))
        try state.ended()
        #expect(try state.step(now: clock.now) == .signIn)
        #expect(state.session?.userID == "reader")
    }

    /// `@unchecked`: the test has one task.
    private final class LockedStore: SessionStore, @unchecked Sendable {
        var saved: StoredSession?
        var isLocked = false
        init(_ session: StoredSession) { saved = session }
        func load() throws -> StoredSession? { saved }
        func save(_ session: StoredSession?) throws {
            if isLocked { throw BookplateError.keychain(status: -25308) }
            saved = session
        }
    }

    /// The server has replaced the refresh token, so the new one must not be lost.
    @Test func tokensThatCouldNotBeStoredAreStoredLater() throws {
        let store = LockedStore(
            StoredSession(userID: "reader", isGuest: false, tokens: tokens(1, expiresIn: 0)))
        var state = try SessionState(store)
        store.isLocked = true
        #expect(throws: BookplateError.self) {
            try state.refreshed(tokens(2, expiresIn: 900), now: clock.now)
        }
        store.isLocked = false
        #expect(try state.step(now: clock.now) == .use(accessToken: "access-2"))
        #expect(store.saved?.tokens?.refreshToken == "refresh-2")
    }

    @Test func fileStoreKeepsTheSessionFromOtherUsers() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = FileSessionStore(folder: folder)
        #expect(try store.load() == nil)
        let session = StoredSession(
            userID: "reader", isGuest: true, tokens: tokens(1, expiresIn: 900))
        try store.save(session)
        #expect(try store.load() == session)
        let file = folder.appendingPathComponent("session.json").path
        let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        try store.save(nil)
        #expect(try store.load() == nil)
    }

    // MARK: Refreshing

    private func authenticator(_ transport: ScriptedTransport) throws -> Authenticator {
        let store = MemorySessionStore(
            StoredSession(userID: "reader", isGuest: false, tokens: tokens(1, expiresIn: 0)))
        let clock = clock
        let environment = ClientEnvironment(
            transport: transport, now: { clock.now }, sleep: { _ in })
        let client = GraphQLClient(
            server: URL(fileURLWithPath: "/"), app: "test", transport: transport)
        return try Authenticator(store, client, environment)
    }

    @Test func parallelRequestsRefreshOnce() async throws {
        let new = tokens(2, expiresIn: 900)
        let transport = ScriptedTransport { _ in
            let tokens = try JSON.text(new)
            return HTTPResponse(
                status: 200, body: Data(#"{"data":{"refreshSession":\#(tokens)}}"#.utf8))
        }
        let authenticator = try authenticator(transport)
        let used = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<10 { group.addTask { try await authenticator.accessToken(of: "reader") } }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(used == ["access-2"])
        #expect(transport.count == 1)
    }

    /// The server responds to the old refresh token for a minute.
    @Test(arguments: [nil, HTTPResponse(status: 502, body: Data("<html>Bad Gateway".utf8))])
    func refreshWithoutAResponseIsRepeatedAtOnce(_ response: HTTPResponse?) async throws {
        let transport = ScriptedTransport { request in
            #expect(request.timeout == 10)
            guard let response else { throw URLError(.timedOut) }
            return response
        }
        let authenticator = try authenticator(transport)
        await #expect(throws: BookplateError.self) {
            try await authenticator.accessToken(of: "reader")
        }
        #expect(transport.count == 4)
    }

    @Test func tokenIsUsedUntilItIsRefusedIfTheClockIsAhead() async throws {
        let count = Counter()
        let clock = clock
        let transport = ScriptedTransport { _ in
            let number = count.next()
            let tokens = StoredSession.Tokens(
                accessToken: "access-\(number)",
                accessTokenExpiresAt: Timestamp(clock.now.addingTimeInterval(-60)),
                refreshToken: "refresh-\(number)")
            return HTTPResponse(
                status: 200,
                body: Data(#"{"data":{"refreshSession":\#(try JSON.text(tokens))}}"#.utf8))
        }
        let authenticator = try authenticator(transport)
        for _ in 0..<3 { #expect(try await authenticator.accessToken(of: "reader") == "access-1") }
        let next = try await authenticator.accessToken(of: "reader", rejected: "access-1")
        #expect(next == "access-2")
        #expect(transport.count == 2)
    }

    @Test func networkErrorDoesNotEndTheSession() async throws {
        let transport = ScriptedTransport { _ in throw URLError(.timedOut) }
        let authenticator = try authenticator(transport)
        await #expect(throws: BookplateError.self) {
            try await authenticator.accessToken(of: "reader")
        }
        #expect(await authenticator.session?.tokens?.refreshToken == "refresh-1")
    }

    @Test func refusedRefreshEndsTheSession() async throws {
        let transport = ScriptedTransport { _ in
            ModelServer.response(ServerError("Sign in", code: .unauthenticated))
        }
        let authenticator = try authenticator(transport)
        await #expect(throws: BookplateError.signInNeeded) {
            try await authenticator.accessToken(of: "reader")
        }
        #expect(await authenticator.session?.tokens == nil)
    }

    @Test func tokensOfAnotherReaderAreNotUsed() async throws {
        let authenticator = try authenticator(ScriptedTransport { _ in throw URLError(.timedOut) })
        await #expect(throws: BookplateError.signInNeeded) {
            try await authenticator.accessToken(of: "another")
        }
    }
}

/// `@unchecked`: the lock protects the value.
final class Counter: @unchecked Sendable {
    private let lock = NSLock()
    private var value = 0

    func next() -> Int {
        lock.withLock {
            value += 1
            return value
        }
    }
}

/// A network that responds as a test says.
///
/// `@unchecked`: the lock protects the count.
final class ScriptedTransport: Transport, @unchecked Sendable {
    private let respond: @Sendable (HTTPRequest) async throws -> HTTPResponse
    private let lock = NSLock()
    private var requests = 0

    init(_ respond: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse) {
        self.respond = respond
    }

    var count: Int { lock.withLock { requests } }

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        lock.withLock { requests += 1 }
        return try await respond(request)
    }

    func stream(_ request: HTTPRequest) -> AsyncThrowingStream<Data, any Error> {
        AsyncThrowingStream { $0.finish(throwing: URLError(.notConnectedToInternet)) }
    }
}
