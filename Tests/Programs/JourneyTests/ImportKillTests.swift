import Glibc
import GraphQL
import TestBasics
import TestSupport
import Testing

/// A server that is killed with SIGKILL while it imports a library.
@Suite struct ImportKillTests {
    private static let recordCount = 1200

    @Test func theImportContinuesWithoutLosingOrRepeatingRecords() async throws {
        let installation = try await Installation.ready(catalog: [])
        let database = installation.database
        var server = try await installation.startServer()
        let token = try #require(try await server.signIn("killed")["accessToken"]?.string)
        let id = try await server.client.importLibrary(
            TestLibraryFile.csv(records: Self.recordCount), token: token)
        var reached: [Int] = []
        for _ in 0..<2 {
            let before = reached.last ?? 0
            try await waitUntil("the import has progressed") {
                try await database.count("SELECT done FROM imports") > before
            }
            server.program.send(SIGKILL)
            let outcome = try await blocking { [server] in try server.program.wait() }
            #expect(outcome.code == nil, "the server must be ended by a signal")
            // PostgreSQL may still be finishing the last transaction of the killed server.
            try await waitUntil("the connections of the killed server are closed") {
                try await database.count(
                    """
                    SELECT count(*) FROM pg_stat_activity
                    WHERE datname = current_database() AND usename = 'bookplate_app'
                    """) == 0
            }
            let done = try await database.count("SELECT done FROM imports")
            #expect(try await database.count("SELECT count(*) FROM books") == done)
            reached.append(done)
            // Expires the lease of the job now, so that the test need not wait for it.
            try await database.execute(
                "UPDATE jobs SET lease_until = now() WHERE state = 'RUNNING'")
            server = try await installation.startServer()
        }
        #expect(
            reached.contains { $0 < Self.recordCount },
            "the server must be killed before the import ends")
        var found = Value.null
        try await waitUntil("the import is done") {
            found =
                try await server.client.execute(
                    """
                    query($id: ID!) { node(id: $id) { ... on Import { state total done created updated failed { line } } } }
                    """, ["id": .string(id)], token: token)["data", "node"] ?? .null
            return found["state"] == "DONE"
        }
        #expect(
            found == [
                "state": "DONE", "total": .int(Self.recordCount), "done": .int(Self.recordCount),
                "created": .int(Self.recordCount), "updated": 0,
                "failed": [],
            ])
        for (count, table) in [
            (Self.recordCount, "books"), (11, "shelves"),
            // The reviews of records with rating 0 have only a text.
            (Self.recordCount, "reviews"),
            (Self.recordCount / 6, "reviews WHERE quarter_stars IS NULL"),
            (Self.recordCount, "changes WHERE typename = 'Book' AND kind = 'CREATED'"),
        ] {
            #expect(try await database.count("SELECT count(*) FROM \(table)") == count, "\(table)")
        }
        #expect(
            try await database.count("SELECT count(DISTINCT title) FROM books") == Self.recordCount)
    }
}
