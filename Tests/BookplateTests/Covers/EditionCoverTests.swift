import BookSources
import GraphQL
import HTTPFetch
import LoopbackHTTP
import ObjectStorage
import Postgres
import TestSupport
import Testing

@testable import Bookplate

/// Cards of the feed show the pictures that outside sources have of their books.
@Suite struct EditionCoverTests {
    /// Serves a picture of so many pixels a side: `/500x700`.
    private func pictures() throws -> LoopbackServer {
        try LoopbackServer { request in
            let sides = request.target.dropFirst().split(separator: "x").compactMap { Int($0) }
            guard sides.count == 2 else { return [.response(404)] }
            let png = TestImage.png(width: sides[0], height: sides[1])
            return [.send("HTTP/1.1 200 OK\r\nContent-Length: \(png.count)\r\n\r\n"), .bytes(png)]
        }
    }

    private func record(_ server: LoopbackServer, _ paths: String...) -> BookRecord {
        BookRecord(
            title: "Card",
            covers: paths.map { CoverCandidate(source: .openLibrary, url: server.url($0)) })
    }

    /// The jobs of one minute, done once.
    private func runJobs(_ app: TestApp) async throws {
        let worker = try await TestWorker.start(
            app.database,
            [FetchEditionCovers(editions: EditionCovers(app.services))])
        try await waitUntil("the job was done") {
            try await app.database.count(
                "SELECT count(*) FROM jobs WHERE kind = 'edition.covers' AND run_at > now()") == 1
        }
        await worker.stop()
    }

    private static func app(_ catalog: [String], _ source: TestSource) async throws -> TestApp {
        let sources = SourceChain([source.source(.openLibrary)])
        return try await TestApp.start(
            catalog: catalog, sources: sources, coverSources: CoverSources(sources))
    }

    private static let feed = "{ feed(first: 10) { nodes { id title coverUrl coverKind } } }"

