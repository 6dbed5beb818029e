import GraphQL
import LoopbackHTTP
import TestSupport
import Testing

/// `bookplate-admin backfill authors`, with a local HTTP server as Open Library.
@Suite struct BackfillAuthorsTests {
    private static let catalog = (1...4).map { number in
        """
        {"title":"Book \(number)","isbn13":"\(TestCatalog.isbn(number))","ratingsCount":\(100 - number),\
        "authors":["A. Author \(number)","Second Author",{"name":"T. Translator","role":"TRANSLATOR"}]}
        """
    }

    /// Every edition has its own author, whose name Open Library spells out, and a second one without a biography.
    private static func respond(_ target: String) -> [Step] {
        if let isbn = target.wholeMatch(of: /\/isbn\/(.*)\.json/)?.1,
            let number = (1...4).first(where: { TestCatalog.isbn($0) == isbn })
        {
            return [
                .response(
                    200,
                    #"{"title": "T", "authors": [{"key": "/authors/OL\#(number)A"}, {"key": "/authors/OL9A"}]}"#
                )
            ]
        }
        switch target {
        case "/authors/OL4A.json": return [.response(404)]
        case "/authors/OL9A.json":
            return [.response(200, #"{"key": "/authors/OL9A", "name": "Second Author"}"#)]
        default:
            guard let number = target.wholeMatch(of: /\/authors\/OL([123])A\.json/)?.1 else {
                return [.response(404)]
            }
            return [
                .response(
                    200,
                    #"{"key": "/authors/OL\#(number)A", "name": "Ann Author \#(number)", "bio": {"type": "/type/text", "value": "**Life** \#(number)"}}"#
                )
            ]
        }
    }

    private func environment(_ server: LoopbackServer) -> [String: String?] {
        ["BOOKPLATE_OPEN_LIBRARY_URL": server.url("")]
    }

    private func json(_ outcome: Program.Outcome) throws -> Value {
        try parseJSON(Array(outcome.output.utf8))
    }

    @Test func addsBiographiesOfPopularAuthorsFirst() async throws {
        let installation = try await Installation.ready(catalog: Self.catalog)
        let server = try LoopbackServer { Self.respond($0.target) }
        func run(_ more: String...) async throws -> Value {
            let outcome = try await installation.admin(
                ["backfill", "authors", "--json"] + more, environment(server))
            #expect(outcome.code == 0, "\(outcome.errors)")
            return try json(outcome)
        }
        // The translator is not among the authors of Open Library's editions.
        let dry = try await run("--dry-run")
        #expect(
            dry == [
                "remaining": 5, "lookedUp": 0, "found": 0, "unavailable": 0, "dryRun": true,
            ])
        #expect(server.requests.isEmpty)
        let first = try await run("--limit", "1")
        #expect(first["lookedUp"] == 1 && first["found"] == 1)
        #expect(
            server.requests.map(\.target) == [
                "/isbn/\(TestCatalog.isbn(1)).json", "/authors/OL1A.json", "/authors/OL9A.json",
            ])
        let rest = try await run()
        #expect(rest["found"] == 2 && rest["unavailable"] == 0)
        let bios = try await installation.database.withConnection { connection in
            let rows = try connection.query(
                "SELECT a.bio FROM editions e LEFT JOIN authors a ON a.id = e.author_ids[1] ORDER BY e.title"
            )
            return (0..<rows.count).map { rows.text($0, 0) }
        }
        #expect(bios == ["Life 1", "Life 2", "Life 3", nil])
        // No author is requested again, with or without a biography.
        let requests = server.requests.count
        let none = try await run()
        #expect(none["lookedUp"] == 0 && none["remaining"] == 0)
        #expect(server.requests.count == requests)

        // An author whose key is known needs one request.
        try await installation.database.execute(
            "UPDATE authors SET bio = NULL, bio_requested_at = NULL WHERE open_library_key = 'OL2A'"
        )
        let again = try await run()
        #expect(again["found"] == 1)
        #expect(server.requests.dropFirst(requests).map(\.target) == ["/authors/OL2A.json"])
    }

    @Test func recordsNothingIfOpenLibraryDoesNotRespond() async throws {
        let installation = try await Installation.ready(catalog: [Self.catalog[0]])
        let server = try LoopbackServer { _ in [.response(503, "later")] }
        let outcome = try await installation.admin(
            ["backfill", "authors", "--json"], environment(server))
        #expect(outcome.code == 69)
        #expect(try json(outcome)["unavailable"] == 2)
        #expect(outcome.errors.contains("run the same command again later"))
        #expect(try await installation.database.count("SELECT count(*) FROM authors") == 0)
    }

    @Test func failsWithoutOpenLibrary() async throws {
        let installation = try await Installation.ready(catalog: [])
        let outcome = try await installation.admin("backfill", "authors")
        #expect(outcome.code == 1)
        #expect(outcome.errors.contains("Open Library"))
        #expect(try await installation.admin("backfill", "authors", "--limit", "0").code == 64)
    }
}
