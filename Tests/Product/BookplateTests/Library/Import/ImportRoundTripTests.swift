import GraphQLServing
import GraphQL
import Identity
import Postgres
import TestBasics
import TestSupport
import Testing
import Zip

@testable import Bookplate
@testable import Requests

/// Files of other applications, imported, exported, and imported again by another reader.
@Suite struct ImportRoundTripTests {
    private static let formats = [
        "goodreads.csv", "storygraph.csv", "hardcover.csv", "librarything.tsv",
        "librarything.json", "calibre.csv", "openreads.csv",
    ]

    /// Everything that a library has, except the order and the ids of what the import creates.
    private func library(of reader: TestReader) async throws -> [String] {
        let id = reader.id.string ?? ""
        return try await reader.app.database.withConnection { connection in
            let rows = try connection.query(
                """
                SELECT jsonb_build_object(
                  'book', to_jsonb(b) - '{user_id,updated_at}'::text[],
                  'review', to_jsonb(v) - '{user_id,id,updated_at}'::text[],
                  'reads', (
                    SELECT jsonb_agg(to_jsonb(r) - '{user_id,created_at,updated_at}'::text[] ORDER BY r.sorted_on, r.id)
                    FROM reads r
                    WHERE r.user_id = b.user_id AND r.book_id = b.id
                  ),
                  'progress', (
                    SELECT jsonb_agg(to_jsonb(p) - '{user_id,created_at,updated_at}'::text[] ORDER BY p.at, p.id)
                    FROM progress_entries p
                    JOIN reads r ON r.user_id = b.user_id AND r.id = p.read_id
                    WHERE p.user_id = b.user_id AND r.book_id = b.id
                  ),
                  'notes', (
                    SELECT jsonb_agg(to_jsonb(n) - '{user_id,book_id}'::text[] ORDER BY n.created_at, n.id)
                    FROM notes n
                    WHERE n.user_id = b.user_id AND n.book_id = b.id
                  ),
                  'copies', (
                    SELECT jsonb_agg(to_jsonb(c) - '{user_id,book_id}'::text[] ORDER BY c.created_at, c.id)
                    FROM book_copies c
                    WHERE c.user_id = b.user_id AND c.book_id = b.id
                  ),
                  'shelves', ARRAY(
                    SELECT concat_ws(' ', s.name, f.position) FROM shelf_books f JOIN shelves s ON s.user_id = b.user_id AND s.id = f.shelf_id
                    WHERE f.user_id = b.user_id AND f.book_id = b.id ORDER BY s.name
                  )
                )::text
                FROM books b
                LEFT JOIN reviews v ON v.user_id = b.user_id AND v.book_id = b.id
                WHERE b.user_id = '\(id)'
                ORDER BY b.title, b.id
                """)
            return (0..<rows.count).map { rows.text($0, 0) ?? "" }
        }
    }

    func imported(_ reader: TestReader, _ bytes: [UInt8]) async throws -> Value {
        let response = try await reader.app.execute(
            "mutation($file: Upload!) { importLibrary(input: {file: $file}) { id } }",
            ["file": UploadReference.value(0)], token: reader.token, uploads: [bytes])
        let id = try #require(response["importLibrary", "id"], "\(response.json)")
        let worker = try await TestWorker.start(
            reader.app.database, [ImportLibrary(covers: reader.app.covers)])
        var found = Value.null
        try await waitUntil("the import has ended") {
            found = try await reader.requireValue(
                """
                query($id: ID!) { node(id: $id) { ... on Import {
                  state created updated failed { line field message } ignoredColumns } } }
                """, ["id": id], "node")
            return ["DONE", "FAILED"].contains(found["state"])
        }
        await worker.stop()
        return found
    }

