import GraphQL
import GraphQLPostgres
import Postgres
import TestBasics
import TestSupport
import Testing

@testable import Bookplate

/// Compares the feed with a slow model, which reads the tables without decks and cursors.
///
/// All random choices depend only on the seed, which is an argument of the test and printed when it fails. Edition IDs are
/// random, so choices between editions use their titles.
@Suite struct FeedModelTests {
    static let genres = ["Fantasy", "Horror", "Romance", "History", "Poetry"]

    /// A catalog with books of all tiers: some have no genre, no description, or another language.
    private static func makeApp() async throws -> TestApp {
        var random = SeededGenerator(7)
        return try await TestApp.start(catalog: (1...140).map { line($0, using: &random) })
    }

    static func line(_ number: Int, using random: inout SeededGenerator) -> String {
        let count = [0, 1, 1, 1, 2, 3].randomElement(using: &random) ?? 1
        let names = genres.shuffled(using: &random).prefix(count).map { "\"\($0)\"" }
        let isDescribed = Int.random(in: 0..<5, using: &random) > 0
        let language = Int.random(in: 0..<6, using: &random) == 0 ? "fr" : "en"
        // The feed trusts the language only if the text agrees.
        let text =
            language == "fr"
            ? "La petite histoire du livre \(number) et de tous les autres."
            : "The story of number \(number) and of many others."
        return """
            {"ids":{"test":"\(number)"},"title":"Card \(number)","authors":["Author \(number % 40)"],\
            "genres":[\(names.joined(separator: ","))],"language":"\(language)",\
            \(isDescribed || language == "fr" ? "\"description\":\"\(text)\"," : "")\
            "ratingsCount":\(Int.random(in: 0...3_000_000, using: &random))}
            """
    }

    /// A card of the model. Cards of a lower group come first, and in each language those of tier 0 before those of tier 1.
    private struct Card: Equatable {
        let id: String
        let title: String
        let language: String
        let group: Int
        let tier: Int
        let genres: Set<String>
    }

    /// Returns the cards that the feed may show, by ID.
    private func model(_ reader: TestReader, genres: [String]?) async throws -> [String: Card] {
        let user = reader.id.string ?? ""
        let filter = genres.map {
            "AND e.genres && ARRAY[\($0.map { "'\($0)'" }.joined(separator: ","))]"
        }
        return try await reader.app.database.withConnection { connection in
            let rows = try connection.query(
                """
                WITH liked AS (
                  SELECT e.language, count(*) AS count FROM reader_signals s JOIN editions e ON e.id = s.edition_id
                  WHERE user_id = '\(user)' AND voice > 0 GROUP BY e.language
                ), own AS (
                  SELECT unnest(CASE languages WHEN '{}' THEN ARRAY['en'] ELSE languages END) AS language
                  FROM users WHERE id = '\(user)'
                  UNION
                  SELECT language FROM liked WHERE count >= 3 AND count * 5 >= (SELECT sum(count) FROM liked)
                )
                SELECT e.id::text, e.title, e.language,
                  CASE WHEN e.language IN (SELECT language FROM own) THEN 0 WHEN e.language = 'en' THEN 1 ELSE 2 END::int8,
                  CASE WHEN e.language = 'en' AND (e.description IS NULL OR e.genres = '{}') THEN 2
                   WHEN s.action IS NOT NULL THEN 1 ELSE 0 END::int8,
                  array_to_string(e.genres, '|')
                FROM editions e LEFT JOIN current_swipes s ON s.user_id = '\(user)' AND s.edition_id = e.id
                WHERE (s.action IS NULL OR s.action = 'SKIP' AND s.swiped_at <= now() - interval '30 days')
                AND NOT EXISTS (SELECT FROM books b WHERE b.user_id = '\(user)' AND b.edition_id = e.id)
                \(filter ?? "")
                """)
            var cards: [String: Card] = [:]
            for row in 0..<rows.count {
                let id = rows.text(row, 0) ?? ""
                cards[id] = Card(
                    id: id, title: rows.text(row, 1) ?? "", language: rows.text(row, 2) ?? "",
                    group: Int(rows.int64(row, 3) ?? -1), tier: Int(rows.int64(row, 4) ?? -1),
                    genres: Set((rows.text(row, 5) ?? "").split(separator: "|").map(String.init)))
            }
            return cards
        }
    }

