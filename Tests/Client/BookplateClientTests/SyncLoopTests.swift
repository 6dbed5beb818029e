import Foundation
import GRDB
import Testing

@testable import BookplateClient
@testable import ClientSimulation

/// `Library.run` with the model of the server in the same process.
@Suite struct SyncLoopTests {
    private let server: ModelNetwork
    private let bookplate: Bookplate
    private let library: Library
    private let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("bookplate-client-\(UUID())")

    init() async throws {
        server = ModelNetwork()
        let clock = SleepingClock()
        bookplate = try Bookplate(
            server: URL(fileURLWithPath: "/"), app: "test", folder: folder,
            sessionStore: MemorySessionStore(server.session),
            environment: ClientEnvironment(
                transport: ScriptedTransport(server.respond), now: { clock.now },
                sleep: { try await clock.sleep($0) }))
        library = try #require(try await bookplate.library)
    }

    private func remove() throws { try FileManager.default.removeItem(at: folder) }

    @Test func runSendsAndFetches() async throws {
        defer { try? remove() }
        let shelf = try library.shelves.create("Evenings")
        for number in 0..<20 {
            try library.books.add(.init(title: "Book \(number)", shelves: [shelf]))
        }
        try await library.sync()
        #expect(try await library.snapshot() == server.snapshot)
        #expect(try server.snapshot.books.count == 20)
    }

    @Test func lostResponsesAreRepeated() async throws {
        defer { try? remove() }
        server.change { $0.lostResponses = 7 }
        for number in 0..<5 { try library.books.add(.init(title: "Book \(number)")) }
        try await library.sync()
        #expect(try await library.snapshot() == server.snapshot)
        #expect(try server.snapshot.books.count == 5)
    }

    @Test func refusedTokenIsRefreshedWithoutASignIn() async throws {
        defer { try? remove() }
        server.change { $0.acceptedToken = "another token" }
        try library.books.add(.init(title: "Emma"))
        try await library.sync()
        #expect(try server.snapshot.books.map(\.title) == ["Emma"])
    }

    @Test func endedSessionStopsTheLoopAndKeepsTheQueue() async throws {
        defer { try? remove() }
        server.change {
            $0.acceptedToken = "another token"
            $0.refreshes = false
        }
        try library.books.add(.init(title: "Emma"))
        await #expect(throws: BookplateError.signInNeeded) { try await library.run() }
        #expect(try library.queuedWrites().count == 1)
        #expect(await bookplate.isSignedIn == false)
        #expect(try await library.snapshot().books.map(\.title) == ["Emma"])
    }

    /// A proxy responds for a while.
    @Test func invalidResponseToARefreshDoesNotEndTheLoop() async throws {
        defer { try? remove() }
        server.change {
            $0.acceptedToken = "another token"
            $0.badGateways = 6
        }
        try library.books.add(.init(title: "Emma"))
        try await library.sync()
        #expect(try server.snapshot.books.map(\.title) == ["Emma"])
    }

    @Test func signOutWithARefusedTokenRefreshesIt() async throws {
        defer { try? remove() }
        server.change { $0.acceptedToken = "another token" }
        try await bookplate.signOut()
        #expect(server.accountRequests == ["signOut"])
        #expect(await bookplate.isSignedIn == false)
    }

    @Test(arguments: [0, 1])
    func deletedAccountLeavesNothing(_ lostResponses: Int) async throws {
        defer { try? remove() }
        server.change { $0.lostResponses = lostResponses }
        try library.books.add(.init(title: "Emma"))
        try await bookplate.deleteAccount()
        #expect(server.accountRequests == ["deleteAccount"])
        #expect(try await bookplate.library == nil)
        let left = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
        #expect(left.filter { $0.hasSuffix("sqlite") } == [])
    }

    /// The account exists, so its changes must stay.
    @Test func endedSessionDoesNotCountAsADeletedAccount() async throws {
        defer { try? remove() }
        server.change {
            $0.acceptedToken = "another token"
            $0.refreshes = false
        }
        try library.books.add(.init(title: "Emma"))
        await #expect(throws: BookplateError.signInNeeded) { try await bookplate.deleteAccount() }
        #expect(try library.queuedWrites().count == 1)
    }

    /// The app was killed after the server had moved the library of the guest, and before the session of the account was stored.
    @Test func queueOfAGuestMovesAlsoIfItsSessionHasEnded() async throws {
        defer { try? remove() }
        let store = MemorySessionStore(
            StoredSession(
                userID: "guest", isGuest: true, tokens: server.session.tokens))
        let clock = SleepingClock()
        let bookplate = try Bookplate(
            server: URL(fileURLWithPath: "/"), app: "test", folder: folder, sessionStore: store,
            environment: ClientEnvironment(
                transport: ScriptedTransport(server.respond), now: { clock.now },
                sleep: { try await clock.sleep($0) }))
        let guest = try #require(try await bookplate.library)
        try guest.books.add(.init(title: "Emma"))
        server.change {
            $0.acceptedToken = "another token"
            $0.refreshes = false
        }
        await #expect(throws: BookplateError.signInNeeded) { try await guest.run() }
        let account = try await bookplate.signIn(
            openID: OpenIDCredential(provider: "test", identityToken: "token"))
        #expect(account.userID == "reader")
        #expect(try await account.snapshot().books.map(\.title) == ["Emma"])
        #expect(try store.load()?.mergedGuestID == nil)
    }

