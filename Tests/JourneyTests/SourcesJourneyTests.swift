import Glibc
import GraphQL
import TestSupport
import Testing

/// What a reader sees when Open Library responds: every path that leads to an external source, through the server that ships.
@Suite struct SourcesJourneyTests {
    private struct World {
        let server: RunningServer
        let double: StubSourcesServer
        let token: String?

        func execute(_ query: String, _ variables: Value = .null) async throws -> Value {
            try await server.client.execute(query, variables, token: token)
        }

        /// Waits until the query's value at `data.<field>` fulfils the condition.
        func wait(
            _ what: String, _ query: String, _ variables: Value = .null,
            _ condition: (Value) -> Bool
        ) async throws -> Value {
            var data = Value.null
            try await waitUntil(what) {
                data = try await execute(query, variables)["data"] ?? .null
                return condition(data)
            }
            return data
        }
    }

    private static let unknownISBN = "9780140328721"

    /// A server whose catalogue has 24 books without covers, and a signed-in reader.
    private func world() async throws -> World {
        let isbns = (1...24).map { TestCatalog.isbn($0) }
        var titles = Dictionary(
            uniqueKeysWithValues: isbns.enumerated().map { ($1, "Card \($0 + 1)") })
        titles[Self.unknownISBN] = "Fantastic Mr. Fox"
        let double = try StubSourcesServer(titles)
        let installation = try await Installation.ready()
        let server = try await installation.startServer(double.environment)
        let session = try await server.signIn("sources")
        return World(server: server, double: double, token: session["accessToken"]?.string)
    }

    private func stop(_ world: World) async throws {
        world.server.program.send(SIGTERM)
        let outcome = try await blocking { try world.server.program.wait() }
        #expect(outcome.code == 0, "\(outcome.errors)")
    }

    @Test func tenLikedCardsGetTheirCovers() async throws {
        let world = try await world()
        let feed = try await world.execute("{ feed(first: 10) { nodes { id } } }")
        let cards = try #require(feed["data", "feed", "nodes"]?.list).compactMap {
            $0["id"]?.string
        }
        try #require(cards.count == 10)
        let swipes = cards.map {
            Value.object([.init("cardId", .string($0)), .init("action", "LIKE")])
        }
        let liked = try await world.execute(
            "mutation($s: [SwipeInput!]!) { recordSwipes(swipes: $s) { saved { id } } }",
            ["s": .list(swipes)])
        #expect(liked["data", "recordSwipes", "saved"]?.list?.count == 10, "\(liked)")
        let data = try await world.wait(
            "all ten covers are READY",
            "{ me { books(first: 20) { nodes { coverStatus coverUrl cover { source width } } } } }"
        ) { data in
            let books = data["me", "books", "nodes"]?.list ?? []
            return books.count == 10 && books.allSatisfy { $0["coverStatus"] == "READY" }
        }
        for book in data["me", "books", "nodes"]?.list ?? [] {
            #expect(book["cover", "source"] == "OPEN_LIBRARY")
            let url = try #require(book["coverUrl"]?.string)
            let path = url[try #require(url.firstRange(of: "/book-covers/")).lowerBound...]
            let picture = try await world.server.client.send("GET", String(path))
            #expect(picture.status == 200 && picture.headers["content-type"] == "image/jpeg")
        }
        try await stop(world)
    }

    @Test func aBookMadeFromItsISBNIsCompletedAndGetsItsCover() async throws {
        let world = try await world()
        let made = try await world.execute(
            "mutation { createBook(input: {isbn: \"\(Self.unknownISBN)\"}) { id title author } }")
        #expect(made["data", "createBook", "title"] == "Fantastic Mr. Fox", "\(made)")
        #expect(made["data", "createBook", "author"] == "Roald Dahl")
        let id = made["data", "createBook", "id"] ?? .null
        _ = try await world.wait(
            "the cover is READY", "query($id: ID!) { book(id: $id) { coverStatus } }",
            ["id": id]
        ) { $0["book", "coverStatus"] == "READY" }
        try await stop(world)
    }

    @Test func searchAndLookupFindBooksThatTheCatalogueLacks() async throws {
        let world = try await world()
        let found = try await world.execute(
            #"{ search(query: "lose the time war") { nodes { title } } }"#)
        #expect(
            found["data", "search", "nodes"]?.list?.contains {
                $0["title"] == "This Is How You Lose the Time War"
            } == true, "\(found)")
        let lookup = try await world.execute(
            "{ lookupISBN(isbn: \"\(Self.unknownISBN)\") { title } }")
        #expect(lookup["data", "lookupISBN", "title"] == "Fantastic Mr. Fox", "\(lookup)")
        try await stop(world)
    }

    @Test func missingCoversAreFetchedOnRequest() async throws {
        let world = try await world()
        let inputs = (1...5).map { number in
            Value.object([
                .init("title", .string("Card \(number)")),
                .init("isbn", .string(TestCatalog.isbn(number))),
                .init("fetchCover", .boolean(false)),
            ])
        }
        let made = try await world.execute(
            "mutation($b: [CreateBookInput!]!) { createBooks(inputs: $b) { book { coverStatus } } }",
            ["b": .list(inputs)])
        #expect(made["data", "createBooks", 4, "book", "coverStatus"] == "NONE", "\(made)")
        #expect(
            try await world.execute("mutation { fetchMissingCovers }")["data", "fetchMissingCovers"]
                == 5)
        _ = try await world.wait(
            "all five covers are READY", "{ me { books(first: 9) { nodes { coverStatus } } } }"
        ) { data in
            data["me", "books", "nodes"]?.list?.allSatisfy { $0["coverStatus"] == "READY" } == true
        }
        try await stop(world)
    }
}
