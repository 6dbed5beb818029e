import BookSources
import GraphQL
import Postgres
import TestBasics
import TestSupport
import Testing

@testable import Bookplate
@testable import Operations

/// Requests that save editions which other transactions have locked, such as an import of the catalog.
@Suite struct LockedEditionTests {
    /// Returns how many statements of the current database wait for a lock.
    private static func waitingCount(_ connection: AdminConnection) throws -> Int64 {
        let rows = try connection.query(
            """
            SELECT count(*) FROM pg_stat_activity
            WHERE datname = current_database() AND wait_event_type = 'Lock'
            """)
        return rows.int64(0, 0) ?? 0
    }

    private static func count(
        _ isbn: String, _ connection: AdminConnection
    ) throws -> Int64 {
        let rows = try connection.query(
            "SELECT count(*) FROM editions WHERE isbn13 = '\(isbn)'")
        return rows.int64(0, 0) ?? 0
    }

    private static func start(
        _ records: [String: BookRecord], catalog: [String]
    ) async throws -> TestApp {
        try await TestApp.start(
            catalog: catalog,
            sources: SourceChain([TestSource(records).source(.openLibrary)]))
    }

    /// The search adds the first book, and then needs the second one, which the import has locked. The import then adds the first
    /// book, too.
    @Test func importAndSearchSaveTheSameBooks() async throws {
        let (added, known) = (TestCatalog.isbn(1), TestCatalog.isbn(2))
        let app = try await Self.start(
            [
                added: BookRecord(title: "Xylography", isbns: [added]),
                known: BookRecord(title: "Card 2", isbns: [known]),
            ], catalog: [TestCatalog.line(2, genres: ["Fantasy"])])
        let reader = try await app.makeReader()
        // The import waits after it has updated the second book.
        try await app.database.execute(
            """
            CREATE FUNCTION wait_in_import() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                IF current_setting('app.bulk', true) = 'on' THEN
                    PERFORM pg_advisory_xact_lock(1);
                END IF;
                RETURN NULL;
            END
            $$;
            CREATE TRIGGER wait_in_import AFTER UPDATE ON editions EXECUTE FUNCTION wait_in_import()
            """)
        let (importing, searching) = try await app.database.withConnection { connection in
            let observer = try AdminConnection(try app.database.url())
            try connection.execute("BEGIN; SELECT pg_advisory_xact_lock(1)")
            let importing = Task {
                try await app.database.importCatalog([
                    #"{"title":"Card 2","isbn13":"\#(known)","pageCount":999}"#,
                    #"{"title":"Xylography","isbn13":"\#(added)","pageCount":111}"#,
                ]).summary
            }
            try waitUntilBlocking("the import waits") { try Self.waitingCount(observer) == 1 }
            let searching = Task {
                try await reader.execute("{ search(query: \"zanzibar\") { nodes { id } } }")
            }
            try waitUntilBlocking("the search waits for the import, or has ended its wait") {
                try Self.waitingCount(observer) == 2 || Self.count(added, observer) == 1
            }
            try connection.execute("COMMIT")
            return (importing, searching)
        }
        let response = try await searching.value
        #expect(response.errors.isEmpty, "\(response.json)")
        #expect(
            try await importing.value == .init(created: 0, updated: 2, unchanged: 0, failed: 0))
        #expect(
            try await app.database.text(
                "SELECT string_agg(page_count::text, ' ' ORDER BY isbn13) FROM editions")
                == "111 999")
    }

    /// The transaction stays usable, but saves nothing after the wait.
    @Test func transactionEndsSoonAfterALock() async throws {
        let database = try await TestCluster.shared.makeDatabase()
        try await database.importCatalog(TestCatalog.lines(2))
        try await database.withConnection { connection in
            let request = try AdminConnection(try database.url(as: TestCluster.app))
            // Without a limit, the statement would wait for this test.
            try request.execute("SET statement_timeout = '10s'")
            func save(_ number: Int) throws -> Bool? {
                try request.query(
                    """
                    SELECT save_edition('\(TestCatalog.isbn(number))', 'Card', NULL, '{}', '{}', NULL, NULL, NULL,
                      NULL, '{}', NULL, NULL, '{}', '{}', '{}', '{}', '{}') IS NOT NULL
                    """
                ).bool(0, 0)
            }
            try connection.execute(
                """
                BEGIN;
                UPDATE editions SET page_count = 1 WHERE isbn13 = '\(TestCatalog.isbn(1))'
                """)
            try request.execute("BEGIN")
            #expect(try save(3) == true)
            #expect(try save(1) == false)
            #expect(try save(2) == false)
            try request.execute("COMMIT")
            #expect(try save(2) == true)
            try connection.execute("COMMIT")
            #expect(try save(1) == true)
        }
        #expect(try await database.count("SELECT count(*) FROM editions") == 3)
    }

    @Test func lookupTriesAgainWhileTheBookIsLocked() async throws {
        let isbn = TestCatalog.isbn(1)
        let app = try await Self.start(
            [isbn: BookRecord(title: "Found", isbns: [isbn])], catalog: [])
        let reader = try await app.makeReader()
        let lookup = try await app.database.withConnection { connection in
            let observer = try AdminConnection(try app.database.url())
            try connection.execute(
                """
                BEGIN;
                INSERT INTO editions (id, isbn13, title) VALUES (gen_random_uuid(), '\(isbn)', 'Imported')
                """)
            let lookup = Task {
                try await reader.execute(
                    LookupISBNTests.lookup, ["isbn": .string(isbn)])
            }
            try waitUntilBlocking("the lookup waits") { try Self.waitingCount(observer) == 1 }
            try waitUntilBlocking("the wait has ended") { try Self.waitingCount(observer) == 0 }
            try connection.execute("COMMIT")
            return lookup
        }
        let response = try await lookup.value
        #expect(response["lookupISBN", "title"] == "Imported", "\(response.json)")
    }
}
