import Glibc
import GraphQL
import LoopbackHTTP
import TestSupport
import Testing

/// `bookplate-admin backfill covers`, and a server that fetches covers, both as they were built.
@Suite struct BackfillCoversTests {
    private static let known = "9780306406157"

    /// A server that has one picture, by ISBN.
    private static func covers() throws -> LoopbackServer {
        let picture = TestImage.png(width: 400, height: 600)
        return try LoopbackServer { request in
            guard request.target.hasPrefix("/b/isbn/\(known)-L.jpg") else { return [.answer(404)] }
            return [
                .send(
                    "HTTP/1.1 200 OK\r\nContent-Length: \(picture.count)\r\nConnection: close\r\n\r\n"
                ), .bytes(picture),
            ]
        }
    }

    @Test func itGoesOnWhereItWasStopped() async throws {
        let installation = try await Installation.ready(catalog: TestCatalog.lines(1))
        let server = try await installation.startServer()
        let session = try await server.signIn("backfill")
        let made = try await server.client.ask(
            """
            mutation { createBooks(inputs: [
              {title: "One"}, {title: "Two", isbn: "\(Self.known)"}, {title: "Three", isbn: "9780140328721"}
            ]) { book { coverStatus } } }
            """, token: session["accessToken"]?.string)
        #expect(made["data", "createBooks", 2, "book", "coverStatus"] == "NONE", "\(made)")
        server.program.send(SIGTERM)
        _ = try await blocking { try server.program.wait() }

        let covers = try Self.covers()
        func backfill(
            _ arguments: String..., covers url: String, code: Int32 = 0
        ) async throws -> Value {
            let outcome = try await installation.admin(
                ["backfill", "covers", "--json", "--rate", "1000", "--concurrency", "1"]
                    + arguments,
                ["BOOKPLATE_OPEN_LIBRARY_COVERS_URL": url])
            #expect(outcome.code == code, "\(outcome.errors)")
            return code == 0 ? try parseJSON(Array(outcome.output.utf8)) : .null
        }
        let dry = try await backfill("--dry-run", covers: covers.url(""))
        #expect(dry["remaining"] == 3 && dry["asked"] == 0 && dry["dryRun"] == true)
        #expect(covers.requests.isEmpty)
        let off = try await installation.admin(["backfill", "covers"])
        #expect(off.code == 1 && off.errors.contains("no source of covers is switched on"))
        let first = try await backfill("--limit", "1", covers: covers.url(""))
        #expect(first["asked"] == 1 && first["remaining"] == 2 && first["askedBefore"] == 0)
        let rest = try await backfill(covers: covers.url(""))
        #expect(rest["asked"] == 2 && rest["remaining"] == 0 && rest["askedBefore"] == 1)
        #expect((first["found"]?.int ?? 0) + (rest["found"]?.int ?? 0) == 1)
        #expect(try await installation.database.count("SELECT count(*) FROM covers") == 1)
        #expect(
            try await installation.database.count(
                "SELECT count(*) FROM books WHERE cover_status = 'NOT_FOUND'") == 2)
        // The next run begins anew, with what is still missing.
        let next = try await backfill(covers: covers.url(""))
        #expect(next["asked"] == 2 && next["found"] == 0 && next["askedBefore"] == 0)
        // Nobody is there: nothing is taken for an answer.
        try await installation.database.execute("DELETE FROM books WHERE title = 'One'")
        let dead = try LoopbackServer { _ in [.answer(503)] }
        _ = try await backfill(covers: dead.url(""), code: 69)
        #expect(try await installation.database.count("SELECT count(*) FROM cover_backfill") == 0)
    }

    /// The whole way, with the server's own wiring: a picture at the operator's own, private place.
    @Test func aServerFetchesCovers() async throws {
        let covers = try Self.covers()
        let installation = try await Installation.ready(catalog: TestCatalog.lines(1))
        let server = try await installation.startServer([
            "BOOKPLATE_OPEN_LIBRARY_COVERS_URL": covers.url("")
        ])
        let token = try await server.signIn("fetch")["accessToken"]?.string
        let made = try await server.client.ask(
            """
            mutation { createBook(input: {title: "Two", isbn: "\(Self.known)"}) { id coverStatus } }
            """, token: token)
        #expect(made["data", "createBook", "coverStatus"] == "FETCHING", "\(made)")
        let id = made["data", "createBook", "id"] ?? .null
        var book = Value.null
        try await until("the cover is there") {
            book =
                try await server.client.ask(
                    "query($id: ID!) { book(id: $id) { coverStatus coverUrl cover { source width } } }",
                    ["id": id], token: token)["data", "book"] ?? .null
            return book["coverStatus"] == "READY"
        }
        #expect(book["cover"] == ["source": "OPEN_LIBRARY", "width": 400])
        let metrics = try await server.client.send("GET", "/metrics").body
        #expect(
            metrics.contains(
                #"bookplate_cover_searches_total{result="found",source="open_library"} 1"#))
        server.program.send(SIGTERM)
        _ = try await blocking { try server.program.wait() }
    }
}
