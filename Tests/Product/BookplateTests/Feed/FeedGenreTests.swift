import GraphQL
import TestSupport
import Testing

@testable import Bookplate

/// How many cards have the genres that a reader likes.
@Suite struct FeedGenreTests {
    private static func line(_ title: String, genre: String, described: Bool = true, ratings: Int)
        -> String
    {
        let description = described ? "\"description\":\"A book called \(title).\"," : ""
        return """
            {"title":"\(title)",\(description)"authors":["Author of \(title)"],"genres":["\(genre)"],\
            "language":"en","ratingsCount":\(ratings)}
            """
    }

    private func titles(_ reader: TestReader) async throws -> [String] {
        try await reader.requireValue(
            "{ feed(first: 20) { nodes { title } } }", .null, "feed", "nodes"
        ).values(of: "title").compactMap(\.string)
    }

    /// Few records of small genres have descriptions, so the others fill up the genre if the reader likes it.
    @Test func smallGenresAreFilledUp() async throws {
        let app = try await TestApp.start(
            catalog: (1...60).map {
                Self.line(
                    "Card \($0)", genre: ["Horror", "History", "Travel"][$0 % 3], ratings: 5000 - $0
                )
            } + (1...4).map { Self.line("West \($0)", genre: "Westerns", ratings: 100) }
                + (5...12).map {
                    Self.line("West \($0)", genre: "Westerns", described: false, ratings: 100)
                })
        let (reader, other) = (try await app.makeReader(), try await app.makeReader())
        var liked: [Value] = []
        for number in 1...3 {
            liked.append(
                try await reader.requireValue(
                    "query($title: String!) { search(query: $title, first: 1) { nodes { id } } }",
                    ["title": .string("West \(number)")], "search", "nodes", 0, "id"))
        }
        _ = try await reader.swipe("LIKE", liked)
        #expect(try await titles(reader).count { $0.hasPrefix("West") } >= 6)
        let undescribed = Set((5...12).map { "West \($0)" })
        #expect(try await undescribed.isDisjoint(with: titles(other)))
    }
}
