import BookSources
import GraphQL
import HTTPFetch
import JobQueue
import LoopbackHTTP
import Postgres
import Synchronization
import TestBasics
import TestSupport
import Testing

@testable import Bookplate

/// Background jobs whose sources are paused. They wait for the sources and keep their attempts.
@Suite struct PausedSourceTests {
    /// An app whose sources are all on one port, which refuses connections at first.
    private struct World {
        let port: UInt16
        let clock: TestClock
        let limits: SourceLimits
        let chain: SourceChain
        let app: TestApp
        let search: CoverSearch

        /// - Parameter budget: Called for each request that the circuit breakers allow.
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

        /// Makes the sources available. Open Library has a cover of one book.
        func openPort() throws -> LoopbackServer {
            let image = TestImage.png(width: 400, height: 600)
            return try LoopbackServer(port: port) { request in
                switch request.target {
                case "/isbn/\(CoverWorld.fox).json":
                    [.response(200, #"{"title": "Fox", "covers": [7]}"#)]
                case let target where target.hasPrefix("/covers/b/id/7-L.jpg"):
                    CoverWorld.image(image)
                default: [.response(404)]
                }
            }
        }

        /// The number of requests that were sent to any of the hosts.
        var requestCount: Int {
            SourceHost.allCases.reduce(0) { $0 + limits.gate(of: $1).counts.requests }
        }

        // MARK: - Readers

        /// Creates a book whose cover the open port has.
        @discardableResult
        func makeFox(fetchCover: Bool = true) async throws -> (reader: TestReader, book: Value) {
            let reader = try await app.makeReader()
            let book = try await reader.makeBook([
                "title": "Fox", "isbn": .string(CoverWorld.fox), "fetchCover": .boolean(fetchCover),
            ])
            return (reader, book)
        }

        // MARK: - Jobs

        /// Runs a worker with one handler during the body.
        func withWorker(_ handler: any JobHandler, _ body: () async throws -> Void) async throws {
            let worker = try await TestWorker.start(app.database, [handler])
            do {
                try await body()
            } catch {
                await worker.stop()
                throw error
            }
            await worker.stop()
        }

        func waitUntilJob(
            _ kind: String, _ state: String, where condition: String, count: Int = 1
        ) async throws {
            try await waitUntil("the job \(kind) \(state)") {
                try await app.database.count(
                    "SELECT count(*) FROM jobs WHERE kind = '\(kind)' AND \(condition)") == count
            }
        }

        /// - Parameter condition: An additional condition, in SQL.
        func waitUntilPostponed(_ kind: String, and condition: String = "true") async throws {
            try await waitUntilJob(
                kind, "is postponed",
                where: """
                    state = 'READY' AND attempts = 0 AND postponed_since IS NOT NULL
                    AND run_at > now() AND last_error LIKE '%paused%' AND \(condition)
                    """)
        }

        /// Waits until a job has run and is scheduled again. A job that has not run yet may also seem to be due later: it is due
        /// at the time of the transaction that created it, which may be later than the `now()` of a query that sees it.
        func waitUntilScheduled(_ kind: String) async throws {
            try await waitUntilJob(
                kind, "is scheduled", where: "state = 'READY' AND fence > 0 AND run_at > now()")
        }

        func waitUntilDone(_ kind: String) async throws {
            try await waitUntilJob(kind, "is done", where: "true", count: 0)
        }

        func runNow(_ kind: String) async throws {
            try await app.database.execute(
                "UPDATE jobs SET run_at = now(), last_error = NULL WHERE kind = '\(kind)'")
        }

        /// Runs a job that is postponed again.
        func runAndWaitUntilPostponed(_ kind: String) async throws {
            try await runNow(kind)
            try await waitUntilPostponed(kind)
        }

        func countEditions(where condition: String) async throws -> Int {
            try await app.database.count("SELECT count(*) FROM editions WHERE \(condition)")
        }
    }

    // MARK: - Readers' books

    @Test func coverSearchWaitsForSourcesThatRefuseConnections() async throws {
        let world = try await World.start()
        let (reader, id) = try await world.makeFox()
        try await world.withWorker(FetchCover(search: world.search)) {
            try await world.waitUntilPostponed(FetchCover.kind)
            // The circuit breakers are open, so no further request is sent.
            let sent = world.requestCount
            #expect(sent == 3)
            for _ in 0..<12 { try await world.runAndWaitUntilPostponed(FetchCover.kind) }
            #expect(world.requestCount == sent)
            #expect(world.limits.gate(of: .openLibrary).counts.refusedByCircuitBreaker >= 12)

            // When the sources are available again, the search finds the cover.
            let server = try world.openPort()
            world.clock.advance(by: .seconds(600))
            try await world.runNow(FetchCover.kind)
            try await world.waitUntilDone(FetchCover.kind)
            let book = try await reader.requireValue(CoverWorld.cover, ["id": id], "book")
            #expect(book["image", "source"] == "OPEN_LIBRARY", "\(book)")
            #expect(!server.requests.isEmpty)
        }
    }

    /// After three days, a pause counts as a failed attempt, and the last attempt ends the search.
    @Test func coverSearchEndsAfterThreeDaysOfPauses() async throws {
        let world = try await World.start()
        let (reader, id) = try await world.makeFox()
        try await world.withWorker(FetchCover(search: world.search)) {
            try await world.waitUntilPostponed(FetchCover.kind)
            try await world.app.database.execute(
                """
                UPDATE jobs SET postponed_since = now() - interval '73 hours', run_at = now(), \
                attempts = attempts_max - 2 WHERE kind = 'cover.fetch'
                """)
            try await world.waitUntilJob(
                FetchCover.kind, "has failed",
                where: "state = 'READY' AND attempts = attempts_max - 1")
            try await world.runNow(FetchCover.kind)
            try await world.waitUntilDone(FetchCover.kind)
            let book = try await reader.requireValue(CoverWorld.cover, ["id": id], "book")
            #expect(book["coverStatus"] == "NOT_FOUND")
        }
    }

    /// Only the first run of a requested search may use the whole budget.
    @Test func coverSearchUsesTheInteractiveBudgetOnce() async throws {
        let priorities = Mutex<[RequestPriority]>([])
        let world = try await World.start(
            budget: RequestBudget { _, priority in
                priorities.withLock { $0.append(priority) }
                return .exhausted(resetsIn: .seconds(3600))
            })
        try await world.makeFox()
        try await world.withWorker(FetchCover(search: world.search)) {
            try await world.waitUntilPostponed(
                FetchCover.kind, and: "run_at > now() + interval '50 minutes'")
            #expect(Set(priorities.withLock { $0 }) == [.interactive])
            priorities.withLock { $0 = [] }
            try await world.runAndWaitUntilPostponed(FetchCover.kind)
            #expect(Set(priorities.withLock { $0 }) == [.background])
        }
        #expect(world.requestCount == 0)
    }

    @Test func bookCompletionWaitsForItsSources() async throws {
        let world = try await World.start()
        try await world.makeFox(fetchCover: false)
        try await world.withWorker(CompleteBook(sources: world.chain)) {
            try await world.waitUntilPostponed(CompleteBook.kind)
            for _ in 0..<10 { try await world.runAndWaitUntilPostponed(CompleteBook.kind) }
        }
        #expect(world.requestCount == 2)
    }

    // MARK: - The catalog

    /// If no source is available, the job is postponed and takes no edition.
    @Test func catalogCoversWaitForTheirSources() async throws {
        let world = try await World.start(catalog: TestCatalog.lines(8))
        let job = FetchEditionCovers(editions: EditionCovers(world.app.services))
        try await world.withWorker(job) {
            try await world.waitUntilScheduled(FetchEditionCovers.kind)
            // The editions are due soon, not only after the 90 days of an edition without a cover.
            #expect(
                try await world.countEditions(
                    where: """
                        cover_failures = 1
                        AND cover_due_at BETWEEN now() + interval '14 minutes' AND now() + interval '16 minutes'
                        """) == 5)
            try await world.runAndWaitUntilPostponed(FetchEditionCovers.kind)
            #expect(try await world.countEditions(where: "cover_failures > 0") == 5)
            #expect(world.requestCount == 2)
        }
    }

