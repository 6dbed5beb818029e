import HTTPFetch
import LoopbackHTTP
import Testing

@testable import BookSources

@Suite struct CoverSourcesTests {
    @Test(arguments: [
        ("https://a.example/1.jpg", ["https://a.example/1.jpg"]),
        (
            "- https://a.example/1.jpg,\n- http://b.example/2.png.",
            ["https://a.example/1.jpg", "http://b.example/2.png"]
        ),
        (
            "**[cover](https://a.example/1.jpg?w=600&h=900)**",
            ["https://a.example/1.jpg?w=600&h=900"]
        ),
        ("https://a.example/x_(novel).jpg", ["https://a.example/x_(novel).jpg"]),
        (
            #"{"urls": ["https:\/\/a.example\/1.jpg", "https://a.example/1.jpg"]}"#,
            ["https://a.example/1.jpg"]
        ),
        ("<https://a.example/1.jpg>", ["https://a.example/1.jpg"]), ("NONE", []), ("", []),
        ("file:///etc/passwd ftp://a.example/1.jpg", []),
    ])
    func extractsAddressesFromText(text: String, expected: [String]) {
        #expect(WebSearch.addresses(in: text) == expected)
    }

    @Test func takesAtMostFiveAddresses() {
        let text = (1...9).map { "https://a.example/\($0)" }.joined(separator: "\n")
        #expect(WebSearch.addresses(in: text).count == 5)
    }

    private let fox = CoverQuery(title: "Fox", author: "Dahl", number: FakeSources.fox)

    private func soon(_ seconds: Int = 5) -> CoverSources.Instant {
        .now.advanced(by: .seconds(seconds))
    }

    @Test(arguments: [401, 429, 500])
    func reportsAFailedWebSearch(status: Int) async throws {
        let server = try LoopbackServer { _ in
            [.response(status, #"{"error": {"message": "No.", "type": "invalid_request_error"}}"#)]
        }
        let failures = FakeSources.FailureBox()
        let sources = CoverSources(
            SourceChain([]),
            webSearch: WebSearch(
                Fetcher(
                    policy: FetchPolicy(
                        userAgent: "t", allowed: try FetchAllowList(parsing: "127.0.0.1"))),
                url: server.url("/v1"), key: "k", model: "m")
        ) { failures.add(.openLibrary, $0) }
        let result = await sources.links(for: fox, at: .web, by: soon())
        #expect(result.links.isEmpty && !result.failures.isEmpty)
        #expect(failures.all == [.status(status)])
    }

    /// Covers in records are fetched by their IDs, because Open Library limits only the rate of covers by ISBN.
    @Test func usesCoversByISBNOnlyWithoutARecord() async throws {
        let world = try FakeSources { FakeSources.fantasticFox($0) }
        let sources = CoverSources(world.sources, openLibraryCoversURL: "https://covers.example")
        let known = await sources.links(for: fox, at: .number, by: soon())
        #expect(
            known.links.first?.url == "https://covers.example/b/id/8739161-L.jpg?default=false")
        #expect(!known.links.contains { $0.url.contains("/isbn/") })
        let other = CoverQuery(
            title: "X", author: nil, number: BookNumber(isbn13: "9780306406157", isbn10: nil))
        let unknown = await sources.links(for: other, at: .number, by: soon())
        #expect(
            unknown.links.map(\.url) == [
                "https://covers.example/b/isbn/9780306406157-L.jpg?default=false"
            ])
        #expect(unknown.failures.isEmpty)
    }

    /// When the rate limit is reached, no link is returned. This is a failure unless Open Library's records have been queried.
    @Test(arguments: [false, true])
    func reportsAFailureAtTheRateLimit(hasRecords: Bool) async throws {
        let records = BookSource(
            name: .openLibrary, edition: { _, _ in nil }, search: { _, _, _ in [] })
        let sources = CoverSources(
            SourceChain(hasRecords ? [records] : []), openLibraryCoversURL: "https://covers.example"
        )
        var result = await sources.links(for: fox, at: .number, by: soon())
        for _ in 1...100 where !result.links.isEmpty {
            #expect(result.failures.isEmpty)
            result = await sources.links(for: fox, at: .number, by: soon())
        }
        #expect(result.links.isEmpty)
        #expect(result.failures == (hasRecords ? [] : [.openLibrary]))
    }

    /// The catalog may contain links to sources that the operator has switched off since.
    @Test func omitsLinksToDisabledSources() async {
        let book = CoverQuery(
            title: "X", author: nil, number: nil,
            links: [
                CoverCandidate(source: .googleBooks, url: "https://g.example/1"),
                CoverCandidate(source: .openLibrary, url: "https://o.example/1"),
            ])
        let none = CoverSources(SourceChain([]))
        #expect(none.isEmpty)
        #expect(await none.links(for: book, at: .catalog, by: soon()).links.isEmpty)
        let one = CoverSources(SourceChain([]), openLibraryCoversURL: "https://o.example")
        #expect(!one.isEmpty)
        #expect(
            await one.links(for: book, at: .catalog, by: soon()).links.map(\.url) == [
                "https://o.example/1"
            ])
        #expect(
            one.isConfigured("https://o.example/1") && !one.isConfigured("https://o.example.evil/1")
        )
    }

    /// A mirror serves images at any path of the configured origin, but not on another port.
    @Test(arguments: [
        ("http://books.lan:8000/books/content?id=1", true), ("http://books.lan:8000", false),
        ("http://books.lan/books/content?id=1", false), ("http://books.lan:80001/1", false),
        ("http://books.lan:8000@evil.example/1", false), ("https://books.lan:8000/1", false),
    ])
    func recognizesConfiguredOrigins(url: String, isConfigured: Bool) {
        let sources = CoverSources(
            SourceChain([]), configuredURLs: ["http://books.lan:8000/books/v1"])
        #expect(sources.isConfigured(url) == isConfigured)
    }
}
