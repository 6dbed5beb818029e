import BookSources
import GraphQL
import HTTPFetch
import LoopbackHTTP
import ObjectStorage
import Postgres
import TestBasics
import TestSupport
import Testing

@testable import Bookplate
@testable import Operations

/// Covers of catalog editions from external sources, as the feed's cards show them.
@Suite struct EditionCoverTests {
    /// Serves images of any size: the target `/500x700` returns an image of 500 by 700 pixels.
    private func imageServer() throws -> LoopbackServer {
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

    /// Runs the job once.
    private func runJobs(_ app: TestApp) async throws {
        let worker = try await TestWorker.start(
            app.database,
            [FetchEditionCovers(editions: EditionCovers(app.services))])
        try await waitUntil("the job has run") {
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

    private static let feed = """
        { feed(first: 10) { nodes {
          id title image {
            thumbnail: url(size: THUMBNAIL) url large: url(size: LARGE)
            width height dominantColor blurHash kind
          }
        } } }
        """

    @Test func cardsShowTheBestImageOfASource() async throws {
        let server = try imageServer()
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
            kinds[card["title"]?.string ?? ""] = card["image", "kind"]
            let bucket = card["image", "kind"] == "TITLE_CARD" ? "title-cards" : "edition-covers"
            let base = "http://covers.test/\(bucket)/\(card["id"]?.string ?? "").jpg?v="
            #expect(card["image", "url"]?.string?.hasPrefix(base) == true, "\(card)")
        }
        #expect(
            kinds == [
                "Card 1": "HIGH_RESOLUTION", "Card 2": "THUMBNAIL", "Card 3": "TITLE_CARD",
                "Card 4": "TITLE_CARD",
            ])
        try await expectSizes(
            of: try #require(cards.first { $0["title"] == "Card 1" }), app,
            thumbnail: (150, 217), full: (600, 867), large: (900, 1300))
        try await expectSizes(
            of: try #require(cards.first { $0["title"] == "Card 2" }), app,
            thumbnail: (150, 220), full: (150, 220), large: (150, 220))
        // The sources are not queried again, and a sweep keeps the covers.
        let requestCount = source.requests.count
        try await app.database.execute(
            "UPDATE jobs SET run_at = now() WHERE kind = 'edition.covers'")
        try await runJobs(app)
        #expect(source.requests.count == requestCount)
        let swept = try await StorageSweep(
            app.covers.store, graceSeconds: 0, isDryRun: false,
            AdminConnection(try app.database.url(as: TestCluster.owner))
        ).run()
        #expect(swept.orphans == 0)
    }

    /// The store has the files of all URLs of a card's image, and they have the sizes and colors that its fields name.
    private func expectSizes(
        of card: Value, _ app: TestApp, thumbnail: (Int, Int), full: (Int, Int), large: (Int, Int)
    ) async throws {
        let image = try #require(card["image"])
        #expect(image["width"] == .int(full.0) && image["height"] == .int(full.1))
        let id = try #require(card["id"]?.string)
        let key = try #require(ObjectKey(.editionCovers, folder: id.prefix(2), name: id))
        for (name, variant, size) in [
            ("thumbnail", .thumbnail, thumbnail), ("url", .full, full), ("large", .large, large),
        ] as [(String, ObjectVariant, (Int, Int))] {
            let url = try #require(image[name]?.string)
            #expect(url.contains("size=\(variant.rawValue)") == (variant != .full))
            let version = try #require(url.split(separator: "v=").last)
            let path = try #require(ObjectPath(key, version: version, variant))
            let bytes = try #require(try await app.covers.store.read(path))
            let decoded = try await app.covers.images.cover(from: bytes)
            #expect(decoded.sourceWidth == size.0 && decoded.sourceHeight == size.1, "\(name)")
        }
        let color = try #require(image["dominantColor"]?.string)
        #expect(color.wholeMatch(of: /#[0-9A-F]{6}/) != nil)
        #expect(image["blurHash"]?.string?.utf8.count == 28)
    }

    /// The first lookup of a book adds it to the catalog. Its cover follows.
    @Test func lookedUpBookGetsItsCover() async throws {
        let server = try imageServer()
        let source = TestSource([TestCatalog.isbn(7): record(server, "/500x700")])
        let app = try await Self.app([], source)
        let reader = try await app.makeReader()
        let lookup = """
            query($isbn: String!) { lookupISBN(isbn: $isbn) { image { kind } } }
            """
        let isbn = Value.string(TestCatalog.isbn(7))
        #expect(
            try await reader.requireValue(lookup, ["isbn": isbn], "lookupISBN", "image", "kind")
                == "TITLE_CARD")
        let worker = try await TestWorker.start(
            app.database, [FetchEditionCover(editions: EditionCovers(app.services))])
        try await waitUntil("the cover is stored") {
            try await reader.requireValue(lookup, ["isbn": isbn], "lookupISBN", "image", "kind")
                == "HIGH_RESOLUTION"
        }
        await worker.stop()
    }

