import Foundation
import GRDB
import Testing

@testable import BookplateClient
@testable import ClientSimulation

@Suite struct CoverTests {
    private let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("bookplate-covers-\(UUID())")
    private static let jpeg = Data([0xFF, 0xD8, 0xFF, 0xE0]) + Data(repeating: 7, count: 996)

    private func remove() { try? FileManager.default.removeItem(at: folder) }

    private static func address(_ name: String) throws -> URL {
        try #require(URL(string: "https://covers.test/\(name).jpg?v=1"))
    }

    private static func image(_ width: Int = 600, _ height: Int = 900) throws -> CoverImage {
        CoverImage(
            url: try address("full"), thumbnailUrl: try address("thumbnail"),
            largeUrl: try address("large"), width: width, height: height,
            dominantColor: "#808080", blurHash: "00Eyb[", kind: "HIGH_RESOLUTION")
    }

    // MARK: Placeholders

    /// The example of https://github.com/woltapp/blurhash, and the pixels of a decoder written from its description.
    @Test func placeholderIsThatOfTheHash() throws {
        let hash = try #require(BlurHash("LEHV6nWB2yk8pyo0adR*.7kCMdnj"))
        let pixels = hash.pixels(width: 4, height: 3)
        #expect(pixels.count == 48)
        #expect(stride(from: 3, to: 48, by: 4).allSatisfy { pixels[$0] == 255 })
        #expect(pixels.prefix(3) == [135, 164, 177])
        #expect(pixels.suffix(4) == [148, 140, 134, 255])
        #expect(hash.pixels(width: 0, height: 3) == [])
    }

    @Test func hashOfOneColorIsThatColor() throws {
        let pixels = try #require(try Self.image().placeholder(width: 2, height: 2))
        #expect(pixels == Array(repeating: [128, 128, 128, 255], count: 4).flatMap { $0 })
    }

