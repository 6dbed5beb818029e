import GraphQL
import JobQueue
import Postgres
import TestBasics
import TestSupport
import Testing

@testable import Bookplate
@testable import Operations

/// The effect of readers' signals on the feed, through the background jobs.
@Suite struct FeedLearningTests {
    /// 80 books of four genres. Half of the readers like the first ten books of each genre, and half the last ten.
    private static func makeApp() async throws -> TestApp {
        let app = try await TestApp.start(catalog: TestCatalog.lines(80))
        try await app.database.execute(
            """
            INSERT INTO users (id, tenant_id)
              SELECT md5('r' || r)::uuid, (SELECT id FROM tenants LIMIT 1) FROM generate_series(0, 39) r;
            INSERT INTO swipes (user_id, edition_id, action, swiped_at)
              SELECT md5('r' || r)::uuid, e.id, 'LIKE', now() FROM generate_series(0, 39) r, editions e
              WHERE (substr(e.title, 6)::int <= 40) = (r % 2 = 0) AND hashtext(r || e.title) % 3 <> 0
            """)
        return app
    }

    private static func isLate(_ card: Value) -> Bool {
        card["title"]?.string?.split(separator: " ").last.flatMap { Int($0) }.map { $0 > 40 }
            ?? false
    }

    /// Runs the due jobs like a server.
    private func work(
        _ app: TestApp, _ handler: any JobHandler, until what: String,
        _ isDone: () async throws -> Bool
    ) async throws {
        let worker = try await TestWorker.start(app.database, [handler])
        try await TestBasics.waitUntil(what, isDone)
        await worker.stop()
    }

    @Test func feedFollowsTheReadersLikes() async throws {
        let app = try await Self.makeApp()
        let summary = try await app.database.withConnection {
            try SimilarBackfill($0).run(isIncremental: false)
        }
        #expect(summary.editions == 80)
        #expect(!summary.isIncremental)
        let reader = try await app.makeReader()
        let before = try await reader.requireValue(
            FeedTests.feed, ["first": 8], "feed", "pageInfo", "endCursor")
        let late =
            try await reader.requireValue(
                FeedTests.feed, ["first": 80], "feed", "nodes"
            ).list?.filter(Self.isLate) ?? []
        let second = try await reader.requireValue(
            FeedTests.feed, ["first": 8, "after": before], "feed", "nodes")
        _ = try await reader.swipe("LIKE", late.prefix(12).map { $0["id"] ?? .null })
        let user = reader.id.string ?? ""
        try await work(app, PrepareDeck(), until: "the deck is built") {
            try await app.database.count(
                "SELECT count(*) FROM feed_decks WHERE user_id = '\(user)'") > 0
        }
        let cards = try await reader.feedCards(10)
        #expect(cards.count == 10)
        #expect(cards.allSatisfy(Self.isLate), "\(cards)")
        let genres = cards.map { $0["genres", 0, "name"] }
        #expect(zip(genres, genres.dropFirst()).allSatisfy { $0 != $1 })
        // An earlier page does not change.
        let again = try await reader.requireValue(
            FeedTests.feed, ["first": 8, "after": before], "feed", "nodes")
        #expect(again == second)
        // Similar books are liked by the same readers.
        let similar = try await reader.requireValue(
            "query($id: ID!) { feedCard(id: $id) { similar(first: 5) { id title } } }",
            ["id": late[0]["id"] ?? .null], "feedCard", "similar")
        #expect(similar.list?.count == 5)
        #expect(similar.list?.allSatisfy(Self.isLate) == true)
    }