    /// If a source fails after a lookup, the job ends and the edition is due soon.
    @Test func lookedUpBookIsDueSoonIfASourceFails() async throws {
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

    /// If a source could not answer, the edition is due soon. If no source has a cover, it is due after 90 days.
    @Test func failedSourceIsQueriedAgainSoon() async throws {
        let server = try imageServer()
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
        // The delay grows with each failure.
        try await makeDueAndRunJobs(app)
        #expect(try await due(31) == 2)
        try await makeDueAndRunJobs(app)
        #expect(try await due(59) == 0)
        #expect(try await due(61) == 2)
        #expect(source.requests.count == 6)
        source.fail(with: nil)
        try await makeDueAndRunJobs(app)
        #expect(
            try await app.database.count(
                "SELECT count(*) FROM editions WHERE cover_version IS NOT NULL") == 1)
        // No source has a cover of the other edition.
        #expect(try await due(89 * 24 * 60) == 0)
        #expect(try await due(91 * 24 * 60) == 1)
    }

    /// Makes the editions due and runs the job.
    private func makeDueAndRunJobs(_ app: TestApp) async throws {
        try await app.database.execute(
            """
            UPDATE editions SET cover_due_at = now() - interval '1 second' WHERE cover_version IS NULL;
            UPDATE jobs SET run_at = now() WHERE kind = 'edition.covers'
            """)
        try await runJobs(app)
    }

