import GraphQL
import Postgres
import TestSupport
import Testing

@testable import Bookplate

/// The feed against a slow model of it: what may be shown, asked of the tables with no frontier, order or cursor.
@Suite struct FeedModelTests {
    static let genres = ["Fantasy", "Crime", "Romance", "History", "Poetry"]

    /// Books of all tiers: some of no genre, without a description, in another language.
    static let app = Shared {
        var random = SeededGenerator(7)
        return try await TestApp.start(catalog: (1...140).map { line($0, using: &random) })
    }

    static func line(_ number: Int, using random: inout SeededGenerator) -> String {
        let count = [0, 1, 1, 1, 2, 3].randomElement(using: &random) ?? 1
        let named = genres.shuffled(using: &random).prefix(count).map { "\"\($0)\"" }
        let isTold = Int.random(in: 0..<5, using: &random) > 0
        let language = Int.random(in: 0..<6, using: &random) == 0 ? "fr" : "en"
        return """
            {"ids":{"test":"\(number)"},"title":"Card \(number)","authors":["Author \(number % 40)"],\
            "genres":[\(named.joined(separator: ","))],"language":"\(language)",\
            \(isTold ? "\"description\":\"The story of number \(number) and of many others.\"," : "")\
            "ratingsCount":\(Int.random(in: 0...3_000_000, using: &random))}
            """
    }

    /// A card as the model knows it: in its genre's queue the smaller `order` comes first.
    private struct Card: Equatable {
        let id: String
        let genre: String
        let order: [Double]
    }

    private func model(_ reader: TestReader, genres: [String]?) async throws -> [String: Card] {
        let user = reader.id.string ?? ""
        let filter = genres.map {
            "AND e.genres && ARRAY[\($0.map { "'\($0)'" }.joined(separator: ","))]"
        }
        return try await Self.app().database.withConnection { connection in
            let rows = try connection.query(
                """
                SELECT e.id::text, coalesce(e.genres[1], ''),
                  (CASE WHEN e.language = 'fr' THEN 3 WHEN e.hook IS NULL OR e.genres = '{}' THEN 2
                   WHEN s.action IS NOT NULL THEN 1 ELSE 0 END)::float8, -e.popularity
                FROM editions e LEFT JOIN swipes s ON s.user_id = '\(user)' AND s.edition_id = e.id
                WHERE (s.action IS NULL OR s.action = 'SKIP' AND s.swiped_at <= now() - interval '30 days')
                AND NOT EXISTS (SELECT FROM books b WHERE b.user_id = '\(user)' AND b.edition_id = e.id)
                \(filter ?? "")
                """)
            var cards: [String: Card] = [:]
            for row in 0..<rows.count {
                let id = rows.text(row, 0) ?? ""
                cards[id] = Card(
                    id: id, genre: rows.text(row, 1) ?? "",
                    order: [rows.float8(row, 2) ?? -1, rows.float8(row, 3) ?? 1])
            }
            return cards
        }
    }

