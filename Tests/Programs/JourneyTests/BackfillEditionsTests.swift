import Glibc
import GraphQL
import LoopbackHTTP
import TestBasics
import TestSupport
import Testing

/// `bookplate-admin backfill editions`, with local HTTP servers as the external sources.
@Suite struct BackfillEditionsTests {
    /// Open Library's record of an edition that has only a title and a cover.
    private static let edition =
        #"{"key": "/books/OL7353617M", "title": "As they call it", "covers": [8739161]}"#

    private func json(_ outcome: Program.Outcome) throws -> Value {
        #expect(outcome.output.split(separator: "\n").count == 1, "one JSON document per command")
        return try parseJSON(Array(outcome.output.utf8))
    }

    private func openLibrary(_ server: LoopbackServer) -> [String: String?] {
        [
            "BOOKPLATE_OPEN_LIBRARY_URL": server.url(""),
            // The command stores links to covers without following them.
            "BOOKPLATE_OPEN_LIBRARY_COVERS_URL": "https://covers.openlibrary.org",
        ]
    }

    private func isbns(_ server: LoopbackServer) -> [String] {
        server.requests.map { String($0.target.dropFirst("/isbn/".count).dropLast(".json".count)) }
    }

    @Test func addsMissingDataToPopularBooksFirst() async throws {
        let installation = try await Installation.ready(catalog: TestCatalog.lines(5))
        let server = try LoopbackServer { request in
            request.target.contains(TestCatalog.isbn(2))
                ? [.response(404)] : [.response(200, Self.edition)]
        }
        func run(_ more: String...) async throws -> Value {
            let outcome = try await installation.admin(
                ["backfill", "editions", "--json"] + more, openLibrary(server))
            #expect(outcome.code == 0, "\(outcome.errors)")
            return try json(outcome)
        }
        let dry = try await run("--dry-run")
        #expect(
            dry == [
                "remaining": 5, "lookedUp": 0, "found": 0, "unavailable": 0,
                "dryRun": true,
            ])
        #expect(server.requests.isEmpty)