    @Test(arguments: ["", "00Eyb", "00Eyb[0", "LEHV6nWB2yk8pyo0adR*.7kCMdn", "{{{{{{", "äääääää"])
    func otherTextsAreNoHashes(_ text: String) { #expect(BlurHash(text) == nil) }

    // MARK: Sizes

    @Test(
        arguments: [
            (50, 3, .thumbnail), (51, 3, .full), (200, 3, .full), (201, 3, .large),
            (150, 1, .thumbnail),
        ] as [(Double, Double, CoverSize)])
    func sizeFitsTheView(_ width: Double, _ scale: Double, _ size: CoverSize) throws {
        #expect(try Self.image().size(width: width, scale: scale) == size)
    }

    @Test func smallImagesHaveNoLargeVersion() throws {
        #expect(try Self.image(300, 450).size(width: 400, scale: 3) == .full)
        // A wide image is limited by its width, a narrow one by its height.
        #expect(try Self.image(600, 600).size(width: 50, scale: 3) == .thumbnail)
        #expect(try Self.image(300, 900).size(width: 40, scale: 2) == .full)
    }

    // MARK: Cache

    private func cache(_ transport: ScriptedTransport, limit: Int = 1 << 20) -> CoverCache {
        CoverCache(folder: folder, limit: limit, transport: transport)
    }

    @Test func imagesAreFetchedOnce() async throws {
        defer { remove() }
        let transport = ScriptedTransport { _ in
            try await Task.sleep(for: .milliseconds(20))
            return HTTPResponse(status: 200, body: Self.jpeg)
        }
        let (cache, url) = (cache(transport), try Self.address("one"))
        await withTaskGroup(of: Data?.self) { group in
            for _ in 0..<10 { group.addTask { try? await cache.data(of: url) } }
            for await data in group { #expect(data == Self.jpeg) }
        }
        #expect(transport.count == 1)
        // After a restart.
        let offline = ScriptedTransport { _ in throw URLError(.notConnectedToInternet) }
        #expect(try await self.cache(offline).data(of: url) == Self.jpeg)
        #expect(self.cache(offline).cached(try Self.address("two")) == nil)
    }

    /// The sign-in page of a network also has the status 200.
    @Test(arguments: [(200, Data("<html>".utf8)), (404, jpeg), (200, Data())])
    func otherResponsesAreNotKept(_ status: Int, _ body: Data) async throws {
        defer { remove() }
        let cache = cache(ScriptedTransport { _ in HTTPResponse(status: status, body: body) })
        let url = try Self.address("one")
        await #expect(throws: BookplateError.invalidResponse(status: status)) {
            try await cache.data(of: url)
        }
        #expect(cache.cached(url) == nil)
    }

    @Test func oldestImagesLeaveAFullCache() async throws {
        defer { remove() }
        let cache = cache(
            ScriptedTransport { _ in HTTPResponse(status: 200, body: Self.jpeg) }, limit: 10_000)
        for number in 0..<30 { _ = try await cache.data(of: Self.address("\(number)")) }
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect((9...10).contains(files.count))
        #expect(cache.cached(try Self.address("0")) == nil)
        #expect(cache.cached(try Self.address("29")) != nil)
    }

    // MARK: Uploads

    private func library(_ transport: any Transport, _ session: StoredSession) async throws
        -> Library
    {
        let clock = SleepingClock()
        let bookplate = try Bookplate(
            server: URL(fileURLWithPath: "/"), app: "test", folder: folder,
            sessionStore: MemorySessionStore(session),
            environment: ClientEnvironment(
                transport: transport, now: { clock.now }, sleep: { try await clock.sleep($0) }))
        return try #require(try await bookplate.library)
    }

    @Test func newCoverIsShownAtOnceAndSentAfterARestart() async throws {
        defer { remove() }
        let server = ModelNetwork()
        let offline = ScriptedTransport { _ in throw URLError(.notConnectedToInternet) }
        let before = try await library(offline, server.session)
        let book = try before.books.add(.init(title: "Emma"))
        try before.covers.set(Self.jpeg, of: book)

        let library = try await library(ScriptedTransport(server.respond), server.session)
        let shown = try #require(try await library.snapshot().books.first?.image)
        #expect(try await library.covers.data(of: shown, size: .thumbnail) == Self.jpeg)
        #expect(library.covers.cachedData(of: shown) == Self.jpeg)
        try await library.sync()
        #expect(server.uploads == [Self.jpeg])
        #expect(try await library.snapshot() == server.snapshot)
        try await library.sync()
        let uploads = folder.appendingPathComponent("readers/reader/uploads").path
        #expect(try FileManager.default.contentsOfDirectory(atPath: uploads) == [])
    }

    @Test func missingFileOfACoverIsReported() async throws {
        defer { remove() }
        let server = ModelNetwork()
        let library = try await library(ScriptedTransport(server.respond), server.session)
        let book = try library.books.add(.init(title: "Emma"))
        try library.covers.set(Self.jpeg, of: book)
        try FileManager.default.removeItem(
            at: folder.appendingPathComponent("readers/reader/uploads"))
        try await library.sync()
        let problems = try await library.takeProblems()
        #expect(problems.map(\.code) == [.localDamage])
        #expect(problems.map(\.operation) == ["setCover"])
        #expect(try await library.snapshot() == server.snapshot)
    }

    @Test func coversOfAGuestMoveIntoTheAccount() async throws {
        defer { remove() }
        let server = ModelNetwork()
        let clock = SleepingClock()
        let bookplate = try Bookplate(
            server: URL(fileURLWithPath: "/"), app: "test", folder: folder,
            sessionStore: MemorySessionStore(
                StoredSession(userID: "guest", isGuest: true, tokens: server.session.tokens)),
            environment: ClientEnvironment(
                transport: ScriptedTransport(server.respond), now: { clock.now },
                sleep: { try await clock.sleep($0) }))
        let guest = try #require(try await bookplate.library)
        let book = try guest.books.add(.init(title: "Emma"))
        try guest.covers.set(Self.jpeg, of: book)
        let account = try await bookplate.signIn(
            openID: OpenIDCredential(provider: "test", identityToken: "token"))
        try await account.sync()
        #expect(server.uploads == [Self.jpeg])
        #expect(try await account.takeProblems() == [])
    }

    @Test(arguments: [0, Covers.uploadMax + 1]) func coversHaveALimit(_ size: Int) async throws {
        defer { remove() }
        let server = ModelNetwork()
        let library = try await library(ScriptedTransport(server.respond), server.session)
        let book = try library.books.add(.init(title: "Emma"))
        #expect(throws: BookplateError.self) {
            try library.covers.set(Data(count: size), of: book)
        }
    }
}