    private func check(
        _ reader: TestReader, first: Int, genres: [String]?, hasDeck: Bool
    ) async throws {
        let expected = try await model(reader, genres: genres)
        var shown: [Card] = []
        var after = Value.null
        var pages: [(Value, Value)] = []
        repeat {
            let response = try await reader.execute(
                FeedTests.feed,
                [
                    "first": .int(first), "after": after,
                    "genres": genres.map { .list($0.map { .string($0) }) } ?? .null,
                ])
            let page = try #require(response["feed"], "\(response.json)")
            if hasDeck, pages.count % 4 == 1 {
                try await Self.app().database.deal(to: reader.id.string ?? "", isFresh: .random())
            }
            for id in page["nodes"]?.values(of: "id") ?? [] {
                shown.append(try #require(expected[id.string ?? ""], "shown, and may not be"))
            }
            pages.append((after, page["nodes"] ?? .null))
            guard page["pageInfo", "hasNextPage"] == true else { break }
            after = page["pageInfo", "endCursor"] ?? .null
        } while shown.count <= expected.count
        #expect(Set(shown.map(\.id)).count == shown.count, "twice")
        #expect(Set(shown.map(\.id)) == Set(expected.keys))
        var left = expected.values.reduce(into: [String: Int]()) { $0[$1.genre, default: 0] += 1 }
        for (card, next) in zip(shown, shown.dropFirst()) {
            left[card.genre, default: 0] -= 1
            if card.genre == next.genre {
                #expect(left.allSatisfy { $0.key == card.genre || $0.value == 0 }, "neighbours")
            }
        }
        // The order of relaxation: nothing is shown while a card of a lower tier may stand there.
        var queues = Dictionary(grouping: expected.values, by: \.genre).mapValues { cards in
            cards.sorted { $0.order.lexicographicallyPrecedes($1.order) }
        }
        for (place, card) in shown.enumerated() where !hasDeck {
            let last = place == 0 ? nil : shown[place - 1].genre
            let heads = queues.filter { $0.key != last }.compactMap(\.value.first)
            if let lowest = heads.map({ $0.order[0] }).min() {
                #expect(card.order[0] == lowest, "card \(place)")
            }
            queues[card.genre]?.removeAll { $0.id == card.id }
        }
        // What the reader's own signals speak for comes before.
        for queue in hasDeck ? [] : Array(Dictionary(grouping: shown, by: \.genre).values) {
            for (card, next) in zip(queue, queue.dropFirst()) {
                #expect(
                    card.order.lexicographicallyPrecedes(next.order) || card.order == next.order)
            }
        }
        // Any page again, whatever was dealt meanwhile.
        if hasDeck {
            try await Self.app().database.deal(to: reader.id.string ?? "", isFresh: .random())
        }
        if let (after, nodes) = pages.dropFirst().randomElement() {
            let again = try await reader.execute(
                FeedTests.feed,
                [
                    "first": .int(first), "after": after,
                    "genres": genres.map { .list($0.map { .string($0) }) } ?? .null,
                ])
            #expect(again["feed", "nodes"] == nodes)
        }
    }

    @Test(arguments: 1...4, [false, true])
    func showsWhatTheModelShows(seed: UInt64, hasDeck: Bool) async throws {
        var random = SeededGenerator(seed)
        let app = try await Self.app()
        let reader = try await app.makeReader()
        let user = reader.id.string ?? ""
        for round in 0..<14 {
            let mine = try await model(reader, genres: nil).keys.sorted()
            switch Int.random(in: 0..<8, using: &random) {
            case 0...2:
                let cards = mine.shuffled(using: &random).prefix(
                    Int.random(in: 1...12, using: &random))
                let action = ["LIKE", "SKIP", "SKIP", "DISLIKE", "BUY"].randomElement(
                    using: &random)
                _ = try await reader.swipe(action ?? "", cards.map { .string($0) })
            case 3:
                // As somebody who swipes the feed from its top.
                _ = try await reader.swipe(
                    "SKIP", try await reader.feedCards(20).map { $0["id"] ?? .null })
            case 4:
                try await app.database.execute(
                    """
                    UPDATE swipes SET swiped_at = now() - interval '31 days' WHERE user_id = '\(user)'
                      AND hashtext(edition_id::text) % 3 = 0
                    """)
            case 5:
                try await app.database.execute(
                    """
                    DELETE FROM swipes WHERE user_id = '\(user)' AND hashtext(edition_id::text) % 4 = 1;
                    DELETE FROM books WHERE user_id = '\(user)' AND hashtext(edition_id::text) % 2 = 1
                    """)
            case 6:
                try await app.database.execute(
                    "UPDATE editions SET popularity = (popularity + 1) * 8 WHERE random() < 0.05")
            default:
                if let card = mine.randomElement(using: &random) {
                    _ = try await reader.makeBook(["cardId": .string(card)])
                }
                try await app.database.importCatalog([
                    Self.line(1000 + Int(seed) * 100 + round, using: &random)
                ])
            }
            if Bool.random(using: &random) {
                try await app.database.execute("SELECT advance_feed('\(user)')")
            }
            if hasDeck, round % 3 == 0 {
                try await app.database.deal(to: user, isFresh: .random(using: &random))
            }
            try await check(
                reader, first: [1, 7, 10, 50].randomElement(using: &random) ?? 10,
                genres: Bool.random(using: &random)
                    ? nil : Array(Self.genres.shuffled(using: &random).prefix(2)),
                hasDeck: hasDeck)
        }
    }

