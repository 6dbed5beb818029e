import HTTPFetch
import LoopbackHTTP
import Testing

@testable import BookSources

@Suite struct CoverSourcesTests {
    /// Whatever stands around them.
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
    func addressesAreFoundInText(text: String, expected: [String]) {
        #expect(WebSearch.addresses(in: text) == expected)
    }

    @Test func noMoreThanFiveAddressesAreTaken() {
        let text = (1...9).map { "https://a.example/\($0)" }.joined(separator: "\n")
        #expect(WebSearch.addresses(in: text).count == 5)
    }

    private let fox = CoverQuery(title: "Fox", author: "Dahl", number: FakeSources.fox)

    private func soon(_ seconds: Int = 5) -> CoverSources.Instant {
        .now.advanced(by: .seconds(seconds))
    }

    @Test(arguments: [401, 429, 500])
    func aSearchThatFailsIsNoAnswer(status: Int) async throws {
        let server = try LoopbackServer { _ in
            [.answer(status, #"{"error": {"message": "No.", "type": "invalid_request_error"}}"#)]
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
        let answer = await sources.offers(of: fox, at: .web, by: soon())
        #expect(answer.offers.isEmpty && !answer.failures.isEmpty)
        #expect(failures.all == [.status(status)])
    }

    /// By its own number where a record has one, which is not counted against the hundred in five minutes.
    @Test func picturesByISBNAreForWhatHasNoRecord() async throws {
        let world = try FakeSources { FakeSources.fantasticFox($0) }
        let sources = CoverSources(world.sources, openLibraryCoversURL: "https://covers.example")
        let known = await sources.offers(of: fox, at: .number, by: soon())
        #expect(
            known.offers.first?.url == "https://covers.example/b/id/8739161-L.jpg?default=false")
        #expect(!known.offers.contains { $0.url.contains("/isbn/") })
        let other = CoverQuery(
            title: "X", author: nil, number: BookNumber(isbn13: "9780306406157", isbn10: nil))
        let unknown = await sources.offers(of: other, at: .number, by: soon())
        #expect(
            unknown.offers.map(\.url) == [
                "https://covers.example/b/isbn/9780306406157-L.jpg?default=false"
            ])
        #expect(unknown.failures.isEmpty)
    }

    /// Faster than Open Library allows, nobody is asked: which is no answer, unless its records have been.
    @Test(arguments: [false, true])
    func whoeverIsNotAskedHasNotAnswered(hasRecords: Bool) async throws {
        let records = BookSource(
            name: .openLibrary, edition: { _, _ in nil }, search: { _, _, _ in [] })
        let sources = CoverSources(
            SourceChain(hasRecords ? [records] : []), openLibraryCoversURL: "https://covers.example"
        )
        var answer = await sources.offers(of: fox, at: .number, by: soon())
        for _ in 1...100 where !answer.offers.isEmpty {
            #expect(answer.failures.isEmpty)
            answer = await sources.offers(of: fox, at: .number, by: soon())
        }
        #expect(answer.offers.isEmpty)
        #expect(answer.failures == (hasRecords ? [] : [.openLibrary]))
    }

    /// A link of the catalogue's leads to a source that the operator has switched off since.
    @Test func whatIsSwitchedOffIsNotAsked() async {
        let book = CoverQuery(
            title: "X", author: nil, number: nil,
            links: [
                CoverCandidate(source: .googleBooks, url: "https://g.example/1"),
                CoverCandidate(source: .openLibrary, url: "https://o.example/1"),
            ])
        let none = CoverSources(SourceChain([]))
        #expect(none.isEmpty)
        #expect(await none.offers(of: book, at: .links, by: soon()).offers.isEmpty)
        let one = CoverSources(SourceChain([]), openLibraryCoversURL: "https://o.example")
        #expect(!one.isEmpty)
        #expect(
            await one.offers(of: book, at: .links, by: soon()).offers.map(\.url) == [
                "https://o.example/1"
            ])
        #expect(
            one.isOperators("https://o.example/1") && !one.isOperators("https://o.example.evil/1"))
    }

    /// Pictures are beside the records, wherever on that host; not on another port of it.
    @Test(arguments: [
        ("http://books.lan:8000/books/content?id=1", true), ("http://books.lan:8000", false),
        ("http://books.lan/books/content?id=1", false), ("http://books.lan:80001/1", false),
        ("http://books.lan:8000@evil.example/1", false), ("https://books.lan:8000/1", false),
    ])
    func aMirrorsPicturesAreTheOperators(url: String, isOperators: Bool) {
        let sources = CoverSources(
            SourceChain([]), operatorsURLs: ["http://books.lan:8000/books/v1"])
        #expect(sources.isOperators(url) == isOperators)
    }
}
