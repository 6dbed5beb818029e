import Glibc
import GraphQL
import TestSupport
import Testing

/// A server that is killed with SIGKILL while it imports a library.
@Suite struct ImportKillTests {
    private static let recordCount = 1200

    private static let file: [UInt8] = {
        let header = "Book Id,Title,Author,ISBN13,My Rating,Bookshelves,Exclusive Shelf,My Review\n"
        let records = (1...recordCount).map {
            "\($0),Title \($0),Author \($0 % 50),\(TestCatalog.isbn(500_000 + $0)),\($0 % 6),"
                + "\"shelf \($0 % 7), shelf \($0 % 11)\",read,Words \($0)\n"
        }
        return Array((header + records.joined()).utf8)
    }()

    private func upload(_ server: RunningServer, _ token: String) async throws -> String {
        let operations =
            #"{"query":"mutation($file: Upload!) { importLibrary(input: {file: $file}) { id } }","variables":{"file":null}}"#
        let parts = [
            ("operations", Array(operations.utf8)),
            ("map", Array(#"{"0":["variables.file"]}"#.utf8)),
            ("0\"; filename=\"library.csv", Self.file),
        ]
        let body = parts.flatMap { name, content in
            Array("--XX\r\nContent-Disposition: form-data; name=\"\(name)\"\r\n\r\n".utf8) + content
                + Array("\r\n".utf8)
        }
        let response = try await server.client.send(
            "POST", "/graphql", token: token, bytes: body + Array("--XX--\r\n".utf8),
            headers: [
                "content-type": "multipart/form-data; boundary=XX", "graphql-preflight": "1",
            ])
        return try #require(
            response.json["data", "importLibrary", "id"]?.string, "\(response.body)")
    }

    @Test func theImportContinuesWithoutLosingOrRepeatingRecords() async throws {
        let installation = try await Installation.ready(catalog: [])
        let database = installation.database
        var server = try await installation.startServer()
        let token = try #require(try await server.signIn("killed")["accessToken"]?.string)
        let id = try await upload(server, token)
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
            (Self.recordCount / 6, "reviews WHERE half_stars IS NULL"),
            (Self.recordCount, "changes WHERE typename = 'Book' AND kind = 'CREATED'"),
        ] {
            #expect(try await database.count("SELECT count(*) FROM \(table)") == count, "\(table)")
        }
        #expect(
            try await database.count("SELECT count(DISTINCT title) FROM books") == Self.recordCount)
    }
}