    /// Returns the archives of the parts.
    func exported(_ reader: TestReader) async throws -> [[UInt8]] {
        let payload = try await reader.requireValue(
            "mutation { exportLibrary { parts { url bookCount } } }", .null, "exportLibrary")
        var archives: [[UInt8]] = []
        let (pool, services) = (reader.app.pool, reader.app.services)
        for part in payload["parts"]?.list ?? [] {
            let token = part["url"]?.string?.split(separator: "/").last?.dropLast(4) ?? ""
            archives.append(
                try await Task(executorPreference: pool.executor) {
                    try await ExportEndpoint(database: pool, services: services)
                        .open(token: token, requestID: "test").bytes()
                }.value)
        }
        return archives
    }

    @Test(arguments: formats)
    func nothingIsLost(fixture: String) async throws {
        let app = try await TestApp.start(catalog: [])
        let (from, to) = (try await app.makeReader(), try await app.makeReader())
        let bytes = try ImportRecordTests.fixture(fixture)
        let first = try await imported(from, bytes)
        #expect(first["state"] == "DONE" && first["created"]?.int ?? 0 >= 2, "\(first)")
        let before = try await library(of: from)
        #expect(
            before.contains { $0.contains(#""quarter_stars": 18"#) } || fixture == "goodreads.csv")
        for archive in try await exported(from) {
            let result = try await imported(to, archive)
            #expect(result["failed"] == [] && result["ignoredColumns"] == [])
        }
        #expect(try await library(of: to) == before)

        // The file of the other application and the archive change nothing the second time.
        let again = try await imported(from, bytes)
        #expect(again["created"] == 0 && again["updated"] == 0, "\(again)")
        let archive = try #require(try await exported(from).first)
        let repeated = try await imported(to, archive)
        #expect(repeated["created"] == 0 && repeated["updated"] == 0, "\(repeated)")
        #expect(try await library(of: to) == before)
    }

    @Test func profileAndProgressAreRestored() async throws {
        let app = try await TestApp.start()
        let (from, to) = (try await app.makeReader(), try await app.makeReader())
        let (source, target) = (from.id.string ?? "", to.id.string ?? "")
        _ = try await imported(from, ImportRecordTests.fixture("storygraph.csv"))
        try await app.database.execute(
            """
            UPDATE users SET display_name = 'Ada', preferred_genres = ARRAY['Fantasy'], time_zone = 'Europe/Oslo',
              languages = ARRAY['no', 'en']
            WHERE id = '\(source)'
            """)
        try await app.database.execute(
            "UPDATE users SET display_name = NULL WHERE id = '\(target)'")
        try await app.database.execute(
            """
            INSERT INTO progress_entries (user_id, id, read_id, at, page, percent, note)
            SELECT user_id, gen_random_uuid(), id, '2022-02-05T10:00:00.123456Z',
              CASE WHEN started_on IS NULL THEN 12 END, CASE WHEN started_on IS NOT NULL THEN 33.3 END, 'Here'
            FROM reads
            WHERE user_id = '\(source)'
            """)
        let goals = "{ me { readingGoals { id year unit target createdAt updatedAt progress } } }"
        for input in ["{year: 2022, target: 9}", "{year: 2022, unit: PAGES, target: 900}"] {
            _ = try await from.requireValue(
                "mutation { setReadingGoal(input: \(input)) { id } }", .null, "setReadingGoal")
        }
        let before = try await library(of: from)
        #expect(before.contains { $0.contains("33.3") })
        let archive = try #require(try await exported(from).first)
        let result = try await imported(to, archive)
        #expect(result["failed"] == [])
        #expect(try await library(of: to) == before)
        let goalsBefore = try await from.execute(goals)
        #expect(goalsBefore["me", "readingGoals"]?.list?.count == 2)
        #expect(try await to.execute(goals).json == goalsBefore.json)
        let profile = try await to.requireValue(
            "{ me { displayName preferredGenres { name } languages } }", .null, "me")
        #expect(
            profile == [
                "displayName": "Ada", "preferredGenres": [["name": "Fantasy"]],
                "languages": ["no", "en"],
            ])
        #expect(
            try await app.database.count(
                "SELECT count(*) FROM users WHERE time_zone = 'Europe/Oslo'") == 2)
    }

