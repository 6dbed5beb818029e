import GraphQL
import TestSupport
import Testing

@testable import Bookplate

/// `FeedCard.reason`: why the feed shows a book.
@Suite struct FeedReasonTests {
    private static func line(
        _ title: String, author: String, genre: String, series: String? = nil,
        position: String? = nil, ratings: Int
    ) -> String {
        let members = [("series", series), ("seriesPosition", position)]
            .compactMap { name, value in value.map { "\"\(name)\":\"\($0)\"," } }.joined()
        return """
            {"title":"\(title)",\(members)"authors":["\(author)"],"genres":["\(genre)"],\
            "language":"en","description":"A book called \(title).","ratingsCount":\(ratings)}
            """
    }

    /// Forty popular books of other genres, and few of each kind that a reader may like.
    private static let catalog =
        (1...40).map {
            line(
                "Card \($0)", author: "Author \($0)", genre: ["Horror", "History"][$0 % 2],
                ratings: 1000 - $0)
        } + [
            line(
                "One", author: "Ann Saga", genre: "Fantasy", series: "Saga", position: "1",
                ratings: 900),
            line(
                "Two", author: "Ann Saga", genre: "Fantasy", series: "Saga", position: "2",
                ratings: 800),
            line(
                "Three", author: "Bob Other", genre: "Fantasy", series: "Saga", position: "3",
                ratings: 700),
            line("Alone", author: "Ann Saga", genre: "Fantasy", ratings: 600),
            line("Spell", author: "Cara Wand", genre: "Fantasy", ratings: 500),
            line("Friend", author: "Dan Near", genre: "Travel", ratings: 400),
        ]

    private static let feed = """
        { feed(first: 46) { nodes {
          title reason { kind card { title } genre { name } }
        } } }
        """

    private func card(_ title: String, _ reader: TestReader) async throws -> Value {
        let found = try await reader.requireValue(
            "query($title: String!) { search(query: $title, first: 1) { nodes { id title } } }",
            ["title": .string(title)], "search", "nodes", 0)
        #expect(found["title"] == .string(title))
        return found["id"] ?? .null
    }

    /// The reasons of a new scroll, by title.
    private func reasons(_ reader: TestReader) async throws -> [String: Value] {
        let nodes = try await reader.requireValue(Self.feed, .null, "feed", "nodes").list ?? []
        return Dictionary(
            nodes.map { ($0["title"]?.string ?? "", $0["reason"] ?? .null) },
            uniquingKeysWith: { $1 })
    }

    private func reason(_ kind: String, _ card: String? = nil, genre: String? = nil) -> Value {
        [
            "kind": .string(kind), "card": card.map { ["title": .string($0)] } ?? .null,
            "genre": genre.map { ["name": .string($0)] } ?? .null,
        ]
    }

    @Test func nameWhatTheReaderLikes() async throws {
        let app = try await TestApp.start(catalog: Self.catalog)
        let reader = try await app.makeReader()
        #expect(try await reasons(reader).values.allSatisfy { $0 == .null })
        _ = try await reader.swipe("LIKE", [try await card("One", reader)])
        try await app.database.execute(
            """
            INSERT INTO edition_similar (edition_id, similar_ids, scores)
            SELECT liked.id, ARRAY[friend.id], ARRAY[0.5]
            FROM editions liked, editions friend
            WHERE liked.title = 'One' AND friend.title = 'Friend'
            """)
        let found = try await reasons(reader)
        #expect(found["One"] == nil)
        #expect(found["Two"] == reason("SERIES", "One"))
        // Another author has a series of the same name.
        #expect(found["Three"] == reason("GENRE", genre: "Fantasy"))
        #expect(found["Alone"] == reason("AUTHOR", "One"))
        #expect(found["Friend"] == reason("SIMILAR", "One"))
        #expect(found["Spell"] == reason("GENRE", genre: "Fantasy"))
        #expect(found["Card 1"] == .null)
    }

    /// Readers who dislike both books say that the two belong together, but nobody likes them.
    @Test func dislikedBooksAreNoReasons() async throws {
        let app = try await TestApp.start(catalog: Self.catalog)
        let reader = try await app.makeReader()
        _ = try await reader.swipe("LIKE", [try await card("Card 3", reader)])
        _ = try await reader.swipe("DISLIKE", [try await card("One", reader)])
        try await app.database.execute(
            """
            INSERT INTO edition_similar (edition_id, similar_ids, scores)
            SELECT disliked.id, ARRAY[friend.id], ARRAY[-0.5]
            FROM editions disliked, editions friend
            WHERE disliked.title = 'One' AND friend.title = 'Friend'
            """)
        let found = try await reasons(reader)
        #expect(found["Friend"] == .null)
        #expect(found["Card 1"] == reason("GENRE", genre: "History"))
    }

    @Test func preferredGenresAreReasons() async throws {
        let app = try await TestApp.start(catalog: Self.catalog)
        let reader = try await app.makeReader()
        _ = try await reader.execute(
            #"mutation { updateProfile(input: {preferredGenres: ["Travel"]}) { id } }"#)
        let found = try await reasons(reader)
        #expect(found["Friend"] == reason("GENRE", genre: "Travel"))
        #expect(found["Spell"] == .null)
    }

    /// Only the reader's own decks have reasons, and a book that the reader dislikes is none.
    @Test func areThoseOfTheReader() async throws {
        let app = try await TestApp.start(catalog: Self.catalog)
        let (reader, other) = (try await app.makeReader(), try await app.makeReader())
        _ = try await reader.swipe("LIKE", [try await card("One", reader)])
        _ = try await other.swipe("DISLIKE", [try await card("One", other)])
        let two = try await card("Two", reader)
        let single = "query($id: ID!) { feedCard(id: $id) { reason { kind } } }"
        #expect(try await reasons(reader)["Two"] == reason("SERIES", "One"))
        #expect(try await reasons(other)["Two"] == .null)
        #expect(
            try await reader.requireValue(single, ["id": two], "feedCard", "reason", "kind")
                == "SERIES")
        #expect(
            try await other.requireValue(single, ["id": two], "feedCard") == ["reason": .null])
    }
}
