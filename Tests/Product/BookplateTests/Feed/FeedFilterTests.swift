import GraphQL
import Postgres
import TestSupport
import Testing

@testable import Bookplate

/// Feeds of many genres, and of catalogs with many genres.
@Suite struct FeedFilterTests {
    /// There are more genres than the usual candidates of a deck are taken from.
    @Test(arguments: [1, 40, 100, nil], [7, 50, 100])
    func allBooksOfManyGenresAreShown(genres: Int?, first: Int) async throws {
        let reader = try await Self.many().makeReader()
        let wanted = genres.map { (1...$0).map { "Genre \($0 * 2)" } }
        var shown: [Value] = []
        var after = Value.null
        repeat {
            let response = try await reader.execute(
                FeedTests.feed,
                [
                    "first": .int(first), "after": after,
                    "genres": wanted.map { .list($0.map { .string($0) }) } ?? .null,
                ])
            shown += response["feed", "nodes"]?.list ?? []
            guard response["feed", "pageInfo", "hasNextPage"] == true else { break }
            after = response["feed", "pageInfo", "endCursor"] ?? .null
        } while shown.count < 1000
        let expected = (1...600).filter { number in
            wanted.map { wanted in Self.genres(number).contains { wanted.contains($0) } } ?? true
        }
        #expect(Set(shown.compactMap { $0["id"]?.string }).count == shown.count)
        #expect(shown.count == expected.count)
    }

    private static let many = Shared {
        let app = try await TestApp.start(catalog: [])
        try await app.database.execute(
            """
            INSERT INTO genres (id, slug, name) SELECT 1000 + n, 'genre-' || n, 'Genre ' || n FROM generate_series(1, 200) n;
            INSERT INTO genre_aliases (alias, genre_id) SELECT 'genre ' || n, 1000 + n FROM generate_series(1, 200) n
            """)
        try await app.database.importCatalog(
            (1...600).map { TestCatalog.line($0, genres: genres($0)) })
        return app
    }
    /// The second genre of each book is the first genre of other books.
    private static func genres(_ number: Int) -> [String] {
        ["Genre \(1 + number % 200)", "Genre \(1 + number * 7 % 200)"]
    }

    @Test func sharesCoverTheGenresOfTheFilter() {
        func shares(_ filter: [Int16], preferred: [Int16] = [], isComplete: Bool = false) -> [Int16:
            Int]
        {
            let candidates = DeckCandidates(
                reader: UUID(high: 0, low: 1), filter: filter, chain: nil, signals: [],
                preferred: preferred, genres: Array(1...600), preferredLanguages: ["en"],
                languages: ["en"], isComplete: isComplete)
            return Dictionary(uniqueKeysWithValues: candidates.shares.map { ($0.genre, $0.count) })
        }
        #expect(Set(shares([3, 500]).keys) == [3, 500])
        #expect(shares([3])[3] ?? 0 > DeckBuilder.cardsMax)
        // A preferred genre counts whatever its size.
        #expect(shares([]).count == 41)
        #expect(shares([], preferred: [600])[600] == 40)
        #expect(shares([])[0] == 40)
        // The complete candidates include all genres, and the books without a genre.
        #expect(shares([], isComplete: true).count == 601)
        #expect(shares([], isComplete: true)[0] != nil)
        #expect(shares([7], isComplete: true) == [7: DeckBuilder.cardsMax + 10])
    }
}
