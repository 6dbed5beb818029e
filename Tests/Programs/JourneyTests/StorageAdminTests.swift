import Glibc
import GraphQL
import TestSupport
import Testing

/// `bookplate-admin storage` and `backfill thumbnails`, with covers that a server has stored.
@Suite struct StorageAdminTests {
    /// An installation with three covers.
    private struct Fixture {
        let installation: Installation
        let user: String
        let books: [String]

        var objects: String { "\(installation.folder)/.bookplate/objects" }

        init() async throws {
            installation = try await Installation.ready(catalog: [])
            let server = try await installation.startServer()
            let session = try await server.signIn("keeper")
            let token = session["accessToken"]?.string
            user = try #require(session["user", "id"]?.string)
            var books: [String] = []
            for title in ["One", "Two", "Three"] {
                let made = try await server.client.execute(
                    "mutation($t: String!) { createBook(input: {title: $t}) { id } }",
                    ["t": .string(title)], token: token)
                let book = try #require(made["data", "createBook", "id"]?.string)
                books.append(book)
                let put = try await server.client.send(
                    "PUT", "/book-covers/\(user)/\(book).jpg", token: token,
                    bytes: TestImage.png(width: 700, height: 1000, seed: UInt64(books.count)))
                #expect(put.status == 201, "\(put.body)")
            }
            self.books = books
        }

        /// The path of a variant of a book's cover.
        func file(_ book: Int, _ variant: String) async throws -> String {
            let suffix = variant == "full" ? "" : ".\(variant)"
            let version = try await installation.database.text(
                "SELECT version FROM covers WHERE book_id = '\(books[book])'")
            return "\(objects)/book-covers/\(user)/\(books[book]).\(version)\(suffix).jpg"
        }

        func run(_ arguments: String...) async throws -> (code: Int32?, result: Value) {
            let outcome = try await installation.admin(arguments + ["--json"])
            let result = try? parseJSON(Array(outcome.output.utf8))
            return (outcome.code, result ?? .string(outcome.errors))
        }
    }

    @Test func verifyFindsProblemsThatGcAndBackfillRepair() async throws {
        let fixture = try await Fixture()
        let sound = try await fixture.run("storage", "verify")
        #expect(sound.code == 0, "\(sound)")
        #expect(sound.result["isSound"] == true && sound.result["covers"] == 3)
        #expect(
            sound.result["bytes"]
                == .int(
                    try await fixture.installation.database.count(
                        "SELECT sum(bytes)::bigint FROM tenant_storage")))

        // Delete the thumbnail of one cover, damage the full size of another one, and add two files without rows.
        unlink(try await fixture.file(0, "thumbnail"))
        let damaged = try await fixture.file(1, "full")
        #expect(truncate(damaged, 100) == 0)
        let folder = "\(fixture.objects)/book-covers/\(fixture.user)"
        let orphan = "\(folder)/\(fixture.books[2]).\(String(repeating: "0", count: 32)).jpg"
        #expect(link(try await fixture.file(2, "full"), orphan) == 0)
        let unknown = "\(folder)/notes.txt"
        #expect(link(orphan, unknown) == 0)
        let wrong = try await fixture.run("storage", "verify", "--grace", "0")
        #expect(wrong.code == 2)
        for (member, count) in [
            ("missing", 1), ("damaged", 1), ("orphans", 1), ("unknownFiles", 1),
        ] {
            #expect(wrong.result[member] == .int(count), "\(member): \(wrong.result)")
        }
        let files = wrong.result["findings"]?.list?.compactMap { $0["file"]?.string } ?? []
        #expect(files.contains { damaged.hasSuffix($0) })

        let tried = try await fixture.run("backfill", "thumbnails", "--dry-run")
        #expect(tried.result["repaired"] == 2 && tried.result["lost"] == 0, "\(tried)")
        // The first run stops after one cover, and the next run continues with the others.
        let first = try await fixture.run("backfill", "thumbnails", "--limit", "1")
        #expect(first.result["checked"] == 1 && first.result["isComplete"] == false, "\(first)")
        let second = try await fixture.run("backfill", "thumbnails")
        #expect(second.result["resumedAfter"] == 1 && second.result["checked"] == 2, "\(second)")
        #expect(second.result["isComplete"] == true)
        let third = try await fixture.run("backfill", "thumbnails")
        #expect(third.result["checked"] == 3 && third.result["repaired"] == 0)

