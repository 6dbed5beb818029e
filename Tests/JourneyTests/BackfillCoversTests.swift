import Glibc
import GraphQL
import LoopbackHTTP
import Synchronization
import TestSupport
import Testing

/// `bookplate-admin backfill covers`, and a server that fetches covers, both as they were built.
@Suite struct BackfillCoversTests {
    private static let known = "9780306406157"

    /// A server that has one picture, by ISBN.
    private static func covers(failing: [String] = []) throws -> LoopbackServer {
        let picture = TestImage.png(width: 400, height: 600)
        return try LoopbackServer { request in
            if failing.contains(where: request.target.contains) { return [.answer(503)] }
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
        let made = try await server.client.execute(
            """
            mutation { createBooks(inputs: [
              {title: "One"}, {title: "Two", isbn: "\(Self.known)"}, {title: "Three", isbn: "9780140328721"}
            ]) { book { coverStatus } } }
            """, token: session["accessToken"]?.string)
        #expect(made["data", "createBooks", 2, "book", "coverStatus"] == "NONE", "\(made)")
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
        #expect(try await installation.database.count("SELECT count(*) FROM checkpoints") == 0)
    }

    /// A book whose source always fails is passed, and counted; only where nobody could tell of any, nothing is passed.
    @Test func itGoesPastWhatFails() async throws {
        let installation = try await Installation.ready(catalog: TestCatalog.lines(1))
        let database = installation.database
        let failing = ["9780000000019", "9780000000026", "9780000000033"]
        let isbns = failing + [Self.known]
        let server = try await installation.startServer()
        let reader = try await server.signIn("backfill")["user", "id"]?.string ?? ""
        server.program.send(SIGTERM)
        _ = try await blocking { try server.program.wait() }
        for (place, isbn) in isbns.enumerated() {
            try await database.execute(
                """
                INSERT INTO books (user_id, id, title, isbn13) \
                VALUES ('\(reader)', '00000000-0000-7000-8000-00000000000\(place)', 'Book', '\(isbn)')
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
        // Where nobody can tell of any book, the same books are asked for again.
        let none = try await backfill("--limit", "2")
        #expect(none.code == 69, "\(none)")
        #expect(
            none.errors.contains("open_library could not tell")
                && none.errors.contains("--skip-unavailable"))
        #expect(none.result["unavailable"] == 2 && none.result["remaining"] == 2)
        #expect(try await database.count("SELECT count(*) FROM checkpoints") == 0)
        // A whole batch fails, and the book behind it is found.
        let rest = try await backfill()
        #expect(rest.code == 0, "\(rest)")
        #expect(rest.result["asked"] == 4 && rest.result["found"] == 1)
        #expect(rest.result["unavailable"] == 3 && rest.result["notFound"] == 0)
        #expect(try await database.count("SELECT count(*) FROM checkpoints") == 0)
        #expect(
            try await database.count(
                "SELECT count(*) FROM books WHERE cover_status = 'NOT_FOUND'") == 0)
        // A run that was stopped is no matter for one that starts over, nor is it forgotten in a dry run.
        try await database.execute(
            """
            INSERT INTO checkpoints (task, position, done) \
            VALUES ('covers', '\(reader)/00000000-0000-7000-8000-000000000001', 2)
            """)
        #expect(try await backfill("--dry-run").result["remaining"] == 1)
        let dry = try await backfill("--dry-run", "--restart").result
        #expect(dry["remaining"] == 3 && dry["askedBefore"] == 0, "\(dry)")
        #expect(try await database.count("SELECT count(*) FROM checkpoints") == 1)
        #expect(try await backfill().code == 69)
        #expect(try await backfill("--restart").result["asked"] == 3)
        // It goes past those that always fail, where it is told to.
        let past = try await backfill("--restart", "--limit", "2", "--skip-unavailable")
        #expect(past.code == 0 && past.result["unavailable"] == 2, "\(past)")
        let last = try await backfill("--skip-unavailable")
        #expect(last.code == 0 && last.result["asked"] == 1 && last.result["askedBefore"] == 2)
        #expect(try await database.count("SELECT count(*) FROM checkpoints") == 0)
    }

    /// Where the sources are down, a library of many books is not gone through in vain.
    @Test func itStopsAfterAHundredThatNobodyCanTellOf() async throws {
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
        #expect(down.code == 69 && down.result["asked"] == 100, "\(down)")
        #expect(down.result["unavailable"] == 100 && down.result["remaining"] == 30)
        #expect(try await database.count("SELECT count(*) FROM checkpoints") == 0)
        let past = try await backfill("--skip-unavailable")
        #expect(past.code == 0 && past.result["asked"] == 130, "\(past)")
    }

    /// A mirror in the operator's own network has records and pictures of readers' books and of the catalogue's.
    @Test func aPrivateMirrorIsEnough() async throws {
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
                .answer(
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
            try await waitUntil("the mirror's picture is kept: \(what)") {
                try await installation.database.count("SELECT count(*) FROM \(what)") == 1
            }
        }
        // An address of a reader's leads there no more than before.
        let refused = try await server.client.execute(
            """
            mutation { createBook(input: {title: "Mine", fetchCover: false}) { id } }
            """, token: token)
        let set = try await server.client.execute(
            "mutation($b: ID!, $u: URL!) { setCover(bookId: $b, source: {url: $u}) { id } }",
            [
                "b": refused["data", "createBook", "id"] ?? .null,
                "u": .string(mirror.url("/books/content")),
            ], token: token)
        #expect(set["errors", 0, "extensions", "code"] == "BAD_USER_INPUT", "\(set)")
        server.program.send(SIGTERM)
        _ = try await blocking { try server.program.wait() }
    }

    /// The whole way, with the server's own wiring: a picture at the operator's own, private place.
    @Test func aServerFetchesCovers() async throws {
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
        try await waitUntil("the cover is there") {
            book =
                try await server.client.execute(
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