    @Test func cancelledLoopContinuesWhereItStopped() async throws {
        defer { try? remove() }
        for number in 0..<10 { try library.books.add(.init(title: "Book \(number)")) }
        try await library.run { try Write.filter(Column("answered") == true).fetchCount($0) > 0 }
        try await library.sync()
        #expect(try await library.snapshot() == server.snapshot)
    }
}

/// A clock on which time passes only while a task sleeps.
///
/// `@unchecked`: the lock protects the time.
final class SleepingClock: @unchecked Sendable {
    private let lock = NSLock()
    private var date = Date(timeIntervalSince1970: 1_790_000_000)

    var now: Date { lock.withLock { date } }

    func sleep(_ duration: Duration) async throws {
        try await Task.sleep(for: .milliseconds(1))
        lock.withLock { date += Double(duration.components.seconds) + 1 }
    }
}

/// A network that reaches the model of the server.
///
/// `@unchecked`: the lock protects the properties.
final class ModelNetwork: @unchecked Sendable {
    struct Behavior {
        /// The number of responses that are lost, after the server has done the requests.
        var lostResponses = 0
        /// The number of refreshes that a proxy answers instead of the server.
        var badGateways = 0
        /// The access token that the server accepts.
        var acceptedToken = "access-1"
        /// Whether the server accepts the refresh token.
        var refreshes = true
    }

    private let lock = NSLock()
    private let server = ModelServer(SimulatedClock(seed: 1))
    private var behavior = Behavior()
    private var accounts: [String] = []
    private var files: [Data] = []

    /// The files that the server has received.
    var uploads: [Data] { lock.withLock { files } }

    /// The operation of a request, and the file of a multipart request.
    private static func parts(of request: HTTPRequest) -> (json: Data, file: Data?) {
        let body = request.body ?? Data()
        let type = request.headers["Content-Type"] ?? ""
        guard let boundary = type.split(separator: "=").last, type.hasPrefix("multipart/form-data"),
            request.headers["GraphQL-Preflight"] != nil
        else { return (body, nil) }
        var contents: [Data] = []
        var rest = body[...]
        while let end = rest.range(of: Data("\r\n--\(boundary)".utf8)),
            let start = rest.range(of: Data("\r\n\r\n".utf8))
        {
            contents.append(Data(rest[start.upperBound..<end.lowerBound]))
            rest = rest[end.upperBound...]
        }
        return contents.count == 3 ? (contents[0], contents[2]) : (Data(), nil)
    }

    private struct Body: Decodable {
        let query: String
        let variables: JSON
    }

    var session: StoredSession {
        StoredSession(userID: "reader", isGuest: false, tokens: tokens("access-1"))
    }

    private func tokens(_ accessToken: String) -> StoredSession.Tokens {
        StoredSession.Tokens(
            accessToken: accessToken, accessTokenExpiresAt: Timestamp(Date.distantFuture),
            refreshToken: "refresh")
    }

    var snapshot: LibrarySnapshot {
        get throws { try lock.withLock { try server.snapshot } }
    }

    /// The mutations of the session and the account that the server has done.
    var accountRequests: [String] { lock.withLock { accounts } }

    func change(_ body: (inout Behavior) -> Void) { lock.withLock { body(&behavior) } }

    @Sendable func respond(_ request: HTTPRequest) async throws -> HTTPResponse {
        let (json, file) = Self.parts(of: request)
        let body = try JSONDecoder().decode(Body.self, from: json)
        return try lock.withLock {
            if let file { files.append(file) }
            if body.query.contains("refreshSession") { return try refreshed() }
            if body.query.contains("signIn(") { return try signedIn() }
            guard request.headers["Authorization"] == "Bearer \(behavior.acceptedToken)" else {
                return ModelServer.response(ServerError("Sign in", code: .unauthenticated))
            }
            let response =
                changeAccount(body.query)
                ?? server.respond(
                    to: SyncRequest(
                        purpose: .pull, document: body.query, variables: body.variables))
            behavior.lostResponses -= 1
            if behavior.lostResponses >= 0 { throw URLError(.networkConnectionLost) }
            return response
        }
    }

    private func signedIn() throws -> HTTPResponse {
        behavior.acceptedToken = "access-2"
        let tokens = tokens("access-2")
        let session: JSON = [
            "accessToken": "access-2", "refreshToken": .string(tokens.refreshToken),
            "accessTokenExpiresAt": .string(tokens.accessTokenExpiresAt.rawValue),
            "user": ["id": "reader", "isGuest": false],
        ]
        return HTTPResponse(
            status: 200, body: Data(#"{"data":{"signIn":\#(try JSON.text(session))}}"#.utf8))
    }

    /// Ends the session, or deletes the account. Returns nil for other requests.
    private func changeAccount(_ document: String) -> HTTPResponse? {
        guard let name = ["signOut", "deleteAccount"].first(where: { document.contains("\($0)(") })
        else { return nil }
        accounts.append(name)
        behavior.acceptedToken = "none"
        behavior.refreshes = false
        return HTTPResponse(status: 200, body: Data(#"{"data":{"\#(name)":{}}}"#.utf8))
    }

    private func refreshed() throws -> HTTPResponse {
        behavior.badGateways -= 1
        if behavior.badGateways >= 0 {
            return HTTPResponse(status: 502, body: Data("<html>Bad Gateway</html>".utf8))
        }
        guard behavior.refreshes else {
            return ModelServer.response(ServerError("Sign in", code: .unauthenticated))
        }
        let text = try JSON.text(tokens(behavior.acceptedToken))
        return HTTPResponse(
            status: 200, body: Data(#"{"data":{"refreshSession":\#(text)}}"#.utf8))
    }
}
