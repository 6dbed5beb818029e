import BookplateClient
import Foundation
import TestBasics
import TestSupport
import Testing

@testable import ClientSimulation

/// The Swift client with a real server.
@Suite(
    .enabled(
        if: ProcessInfo.processInfo.environment["BOOKPLATE_TEST_CLIENT_REQUESTS"] != nil,
        "On Linux, URLSession ends the process if a request is cancelled just as it completes."))
struct ClientJourneyTests {
    static let server = Shared {
        let installation = try await Installation.ready()
        let outcome = try await installation.admin("tenant", "update", "reader", "--guests", "on")
        guard outcome.code == 0 else { throw Program.Failure(description: outcome.errors) }
        return try await installation.startServer(["BOOKPLATE_ENV": "development"])
    }

    /// A device without a library.
    private static func device() async throws -> Device {
        let port = try await server().client.port
        let address = try #require(URL(string: "http://127.0.0.1:\(port)"))
        let folder = URL(fileURLWithPath: try Program.makeFolder())
        let bookplate = try BookplateClient.Bookplate(
            server: address, app: "com.example.reader", folder: folder,
            sessionStore: FileSessionStore(folder: folder),
            environment: ClientEnvironment(transport: PortTransport(port: Int(port))))
        return Device(bookplate: bookplate, server: address, folder: folder)
    }

    /// Signs a reader in, and returns the address of the server and an access token.
    static func reader(_ subject: String) async throws -> (URL, String) {
        let device = try await device()
        _ = try await device.signIn(subject)
        let session = try FileSessionStore(folder: device.folder).load()
        return (device.server, try #require(session?.tokens?.accessToken))
    }

    /// The library of a new device.
    static func library(_ subject: String) async throws -> Library {
        try await device().signIn(subject)
    }

    private struct Device {
        let bookplate: BookplateClient.Bookplate
        let server: URL
        let folder: URL

        /// Signs in with an identity token of the development server.
        func signIn(_ subject: String) async throws -> Library {
            struct Response: Decodable { let identityToken: String }
            let body = #"{"subject":"\#(subject)","audience":"com.example.reader"}"#
            let response = try await URLSessionTransport().send(
                HTTPRequest(
                    method: "POST",
                    url: server.appendingPathComponent("development/identity-token"),
                    headers: ["Content-Type": "application/json"], body: Data(body.utf8)))
            let token = try JSONDecoder().decode(Response.self, from: response.body).identityToken
            return try await bookplate.signIn(apple: AppleCredential(identityToken: token))
        }
    }

    /// A device shows at once what the server has after the change was sent.
    @Test(arguments: [1, 2, 3] as [UInt64])
    func effectsAreThoseOfTheServer(_ seed: UInt64) async throws {
        let library = try await Self.device().signIn("effects-\(seed)")
        let feed = FeedPrefetch(cards: 10)
        try await library.sync(feed: feed)
        var numbers = SeededGenerator(seed)
        for _ in 0..<60 {
            let number = numbers.next()
            do { try Edit(number: number).apply(to: library) } catch is BookplateError { continue }
            let shown = try await library.snapshot().withoutServerFacts
            try await library.sync(feed: feed)
            guard try await library.takeProblems().isEmpty else { continue }
            let served = try await library.snapshot().withoutServerFacts
            #expect(Set(shown).symmetricDifference(served).sorted() == [], "edit \(number)")
        }
    }

    @Test func changesOfADeviceReachTheOthers() async throws {
        let (first, second) = (
            try await Self.device().signIn("two devices"),
            try await Self.device().signIn("two devices")
        )
        try await first.sync()
        try await second.sync()
        let shelf = try first.shelves.create("Evenings")
        let book = try first.books.add(.init(title: "Solaris", shelves: [shelf], status: .reading))
        async let received: Void = second.run { db in
            try LibrarySnapshot(db).books.contains { $0.title == "Solaris" }
        }
        try await first.sync()
        try await received
        try second.books.finish(book, stars: 5)
        try await second.sync()
        try await first.run { db in
            try LibrarySnapshot(db).books.contains { $0.review?.stars == 5 }
        }
        #expect(try await first.snapshot() == second.snapshot())
    }

    @Test func libraryOfAGuestMovesIntoTheAccount() async throws {
        let account = try await Self.device().signIn("had an account")
        try account.books.add(.init(title: "Emma"))
        try await account.sync()

        let device = try await Self.device()
        let guest = try await device.bookplate.signInAsGuest()
        try guest.books.add(.init(title: "Sent as a guest"))
        try await guest.sync()
        try guest.books.add(.init(title: "Queued as a guest"))
        let merged = try await device.signIn("had an account")
        #expect(merged.userID == account.userID)
        try await merged.sync()
        let titles = try await merged.snapshot().books.map(\.title)
        #expect(Set(titles) == ["Emma", "Sent as a guest", "Queued as a guest"])
        #expect(try await device.bookplate.library?.userID == account.userID)
    }

    @Test func guestBecomesAnAccountWithTheSameLibrary() async throws {
        let device = try await Self.device()
        let guest = try await device.bookplate.signInAsGuest()
        try guest.books.add(.init(title: "Solaris"))
        let account = try await device.signIn("was a guest")
        #expect(account.userID == guest.userID)
        try await account.sync()
        #expect(try await account.snapshot().books.map(\.title) == ["Solaris"])
    }

    @Test func ownQueriesAndSubscriptionsAreTyped() async throws {
        let library = try await Self.device().signIn("asks")
        struct Search: Decodable, Sendable {
            struct Result: Decodable, Sendable { let nodes: [Node] }
            struct Node: Decodable, Sendable { let title: String }
            let search: Result
        }
        let found: Search = try await library.query(
            "query ($text: String!) { search(query: $text) { nodes { title } } }",
            variables: ["text": "card"])
        #expect(!found.search.nodes.isEmpty)
        await #expect(throws: ServerError.self) {
            let _: Search = try await library.query("{ search(query: 1) { nodes { title } } }")
        }
        struct Changed: Decodable, Sendable {
            struct Change: Decodable, Sendable { let typename: String }
            let changes: Change
        }
        try library.shelves.create("Evenings")
        try await library.sync()
        let cursor = try await library.cursor()
        let events = library.subscribe(
            "subscription ($after: String) { changes(after: $after) { typename } }",
            variables: ["after": JSON(cursor)], as: Changed.self)
        try library.shelves.create("Mornings")
        try await library.sync()
        for try await event in events {
            #expect(event.changes.typename == "Shelf")
            break
        }
    }