    /// An exhausted budget does not count as a failure of the edition. The edition is due when the budget is reset.
    @Test func editionIsDueWhenTheBudgetIsReset() async throws {
        let world = try await World.start(
            catalog: TestCatalog.lines(1),
            budget: RequestBudget { host, priority in
                priority == .background && host == .googleBooks
                    ? .exhausted(resetsIn: .seconds(36_000)) : .granted
            })
        // Open Library does not know the book.
        let server = try world.openPort()
        let job = FetchEditionCovers(editions: EditionCovers(world.app.services))
        try await world.withWorker(job) {
            try await world.waitUntilScheduled(FetchEditionCovers.kind)
        }
        #expect(server.requests.map(\.target) == ["/isbn/\(TestCatalog.isbn(1)).json"])
        #expect(
            try await world.countEditions(
                where: """
                    cover_failures = 1
                    AND cover_due_at BETWEEN now() + interval '590 minutes' AND now() + interval '610 minutes'
                    """) == 1)
    }

    /// Pauses alone never lead to the 90 days of an edition without a cover.
    @Test(arguments: [(0, 1, 15), (3, 4, 120), (6, 7, 960), (7, 7, 960)])
    func pausesDoNotUseUpTheFailuresOfAnEdition(
        before: Int, after: Int, minutes: Int
    ) async throws {
        let app = try await TestApp.start(catalog: TestCatalog.lines(1))
        try await app.database.execute(
            """
            UPDATE editions SET cover_failures = \(before);
            SELECT claim_edition_without_cover(isbn13) FROM editions;
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
