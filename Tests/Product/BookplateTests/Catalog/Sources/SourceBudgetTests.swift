import BookSources
import EventLoops
import HTTPFetch
import LoopbackHTTP
import NIOPosix
import Postgres
import Telemetry
import TestSupport
import Testing

@testable import Bookplate

/// Daily budgets that servers share through PostgreSQL.
@Suite struct SourceBudgetTests {
    private static let loops = MultiThreadedEventLoopGroup(numberOfThreads: 2)

    private func pool(_ database: TestDatabase) async throws -> ConnectionPool {
        var configuration = PostgresConfiguration(url: try database.url(as: TestCluster.app))
        configuration.connectionCount = 2
        return try await ConnectionPool.start(
            configuration, on: EventLoopTaskExecutor(Self.loops.next()))
    }

    /// Takes requests concurrently.
    ///
    /// - Returns: The number of granted requests.
    private func take(
        _ count: Int, from budgets: [SourceBudgets], _ priority: RequestPriority,
        of host: SourceHost = .isbnDB
    ) async -> Int {
        await withTaskGroup(of: Bool.self) { group in
            for index in 0..<count {
                let budget = budgets[index % budgets.count].requestBudget
                group.addTask { await budget.take(host, priority) == .granted }
            }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
    }

    private func used(_ database: TestDatabase, _ column: String = "used") async throws -> Int {
        try await database.count(
            "SELECT coalesce(sum(\(column)), 0) FROM source_usage WHERE day = (now() AT TIME ZONE 'UTC')::date"
        )
    }

    @Test func serversNeverExceedABudgetTogether() async throws {
        let database = try await TestCluster.shared.makeDatabase()
        let pools = [try await pool(database), try await pool(database)]
        let servers = pools.map { SourceBudgets([.isbnDB: 100], $0) }
        let granted = await take(400, from: servers, .interactive)
        #expect(try await used(database) == 100)
        // Every reserved request was granted, because there were enough requests.
        #expect(granted == 100)
        // A server that starts later counts the requests of the others.
        let restarted = SourceBudgets([.isbnDB: 100], pools[0])
        #expect(await take(5, from: [restarted], .interactive) == 0)
        #expect(try await used(database) == 100)
        for pool in pools { await pool.close() }
    }

    @Test func backgroundWorkLeavesAShareForReaders() async throws {
        let database = try await TestCluster.shared.makeDatabase()
        let pools = [try await pool(database), try await pool(database)]
        let servers = pools.map { SourceBudgets([.isbnDB: 100], $0) }
        #expect(await take(300, from: servers, .background) == 80)
        #expect(try await used(database) == 80)
        #expect(try await used(database, "used_in_background") == 80)
        #expect(await take(300, from: servers, .interactive) == 20)
        #expect(try await used(database) == 100)
        #expect(try await used(database, "used_in_background") == 80)
        for pool in pools { await pool.close() }
    }

    /// Readers may use the whole budget. Then nothing is left for background work.
    @Test func readersMayUseTheWholeBudget() async throws {
        let database = try await TestCluster.shared.makeDatabase()
        let pool = try await pool(database)
        let server = SourceBudgets([.isbnDB: 100], pool)
        #expect(await take(70, from: [server], .interactive) == 70)
        #expect(await take(100, from: [server], .background) == 30)
        await pool.close()
    }

    @Test(arguments: [
        (1, 1, 1), (10, 1, 8), (500, 10, 400), (1000, 20, 800), (100_000, 20, 80_000),
    ])
    func batchesAreSmall(limit: Int, batch: Int, background: Int) {
        #expect(SourceBudgets.batchSize(limit) == batch)
        #expect(SourceBudgets.backgroundLimit(limit) == background)
    }

    @Test func requestsAreReservedTogether() async throws {
        let database = try await TestCluster.shared.makeDatabase()
        let pool = try await pool(database)
        let server = SourceBudgets([.googleBooks: 1000], pool)
        let before = await pool.metrics().statementCount
        #expect(await take(100, from: [server], .interactive, of: .googleBooks) == 100)
        #expect(await pool.metrics().statementCount - before == 5)
        // Requests without a budget are not counted.
        #expect(await take(100, from: [server], .background, of: .openLibrary) == 100)
        #expect(await pool.metrics().statementCount - before == 5)
        #expect(try await used(database) == 100)
        await pool.close()
    }

    @Test func aNewDayHasANewBudget() async throws {
        let database = try await TestCluster.shared.makeDatabase()
        let pool = try await pool(database)
        let clock = TestClock()
        let server = SourceBudgets([.isbnDB: 100], pool, now: { clock.now })
        #expect(await take(100, from: [server], .background) == 80)
        let decision = await server.requestBudget.take(.isbnDB, .background)
        guard case .exhausted(let resetsIn) = decision else {
            Issue.record("\(decision)")
            return
        }
        #expect(resetsIn > .zero && resetsIn <= .seconds(86_400))
        // It is midnight for the server and for the database.
        clock.advance(by: resetsIn)
        try await database.execute("UPDATE source_usage SET day = day - 1")
        #expect(await take(100, from: [server], .background) == 80)
        #expect(try await database.count("SELECT sum(used) FROM source_usage") == 160)
        await pool.close()
    }

    /// Requests reserved for yesterday are not sent today, because today's budget would not count them.
    @Test func aReservationEndsWithItsDay() async throws {
        let database = try await TestCluster.shared.makeDatabase()
        let pool = try await pool(database)
        let clock = TestClock()
        let server = SourceBudgets([.isbnDB: 500], pool, now: { clock.now })
        #expect(await take(1, from: [server], .interactive) == 1)
        #expect(try await used(database) == 10)
        clock.advance(by: .seconds(86_400))
        try await database.execute("UPDATE source_usage SET day = day - 1")
        #expect(await take(1, from: [server], .interactive) == 1)
        #expect(try await used(database) == 10)
        await pool.close()
    }

    @Test func deletesTheUsageOfOldDays() async throws {
        let database = try await TestCluster.shared.makeDatabase()
        try await database.execute(
            """
            INSERT INTO source_usage (source, day, used) SELECT s, (now() AT TIME ZONE 'UTC')::date - n, 5
            FROM generate_series(29, 40) n, unnest(ARRAY['isbndb', 'google-books']) s
            """)
        let pool = try await pool(database)
        let server = SourceBudgets([.isbnDB: 500], pool)
        _ = await take(1, from: [server], .interactive)
        let kept = "SELECT count(*) FROM source_usage WHERE source = "
        #expect(try await database.count(kept + "'isbndb'") == 3)
        #expect(try await database.count(kept + "'google-books'") == 12)
        await pool.close()
    }

    @Test func grantsNothingWithoutADatabase() async throws {
        let database = try await TestCluster.shared.makeDatabase()
        let pool = try await pool(database)
        await pool.close()
        let server = SourceBudgets([.isbnDB: 500], pool)
        #expect(await server.requestBudget.take(.isbnDB, .interactive) == .unknown)
        #expect(await server.requestBudget.take(.openLibrary, .interactive) == .granted)
    }

    /// The connection of the admin CLI uses the same table.
    @Test func commandsShareTheBudget() async throws {
        let database = try await TestCluster.shared.makeDatabase()
        let pool = try await pool(database)
        let server = SourceBudgets([.isbnDB: 100], pool)
        let command = try SourceBudgets(
            [.isbnDB: 100], url: try database.url(as: TestCluster.owner))
        #expect(await take(200, from: [server, command], .background) == 80)
        #expect(try await used(database) == 80)
        await pool.close()
    }

    /// Two servers with a chain each look up more books at one real host than the budget allows.
    @Test func hostReceivesNoMoreRequestsThanTheBudget() async throws {
        let database = try await TestCluster.shared.makeDatabase()
        let host = try LoopbackServer { _ in [.response(404, "{}")] }
        let metrics = Metrics()
        var chains: [SourceChain] = []
        var pools: [ConnectionPool] = []
        for server in 0..<2 {
            let pool = try await pool(database)
            let budgets = SourceBudgets([.isbnDB: 6], pool)
            let limits = SourceLimits(budget: budgets.requestBudget)
            if server == 0 { metrics.report(limits, budgets.limits, database: pool) }
            var configuration = SourceChain.Configuration()
            configuration.isbnDBURL = host.url("")
            configuration.isbnDBKey = "key"
            let fetcher = Fetcher(
                policy: FetchPolicy(
                    userAgent: "t", allowed: try FetchAllowList(parsing: "127.0.0.1")))
            chains.append(SourceChain(configuration, fetcher: fetcher, limits: limits))
            pools.append(pool)
        }
        let failures = await withTaskGroup(of: Bool.self) { group in
            // Few enough for each chain's rate limit of the host.
            for number in 1...10 {
                let chain = chains[number % 2]
                let isbn = BookNumber(isbn13: TestCatalog.isbn(number), isbn10: nil)
                group.addTask { await !chain.edition(isbn).failures.isEmpty }
            }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(host.requests.count == 6 && failures == 4)

        let lines = await metrics.text().split(separator: "\n").map(String.init)
        #expect(lines.contains(#"bookplate_source_budget_used{source="isbndb"} 6"#))
        #expect(lines.contains(#"bookplate_source_budget_limit{source="isbndb"} 6"#))
        #expect(lines.contains(#"bookplate_source_circuit_state{source="isbndb"} 0"#))
        let own = host.requests.count - (5 - (await refused(chains[1])))
        #expect(lines.contains(#"bookplate_source_requests_total{source="isbndb"} \#(own)"#))
        #expect(
            lines.contains(
                #"bookplate_source_refusals_total{source="isbndb",reason="budget"} \#(5 - own)"#))
        // Hosts without a budget have no gauge.
        #expect(!lines.contains { $0.hasPrefix(#"bookplate_source_budget_limit{source="open"#) })
        for pool in pools { await pool.close() }
    }

    private func refused(_ chain: SourceChain) async -> Int {
        chain.limits.gate(of: .isbnDB).counts.refusedByBudget
    }
}
