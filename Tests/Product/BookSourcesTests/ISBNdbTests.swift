import HTTPFetch
import LoopbackHTTP
import Testing

@testable import BookSources

/// Tests of ISBNdb with responses in the format that its documentation shows.
@Suite struct ISBNdbTests {
    /// A response reconstructed from https://isbndb.com/apidocs/v2, with the data of a book in the other fixtures.
    private static let fox = """
        {"book": {"publisher": "Puffin", "language": "en", "image": "https://images.isbndb.com/covers/87/21/9780140328721.jpg",
         "title_long": "Fantastic Mr. Fox", "edition": "Reprint", "dimensions": "Height: 7.75 Inches", "pages": 96,
         "date_published": "1988-10-01", "subjects": ["Foxes", "Farmers"], "authors": ["Dahl, Roald", "Quentin Blake"],
         "title": "Fantastic Mr. Fox", "isbn13": "9780140328721", "msrp": "6.99", "binding": "Paperback",
         "isbn": "0140328726", "isbn10": "0140328726", "synopsis": "Mr. Fox<br/>steals &amp; hides."}}
        """

    private func start(
        _ handler: @escaping @Sendable (String) -> [Step]
    ) throws -> (server: LoopbackServer, sources: SourceChain) {
        let server = try LoopbackServer { handler($0.target) }
        var configuration = SourceChain.Configuration()
        configuration.isbnDBURL = server.url("")
        configuration.isbnDBKey = "the key"
        let fetcher = Fetcher(
            policy: FetchPolicy(
                userAgent: "bookplate-test", allowed: try FetchAllowList(parsing: "127.0.0.1")))
        return (server, SourceChain(configuration, fetcher: fetcher))
    }

    @Test func looksUpAnEdition() async throws {
        let (server, sources) = try start { _ in [.response(Self.fox)] }
        let record = try #require(await sources.edition(FakeSources.fox).record)
        #expect(record.title == "Fantastic Mr. Fox")
        #expect(record.authors == ["Roald Dahl", "Quentin Blake"])
        #expect(record.isbns == ["9780140328721", "0140328726", "0140328726"])
        #expect(record.publisher == "Puffin" && record.publishedDate?.text == "1988-10-01")
        #expect(record.pageCount == 96 && record.language == "en")
        #expect(record.genres == ["Foxes", "Farmers"])
        #expect(record.description == "Mr. Fox\nsteals & hides.")
        #expect(
            record.covers == [
                CoverCandidate(
                    source: .isbnDB, url: "https://images.isbndb.com/covers/87/21/9780140328721.jpg"
                )
            ])
        let request = try #require(server.requests.first)
        #expect(request.target == "/book/9780140328721")
        #expect(request.headers["authorization"] == "the key")
    }

    @Test func searchesBooks() async throws {
        let (server, sources) = try start { target in
            target == "/books/mr%20fox%2Fx?pageSize=5"
                ? [.response(#"{"total": 2, "books": [{"title": "Fox"}, {"isbn": "no title"}]}"#)]
                : [.response(404, #"{"errorMessage": "Not Found"}"#)]
        }
        let search = await sources.search(.anywhere("mr fox/x"), count: 5)
        #expect(search.records.map(\.title) == ["Fox"] && search.failures == [])
        let none = await sources.search(.title("Dune", author: "Herbert"), count: 5)
        #expect(none.records.isEmpty && none.failures == [])
        #expect(server.requests.last?.target == "/books/Dune%20Herbert?pageSize=5")
    }

    @Test func reportsAnUnknownEditionAsAMiss() async throws {
        let (server, sources) = try start { _ in
            [.response(404, #"{"errorMessage": "Not Found"}"#)]
        }
        #expect(await sources.edition(FakeSources.fox) == .init(misses: [.isbnDB]))
        #expect(server.requests.count == 1)
    }

    /// An invalid key or an exhausted quota is a failure, and no more requests are sent for a while.
    @Test(
        arguments: [
            [.response(401, #"{"message": "Unauthorized"}"#)],
            [.response(429, headers: ["Retry-After: 60"], #"{"message": "Limit Exceeded"}"#)],
            [.response(403, #"{"message": "User is not authorized"}"#)],
        ] as [[Step]])
    func pausesAfterARefusal(steps: [Step]) async throws {
        let (server, sources) = try start { _ in steps }
        for _ in 0..<3 {
            #expect(await sources.edition(FakeSources.fox).failures == [.isbnDB])
        }
        #expect(server.requests.count == 1)
    }

    @Test func isDisabledWithoutAKey() throws {
        var configuration = SourceChain.Configuration()
        configuration.isbnDBURL = "http://127.0.0.1:9"
        #expect(SourceChain(configuration, fetcher: unreachable).names == [])
    }
}