    /// A server error is temporary; a missing image is not.
    @Test(arguments: [(503, 1), (404, 0)])
    func serverErrorIsRetriedSoon(status: Int, dueSoon: Int) async throws {
        let server = try LoopbackServer { _ in [.response(status)] }
        let source = TestSource([TestCatalog.isbn(1): record(server, "/500x700")])
        let app = try await Self.app(TestCatalog.lines(1), source)
        try await runJobs(app)
        #expect(
            try await app.database.count(
                "SELECT count(*) FROM editions WHERE cover_due_at < now() + interval '1 hour'")
                == dueSoon)
    }

    /// Editions with failures are at most half of a batch, so they do not displace the others.
    @Test func failedEditionsTakeHalfOfABatch() async throws {
        let app = try await TestApp.start(catalog: TestCatalog.lines(20))
        try await app.database.execute(
            """
            UPDATE editions SET cover_failures = 1, cover_due_at = now() - interval '1 day' \
            WHERE id IN (SELECT id FROM editions ORDER BY id LIMIT 10)
            """)
        let late = try await app.database.count(
            """
            WITH late AS (SELECT id FROM editions WHERE cover_failures = 1)
            SELECT count(*) * 10 + count(l.id) FROM claim_editions_without_cover(5) t LEFT JOIN late l USING (id)
            """)
        #expect(late == 52)
        #expect(
            try await app.database.count("SELECT count(*) FROM claim_editions_without_cover(1)")
                == 1
        )
    }

    @Test func dueEditionsAreFoundByAnIndex() async throws {
        let app = try await TestApp.start(catalog: TestCatalog.lines(3))
        let scans = try await app.database.withConnection { connection in
            try connection.execute(
                """
                BEGIN; SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off;
                SET LOCAL enable_sort = off; SELECT FROM claim_editions_without_cover(2)
                """)
            return try connection.query(
                "SELECT pg_stat_get_xact_numscans('editions_due_for_cover'::regclass)"
            ).int64(0, 0)
        }
        #expect(scans == 1)
    }

    /// Recording a miss skips a row that another transaction has locked.
    @Test func missOfALockedRowIsSkipped() async throws {
        let app = try await TestApp.start(catalog: TestCatalog.lines(1))
        let writer = try AdminConnection(try app.database.url(as: TestCluster.owner))
        try writer.execute("BEGIN; SELECT FROM editions FOR UPDATE")
        let miss = "SELECT record_missing_edition_cover(id, 90) FROM editions"
        let due = "SELECT count(*) FROM editions WHERE cover_due_at > now()"
        try await app.database.execute("SET lock_timeout = 1; " + miss)
        #expect(try await app.database.count(due) == 0)
        try writer.execute("ROLLBACK")
        try await app.database.execute(miss)
        #expect(try await app.database.count(due) == 1)
    }

    /// If all images of an edition are at a disabled source, the edition is due after a week, not after 90 days.
    @Test func imagesAtADisabledSourceAreRetriedAfterAWeek() async throws {
        let source = TestSource()
        let app = try await Self.app(TestCatalog.lines(2), source)
        try await app.database.execute(
            """
            UPDATE editions SET cover_links = ARRAY['\(SourceName.googleBooks.rawValue) http://g.example/1'];
            UPDATE editions SET isbn13 = NULL WHERE title = 'Card 2'
            """)
        try await runJobs(app)
        // The edition with an ISBN was looked up.
        #expect(source.requests == [TestCatalog.isbn(1)])
        #expect(
            try await app.database.count(
                """
                SELECT count(*) FROM editions \
                WHERE cover_due_at BETWEEN now() + interval '1 hour' AND now() + interval '8 days'
                """) == 2)
    }

    /// A configured source may have a private address, but the target of its redirect may not.
    @Test func redirectFromAConfiguredSourceIsUntrusted() async throws {
        let other = try imageServer()
        let source = try LoopbackServer { _ in
            [.response(302, headers: ["Location: \(other.url("/500x700"))"])]
        }
        let trusting = Fetcher(
            policy: FetchPolicy(
                userAgent: "test", allowed: try FetchAllowList(parsing: "127.0.0.1")))
        let sources = CoverSources(
            SourceChain([]), openLibraryCoversURL: source.url(""), fetcher: trusting)
        let link = try #require(
            sources.links([CoverCandidate(source: .openLibrary, url: source.url("/1"))]).first)
        let app = try await TestApp.start(catalog: [])
        let strict = Covers(
            store: app.covers.store, images: app.covers.images,
            fetcher: Fetcher(policy: FetchPolicy(userAgent: "test")),
            publicURL: "http://covers.test", logger: app.covers.logger)
        #expect(await strict.download(link, from: sources).name == "refused")
        #expect(source.requests.count == 1 && other.requests.isEmpty)
        // A redirect to another host is followed: Open Library redirects to the Internet Archive.
        #expect(await app.covers.download(link, from: sources).name == "usable")
    }

    @Test(arguments: [nil, "http://127.0.0.1:1"])
    func withoutSourcesNoRequestIsSent(coversURL: String?) async throws {
        let app = try await TestApp.start(
            catalog: TestCatalog.lines(2),
            coverSources: CoverSources(SourceChain([]), openLibraryCoversURL: coversURL))
        try await runJobs(app)
        #expect(
            try await app.database.count(
                "SELECT count(*) FROM editions WHERE cover_due_at > '-infinity'") == 0)
    }
}