    /// Returns the genres for which the signals of the reader have a positive sum, but for rounding.
    private func likedGenres(_ reader: TestReader) async throws -> Set<String> {
        let user = reader.id.string ?? ""
        return try await reader.app.database.withConnection { connection in
            let rows = try connection.query(
                """
                SELECT g
                FROM reader_signals s
                JOIN editions e ON e.id = s.edition_id
                CROSS JOIN LATERAL unnest(e.genres) g
                WHERE s.user_id = '\(user)'
                GROUP BY g
                HAVING sum(s.voice) > -0.001
                """)
            return Set((0..<rows.count).compactMap { rows.text($0, 0) })
        }
    }

    /// Scrolls through the feed and compares it with the model.
    private func check(
        _ reader: TestReader, first: Int, genres: [String]?, hasWorker: Bool,
        using random: inout SeededGenerator
    ) async throws {
        let expected = try await model(reader, genres: genres)
        var shown: [Card] = []
        var after = Value.null
        var pages: [(Value, Value)] = []
        func page(after: Value) async throws -> Value {
            let response = try await reader.execute(
                FeedTests.feed,
                [
                    "first": .int(first), "after": after,
                    "genres": genres.map { .list($0.map { .string($0) }) } ?? .null,
                ])
            return try #require(response["feed"], "\(response.json)")
        }
        repeat {
            let page = try await page(after: after)
            if hasWorker, Bool.random(using: &random) { try await reader.app.buildDecks() }
            for id in page["nodes"]?.values(of: "id") ?? [] {
                shown.append(
                    try #require(
                        expected[id.string ?? ""], "a card is shown that the model does not contain"
                    ))
            }
            pages.append((after, page["nodes"] ?? .null))
            guard page["pageInfo", "hasNextPage"] == true else { break }
            after = page["pageInfo", "endCursor"] ?? .null
        } while shown.count <= expected.count
        #expect(Set(shown.map(\.id)).count == shown.count, "a card is shown twice")
        #expect(Set(shown.map(\.id)) == Set(expected.keys))
        #expect(shown.map(\.group) == shown.map(\.group).sorted())
        // Books of the last tier may fill up the genres that the reader likes.
        let liked = try await likedGenres(reader)
        for cards in Dictionary(grouping: shown, by: \.language).values {
            let tiers = cards.filter { $0.tier < 2 || $0.genres.isDisjoint(with: liked) }.map(
                \.tier)
            #expect(tiers == tiers.sorted())
        }
        // Requesting a page again returns the same cards.
        if let (after, nodes) = pages.dropFirst().randomElement(using: &random) {
            #expect(try await page(after: after)["nodes"] == nodes)
        }
    }

    @Test(arguments: 1...4, [false, true])
    func feedMatchesTheModel(seed: UInt64, hasWorker: Bool) async throws {
        var random = SeededGenerator(seed)
        let app = try await Self.makeApp()
        let reader = try await app.makeReader(
            acceptLanguage: [nil, "fr", "en, fr;q=0.5", "en"][Int(seed) % 4])
        let user = reader.id.string ?? ""
        for round in 0..<14 {
            let possible = try await model(reader, genres: nil).values.sorted {
                $0.title < $1.title
            }.map(\.id)
            switch Int.random(in: 0..<8, using: &random) {
            case 0...2:
                let cards = possible.shuffled(using: &random).prefix(
                    Int.random(in: 1...12, using: &random))
                let action = ["LIKE", "SKIP", "SKIP", "DISLIKE", "BUY"].randomElement(
                    using: &random)
                _ = try await reader.swipe(action ?? "", cards.map { .string($0) })
            case 3:
                // Swipe the first cards of the feed.
                _ = try await reader.swipe(
                    "SKIP", try await reader.feedCards(20).map { $0["id"] ?? .null })
            case 4:
                try await app.database.execute(
                    """
                    UPDATE swipes SET swiped_at = swiped_at - interval '31 days' WHERE user_id = '\(user)'
                      AND edition_id IN (SELECT id FROM editions WHERE hashtext(title) % 3 = 0)
                    """)
            case 5:
                try await app.database.execute(
                    """
                    DELETE FROM swipes WHERE user_id = '\(user)'
                      AND edition_id IN (SELECT id FROM editions WHERE hashtext(title) % 4 = 1);
                    DELETE FROM books WHERE user_id = '\(user)'
                      AND edition_id IN (SELECT id FROM editions WHERE hashtext(title) % 2 = 1)
                    """)
            case 6:
                let salt = UInt32.random(in: 0...UInt32.max, using: &random)
                try await app.database.execute(
                    """
                    UPDATE editions SET popularity = (popularity + 1) * 8
                    WHERE hashtext(title || ' \(salt)') % 20 = 0
                    """)
            default:
                if let card = possible.randomElement(using: &random) {
                    _ = try await reader.makeBook(["cardId": .string(card)])
                }
                try await app.database.importCatalog([
                    Self.line(1000 + Int(seed) * 100 + round, using: &random)
                ])
            }
            // The cases above that write to the database do what the server's mutations do.
            try await app.outdateDecks()
            if hasWorker, Bool.random(using: &random) { try await app.buildDecks() }
            let first = [1, 7, 10, 50].randomElement(using: &random) ?? 10
            let genres =
                Bool.random(using: &random)
                ? nil : Array(Self.genres.shuffled(using: &random).prefix(2))
            try await check(
                reader, first: first, genres: genres, hasWorker: hasWorker, using: &random)
        }
    }

    /// The number of database pages that a page of the feed reads does not depend on the number of seen books or the size of
    /// the catalog.
    @Test func costDoesNotDependOnTheCatalog() async throws {
        func costs(books: Int, swipes: Int) async throws -> [Int] {
            let app = try await TestApp.start(catalog: TestCatalog.lines(books))
            let reader = try await app.makeReader()
            let user = reader.id.string ?? ""
            let id = try #require(UUID(user))
            try await app.database.execute(
                """
                INSERT INTO swipes (user_id, edition_id, action, swiped_at)
                  SELECT '\(user)', id, 'DISLIKE', now() FROM editions ORDER BY popularity DESC LIMIT \(swipes)
                """)
            _ = try await reader.feedCards(10)
            try await app.database.execute("ANALYZE")
            return try await app.database.withConnection(as: TestCluster.app) { connection in
                try connection.execute(
                    "SELECT set_config('app.user_id', '\(user)', false); SET plan_cache_mode = force_generic_plan"
                )
                let page = FeedPage(ColumnSet()).page
                let chain = try connection.query(
                    "SELECT max(chain) FROM feed_decks WHERE user_id = '\(user)'"
                ).int64(0, 0)
                return try [nil, chain].map { chain in
                    var parameters = Parameters.of(id)
                    parameters.append(int64: chain)
                    parameters.append(int32: 0)
                    parameters.append(int32: 10)
                    parameters.append(int32s: [])
                    parameters.append(timestamptz: chain.map { _ in 4_000_000_000_000_000 })
                    parameters.append(int32: 11)
                    let plan = try connection.query(
                        "EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF, SUMMARY OFF) "
                            + page.text, parameters)
                    let lines = (0..<plan.count).compactMap { plan.text($0, 0) }
                    let buffers = try #require(lines.first { $0.contains("Buffers: shared") })
                    return buffers.matches(of: /(hit|read)=([0-9]+)/).compactMap { Int($0.2) }
                        .reduce(0, +)
                }
            }
        }
        let small = try await costs(books: 400, swipes: 10)
        let large = try await costs(books: 4000, swipes: 3000)
        for (large, small) in zip(large, small) {
            #expect(large <= small * 3 / 2, "\(large) pages, and \(small)")
        }
        // A page looks up each card in five tables and indexes.
        #expect(large.allSatisfy { $0 <= 11 * 12 + 20 }, "\(large) pages")
    }
}
