import Glibc
import GraphQL
import TestBasics
import TestSupport
import Testing

/// Every feature that uses an external source, with the real server and a local server in place of the sources.
@Suite struct SourcesJourneyTests {
    private struct Fixture {
        let server: RunningServer
        let sources: StubSourcesServer
        let token: String?

        func execute(_ query: String, _ variables: Value = .null) async throws -> Value {
            try await server.client.execute(query, variables, token: token)
        }

        /// Repeats a query until its `data` fulfills the condition.
        func wait(
            _ description: String, _ query: String, _ variables: Value = .null,
            _ condition: (Value) -> Bool
        ) async throws -> Value {
            var data = Value.null
            try await waitUntil(description) {
                data = try await execute(query, variables)["data"] ?? .null
                return condition(data)
            }
            return data
        }
    }

    private static let unknownISBN = "9780140328721"

    /// Starts a server whose catalog has 24 books without covers, and signs in.
    private func makeFixture() async throws -> Fixture {
        let isbns = (1...24).map { TestCatalog.isbn($0) }
        var titles = Dictionary(
            uniqueKeysWithValues: isbns.enumerated().map { ($1, "Card \($0 + 1)") })
        titles[Self.unknownISBN] = "Fantastic Mr. Fox"
        let sources = try StubSourcesServer(titles)
        let installation = try await Installation.ready()
        let server = try await installation.startServer(sources.environment)
        let session = try await server.signIn("sources")
        return Fixture(server: server, sources: sources, token: session["accessToken"]?.string)
    }

    private func stop(_ fixture: Fixture) async throws {
        fixture.server.program.send(SIGTERM)
        let outcome = try await blocking { try fixture.server.program.wait() }
        #expect(outcome.code == 0, "\(outcome.errors)")
    }

    @Test func tenLikedCardsGetTheirCovers() async throws {
        let fixture = try await makeFixture()
        let feed = try await fixture.execute("{ feed(first: 10) { nodes { id } } }")
        let cards = try #require(feed["data", "feed", "nodes"]?.list).compactMap {
            $0["id"]?.string
        }
        try #require(cards.count == 10)
        let swipes = cards.map {
            Value.object([.init("cardId", .string($0)), .init("action", "LIKE")])
        }
        let liked = try await fixture.execute(
            "mutation($s: [SwipeInput!]!) { recordSwipes(inputs: $s) { saved { id } } }",
            ["s": .list(swipes)])
        #expect(liked["data", "recordSwipes", "saved"]?.list?.count == 10, "\(liked)")
        let data = try await fixture.wait(
            "all ten covers are READY",
            "{ me { books(first: 20) { nodes { coverStatus image { url source width } } } } }"
        ) { data in
            let books = data["me", "books", "nodes"]?.list ?? []
            return books.count == 10 && books.allSatisfy { $0["coverStatus"] == "READY" }
        }
        for book in data["me", "books", "nodes"]?.list ?? [] {
            #expect(book["image", "source"] == "OPEN_LIBRARY")
            let url = try #require(book["image", "url"]?.string)
            let path = url[try #require(url.firstRange(of: "/book-covers/")).lowerBound...]
            let image = try await fixture.server.client.send("GET", String(path))
            #expect(image.status == 200 && image.headers["content-type"] == "image/jpeg")
        }
        try await stop(fixture)
    }

    @Test func booksCreatedFromAnISBNAreCompletedAndGetACover() async throws {
        let fixture = try await makeFixture()
        let created = try await fixture.execute(
            "mutation { createBook(input: {isbn: \"\(Self.unknownISBN)\"}) { id title author } }")
        #expect(created["data", "createBook", "title"] == "Fantastic Mr. Fox", "\(created)")
        #expect(created["data", "createBook", "author"] == "Roald Dahl")
        let id = created["data", "createBook", "id"] ?? .null
        _ = try await fixture.wait(
            "the cover is READY", "query($id: ID!) { book(id: $id) { coverStatus } }",
            ["id": id]
        ) { $0["book", "coverStatus"] == "READY" }
        try await stop(fixture)
    }

    @Test func searchAndLookupFindBooksThatAreNotInTheCatalog() async throws {
        let fixture = try await makeFixture()
        let found = try await fixture.execute(
            #"{ search(query: "lose the time war") { nodes { title } } }"#)
        #expect(
            found["data", "search", "nodes"]?.list?.contains {
                $0["title"] == "This Is How You Lose the Time War"
            } == true, "\(found)")
        let lookup = try await fixture.execute(
            "{ lookupISBN(isbn: \"\(Self.unknownISBN)\") { title } }")
        #expect(lookup["data", "lookupISBN", "title"] == "Fantastic Mr. Fox", "\(lookup)")
        try await stop(fixture)
    }

    @Test func missingCoversAreFetchedOnRequest() async throws {
        let fixture = try await makeFixture()
        let inputs = (1...5).map { number in
            Value.object([
                .init("title", .string("Card \(number)")),
                .init("isbn", .string(TestCatalog.isbn(number))),
                .init("fetchCover", .boolean(false)),
            ])
        }
        let created = try await fixture.execute(
            "mutation($b: [CreateBookInput!]!) { createBooks(inputs: $b) { book { coverStatus } } }",
            ["b": .list(inputs)])
        #expect(
            created["data", "createBooks", 4, "book", "coverStatus"] == "NO_COVER", "\(created)")
        #expect(
            try await fixture.execute("mutation { fetchMissingCovers { queued } }")[
                "data", "fetchMissingCovers", "queued"]
                == 5)
        _ = try await fixture.wait(
            "all five covers are READY", "{ me { books(first: 9) { nodes { coverStatus } } } }"
        ) { data in
            data["me", "books", "nodes"]?.list?.allSatisfy { $0["coverStatus"] == "READY" } == true
        }
        try await stop(fixture)
    }
}
