import FoundationEssentials
import Glibc
import GraphQL
import TestSupport
import Testing

/// Commands about the schema.
extension AdminTests {
    @Test func comparesTheSchemaWithAnOlderOne() async throws {
        let installation = try await Self.installation()
        let printed = try await installation.admin("schema", "print")
        let same = try installation.write(printed.output, to: "same.graphql")
        let unchanged = try await installation.admin("schema", "check", same, "--json")
        #expect(unchanged.code == 0, "\(unchanged.errors)")
        #expect(try json(unchanged) == ["breaking": 0, "dangerous": 0, "safe": 0, "changes": []])

        let older = printed.output.replacing("type Query {", with: "type Query {\n  gone: Int")
        let file = try installation.write(older, to: "older.graphql")
        let broken = try await installation.admin("schema", "check", file, "--json")
        #expect(broken.code == 2, "\(broken.errors)")
        let result = try json(broken)
        #expect(result["breaking"] == 1)
        #expect(result["changes", 0, "coordinate"] == "Query.gone")
        let wrong = try installation.write("type Query {", to: "wrong.graphql")
        #expect(try await installation.admin("schema", "check", wrong).code == 1)
    }

    /// A server counts what its clients use, and the counts decide about changes of the schema.
    @Test func printsTheUsageOfTheSchema() async throws {
        let installation = try await Installation.ready(catalog: [])
        let empty = try json(try await installation.admin("schema", "usage", "--json"))
        #expect(empty == ["days": 90, "countedSince": .null, "elements": []])
        let server = try await installation.startServer()
        let token = try await server.signIn("ada")["accessToken"]?.string
        for _ in 0..<2 {
            let response = try await server.client.send(
                "POST", "/graphql", body: #"{"query":"{ me { stats { bookCount } } }"}"#,
                headers: [
                    "authorization": "Bearer \(token ?? "")", "content-type": "application/json",
                    "apollographql-client-name": "ios", "apollographql-client-version": "1.2",
                ])
            #expect(response.status == 200)
        }
        // A server that stops stores its counts.
        server.program.send(SIGTERM)
        _ = try await blocking { try server.program.wait() }

        let field = try json(
            try await installation.admin(
                "schema", "usage", "--field", "LibraryStats.bookCount", "--json"))
        let today = field["countedSince"] ?? .null
        #expect(
            field["elements"] == [
                [
                    "coordinate": "LibraryStats.bookCount", "deprecationReason": .null,
                    "uses": 2, "lastUsedOn": today,
                    "clients": [
                        [
                            "tenant": "reader", "name": "ios", "version": "1.2", "uses": 2,
                            "lastUsedOn": today,
                        ]
                    ],
                ]
            ])
        let all = try json(try await installation.admin("schema", "usage", "--json"))
        let names = all["elements"]?.values(of: "coordinate") ?? []
        #expect(names.contains("User.stats") && names.contains("Mutation.signIn"))
        let deprecated = try json(
            try await installation.admin("schema", "usage", "--deprecated", "--json"))
        #expect(deprecated["elements"] == [])
        let text = try await installation.admin("schema", "usage")
        #expect(text.output.contains("  reader ios 1.2\t2 uses\tlast on"))
        #expect(try await installation.admin("schema", "usage", "--field", "not one").code == 64)
        #expect(try await installation.admin("schema", "usage", "--days", "0").code == 64)

        // A server with fields that this one does not have was used, and one of the fields still is.
        let printed = try await installation.admin("schema", "print").output
        let older = printed.replacing(
            "type Query {", with: "type Query {\n  gone: Int\n  used: Int")
        let file = try installation.write(older, to: "older.graphql")
        try await installation.database.execute(
            """
            INSERT INTO schema_usage
            SELECT s.day - v.age, s.client_id, v.coordinate, 1
            FROM schema_usage s, (VALUES (0, 'Query.used'), (100, 'Query.gone')) v (age, coordinate)
            WHERE s.coordinate = 'LibraryStats.bookCount'
            """)
        for (days, used) in [(30, "Query.used"), (200, "Query.gone")] {
            let checked = try await installation.admin(
                "schema", "check", file, "--usage", "--days", "\(days)", "--json")
            #expect(checked.code == 2)
            let change = try json(checked)["changes"]?.list?.first {
                $0["coordinate"] == .string(used)
            }
            #expect(change?["lastUsedBy"] == "reader ios 1.2", "\(checked.output)")
        }
        let removed = try installation.write(
            printed.replacing("type Query {", with: "type Query {\n  gone: Int"),
            to: "removed.graphql")
        let unusedOnly = try await installation.admin(
            "schema", "check", removed, "--usage", "--days", "30")
        #expect(unusedOnly.code == 0, "\(unusedOnly.output)")
        #expect(unusedOnly.output.contains("Query.gone: Field Query.gone was removed. Not used."))
        // Days without any count are unknown, so the element may have been used on them.
        let uncovered = try await installation.admin(
            "schema", "check", removed, "--usage", "--days", "2000")
        #expect(uncovered.code == 2)
    }

    /// A migration that changes a table of readers blocks their requests until its commit.
    @Test func plansHowLongTablesAreLocked() async throws {
        let installation = try await Installation.ready(catalog: [])
        let folder = "\(installation.folder)/migrations"
        try FileManager.default.copyItem(atPath: TestCluster.migrations, toPath: folder)
        let plan = ["migrate", "plan", "--migrations", folder]
        let empty = try await installation.admin(plan + ["--json"])
        #expect(try json(empty) == ["transactions": [], "untried": []], "\(empty.errors)")

        _ = try installation.write(
            "-- Why: marks are a test.\nALTER TABLE books ADD COLUMN mark text;\n",
            to: "migrations/20991231000000_add_mark.sql")
        _ = try installation.write(
            "-- Why: labels are a test.\nALTER TABLE books ADD COLUMN label text;\n",
            to: "migrations/20991231000001_add_label.sql")
        _ = try installation.write(
            "-- Why: an index is a test.\n-- no-transaction\nCREATE INDEX CONCURRENTLY ON books (mark);\n",
            to: "migrations/20991231000002_index_marks.sql")
        let planned = try await installation.admin(plan + ["--json"])
        #expect(planned.code == 0, "\(planned.errors)")
        let result = try json(planned)
        let transactions = result["transactions"]?.list ?? []
        try #require(transactions.count == 2)
        #expect(result["untried"] == ["20991231000002_index_marks.sql"])
        #expect(transactions[0]["files"] == ["20991231000000_add_mark.sql"])
        #expect(transactions[0]["milliseconds"]?.int != nil)
        #expect(
            transactions[0]["locks"] == [
                ["table": "books", "mode": "AccessExclusive", "blocks": "everybody"]
            ])
        #expect(transactions[0]["mayLockAgain"] == [])
        #expect(transactions[1]["files"] == ["20991231000001_add_label.sql"])
        #expect(transactions[1]["locks"] == [])
        #expect(transactions[1]["mayLockAgain"] == ["books"])
        let text = try await installation.admin(plan)
        #expect(text.output.contains("  books (AccessExclusive: blocks reads and writes) for"))
        #expect(text.output.contains(#/  may lock again for at most [0-9]+ ms: books\n/#))
        #expect(!text.output.contains("no request waits"))
        #expect(
            text.output.contains(
                "not tried: 20991231000002_index_marks.sql (does not run in a transaction)"))
        #expect(
            try await installation.database.count(
                "SELECT count(*) FROM pg_attribute WHERE attrelid = 'books'::regclass AND attname = 'mark'"
            ) == 0)
    }
}