    /// Two readers like the same books in opposite orders.
    @Test func newestLikesWeighMost() async throws {
        let app = try await Self.makeApp()
        _ = try await app.database.withConnection {
            try SimilarBackfill($0).run(isIncremental: false)
        }
        var readers: [TestReader] = []
        for lastAreLate in [true, false] {
            let reader = try await app.makeReader()
            let cards =
                try await reader.requireValue(FeedTests.feed, ["first": 80], "feed", "nodes").list
                ?? []
            for isLate in [!lastAreLate, lastAreLate] {
                let liked = cards.filter { Self.isLate($0) == isLate }.prefix(12)
                _ = try await reader.swipe("LIKE", liked.map { $0["id"] ?? .null })
            }
            readers.append(reader)
        }
        try await work(app, PrepareDeck(), until: "the decks are built") {
            try await app.waitingDeckCount() == 0
        }
        #expect(try await readers[0].feedCards(10).count(where: Self.isLate) > 5)
        #expect(try await readers[1].feedCards(10).count(where: Self.isLate) < 5)
    }

    @Test func incrementalLearningMatchesFullLearning() async throws {
        let app = try await Self.makeApp()
        func learn(_ isIncremental: Bool) async throws -> (SimilarBackfill.Summary, [String]) {
            try await app.database.withConnection { connection in
                let summary = try SimilarBackfill(connection).run(isIncremental: isIncremental)
                let rows = try connection.query(
                    """
                    SELECT edition_id || ' ' || rank || ' ' || similar_id || ' ' || round(score::numeric, 4)
                    FROM edition_similar
                    CROSS JOIN LATERAL unnest(similar_ids, scores) WITH ORDINALITY u (similar_id, score, rank)
                    ORDER BY edition_id, rank
                    """)
                return (summary, (0..<rows.count).compactMap { rows.text($0, 0) })
            }
        }
        let (_, first) = try await learn(false)
        #expect(!first.isEmpty)
        let (nothing, unchanged) = try await learn(true)
        #expect(nothing.editions == 0)
        #expect(unchanged == first)
        // After new signals of one reader, only the affected editions are learned, with the same result.
        let reader = try await app.makeReader()
        let cards = try await reader.feedCards(3).map { $0["id"] ?? .null }
        _ = try await reader.swipe("LIKE", cards)
        let (changed, incremental) = try await learn(true)
        #expect(changed.editions == 3)
        #expect(changed.isIncremental)
        let (_, all) = try await learn(false)
        let learned = Set(cards.compactMap(\.string))
        func linksToLearned(_ links: [String]) -> Set<String> {
            Set(
                links.filter { learned.contains(String($0.split(separator: " ")[2])) }
                    .map { link in
                        link.split(separator: " ").enumerated().filter { $0.offset != 1 }
                            .map { String($0.element) }.joined(separator: " ")
                    })
        }
        #expect(linksToLearned(incremental) == linksToLearned(all))
    }

    /// Links of rows that the sources of the linked edition lack: learning it again would not find them.
    private static let lostLinks = """
        SELECT count(*)
        FROM edition_similar s
        CROSS JOIN LATERAL unnest(s.similar_ids) AS u (id)
        WHERE NOT EXISTS (
            SELECT
            FROM edition_similar_sources r
            WHERE r.edition_id = u.id AND s.edition_id = ANY(r.source_ids)
        )
        """
    private static let allLinks = """
        SELECT md5(string_agg(s::text, ',' ORDER BY edition_id))
        FROM (SELECT edition_id, similar_ids, ARRAY(SELECT round(x::numeric, 3) FROM unnest(scores) x) FROM edition_similar) s
        """

