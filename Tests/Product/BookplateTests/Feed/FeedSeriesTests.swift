import GraphQL
import TestSupport
import Testing

@testable import Bookplate

/// The volumes of a series come in order, over all decks of a scroll.
@Suite struct FeedSeriesTests {
    private static func line(
        _ title: String, volume: String? = nil, author: String = "Ann Saga",
        language: String = "en",
        described: Bool = true, ratings: Int
    ) -> String {
        let members = volume.map { "\"series\":\"Saga\",\"seriesPosition\":\"\($0)\"," } ?? ""
        let description = described ? "\"description\":\"A book called \(title).\"," : ""
        return """
            {"title":"\(title)",\(members)\(description)"authors":["\(author)"],"genres":["Fantasy"],\
            "language":"\(language)","ratingsCount":\(ratings)}
            """
    }

    private static let others = (1...330).map {
        line("Card \($0)", author: "Author of Card \($0)", ratings: 1000 + $0)
    }

    /// The titles of a scroll without the other books, and all cards with their ids.
    private func scroll(_ reader: TestReader) async throws -> (
        volumes: [String], ids: [String: Value]
    ) {
        var volumes: [String] = []
        var ids: [String: Value] = [:]
        var cursor = Value.null
        for _ in 0..<20 {
            let page = try await reader.requireValue(
                """
                query($after: String) { feed(first: 50, after: $after) {
                  nodes { id title } pageInfo { hasNextPage endCursor }
                } }
                """, ["after": cursor], "feed")
            for card in page["nodes"]?.list ?? [] {
                let title = card["title"]?.string ?? ""
                if title.hasPrefix("Saga") { volumes.append(title) }
                ids[title] = card["id"]
            }
            guard page["pageInfo", "hasNextPage"] == true else { break }
            cursor = page["pageInfo", "endCursor"] ?? .null
        }
        return (volumes, ids)
    }

    /// Without the other volumes, the first one would not be among the candidates of the first decks.
    @Test func earlierVolumesComeFirst() async throws {
        let app = try await TestApp.start(
            catalog: Self.others + [
                Self.line("Saga 1", volume: "1", ratings: 1),
                Self.line("Saga 2", volume: "2", ratings: 2),
                Self.line("Saga 3", volume: "3", ratings: 5000),
            ])
        for likes in [0, 3] {
            let reader = try await app.makeReader()
            let ids = try await scroll(reader).ids
            _ = try await reader.swipe(
                "LIKE", (1...3).prefix(likes).compactMap { ids["Card \($0)"] })
            let found = try await scroll(reader)
            #expect(found.volumes == ["Saga 1", "Saga 2", "Saga 3"])
            #expect(found.ids.count == 333 - likes)
        }
    }

    @Test(arguments: ["SKIP", "DISLIKE", "LIKE"])
    func noVolumeFollowsASwipedOne(action: String) async throws {
        let app = try await TestApp.start(
            catalog: Self.others
                + (1...5).map { (volume: Int) in
                    Self.line("Saga \(volume)", volume: "\(volume)", ratings: 5000)
                })
        let (reader, other) = (try await app.makeReader(), try await app.makeReader())
        let ids = try await scroll(reader).ids
        _ = try await reader.swipe(action, [ids["Saga 3"] ?? .null])
        #expect(try await scroll(reader).volumes == ["Saga 4", "Saga 5"])
        #expect(
            try await scroll(other).volumes == ["Saga 1", "Saga 2", "Saga 3", "Saga 4", "Saga 5"])
    }

    /// A series is one by its name and the first author: authors use the same names, such as "Private".
    @Test func seriesOfTheSameNameAreIndependent() async throws {
        let app = try await TestApp.start(
            catalog: Self.others
                + (1...3).flatMap { (volume: Int) in
                    [
                        Self.line("Saga \(volume)", volume: "\(volume)", ratings: 5000),
                        Self.line(
                            "Saga of Bob \(volume)", volume: "\(volume)", author: "Bob Other",
                            ratings: 10 - volume),
                    ]
                })
        let reader = try await app.makeReader()
        let ids = try await scroll(reader).ids
        _ = try await reader.swipe("SKIP", [ids["Saga 3"] ?? .null])
        #expect(
            try await scroll(reader).volumes == ["Saga of Bob 1", "Saga of Bob 2", "Saga of Bob 3"])
    }

    /// The languages of a reader are ranked separately. The popular second volume waits for the first one in another language.
    @Test func volumesInSeveralLanguagesComeInOrder() async throws {
        let app = try await TestApp.start(
            catalog: Self.others + [
                Self.line("Saga uno de la serie", volume: "1", language: "es", ratings: 1),
                Self.line("Saga 2", volume: "2", ratings: 5000),
            ])
        let reader = try await app.makeReader()
        _ = try await reader.execute(
            #"mutation { updateProfile(input: {languages: ["en", "es"]}) { id } }"#)
        #expect(try await scroll(reader).volumes == ["Saga uno de la serie", "Saga 2"])
    }

    /// A language that has all volumes does not wait for those of another one.
    @Test func completeSeriesOfALanguageDoNotWait() async throws {
        let titles = ["uno", "dos", "tres"]
        let app = try await TestApp.start(
            catalog: titles.enumerated().map { index, title in
                Self.line(
                    "Saga \(title) de la serie", volume: "\(index + 1)", language: "es", ratings: 1)
            } + Self.others
                + (1...3).map { Self.line("Saga \($0)", volume: "\($0)", ratings: 3_000_000) })
        let reader = try await app.makeReader()
        _ = try await reader.execute(
            #"mutation { updateProfile(input: {languages: ["en", "es"]}) { id } }"#)
        let page = try await reader.execute("{ feed(first: 10) { nodes { title } } }")
        let shown = page["feed", "nodes"]?.values(of: "title") ?? []
        #expect(shown.contains("Saga 1"), "\(shown)")
    }

    /// A reader who has an opinion of a volume does not get the collected edition.
    @Test func collectedEditionsAreForOthers() async throws {
        let app = try await TestApp.start(
            catalog: Self.others.suffix(40) + [
                Self.line("Saga 1", volume: "1", ratings: 5000),
                Self.line("Saga Complete", volume: "1-3", ratings: 5000),
                Self.line("Saga Two", volume: "Book 2", ratings: 5000),
            ])
        let (reader, other) = (try await app.makeReader(), try await app.makeReader())
        let ids = try await scroll(reader).ids
        _ = try await reader.swipe("LIKE", [ids["Saga 1"] ?? .null])
        #expect(try await scroll(reader).volumes == ["Saga Two"])
        #expect(
            try await scroll(other).volumes.sorted() == ["Saga 1", "Saga Complete", "Saga Two"])
    }

    /// Volume 1 has no description and would come last. Volume 3 is in another language.
    @Test func volumesOfOtherTiersAndLanguagesDoNotComeLate() async throws {
        let app = try await TestApp.start(
            catalog: Self.others + [
                Self.line("Saga 1", volume: "1", described: false, ratings: 5000),
                Self.line("Saga 2", volume: "2", ratings: 5000),
                Self.line("Saga tres de la serie", volume: "3", language: "es", ratings: 5000),
                Self.line("Saga 4", volume: "4", ratings: 5000),
            ])
        let reader = try await app.makeReader()
        #expect(try await scroll(reader).volumes == ["Saga 2", "Saga 4"])
    }
}