    /// The library may have a book with another id than the file.
    @Test func notesFindTheirBookByItsISBN() async throws {
        let app = try await TestApp.start(catalog: [])
        let (from, to) = (try await app.makeReader(), try await app.makeReader())
        let isbn: Value = "9780306406157"
        let book = try await from.makeBook(["title": "Title", "isbn": isbn])
        let own = try await to.makeBook(["title": "Own title", "isbn": isbn])
        _ = try await from.requireValue(
            NoteTests.createMany,
            [
                "inputs": [
                    ["bookId": book, "text": "One", "page": 3], ["bookId": book, "comment": "Two"],
                ]
            ], "createNotes")
        let notes =
            "query($id: ID!) { book(id: $id) { notes { nodes { id text comment given createdAt updatedAt } } } }"
        let before = try await from.requireValue(notes, ["id": book], "book")
        let archive = try #require(try await exported(from).first)
        for _ in 0..<2 {
            let result = try await imported(to, archive)
            #expect(result["failed"]?.values(of: "field") == ["title"])
            #expect(result["created"] == 0)
            #expect(try await to.requireValue(notes, ["id": own], "book") == before)
        }
        // Notes without their book are reported.
        try await to.executeSQL(
            "DELETE FROM notes WHERE user_id = '\(to.id.string ?? "")'")
        let file = """
            {"format":"bookplate library","version":1,"notes":[
            {"id":"0198c0de-0000-7000-8000-0000000000b1","bookId":"\(book.string ?? "")","text":"Lost"},
            {"id":"0198c0de-0000-7000-8000-0000000000b2","bookId":"\(own.string ?? "")","text":"Kept","color":"MAUVE"},
            {"id":"0198c0de-0000-7000-8000-0000000000b3","bookId":"\(own.string ?? "")"}]}
            """
        let result = try await imported(to, Array(file.utf8))
        #expect(result["failed"]?.values(of: "line") == [1, 2, 3])
        #expect(result["failed"]?.values(of: "field") == [.null, "color", .null])
        #expect(
            try await to.requireValue(
                "query($id: ID!) { book(id: $id) { notes { nodes { text color } } } }",
                ["id": own], "book", "notes", "nodes") == [["text": "Kept", "color": .null]])
    }

    /// A library that does not fit into one archive is exported and imported in parts.
    @Test func largeLibraryReturnsInParts() async throws {
        let app = try await TestApp.start(catalog: [])
        let (from, to) = (try await app.makeReader(), try await app.makeReader())
        try await app.database.execute(
            """
            INSERT INTO books (user_id, id, title, description)
            SELECT '\(from.id.string ?? "")', gen_random_uuid(), 'Book ' || n, repeat(md5(n::text), 3000)
            FROM generate_series(1, 400) n
            """)
        let archives = try await exported(from)
        #expect(archives.count >= 3)
        for archive in archives {
            #expect(archive.count < ImportFile.bytesMax)
            let result = try await imported(to, archive)
            #expect(result["state"] == "DONE" && result["failed"] == [])
        }
        #expect(try await library(of: to) == library(of: from))
    }

    @Test func linksToPartsAreSigned() throws {
        let keys = SessionKeys.generate()
        let viewer = Viewer(
            userID: .version7(), tenantID: .version7(), sessionID: .version7())
        for part in ExportPart.parts(
            books: [(UUID.version7(), 3), (UUID.version7(), 2)], swipes: [(UUID.version7(), 1)])
        {
            var sent = part
            sent.bookCount = 0
            let link = ExportLink(viewer: viewer, expiresAt: 100, part: sent)
            #expect(ExportLink(token: link.token(keys), keys: keys, now: 1) == link)
        }
    }
}