    /// A page costs the same whatever was seen, and however large the catalogue is: in pages of the database.
    @Test func costDoesNotGrow() async throws {
        func costs(books: Int, swipes: Int) async throws -> [Int] {
            let app = try await TestApp.start(catalog: TestCatalog.lines(books))
            let reader = try await app.makeReader()
            let user = reader.id.string ?? ""
            let id = try #require(UUID(user))
            try await app.database.execute(
                """
                INSERT INTO swipes (user_id, edition_id, action, swiped_at)
                  SELECT '\(user)', id, 'DISLIKE', now() FROM editions ORDER BY popularity DESC LIMIT \(swipes);
                SELECT advance_feed('\(user)');
                """)
            for _ in 0..<5 { try await app.database.deal(100, to: user, isFresh: true) }
            try await app.database.execute("ANALYZE")
            return try await app.database.withConnection(as: TestCluster.app) { connection in
                try connection.execute(
                    "SELECT set_config('app.user_id', '\(user)', false); SET plan_cache_mode = force_generic_plan"
                )
                let statements = FeedStatements(ColumnSet())
                var top = Parameters.of(id)
                top.append(int32: 11)
                var deck = Parameters.of(id)
                deck.append(timestamptz: nil)
                deck.append(int32: 2)
                deck.append(int32s: Array(1...100))
                deck.append(int32: 27)
                deck.append(int32s: [])
                deck.append(int64s: [])
                var queues = Parameters.of(id)
                queues.append(timestamptz: nil)
                queues.append(int32s: [1, 2, 3, 4])
                queues.append(int64s: [0, 0, 0, 0])
                queues.append(int32s: [4, 4, 4, 4])
                queues.appendNull(PostgresType.int32.array)
                queues.append(int32s: Array(1...100))
                queues.append(int64: FeedPosition.firstTierEnd)
                let asked = [
                    (statements.top, top), (statements.deck, deck), (statements.firstTier, queues),
                ]
                return try asked.map { statement, parameters in
                    let plan = try connection.query(
                        "EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF, SUMMARY OFF) "
                            + statement.text, parameters)
                    let lines = (0..<plan.count).compactMap { plan.text($0, 0) }
                    let buffers = try #require(lines.first { $0.contains("Buffers: shared") })
                    return buffers.matches(of: /(hit|read)=([0-9]+)/).compactMap { Int($0.2) }
                        .reduce(0, +)
                }
            }
        }
        let little = try await costs(books: 400, swipes: 10)
        let much = try await costs(books: 4000, swipes: 3000)
        for (much, little) in zip(much, little) {
            #expect(much <= little * 3 / 2, "\(much) pages, and \(little)")
        }
        // A page that nothing was seen of is its cards and hardly more.
        #expect(much[0] <= 11 * 3 + 6, "\(much[0]) pages")
    }
}

extension TestDatabase {
    /// A new version of the reader's deck, of any books.
    ///
    /// - Parameter isFresh: only of unseen ones, as the product deals it; else also of those that may not be shown.
    fileprivate func deal(_ count: Int = 60, to user: String, isFresh: Bool) async throws {
        try await execute(
            """
            INSERT INTO feed_decks (user_id, version, editions, genres, touched_at) SELECT '\(user)',
              1 + coalesce((SELECT max(version) FROM feed_decks WHERE user_id = '\(user)'), 0),
              array_agg(id), array_agg(genre), \(isFresh ? "NULL" : "'-infinity'")
              FROM (SELECT e.id, f.primary_id AS genre FROM editions e
                JOIN feed_order f ON f.edition_id = e.id AND f.genre_id = f.primary_id
                WHERE NOT \(isFresh) OR NOT EXISTS (
                  SELECT FROM swipes WHERE user_id = '\(user)' AND edition_id = e.id)
                AND NOT EXISTS (SELECT FROM books WHERE user_id = '\(user)' AND edition_id = e.id)
                ORDER BY random() LIMIT \(count)) e HAVING count(*) > 0
            """)
    }
}