        let dry = try await fixture.run("storage", "gc", "--grace", "0", "--dry-run")
        #expect(dry.code == 0 && dry.result["orphans"] == 1, "\(dry)")
        #expect(access(orphan, F_OK) == 0)
        let swept = try await fixture.run("storage", "gc", "--grace", "0")
        #expect(swept.result["orphans"] == 1 && swept.result["danglingRows"] == 0, "\(swept)")
        #expect(access(orphan, F_OK) != 0)
        unlink(unknown)
        #expect(try await fixture.run("storage", "verify", "--grace", "0").code == 0)
    }

    /// The server sends a title card instead of a damaged file. A cover that a search has found is searched again.
    @Test func verifyWithdrawsDamagedCovers() async throws {
        let fixture = try await Fixture()
        let database = fixture.installation.database
        try await database.execute(
            "UPDATE covers SET source = 'OPEN_LIBRARY' WHERE book_id = '\(fixture.books[1])'")
        for book in 0...1 {
            for variant in ["full", "large"] {
                #expect(truncate(try await fixture.file(book, variant), 100) == 0)
            }
        }
        // Another cover keeps its large size, from which the others can be made.
        #expect(truncate(try await fixture.file(2, "full"), 100) == 0)
        let version = try await database.text(
            "SELECT version FROM covers WHERE book_id = '\(fixture.books[0])'")
        let dry = try await fixture.run("storage", "verify")
        #expect(dry.code == 2 && dry.result["damaged"] == 5, "\(dry)")
        #expect(dry.result["removedFiles"] == 0 && dry.result["searchedCovers"] == 0)
        #expect(
            try await database.count("SELECT count(*) FROM jobs WHERE kind = 'cover.fetch'") == 0)

        let found = try await fixture.run("storage", "verify", "--fix")
        #expect(found.code == 2 && found.result["damaged"] == 5, "\(found)")
        #expect(found.result["removedFiles"] == 5 && found.result["searchedCovers"] == 1)
        #expect(
            try await database.count(
                "SELECT count(*) FROM covers WHERE book_id = '\(fixture.books[1])'") == 0)
        #expect(
            try await database.count(
                """
                SELECT count(*) FROM jobs j JOIN books b ON b.id = (j.payload ->> 'bookID')::uuid
                WHERE j.kind = 'cover.fetch' AND b.id = '\(fixture.books[1])' AND b.cover_status = 'FETCHING'
                """) == 1)
        #expect(
            try await database.count(
                """
                SELECT count(*) FROM audit_events
                WHERE kind = 'ADMIN_COMMAND' AND detail -> 'arguments' ->> 1 = 'verify'
                """) == 1)

        let server = try await fixture.installation.startServer()
        for book in [0, 2] {
            let target = "/book-covers/\(fixture.user)/\(fixture.books[book]).jpg"
            let card = try await server.client.send(
                "GET", "/title-cards/\(fixture.user)/\(fixture.books[book]).jpg")
            for query in book == 0 ? ["", "?v=\(version)"] : [""] {
                let response = try await server.client.send("GET", target + query)
                #expect(response.status == 200)
                #expect(response.headers["cache-control"]?.hasPrefix("public, max-age=300") == true)
                #expect(response.bytes == card.bytes)
            }
        }
        let repaired = try await fixture.run("backfill", "thumbnails")
        #expect(repaired.result["repaired"] == 1 && repaired.result["lost"] == 1, "\(repaired)")
    }

    @Test func gcDeletesRowsWithoutImages() async throws {
        let fixture = try await Fixture()
        for variant in ["full", "large"] { unlink(try await fixture.file(0, variant)) }
        let lost = try await fixture.run("backfill", "thumbnails")
        #expect(lost.result["lost"] == 1 && lost.result["repaired"] == 0, "\(lost)")
        let dry = try await fixture.run("storage", "gc", "--dry-run")
        #expect(dry.result["danglingRows"] == 1, "\(dry)")
        #expect(
            dry.result["locks"]?.list?.contains { $0["table"] == "covers" } == true)
        let swept = try await fixture.run("storage", "gc", "--grace", "0")
        #expect(swept.code == 0 && swept.result["danglingRows"] == 1, "\(swept)")
        let database = fixture.installation.database
        #expect(try await database.count("SELECT count(*) FROM covers") == 2)
        #expect(
            try await database.text(
                "SELECT cover_status FROM books WHERE id = '\(fixture.books[0])'") == "NO_COVER")
        #expect(try await fixture.run("storage", "verify", "--grace", "0").code == 0)
    }

    /// If the images of most covers are missing, the disk may not be mounted.
    @Test func gcAsksBeforeDeletingManyRows() async throws {
        let fixture = try await Fixture()
        try await fixture.installation.database.execute(
            """
            INSERT INTO books (user_id, id, title) \
            SELECT '\(fixture.user)', gen_random_uuid(), 'Book ' || n FROM generate_series(1, 20) AS n;
            INSERT INTO covers (user_id, book_id, tenant_id, version, source, width, height, dominant_color, \
            blur_hash, byte_counts, hashes) SELECT b.user_id, b.id, u.tenant_id, repeat('0', 32), 'URL', 1, 1, \
            '#000000', 'x', '{1,1,1}', ARRAY['a', 'b', 'c']::bytea[] FROM books b JOIN users u ON u.id = b.user_id \
            WHERE b.title LIKE 'Book %'
            """)
        let refused = try await fixture.run("storage", "gc")
        #expect(refused.code == 64, "\(refused)")
        #expect(refused.result.string?.contains("Is the disk mounted") == true)
        let swept = try await fixture.run("storage", "gc", "--yes")
        #expect(swept.result["danglingRows"] == 20)
    }

    @Test func usageIsShownByTenantAndUser() async throws {
        let fixture = try await Fixture()
        let usage = try await fixture.run("storage", "usage")
        let bytes = try await fixture.installation.database.count(
            "SELECT sum(bytes)::bigint FROM tenant_storage")
        #expect(
            usage.result == [
                "tenants": [
                    [
                        "slug": "reader", "users": 1, "covers": 3, "bytes": .int(bytes),
                        "bytesMax": .null,
                    ]
                ],
                "users": [
                    [
                        "id": .string(fixture.user), "tenant": "reader", "covers": 3,
                        "bytes": .int(bytes), "bytesMax": .int(2 << 30),
                    ]
                ],
            ])
        #expect(try await fixture.run("storage", "usage", "--tenant", "nobody").code == 1)
        #expect(
            try await fixture.run("storage", "usage", "--user", TestCluster.owner).code == 64)
    }
}
