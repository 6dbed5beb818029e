import BookSources
import GraphQL
import HTTPFetch
import LoopbackHTTP
import Postgres
import Synchronization
import TestSupport
import Testing

@testable import Bookplate

/// Background jobs whose sources cannot be asked: they wait for the sources and keep their attempts.
@Suite struct PausedSourceTests {
    /// An app whose sources are all on one port, which refuses connections at first.
    private struct World {
        let port: UInt16
        let clock: TestClock
        let limits: SourceLimits
        let chain: SourceChain
        let app: TestApp
        let search: CoverSearch

        /// - Parameter budget: called with each request that the circuit breakers let through.
        static func start(
            catalog: [String] = [], budget: RequestBudget = .unlimited
        ) async throws -> World {
            let port = try LoopbackServer.closedPort()
            let clock = TestClock()
            let limits = SourceLimits(
                budget: budget, breaker: .init(failuresMax: 1), now: { clock.now }, random: { 1 })
            let url = "http://127.0.0.1:\(port)"
            var configuration = SourceChain.Configuration()
            configuration.openLibraryURL = url
            configuration.openLibraryCoversURL = url + "/covers"
            configuration.googleBooksURL = url + "/books/v1"
            let fetcher = Fetcher(
                policy: FetchPolicy(
                    userAgent: "t (ops@example.com)",
                    allowed: try FetchAllowList(parsing: "127.0.0.1")))
            let chain = SourceChain(configuration, fetcher: fetcher, limits: limits)
            let covers = CoverSources(
                chain, openLibraryCoversURL: configuration.openLibraryCoversURL, fetcher: fetcher)
            let app = try await TestApp.start(
                catalog: catalog, sources: chain, coverSources: covers)
            return World(
                port: port, clock: clock, limits: limits, chain: chain, app: app,
                search: CoverSearch(covers, covers: app.covers, metrics: app.services.metrics))
        }

        private init(
            port: UInt16, clock: TestClock, limits: SourceLimits, chain: SourceChain, app: TestApp,
            search: CoverSearch
        ) {
            (self.port, self.limits, self.chain) = (port, limits, chain)
            (self.app, self.search) = (app, search)
            self.clock = clock
        }

        /// Requests that were sent to any of the hosts.
        var requestCount: Int {
            SourceHost.allCases.reduce(0) { $0 + limits.gate(of: $1).counts.requests }
        }

        func jobs(_ kind: String, _ condition: String) async throws -> Int {
            try await app.database.count(
                "SELECT count(*) FROM jobs WHERE kind = '\(kind)' AND \(condition)")
        }

        func runNow(_ kind: String) async throws {
            try await app.database.execute(
                "UPDATE jobs SET run_at = now(), last_error = NULL WHERE kind = '\(kind)'")
        }
    }

    private static let postponed = """
        state = 'READY' AND attempts = 0 AND postponed_since IS NOT NULL AND run_at > now() \
        AND last_error LIKE '%paused%'
        """