    @Test func signingOutKeepsTheLibraryForTheSameReader() async throws {
        let device = try await Self.device()
        let library = try await device.signIn("comes back")
        try library.books.add(.init(title: "Solaris"))
        try await device.bookplate.signOut()
        #expect(try await device.bookplate.library == nil)
        await #expect(throws: BookplateError.signInNeeded) { try await library.run() }
        let other = try await device.signIn("somebody else")
        try await other.sync()
        #expect(try await other.snapshot().books == [])
        let again = try await device.signIn("comes back")
        try await again.sync()
        #expect(try await again.snapshot().books.map(\.title) == ["Solaris"])
    }

    @Test func deletedAccountLeavesNothingOnTheDevice() async throws {
        let device = try await Self.device()
        let library = try await device.signIn("leaves")
        try library.books.add(.init(title: "Solaris"))
        try await library.sync()
        try await device.bookplate.deleteAccount()
        let left = try FileManager.default.subpathsOfDirectory(atPath: device.folder.path)
        #expect(left.filter { $0.hasSuffix("sqlite") || $0.hasSuffix("json") } == [])
    }
}

/// Sends requests to the port of the server. The addresses of images have the port of the settings, which is 0.
private struct PortTransport: Transport {
    private let transport = URLSessionTransport()
    private let port: Int

    init(port: Int) { self.port = port }

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        try await transport.send(withPort(request))
    }

    func stream(_ request: HTTPRequest) -> AsyncThrowingStream<Data, any Error> {
        transport.stream(withPort(request))
    }

    private func withPort(_ request: HTTPRequest) -> HTTPRequest {
        var request = request
        guard var parts = URLComponents(url: request.url, resolvingAgainstBaseURL: true),
            parts.port == 0
        else { return request }
        parts.host = "127.0.0.1"
        parts.port = port
        if let url = parts.url { request.url = url }
        return request
    }
}
