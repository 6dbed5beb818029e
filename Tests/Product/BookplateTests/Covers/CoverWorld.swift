import BookSources
import FoundationEssentials
import GraphQL
import HTTPFetch
import LoopbackHTTP
import ObjectStorage
import Synchronization
import TestBasics
import TestSupport

@testable import Bookplate

/// An app whose worker searches for covers, and one HTTP server that plays the external sources with their recorded
/// responses.
final class CoverWorld: Sendable {
    private let routes: Routes
    let server: LoopbackServer
    let app: TestApp
    let worker: TestWorker

    /// Responses by the prefix of the request's target. The longest matching prefix applies.
    private final class Routes: Sendable {
        private let responses = Mutex<[(prefix: String, steps: @Sendable () -> [Step])]>([])

        func set(_ prefix: String, _ steps: @escaping @Sendable () -> [Step]) {
            responses.withLock { responses in
                responses.removeAll { $0.prefix == prefix }
                responses.append((prefix, steps))
            }
        }

        func steps(_ target: String) -> [Step]? {
            responses.withLock { responses in
                responses.filter { target.hasPrefix($0.prefix) }
                    .max { $0.prefix.count < $1.prefix.count }?.steps
            }?()
        }
    }

    /// - Parameter web: Whether the web search is configured.
    static func start(web: Bool = false, catalog: [String] = []) async throws -> CoverWorld {
        let routes = Routes()
        let server = try LoopbackServer { routes.steps($0.target) ?? [.response(404, "")] }
        routes.set("/books/v1/") { [.response(200, text("google-volumes-zero"))] }
        var configuration = SourceChain.Configuration()
        configuration.openLibraryURL = server.url("")
        configuration.openLibraryCoversURL = server.url("/covers")
        configuration.googleBooksURL = server.url("/books/v1")
        let fetcher = Fetcher(
            policy: FetchPolicy(
                userAgent: "bookplate-test (ops@example.com)",
                allowed: try FetchAllowList(parsing: "127.0.0.1")))
        let chain = SourceChain(configuration, fetcher: fetcher)
        let sources = CoverSources(
            chain, openLibraryCoversURL: configuration.openLibraryCoversURL,
            webSearch: web
                ? WebSearch(fetcher, url: server.url("/openai/v1"), key: "sk-test", model: "test")
                : nil, fetcher: fetcher)
        let app = try await TestApp.start(catalog: catalog, coverSources: sources)
        let search = CoverSearch(sources, covers: app.covers, metrics: app.services.metrics)
        let worker = try await TestWorker.start(
            app.database, [FetchCover(search: search), EndCoverWaits()])
        return CoverWorld(routes, server, app, worker)
    }

    private init(_ routes: Routes, _ server: LoopbackServer, _ app: TestApp, _ worker: TestWorker) {
        self.routes = routes
        self.server = server
        self.app = app
        self.worker = worker
    }

    // MARK: - Responses of the sources

    func setResponse(_ prefix: String, _ steps: @escaping @Sendable () -> [Step]) {
        routes.set(prefix, steps)
    }

    func setResponse(_ prefix: String, image: [UInt8]) {
        setResponse(prefix) { Self.image(image) }
    }

    static func image(_ bytes: [UInt8]) -> [Step] {
        [
            .send(
                "HTTP/1.1 200 OK\r\nContent-Type: image/jpeg\r\nContent-Length: \(bytes.count)\r\n"
                    + "Connection: close\r\n\r\n"), .bytes(bytes),
        ]
    }

    /// The one-pixel image that covers.openlibrary.org returns for a missing cover without `default=false`.
    static let emptyImage: [UInt8] = [
        0x47, 0x49, 0x46, 0x38, 0x39, 0x61, 0x01, 0x00, 0x01, 0x00, 0xF0, 0x00, 0x00, 0x00, 0x00,
        0x00, 0xFF, 0xFF, 0xFF, 0x21, 0xF9, 0x04, 0x05, 0x00, 0x00, 0x00, 0x00, 0x2C, 0x00, 0x00,
        0x00, 0x00, 0x01, 0x00, 0x01, 0x00, 0x00, 0x02, 0x02, 0x44, 0x01, 0x00, 0x3B,
    ]

    static let fox = "9780140328721"
    static let foxImageTarget = "/covers/b/id/8739161-L.jpg"

    /// Adds Open Library's record of an edition, whose only image is at `foxImageTarget`.
    func addFoxRecord() {
        setResponse("/isbn/\(Self.fox).json") {
            [.response(302, headers: ["Location: https://openlibrary.org/books/OL7353617M.json"])]
        }
        setResponse("/books/OL7353617M.json") {
            [.response(200, text("isbn-9780140328721.edition"))]
        }
    }

    static let annihilation = "9780374104092"
    static let annihilationImageTarget = "/books/content?id=2cl7AgAAQBAJ"

    /// Adds Google's volume of another edition, with its links changed to this server.
    func addAnnihilationVolume() {
        let volumes = text("google-volumes-isbn-9780374104092")
            .replacing("http://books.google.com", with: server.url(""))
        setResponse("/books/v1/volumes?q=isbn%3A\(Self.annihilation)") { [.response(200, volumes)] }
    }

    /// Returns the requests whose target has this prefix.
    func requests(_ prefix: String) -> [ReceivedRequest] {
        server.requests.filter { $0.target.hasPrefix(prefix) }
    }

    // MARK: - Results

    static let cover = """
        query($id: ID!) { book(id: $id) {
          coverStatus updatedAt image { source width height url }
        } }
        """

    /// Waits until the search for a book's cover has ended, and returns the book.
    func bookAfterSearch(_ reader: TestReader, _ book: Value) async throws -> Value {
        try await waitUntil("the search has ended") {
            try await app.database.count(
                "SELECT count(*) FROM jobs WHERE kind = 'cover.fetch' AND (payload->>'bookID') = '\(book.string ?? "")'"
            ) == 0
        }
        return try await self.book(reader, book)
    }

    func book(_ reader: TestReader, _ book: Value) async throws -> Value {
        try await reader.requireValue(Self.cover, ["id": book], "book")
    }

    /// Returns the files of a reader's covers in the store.
    func files(_ reader: TestReader) async throws -> [ObjectPath] {
        try await app.covers.store.list(reader.id.string ?? "", of: .bookCovers).objects.map(\.path)
    }
}

/// Returns the text of a recorded response; an empty text if the fixture does not exist, so that the test's
/// expectations fail.
private func text(_ name: String) -> String {
    let path = "\(TestCluster.project)/Tests/Product/BookSourcesTests/Fixtures/\(name).json"
    return (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
}

/// Returns a recorded image.
func imageFixture(_ name: String) throws -> [UInt8] {
    let path = "\(TestCluster.project)/Tests/Libraries/ImageProcessingTests/Fixtures/\(name)"
    return Array(try Data(contentsOf: URL(filePath: path)))
}