        let first = try await run("--limit", "2")
        #expect(
            first == [
                "remaining": 3, "lookedUp": 2, "found": 1, "unavailable": 0,
                "dryRun": false,
            ])
        #expect(Set(isbns(server)) == [TestCatalog.isbn(1), TestCatalog.isbn(2)])

        // The next run continues with the other books, and the third run has nothing to do.
        let rest = try await run()
        #expect(rest["lookedUp"] == 3 && rest["found"] == 3 && rest["remaining"] == 0)
        #expect(Set(isbns(server)) == Set((1...5).map(TestCatalog.isbn)))
        #expect(server.requests.count == 5)
        let none = try await run()
        #expect(none["lookedUp"] == 0 && none["remaining"] == 0)
        #expect(server.requests.count == 5)

        // Existing data is unchanged.
        let kept = try await installation.database.count(
            "SELECT count(*) FROM editions WHERE title LIKE 'Card %' AND publisher = 'House'")
        #expect(kept == 5)
        let filled = try await installation.database.count(
            "SELECT count(*) FROM editions WHERE cover_links[1] LIKE 'open_library %8739161%'")
        #expect(filled == 4)
    }

    @Test func recordsNothingIfNoSourceResponds() async throws {
        let installation = try await Installation.ready(catalog: TestCatalog.lines(1))
        let server = try LoopbackServer { _ in [.response(503, "later")] }
        let outcome = try await installation.admin(
            ["backfill", "editions", "--json"], openLibrary(server))
        #expect(outcome.code == 69)
        #expect(try json(outcome)["unavailable"] == 1)
        #expect(outcome.errors.contains("run the same command again later"))
        #expect(
            try await installation.database.count(
                "SELECT count(*) FROM editions WHERE sources_requested_at IS NOT NULL") == 0)
    }

    @Test func failsWithoutSources() async throws {
        let installation = try await Installation.ready(catalog: [])
        let outcome = try await installation.admin("backfill", "editions")
        #expect(outcome.code == 1)
        #expect(outcome.errors.contains("no book source is configured"))
        #expect(try await installation.admin("backfill", "editions", "--limit", "0").code == 64)
    }

    @Test func queriesISBNdbIfThereIsAKey() async throws {
        let installation = try await Installation.ready(catalog: TestCatalog.lines(1))
        let server = try LoopbackServer { request in
            request.headers["authorization"] == "the key"
                ? [
                    .response(
                        200, #"{"book": {"title": "A", "image": "https://images.example/1.jpg"}}"#)
                ]
                : [.response(401, "{}")]
        }
        let outcome = try await installation.admin(
            ["backfill", "editions", "--json"],
            ["BOOKPLATE_ISBNDB_URL": server.url(""), "BOOKPLATE_ISBNDB_KEY": "the key"])
        #expect(try json(outcome)["found"] == 1, "\(outcome.errors)")
        #expect(server.requests.map(\.target) == ["/book/\(TestCatalog.isbn(1))"])
        #expect(
            try await installation.database.count(
                "SELECT count(*) FROM editions WHERE cover_links = '{isbndb https://images.example/1.jpg}'"
            ) == 1)
    }

    /// The command shares the daily budget with the servers and leaves a fifth of it to users' requests. It continues when the
    /// budget is reset.
    @Test func obeysTheDailyBudget() async throws {
        let installation = try await Installation.ready(catalog: TestCatalog.lines(12))
        let server = try LoopbackServer { _ in [.response(404, "{}")] }
        func run() async throws -> Program.Outcome {
            try await installation.admin(
                ["backfill", "editions", "--json"],
                [
                    "BOOKPLATE_ISBNDB_URL": server.url(""), "BOOKPLATE_ISBNDB_KEY": "the key",
                    "BOOKPLATE_SOURCE_BUDGETS": "isbndb=5",
                ])
        }
        let first = try await run()
        #expect(first.code == 0, "\(first.errors)")
        #expect(try json(first)["lookedUp"] == 4 && server.requests.count == 4)
        #expect(first.errors.contains("isbndb: the daily budget of background work is used up"))
        let second = try await run()
        #expect(second.code == 69)
        #expect(try json(second)["lookedUp"] == 0 && server.requests.count == 4)
        // Simulate the next day.
        try await installation.database.execute("UPDATE source_usage SET day = day - 1")
        #expect(try json(try await run())["lookedUp"] == 4)
        #expect(server.requests.count == 8)
    }

    /// After Ctrl-C the command finishes the current batch. The next run does not request any book again.
    @Test func continuesAfterAnInterruption() async throws {
        let installation = try await Installation.ready(catalog: TestCatalog.lines(12))
        let server = try LoopbackServer { _ in
            [.pause(milliseconds: 300), .response(200, Self.edition)]
        }
        let running = try installation.startAdmin(
            ["backfill", "editions", "--json"], openLibrary(server))
        try await waitUntil("the command has sent a request") { !server.requests.isEmpty }
        running.send(SIGINT)
        let outcome = try await blocking { try running.wait() }
        #expect(outcome.code == 1)
        #expect(outcome.errors.contains("run the same command again to continue"))
        let asked = try await installation.database.count(
            "SELECT count(*) FROM editions WHERE sources_requested_at IS NOT NULL")
        #expect(asked == 8 && server.requests.count == 8)
        let rest = try await installation.admin(
            ["backfill", "editions", "--json"], openLibrary(server))
        #expect(try json(rest)["lookedUp"] == 4)
        #expect(Set(isbns(server)).count == 12 && server.requests.count == 12)
    }

    /// An import of the catalog changes the same editions in another order, which could deadlock.
    @Test func savesAfterARunningImportOfTheCatalog() async throws {
        let installation = try await Installation.ready(catalog: TestCatalog.lines(2))
        let server = try LoopbackServer { _ in [.response(200, Self.edition)] }
        let variables = openLibrary(server)
        let running = try await installation.database.withConnection { connection in
            try connection.execute("BEGIN; SELECT lock_catalog()")
            let running = try installation.startAdmin(
                ["backfill", "editions", "--json"], variables)
            try waitUntilBlocking("the command waits for the lock of the catalog") {
                try connection.query(
                    """
                    SELECT
                    FROM pg_locks l
                    JOIN pg_database d ON d.oid = l.database
                    WHERE d.datname = current_database() AND l.locktype = 'advisory' AND NOT l.granted
                    """
                ).count > 0
            }
            // The command holds no locks of editions.
            try connection.execute("UPDATE editions SET popularity = 0; COMMIT")
            return running
        }
        let outcome = try await blocking { try running.wait() }
        #expect(outcome.code == 0, "\(outcome.errors)")
        #expect(try json(outcome)["found"] == 2)
    }
}