    /// The answers for one book, whose picture Open Library has.
    private func open(_ port: UInt16) throws -> LoopbackServer {
        let picture = TestImage.png(width: 400, height: 600)
        return try LoopbackServer(port: port) { request in
            switch request.target {
            case "/isbn/\(CoverWorld.fox).json":
                [.response(200, #"{"title": "Fox", "covers": [7]}"#)]
            case let target where target.hasPrefix("/covers/b/id/7-L.jpg"):
                CoverWorld.image(picture)
            default: [.response(404)]
            }
        }
    }

    @Test func aCoverWaitsForSourcesThatRefuseConnections() async throws {
        let world = try await World.start()
        let reader = try await world.app.makeReader()
        let id = try await reader.makeBook(["title": "Fox", "isbn": .string(CoverWorld.fox)])
        let worker = try await TestWorker.start(
            world.app.database, [FetchCover(search: world.search)])
        try await waitUntil("the search is postponed") {
            try await world.jobs(FetchCover.kind, Self.postponed) == 1
        }
        // It fails fast from now on: no host is asked again.
        let sent = world.requestCount
        #expect(sent == 3)
        for _ in 0..<12 {
            try await world.runNow(FetchCover.kind)
            try await waitUntil("the search is postponed again") {
                try await world.jobs(FetchCover.kind, Self.postponed) == 1
            }
        }
        #expect(world.requestCount == sent)
        #expect(world.limits.gate(of: .openLibrary).counts.refusedByCircuitBreaker >= 12)

        // The sources are back, and so is the cover.
        let server = try open(world.port)
        world.clock.advance(by: .seconds(600))
        try await world.runNow(FetchCover.kind)
        try await waitUntil("the search is over") {
            try await world.jobs(FetchCover.kind, "true") == 0
        }
        let book = try await reader.requireValue(CoverWorld.cover, ["id": id], "book")
        #expect(book["cover", "source"] == "OPEN_LIBRARY", "\(book)")
        #expect(!server.requests.isEmpty)
        await worker.stop()
    }

    /// A search does not wait for ever: after three days its failures are attempts, and the last of them ends it.
    @Test func aCoverIsNotWaitedForEndlessly() async throws {
        let world = try await World.start()
        let reader = try await world.app.makeReader()
        let id = try await reader.makeBook(["title": "Fox", "isbn": .string(CoverWorld.fox)])
        let worker = try await TestWorker.start(
            world.app.database, [FetchCover(search: world.search)])
        try await waitUntil("the search is postponed") {
            try await world.jobs(FetchCover.kind, Self.postponed) == 1
        }
        try await world.app.database.execute(
            """
            UPDATE jobs SET postponed_since = now() - interval '73 hours', run_at = now(), \
            attempts = attempts_max - 2 WHERE kind = 'cover.fetch'
            """)
        try await waitUntil("the attempt has failed") {
            try await world.jobs(FetchCover.kind, "state = 'READY' AND attempts = attempts_max - 1")
                == 1
        }
        try await world.runNow(FetchCover.kind)
        try await waitUntil("the search is over") {
            try await world.jobs(FetchCover.kind, "true") == 0
        }
        let book = try await reader.requireValue(CoverWorld.cover, ["id": id], "book")
        #expect(book["coverStatus"] == "NOT_FOUND")
        await worker.stop()
    }

    /// Only the first run of a search that a reader has asked for may use all of the budget.
    @Test func aCoverUsesTheReadersBudgetOnce() async throws {
        let priorities = Mutex<[RequestPriority]>([])
        let world = try await World.start(
            budget: RequestBudget { _, priority in
                priorities.withLock { $0.append(priority) }
                return .exhausted(resetsIn: .seconds(3600))
            })
        let reader = try await world.app.makeReader()
        _ = try await reader.makeBook(["title": "Fox", "isbn": .string(CoverWorld.fox)])
        let worker = try await TestWorker.start(
            world.app.database, [FetchCover(search: world.search)])
        try await waitUntil("the search is postponed") {
            try await world.jobs(
                FetchCover.kind, Self.postponed + " AND run_at > now() + interval '50 minutes'")
                == 1
        }
        #expect(Set(priorities.withLock { $0 }) == [.interactive])
        priorities.withLock { $0 = [] }
        try await world.runNow(FetchCover.kind)
        try await waitUntil("the search is postponed again") {
            try await world.jobs(FetchCover.kind, Self.postponed) == 1
        }
        #expect(Set(priorities.withLock { $0 }) == [.background])
        await worker.stop()
        #expect(world.requestCount == 0)
    }

    @Test func aBookWaitsForItsFacts() async throws {
        let world = try await World.start()
        let reader = try await world.app.makeReader()
        _ = try await reader.makeBook([
            "title": "Fox", "isbn": .string(CoverWorld.fox), "fetchCover": false,
        ])
        let worker = try await TestWorker.start(
            world.app.database, [CompleteBook(sources: world.chain)])
        for _ in 0..<10 {
            try await waitUntil("the job is postponed") {
                try await world.jobs(CompleteBook.kind, Self.postponed) == 1
            }
            try await world.runNow(CompleteBook.kind)
        }
        try await waitUntil("the job is postponed") {
            try await world.jobs(CompleteBook.kind, Self.postponed) == 1
        }
        await worker.stop()
        #expect(world.requestCount == 2)
    }

    // MARK: - The catalogue

    /// Where no source can be asked no edition is taken, and the job itself waits.
    @Test func theCatalogueWaitsForItsSources() async throws {
        let world = try await World.start(catalog: TestCatalog.lines(8))
        let worker = try await TestWorker.start(
            world.app.database, [FetchEditionCovers(editions: EditionCovers(world.app.services))])
        func due(_ condition: String) async throws -> Int {
            try await world.app.database.count(
                "SELECT count(*) FROM editions WHERE \(condition)")
        }
        try await waitUntil("the first editions were tried") {
            try await world.jobs(FetchEditionCovers.kind, "state = 'READY' AND run_at > now()") == 1
        }
        // They are due soon, and not only after the 90 days of an edition without a cover.
        #expect(
            try await due(
                "cover_failures = 1 AND cover_due_at BETWEEN now() + interval '14 minutes' AND now() + interval '16 minutes'"
            ) == 5)
        try await world.runNow(FetchEditionCovers.kind)
        try await waitUntil("the job is postponed") {
            try await world.jobs(FetchEditionCovers.kind, Self.postponed) == 1
        }
        #expect(try await due("cover_failures > 0") == 5)
        #expect(world.requestCount == 2)
        await worker.stop()
    }

    /// An exhausted budget does not count as an edition's failure. The edition is due when the budget is reset.
    @Test func anEditionWaitsForTheBudgetOfASource() async throws {
        let world = try await World.start(
            catalog: TestCatalog.lines(1),
            budget: RequestBudget { host, priority in
                priority == .background && host == .googleBooks
                    ? .exhausted(resetsIn: .seconds(36_000)) : .granted
            })
        // Open Library answers that it does not know the book.
        let server = try open(world.port)
        let worker = try await TestWorker.start(
            world.app.database, [FetchEditionCovers(editions: EditionCovers(world.app.services))])
        try await waitUntil("the edition was tried") {
            try await world.jobs(FetchEditionCovers.kind, "state = 'READY' AND run_at > now()") == 1
        }
        await worker.stop()
        #expect(server.requests.map(\.target) == ["/isbn/\(TestCatalog.isbn(1)).json"])
        #expect(
            try await world.app.database.count(
                """
                SELECT count(*) FROM editions WHERE cover_failures = 1 \
                AND cover_due_at BETWEEN now() + interval '590 minutes' AND now() + interval '610 minutes'
                """) == 1)
    }

    /// Pauses alone never lead to the 90 days of an edition that has no cover.
    @Test(arguments: [(0, 1, 15), (3, 4, 120), (6, 7, 960), (7, 7, 960)])
    func pausesDoNotUseUpAnEditionsFailures(before: Int, after: Int, minutes: Int) async throws {
        let app = try await TestApp.start(catalog: TestCatalog.lines(1))
        try await app.database.execute(
            """
            UPDATE editions SET cover_failures = \(before);
            SELECT take_edition_without_cover(isbn13) FROM editions;
            SELECT postpone_edition_cover(id, 1000) FROM editions
            """)
        #expect(
            try await app.database.count(
                """
                SELECT count(*) FROM editions WHERE cover_failures = \(after) \
                AND abs(extract(epoch FROM cover_due_at - now()) / 60 - \(minutes)) < 1
                """) == 1)
    }
}