    @Test func cardsGetTheBestPictureThatASourceHas() async throws {
        let server = try pictures()
        let source = TestSource([
            TestCatalog.isbn(1): record(server, "/150x220", "/500x700", "/900x1300"),
            TestCatalog.isbn(2): record(server, "/nothing", "/150x220"),
            TestCatalog.isbn(3): record(server, "/nothing", "/40x60"),
        ])
        let app = try await Self.app(TestCatalog.lines(4), source)
        try await runJobs(app)
        let reader = try await app.makeReader()
        let cards = try await reader.requireValue(Self.feed, .null, "feed", "nodes").list ?? []
        var kinds: [String: Value] = [:]
        for card in cards {
            kinds[card["title"]?.string ?? ""] = card["coverKind"]
            let bucket = card["coverKind"] == "TITLE_CARD" ? "title-cards" : "edition-covers"
            let base = "http://covers.test/\(bucket)/\(card["id"]?.string ?? "").jpg?v="
            #expect(card["coverUrl"]?.string?.hasPrefix(base) == true, "\(card)")
        }
        #expect(
            kinds == [
                "Card 1": "HIGH_RESOLUTION", "Card 2": "THUMBNAIL", "Card 3": "TITLE_CARD",
                "Card 4": "TITLE_CARD",
            ])
        // What the address names is in the store, in every size.
        let card = try #require(cards.first { $0["title"] == "Card 1" })
        let id = try #require(card["id"]?.string)
        let version = try #require(card["coverUrl"]?.string?.split(separator: "v=").last)
        let key = try #require(ObjectKey(.editionCovers, folder: id.prefix(2), name: id))
        for variant in ObjectVariant.allCases {
            let path = try #require(ObjectPath(key, version: version, variant))
            #expect(try await app.covers.store.open(path) != nil)
        }
        // Nobody is asked again, and a sweep keeps what is named.
        let asked = source.requests.count
        try await app.database.execute(
            "UPDATE jobs SET run_at = now() WHERE kind = 'edition.covers'")
        try await runJobs(app)
        #expect(source.requests.count == asked)
        let swept = try await StorageSweep(
            app.covers.store, graceSeconds: 0, isDryRun: false,
            AdminConnection(try app.database.url(as: TestCluster.owner))
        ).run()
        #expect(swept.orphans == 0)
    }

    /// The first to look for a book makes it come into the catalogue; its picture follows.
    @Test func aBookThatIsLookedUpGetsItsPicture() async throws {
        let server = try pictures()
        let source = TestSource([TestCatalog.isbn(7): record(server, "/500x700")])
        let app = try await Self.app([], source)
        let reader = try await app.makeReader()
        let lookup = """
            query($isbn: String!) { lookupISBN(isbn: $isbn) { coverKind } }
            """
        let isbn = Value.string(TestCatalog.isbn(7))
        #expect(
            try await reader.requireValue(lookup, ["isbn": isbn], "lookupISBN", "coverKind")
                == "TITLE_CARD")
        let worker = try await TestWorker.start(
            app.database, [FetchEditionCover(editions: EditionCovers(app.services))])
        try await waitUntil("the picture is there") {
            try await reader.requireValue(lookup, ["isbn": isbn], "lookupISBN", "coverKind")
                == "HIGH_RESOLUTION"
        }
        await worker.stop()
    }

    /// Its job ends; the book waits with the others.
    @Test func aBookThatIsLookedUpWhileASourceIsAwayIsAskedForSoon() async throws {
        let server = try LoopbackServer { _ in [.response(503)] }
        let source = TestSource([TestCatalog.isbn(7): record(server, "/500x700")])
        let app = try await Self.app([], source)
        let reader = try await app.makeReader()
        _ = try await reader.requireValue(
            "query($isbn: String!) { lookupISBN(isbn: $isbn) { id } }",
            ["isbn": .string(TestCatalog.isbn(7))], "lookupISBN")
        let worker = try await TestWorker.start(
            app.database, [FetchEditionCover(editions: EditionCovers(app.services))])
        try await waitUntil("the job is done") {
            try await app.database.count("SELECT count(*) FROM jobs WHERE kind = 'edition.cover'")
                == 0
        }
        await worker.stop()
        #expect(!server.requests.isEmpty)
        #expect(
            try await app.database.count(
                "SELECT count(*) FROM editions WHERE cover_due_at < now() + interval '16 minutes'")
                == 1)
    }

    /// That only the network was away is no answer: such books are asked for again soon, before all others, and those that
    /// nobody has a picture of are not.
    @Test func aSourceThatWasAwayIsAskedAgainSoon() async throws {
        let server = try pictures()
        let source = TestSource([TestCatalog.isbn(1): record(server, "/500x700")])
        let app = try await Self.app(TestCatalog.lines(2), source)
        func due(_ minutes: Int) async throws -> Int {
            try await app.database.count(
                """
                SELECT count(*) FROM editions WHERE cover_version IS NULL AND cover_due_at > now() \
                AND cover_due_at < now() + interval '\(minutes) minutes'
                """)
        }
        source.fail(with: .status(503))
        try await runJobs(app)
        #expect(try await due(16) == 2)
        // The second time it waits for longer.
        try await again(app)
        #expect(try await due(31) == 2)
        try await again(app)
        #expect(try await due(59) == 0)
        #expect(try await due(61) == 2)
        #expect(source.requests.count == 6)
        source.fail(with: nil)
        try await again(app)
        #expect(
            try await app.database.count(
                "SELECT count(*) FROM editions WHERE cover_version IS NOT NULL") == 1)
        // The other is known to have none.
        #expect(try await due(89 * 24 * 60) == 0)
        #expect(try await due(91 * 24 * 60) == 1)
    }

    /// The jobs of the minute in which the books that wait are due.
    private func again(_ app: TestApp) async throws {
        try await app.database.execute(
            """
            UPDATE editions SET cover_due_at = now() - interval '1 second' WHERE cover_version IS NULL;
            UPDATE jobs SET run_at = now() WHERE kind = 'edition.covers'
            """)
        try await runJobs(app)
    }

    /// A picture that cannot be had now is another thing than one that is not there.
    @Test(arguments: [(503, 1), (404, 0)])
    func aPictureThatCannotBeHadIsNoAnswer(status: Int, soon: Int) async throws {
        let server = try LoopbackServer { _ in [.response(status)] }
        let source = TestSource([TestCatalog.isbn(1): record(server, "/500x700")])
        let app = try await Self.app(TestCatalog.lines(1), source)
        try await runJobs(app)
        #expect(
            try await app.database.count(
                "SELECT count(*) FROM editions WHERE cover_due_at < now() + interval '1 hour'")
                == soon)
    }

    /// However many nobody can tell of, the others have their turn.
    @Test func lateOnesTakeHalfOfThePlaces() async throws {
        let app = try await TestApp.start(catalog: TestCatalog.lines(20))
        try await app.database.execute(
            """
            UPDATE editions SET cover_failures = 1, cover_due_at = now() - interval '1 day' \
            WHERE id IN (SELECT id FROM editions ORDER BY id LIMIT 10)
            """)
        let late = try await app.database.count(
            """
            WITH late AS (SELECT id FROM editions WHERE cover_failures = 1)
            SELECT count(*) * 10 + count(l.id) FROM take_editions_without_cover(5) t LEFT JOIN late l USING (id)
            """)
        #expect(late == 52)
        #expect(
            try await app.database.count("SELECT count(*) FROM take_editions_without_cover(1)") == 1
        )
    }

    /// What the release before this one has asked for is due 90 days after that, and taking it forgets when that was.
    @Test func whatWasAskedForBeforeIsDueAfterNinetyDays() async throws {
        let app = try await TestApp.start(catalog: TestCatalog.lines(3))
        try await app.database.execute(
            """
            UPDATE editions SET cover_asked_at = now() - (CASE title WHEN 'Card 1' THEN 91 ELSE 89 END) * interval '1 day'
            WHERE title IN ('Card 1', 'Card 2')
            """)
        #expect(
            try await app.database.count("SELECT count(*) FROM take_editions_without_cover(9)") == 2
        )
        #expect(
            try await app.database.count(
                "SELECT count(*) FROM editions WHERE cover_asked_at IS NOT NULL AND title = 'Card 2'"
            ) == 1)
        #expect(
            try await app.database.count(
                "SELECT count(*) FROM editions WHERE cover_asked_at IS NOT NULL") == 1)
    }

    @Test func theNextAreFoundByTheirIndex() async throws {
        let app = try await TestApp.start(catalog: TestCatalog.lines(3))
        let scans = try await app.database.withConnection { connection in
            try connection.execute(
                """
                BEGIN; SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off;
                SET LOCAL enable_sort = off; SELECT FROM take_editions_without_cover(2)
                """)
            return try connection.query(
                "SELECT pg_stat_get_xact_numscans('editions_due_for_cover'::regclass)"
            ).int64(0, 0)
        }
        #expect(scans == 1)
    }

    /// A writer of the catalogue is not waited for.
    @Test func aMissOfARowThatIsBeingWrittenIsLeft() async throws {
        let app = try await TestApp.start(catalog: TestCatalog.lines(1))
        let writer = try AdminConnection(try app.database.url(as: TestCluster.owner))
        try writer.execute("BEGIN; SELECT FROM editions FOR UPDATE")
        let miss = "SELECT miss_edition_cover(id, 90) FROM editions"
        let due = "SELECT count(*) FROM editions WHERE cover_due_at > now()"
        try await app.database.execute("SET lock_timeout = 1; " + miss)
        #expect(try await app.database.count(due) == 0)
        try writer.execute("ROLLBACK")
        try await app.database.execute(miss)
        #expect(try await app.database.count(due) == 1)
    }

    /// A source that is switched off now may be on soon.
    @Test func picturesOfASourceThatIsSwitchedOffAreNotMissed() async throws {
        let source = TestSource()
        let app = try await Self.app(TestCatalog.lines(2), source)
        try await app.database.execute(
            """
            UPDATE editions SET cover_links = ARRAY['\(SourceName.googleBooks.rawValue) http://g.example/1'];
            UPDATE editions SET isbn13 = NULL WHERE title = 'Card 2'
            """)
        try await runJobs(app)
        // The one that has an ISBN was asked for by it.
        #expect(source.requests == [TestCatalog.isbn(1)])
        #expect(
            try await app.database.count(
                """
                SELECT count(*) FROM editions \
                WHERE cover_due_at BETWEEN now() + interval '1 hour' AND now() + interval '8 days'
                """) == 2)
    }

    /// A picture of a source in the operator's own network may be private; where a redirect leads from there may not.
    @Test func aRedirectFromASourceIsAStrangersWord() async throws {
        let other = try pictures()
        let source = try LoopbackServer { _ in
            [.response(302, headers: ["Location: \(other.url("/500x700"))"])]
        }
        let operators = Fetcher(
            policy: FetchPolicy(
                userAgent: "test", allowed: try FetchAllowList(parsing: "127.0.0.1")))
        let sources = CoverSources(
            SourceChain([]), openLibraryCoversURL: source.url(""), fetcher: operators)
        let offer = try #require(
            sources.links([CoverCandidate(source: .openLibrary, url: source.url("/1"))]).first)
        let app = try await TestApp.start(catalog: [])
        let strict = Covers(
            store: app.covers.store, images: app.covers.images,
            fetcher: Fetcher(policy: FetchPolicy(userAgent: "test")),
            publicURL: "http://covers.test", logger: app.covers.logger)
        #expect(await strict.look(at: offer, of: sources).name == "refused")
        #expect(source.requests.count == 1 && other.requests.isEmpty)
        // As Open Library's pictures are at the Internet Archive.
        #expect(await app.covers.look(at: offer, of: sources).name == "usable")
    }

    @Test(arguments: [nil, "http://127.0.0.1:1"])
    func withoutSourcesNobodyIsAsked(coversURL: String?) async throws {
        let app = try await TestApp.start(
            catalog: TestCatalog.lines(2),
            coverSources: CoverSources(SourceChain([]), openLibraryCoversURL: coversURL))
        try await runJobs(app)
        #expect(
            try await app.database.count(
                "SELECT count(*) FROM editions WHERE cover_due_at > '-infinity'") == 0)
    }
}
