import Glibc
import GraphQL
import LoopbackHTTP
import Synchronization
import TestBasics
import TestSupport
import Testing

/// `bookplate-admin backfill covers`, and servers that fetch covers.
@Suite struct BackfillCoversTests {
    private static let known = "9780306406157"

    /// A server with a cover for a single ISBN. It fails for requests that contain one of the texts in `failing`.
    private static func covers(failing: [String] = []) throws -> LoopbackServer {
        let picture = TestImage.png(width: 400, height: 600)
        return try LoopbackServer { request in
            if failing.contains(where: request.target.contains) { return [.response(503)] }
            guard request.target.hasPrefix("/b/isbn/\(known)-L.jpg") else {
                return [.response(404)]
            }
            return [
                .send(
                    "HTTP/1.1 200 OK\r\nContent-Length: \(picture.count)\r\nConnection: close\r\n\r\n"
                ), .bytes(picture),
            ]
        }
    }

    @Test func continuesAfterAnInterruption() async throws {
        let installation = try await Installation.ready(catalog: TestCatalog.lines(1))
        let server = try await installation.startServer()
        let session = try await server.signIn("backfill")
        let made = try await server.client.execute(
            """
            mutation { createBooks(inputs: [
              {title: "One"}, {title: "Two", isbn: "\(Self.known)"}, {title: "Three", isbn: "9780140328721"}
            ]) { book { coverStatus } } }
            """, token: session["accessToken"]?.string)
        #expect(made["data", "createBooks", 2, "book", "coverStatus"] == "NO_COVER", "\(made)")
        server.program.send(SIGTERM)
        _ = try await blocking { try server.program.wait() }

        let covers = try Self.covers()
        func backfill(_ arguments: String..., covers url: String) async throws -> Value {
            let outcome = try await installation.admin(
                ["backfill", "covers", "--json", "--rate", "1000", "--concurrency", "1"]
                    + arguments,
                ["BOOKPLATE_OPEN_LIBRARY_COVERS_URL": url])
            #expect(outcome.code == 0, "\(outcome.errors)")
            return try parseJSON(Array(outcome.output.utf8))
        }
        let dry = try await backfill("--dry-run", covers: covers.url(""))
        #expect(dry["remaining"] == 3 && dry["searched"] == 0 && dry["dryRun"] == true)
        #expect(covers.requests.isEmpty)
        let off = try await installation.admin(["backfill", "covers"])
        #expect(off.code == 1 && off.errors.contains("no source of covers is configured"))
        let first = try await backfill("--limit", "1", covers: covers.url(""))
        #expect(first["searched"] == 1 && first["remaining"] == 2 && first["searchedBefore"] == 0)
        let rest = try await backfill(covers: covers.url(""))
        #expect(rest["searched"] == 2 && rest["remaining"] == 0 && rest["searchedBefore"] == 1)
        #expect((first["found"]?.int ?? 0) + (rest["found"]?.int ?? 0) == 1)
        #expect(try await installation.database.count("SELECT count(*) FROM covers") == 1)
        #expect(
            try await installation.database.count(
                "SELECT count(*) FROM books WHERE cover_status = 'NOT_FOUND'") == 2)
        // The run is complete, so the next one starts with the first book without a cover.
        let next = try await backfill(covers: covers.url(""))
        #expect(next["searched"] == 2 && next["found"] == 0 && next["searchedBefore"] == 0)
        #expect(try await installation.database.count("SELECT count(*) FROM checkpoints") == 0)
    }

    /// Books whose source fails are counted and skipped, unless the source fails for all books.
    @Test func skipsUnavailableBooks() async throws {
        let installation = try await Installation.ready(catalog: TestCatalog.lines(1))
        let database = installation.database
        let failing = ["9780000000019", "9780000000026", "9780000000033"]
        let isbns = failing + [Self.known]
        let server = try await installation.startServer()
        let reader = try await server.signIn("backfill")["user", "id"]?.string ?? ""
        server.program.send(SIGTERM)
        _ = try await blocking { try server.program.wait() }
        for (index, isbn) in isbns.enumerated() {
            try await database.execute(
                """
                INSERT INTO books (user_id, id, title, isbn13) \
                VALUES ('\(reader)', '00000000-0000-7000-8000-00000000000\(index)', 'Book', '\(isbn)')
                """)
        }
        let covers = try Self.covers(failing: failing)
        func backfill(_ arguments: String...) async throws -> (
            code: Int32?, errors: String, result: Value
        ) {
            let outcome = try await installation.admin(
                ["backfill", "covers", "--json", "--rate", "1000", "--concurrency", "2"]
                    + arguments, ["BOOKPLATE_OPEN_LIBRARY_COVERS_URL": covers.url("")])
            return (
                outcome.code, outcome.errors, try parseJSON(Array(outcome.output.utf8))
            )
        }
        // All books are unavailable, so the next run requests the same books again.
        let none = try await backfill("--limit", "2")
        #expect(none.code == 69, "\(none)")
        #expect(
            none.errors.contains("no response for the last 2 books from open_library")
                && none.errors.contains("--skip-unavailable"))
        #expect(none.result["unavailable"] == 2 && none.result["remaining"] == 2)
        #expect(try await database.count("SELECT count(*) FROM checkpoints") == 0)
        // All books of the first batch are unavailable, and a later book is found.
        let rest = try await backfill()
        #expect(rest.code == 0, "\(rest)")
        #expect(rest.result["searched"] == 4 && rest.result["found"] == 1)
        #expect(rest.result["unavailable"] == 3 && rest.result["notFound"] == 0)
        #expect(try await database.count("SELECT count(*) FROM checkpoints") == 0)
        #expect(
            try await database.count(
                "SELECT count(*) FROM books WHERE cover_status = 'NOT_FOUND'") == 0)
        // With --restart, the checkpoint of an interrupted run is ignored. A dry run does not delete it.
        try await database.execute(
            """
            INSERT INTO checkpoints (task, position, done) \
            VALUES ('covers', '\(reader)/00000000-0000-7000-8000-000000000001', 2)
            """)
        #expect(try await backfill("--dry-run").result["remaining"] == 1)
        let dry = try await backfill("--dry-run", "--restart").result
        #expect(dry["remaining"] == 3 && dry["searchedBefore"] == 0, "\(dry)")
        #expect(try await database.count("SELECT count(*) FROM checkpoints") == 1)
        #expect(try await backfill().code == 69)
        #expect(try await backfill("--restart").result["searched"] == 3)
        // With --skip-unavailable, a run continues although all books are unavailable.
        let past = try await backfill("--restart", "--limit", "2", "--skip-unavailable")
        #expect(past.code == 0 && past.result["unavailable"] == 2, "\(past)")
        let last = try await backfill("--skip-unavailable")
        #expect(
            last.code == 0 && last.result["searched"] == 1 && last.result["searchedBefore"] == 2)
        #expect(try await database.count("SELECT count(*) FROM checkpoints") == 0)
    }

    /// If the sources are down, the command does not try all books.
    @Test func stopsAfterAHundredUnavailableBooks() async throws {
        let installation = try await Installation.ready(catalog: TestCatalog.lines(1))
        let database = installation.database
        let server = try await installation.startServer()
        let reader = try await server.signIn("backfill")["user", "id"]?.string ?? ""
        server.program.send(SIGTERM)
        _ = try await blocking { try server.program.wait() }
        let books = (101...230).map { number in
            "('\(reader)', '00000000-0000-7000-8000-000000000\(number)', 'Book', '\(TestCatalog.isbn(number))')"
        }
        try await database.execute(
            "INSERT INTO books (user_id, id, title, isbn13) VALUES \(books.joined(separator: ", "))"
        )
        let covers = try Self.covers(failing: ["/"])
        func backfill(_ arguments: String...) async throws -> (code: Int32?, result: Value) {
            let outcome = try await installation.admin(
                ["backfill", "covers", "--json", "--rate", "1000", "--concurrency", "4"]
                    + arguments, ["BOOKPLATE_OPEN_LIBRARY_COVERS_URL": covers.url("")])
            return (outcome.code, try parseJSON(Array(outcome.output.utf8)))
        }
        let down = try await backfill()
        #expect(down.code == 69 && down.result["searched"] == 100, "\(down)")
        #expect(down.result["unavailable"] == 100 && down.result["remaining"] == 30)
        #expect(try await database.count("SELECT count(*) FROM checkpoints") == 0)
        let past = try await backfill("--skip-unavailable")
        #expect(past.code == 0 && past.result["searched"] == 130, "\(past)")
    }

    /// A mirror in a private network can provide records and covers, both for users' books and for the catalog.
    @Test func usesAPrivateMirror() async throws {
        let picture = TestImage.png(width: 400, height: 600)
        let origin = Mutex("")
        let mirror = try LoopbackServer { request in
            if request.target.hasPrefix("/books/content") {
                return [
                    .send("HTTP/1.1 200 OK\r\nContent-Length: \(picture.count)\r\n\r\n"),
                    .bytes(picture),
                ]
            }
            let isbn = request.target.contains(Self.known) ? Self.known : TestCatalog.isbn(1)
            let link =
                origin.withLock { $0 } + "/books/content?id=x&printsec=frontcover&img=1&zoom=1"
            return [
                .response(
                    200,
                    """
                    {"totalItems": 1, "items": [{"id": "x", "volumeInfo": {"title": "Card 1", "authors": ["Ada"], \
                    "industryIdentifiers": [{"type": "ISBN_13", "identifier": "\(isbn)"}], \
                    "imageLinks": {"thumbnail": "\(link)"}}}]}
                    """)
            ]
        }
        origin.withLock { $0 = mirror.url("") }
        let installation = try await Installation.ready(catalog: TestCatalog.lines(1))
        let server = try await installation.startServer([
            "BOOKPLATE_GOOGLE_BOOKS_URL": mirror.url("/books/v1")
        ])
        let token = try await server.signIn("mirror")["accessToken"]?.string
        let made = try await server.client.execute(
            """
            mutation { createBook(input: {title: "Card 1", isbn: "\(Self.known)"}) { coverStatus } }
            """, token: token)
        #expect(made["data", "createBook", "coverStatus"] == "FETCHING", "\(made)")
        for what in ["covers", "editions WHERE cover_version IS NOT NULL"] {
            try await waitUntil("the mirror's cover is stored in \(what)") {
                try await installation.database.count("SELECT count(*) FROM \(what)") == 1
            }
        }
        // Users must not fetch covers from private addresses, even if they are configured.
        let refused = try await server.client.execute(
            """
            mutation { createBook(input: {title: "Mine", fetchCover: false}) { id } }
            """, token: token)
        let set = try await server.client.execute(
            "mutation($b: ID!, $u: URI!) { setCover(id: $b, input: {url: $u}) { id } }",
            [
                "b": refused["data", "createBook", "id"] ?? .null,
                "u": .string(mirror.url("/books/content")),
            ], token: token)
        #expect(set["errors", 0, "extensions", "code"] == "BAD_USER_INPUT", "\(set)")
        server.program.send(SIGTERM)
        _ = try await blocking { try server.program.wait() }
    }

    /// A server fetches the cover of a new book from a source at a private address.
    @Test func fetchesCoversInAServer() async throws {
        let covers = try Self.covers()
        let installation = try await Installation.ready(catalog: TestCatalog.lines(1))
        let server = try await installation.startServer([
            "BOOKPLATE_OPEN_LIBRARY_COVERS_URL": covers.url("")
        ])
        let token = try await server.signIn("fetch")["accessToken"]?.string
        let made = try await server.client.execute(
            """
            mutation { createBook(input: {title: "Two", isbn: "\(Self.known)"}) { id coverStatus } }
            """, token: token)
        #expect(made["data", "createBook", "coverStatus"] == "FETCHING", "\(made)")
        let id = made["data", "createBook", "id"] ?? .null
        var book = Value.null
        try await waitUntil("the cover is stored") {
            book =
                try await server.client.execute(
                    "query($id: ID!) { book(id: $id) { coverStatus image { source width } } }",
                    ["id": id], token: token)["data", "book"] ?? .null
            return book["coverStatus"] == "READY"
        }
        #expect(book["image"] == ["source": "OPEN_LIBRARY", "width": 400])
        let metrics = try await server.client.send("GET", "/metrics").body
        #expect(
            metrics.contains(
                #"bookplate_cover_searches_total{result="found",source="open_library"} 1"#))
        server.program.send(SIGTERM)
        _ = try await blocking { try server.program.wait() }
    }
}