    @Test func rowsWithALearnedEditionAreFound() async throws {
        let app = try await Self.makeApp()
        func learn(_ isIncremental: Bool) async throws -> SimilarBackfill.Summary {
            try await app.database.withConnection {
                try SimilarBackfill($0).run(isIncremental: isIncremental)
            }
        }
        _ = try await learn(false)
        #expect(try await app.database.count(Self.lostLinks) == 0)
        for round in 0..<4 {
            let reader = try await app.makeReader()
            let cards = try await reader.feedCards(60).map { $0["id"] ?? .null }
            _ = try await reader.swipe("LIKE", Array(cards.dropFirst(round * 3).prefix(3)))
            #expect(try await learn(true).editions == 3)
            #expect(try await app.database.count(Self.lostLinks) == 0)
        }
        // A deleted edition disappears from the links of others.
        let deleted =
            try await app.database.text("SELECT id::text FROM editions ORDER BY id LIMIT 1")
        let links = "SELECT count(*) FROM edition_similar WHERE '\(deleted)' = ANY(similar_ids)"
        #expect(try await app.database.count(links) > 0)
        try await app.database.execute("DELETE FROM editions WHERE id = '\(deleted)'")
        #expect(try await app.database.count(links) == 0)
        #expect(
            try await app.database.count(
                "SELECT count(*) FROM edition_similar WHERE cardinality(similar_ids) <> cardinality(scores)"
            )
                == 0)
        _ = try await learn(true)
        #expect(try await app.database.count(links) == 0)
    }

    /// All is learned again if a command was stopped while it replaced the links of all editions.
    @Test func interruptedLearningIsRepeated() async throws {
        let app = try await Self.makeApp()
        let all = try await app.database.withConnection {
            try SimilarBackfill($0).run(isIncremental: false)
        }
        let links = try await app.database.text(Self.allLinks)
        try await app.database.execute(
            "SELECT replace_similar((SELECT array_agg(number) FROM editions WHERE number % 2 = 0), NULL, '{}', '{}', '{}')"
        )
        #expect(try await app.database.text(Self.allLinks) != links)
        let repeated = try await app.database.withConnection {
            try SimilarBackfill($0).run(isIncremental: true)
        }
        #expect(repeated == all)
        #expect(try await app.database.text(Self.allLinks) == links)
        #expect(try await app.database.count(Self.lostLinks) == 0)
        #expect(try await app.database.count("SELECT count(*) FROM works_to_learn(true)") == 0)
    }

    @Test func theHourlyJobLearnsFromNewSignals() async throws {
        let app = try await Self.makeApp()
        try await work(app, LearnSimilar(), until: "similar books are learned") {
            let links = try await app.database.count("SELECT count(*) FROM edition_similar")
            let works = try await app.database.count("SELECT count(*) FROM works_to_learn()")
            return links > 0 && works == 0
        }
        #expect(try await app.database.count("SELECT count(*) FROM readers_to_collect") == 0)
    }

    @Test func similarFallsBackToTheGenre() async throws {
        let app = try await TestApp.start(catalog: TestCatalog.lines(24))
        let reader = try await app.makeReader()
        let cards = try await reader.feedCards(24)
        for card in cards.prefix(4) {
            let similar = try await reader.requireValue(
                "query($id: ID!) { feedCard(id: $id) { similar(first: 3) { id genres { name } } } }",
                ["id": card["id"] ?? .null], "feedCard", "similar")
            #expect(similar.list?.count == 3)
            #expect(
                similar.list?.allSatisfy {
                    $0["genres", 0, "name"] == card["genres", 0, "name"] && $0["id"] != card["id"]
                }
                    == true)
        }
        let refused = try await reader.execute(
            "query($id: ID!) { feedCard(id: $id) { similar(first: 0) { id } } }",
            ["id": cards[0]["id"] ?? .null])
        #expect(refused.code == "BAD_USER_INPUT")
    }

    @Test func ownReadersReplaceTheCatalogsPopularity() async throws {
        let app = try await TestApp.start(catalog: TestCatalog.lines(24))
        let reader = try await app.makeReader()
        let least = try await reader.feedCards(24)[23]["id"]?.string ?? ""
        func isFirst() async throws -> Bool {
            try await app.makeReader().feedCards(10).contains { $0["id"] == .string(least) }
        }
        #expect(try await !isFirst())
        try await app.database.execute(
            """
            INSERT INTO users (id, tenant_id)
              SELECT md5('r' || r)::uuid, (SELECT id FROM tenants LIMIT 1) FROM generate_series(1, 30) r;
            INSERT INTO swipes (user_id, edition_id, action, swiped_at)
              SELECT id, '\(least)', 'LIKE', now() FROM users
            """)
        try await work(app, RefreshFeed(), until: "the order is refreshed") { try await isFirst() }
        // Books without signals keep their popularity, so a refresh writes only changed rows.
        #expect(
            try await app.database.count(
                "SELECT count(*) FROM editions WHERE popularity <> ratings_count") == 1)
    }
}
