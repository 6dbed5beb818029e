import GraphQL
import TestSupport
import Testing

@testable import Bookplate

/// Swipes that hide an author or a series from the feed.
@Suite struct SwipeScopeTests {
    private static func line(_ title: String, author: String, series: String? = nil, _ number: Int)
        -> String
    {
        let members = series.map { "\"series\":\"\($0)\",\"seriesPosition\":\"\(number)\"," } ?? ""
        return """
            {"title":"\(title)",\(members)"authors":["\(author)"],"genres":["Fantasy"],"language":"en",\
            "description":"A book called \(title).","ratingsCount":\(1000 - number)}
            """
    }

    /// Four books of an author, of which two are in a series. Another author has a series of the same name. Thirty others.
    private static let catalog =
        [
            line("Saga 1", author: "Ann Saga", series: "Saga", 1),
            line("Saga 2", author: "Ann Saga", series: "Saga", 2),
            line("Saga 3", author: "Bob Other", series: "Saga", 3),
            line("Alone", author: "Ann Saga", 4), line("Apart", author: "Ann Saga", 5),
        ] + (6...35).map { line("Card \($0)", author: "Author \($0)", $0) }

    private static let record = """
        mutation($inputs: [SwipeInput!]!) { recordSwipes(inputs: $inputs) { recorded } }
        """
    private static let page = """
        query($first: Int, $after: String) { feed(first: $first, after: $after) {
          nodes { id title } pageInfo { endCursor hasNextPage }
        } }
        """

    /// The titles of a new scroll, with the ids of their cards.
    private func cards(_ reader: TestReader) async throws -> [String: Value] {
        let nodes = try await reader.requireValue(Self.page, ["first": 50], "feed", "nodes")
        return Dictionary(
            (nodes.list ?? []).map { ($0["title"]?.string ?? "", $0["id"] ?? .null) },
            uniquingKeysWith: { $1 })
    }

    private func dislike(
        _ card: Value?, _ scope: String, _ reader: TestReader
    ) async throws {
        let response = try await reader.execute(
            Self.record,
            [
                "inputs": [
                    [
                        "cardId": card ?? .null, "action": "DISLIKE", "scope": .string(scope),
                    ]
                ]
            ])
        #expect(response["recordSwipes", "recorded"] == 1, "\(response.json)")
    }

    @Test(arguments: [
        ("AUTHOR", "Saga 1", ["Saga 1", "Saga 2", "Alone", "Apart"]),
        ("SERIES", "Saga 2", ["Saga 1", "Saga 2"]),
        ("SERIES", "Alone", ["Alone"]), ("BOOK", "Alone", ["Alone"]),
    ])
    func hideBooksUntilTheyAreUndone(scope: String, title: String, hidden: [String])
        async throws
    {
        let app = try await TestApp.start(catalog: Self.catalog)
        let (reader, other) = (try await app.makeReader(), try await app.makeReader())
        let all = try await cards(reader)
        #expect(all.count == 35)
        try await dislike(all[title], scope, reader)
        #expect(try await Set(all.keys).subtracting(cards(reader).keys) == Set(hidden))
        #expect(try await cards(other).count == 35)
        let history = try await reader.requireValue(
            "{ me { swipes(actions: [DISLIKE], inEffect: true) { nodes { scope card { title } } } } }",
            .null, "me",
            "swipes", "nodes")
        #expect(history == [["scope": .string(scope), "card": ["title": .string(title)]]])
        _ = try await reader.execute(
            "mutation($card: ID!) { undoSwipe(input: {cardId: $card}) { card { id } } }",
            ["card": all[title] ?? .null])
        #expect(try await cards(reader).count == 35)
    }

    /// A dislike of the book is not repeated by a dislike of its author, and a like of the book shows the author again.
    @Test func laterSwipesOfTheCardCount() async throws {
        let app = try await TestApp.start(catalog: Self.catalog)
        let reader = try await app.makeReader()
        let all = try await cards(reader)
        try await dislike(all["Alone"], "BOOK", reader)
        #expect(try await cards(reader).count == 34)
        try await dislike(all["Alone"], "AUTHOR", reader)
        #expect(try await cards(reader).count == 31)
        _ = try await reader.swipe("LIKE", [all["Alone"] ?? .null])
        #expect(try await cards(reader).count == 34)
        #expect(
            try await reader.requireValue(
                "{ me { swipes(actions: [DISLIKE], inEffect: true) { nodes { scope } } } }", .null,
                "me", "swipes",
                "nodes") == [])
    }

    /// The next page of a scroll no longer shows the author.
    @Test func hideTheRestOfAScroll() async throws {
        let app = try await TestApp.start(catalog: Self.catalog)
        let reader = try await app.makeReader()
        _ = try await reader.execute(
            #"mutation { updateProfile(input: {preferredGenres: ["Fantasy"]}) { id } }"#)
        let all = try await cards(reader)
        let first = try await reader.requireValue(Self.page, ["first": 1], "feed")
        try await dislike(all["Apart"], "AUTHOR", reader)
        var shown: [String] = []
        var cursor = first["pageInfo", "endCursor"] ?? .null
        for _ in 0..<10 {
            let page = try await reader.requireValue(
                Self.page, ["first": 10, "after": cursor], "feed")
            shown += page["nodes"]?.values(of: "title").compactMap(\.string) ?? []
            guard page["pageInfo", "hasNextPage"] == true else { break }
            cursor = page["pageInfo", "endCursor"] ?? .null
        }
        #expect(shown.count >= 30)
        #expect(Set(shown).isDisjoint(with: ["Saga 1", "Saga 2", "Alone", "Apart"]))
    }

    @Test(arguments: ["LIKE", "SKIP", "BUY"])
    func onlyDislikesHaveAScope(action: String) async throws {
        let app = try await TestApp.start(catalog: Self.catalog)
        let reader = try await app.makeReader()
        let card = try await cards(reader)["Alone"] ?? .null
        let response = try await reader.execute(
            Self.record,
            ["inputs": [["cardId": card, "action": .string(action), "scope": "AUTHOR"]]])
        #expect(response.code == "BAD_USER_INPUT")
        #expect(response.message == "Only a DISLIKE can be about an author or a series.")
        #expect(try await cards(reader).count == 35)
    }

    @Test func latestTwoHundredCount() async throws {
        let lines = (1...210).map { Self.line("Card \($0)", author: "Author \($0)", $0) }
        let app = try await TestApp.start(catalog: lines)
        let reader = try await app.makeReader()
        try await app.database.execute(
            """
            INSERT INTO swipes (user_id, edition_id, swiped_at, action, scope)
            SELECT '\(reader.id.string ?? "")', id, now() - number * interval '1 minute', 'DISLIKE', 'AUTHOR'
            FROM editions
            """)
        let hidden = try await app.database.count(
            """
            SELECT count(*) FROM (\(SwipeScope.hidden.replacing("$1", with: "'\(reader.id.string ?? "")'"))) h
            """)
        #expect(hidden == SwipeScope.hiddenMax)
    }
}
