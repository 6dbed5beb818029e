import GraphQLServing
import Glibc
import GraphQL
import Identity
import ObjectStorage
import Postgres
import TestBasics
import TestSupport
import Testing
import Zip

@testable import Bookplate
@testable import Operations
@testable import Requests

/// Exporting a library to an archive, and importing the archive.
@Suite struct ExportTests {
    private static let library = """
        { me { shelves { id name position createdAt bookCount }
          books(orderBy: TITLE_ASC, first: 10) { nodes {
            id title author authors { id name role } isbn13 publisher publishedDate pageCount language category genre description status
            series { series { id name } position } currentPage addedAt card { id }
            reads(first: 10) { nodes { id startedOn finishedOn outcome format lengthSeconds note createdAt
              progressEntries(first: 10) { nodes { id at page percent seconds given note } } } }
            shelves { id } review { id rating stars text createdAt updatedAt }
            notes { nodes { id text comment chapter color page percent seconds given createdAt updatedAt } } } } } }
        """

    private func link(_ reader: TestReader) async throws -> String {
        let url = try await reader.requireValue(
            "mutation { exportLibrary { url } }", .null, "exportLibrary")
        return url["url"]?.string ?? ""
    }

    private func token(_ url: String) -> Substring {
        url.split(separator: "/").last?.dropLast(4) ?? ""
    }

    private func open(_ app: TestApp, _ token: Substring) async throws -> [UInt8] {
        let (pool, services) = (app.pool, app.services)
        return try await Task(executorPreference: pool.executor) {
            try await ExportEndpoint(database: pool, services: services)
                .open(token: token, requestID: "test").bytes()
        }.value
    }

    private func files(_ archive: [UInt8]) throws -> [String: [UInt8]] {
        var files: [String: [UInt8]] = [:]
        try ZipReader.read(archive, bytesMax: { _ in 1 << 24 }) { files[$0] = $1 }
        return files
    }

    private func imported(_ reader: TestReader, _ bytes: [UInt8]) async throws -> Value {
        let response = try await reader.app.execute(
            "mutation($file: Upload!) { importLibrary(input: {file: $file}) { id } }",
            ["file": UploadReference.value(0)], token: reader.token, uploads: [bytes])
        let id = try #require(response["importLibrary", "id"], "\(response.json)")
        let worker = try await TestWorker.start(
            reader.app.database, [ImportLibrary(covers: reader.app.covers, canSearch: true)])
        var found = Value.null
        try await waitUntil("the import has ended") {
            found = try await reader.requireValue(
                """
                query($id: ID!) { node(id: $id) { ... on Import {
                  state created updated failed { line message } } } }
                """, ["id": id], "node")
            return ["DONE", "FAILED"].contains(found["state"])
        }
        await worker.stop()
        return found
    }

    /// Fills the library with objects of every kind, including texts that are difficult to escape.
    private func fill(_ reader: TestReader) async throws {
        let empty = try await reader.makeShelf("Empty, with \"quotes\"")
        let shelf = try await reader.makeShelf("Bücher 日本")
        _ = try await reader.execute(
            "mutation($id: ID!) { updateShelf(id: $id, input: {position: 1}) { id } }",
            ["id": empty])
        let cards = try await reader.feedCards(3)
        let read = try await reader.makeBook([
            "cardId": cards[0]["id"] ?? .null, "status": "READ", "shelfIds": [shelf],
        ])
        try await reader.review(read, rating: 3, text: "One < two & \"three\"\n\nNew, line")
        let paused = try await reader.makeBook([
            "title": "=HYPERLINK(\"http://evil\")", "authors": [["name": "@SUM(A1)"]],
            "status": "READ",
            "category": "-1+1", "genre": "Own genre", "shelfIds": [shelf, empty],
            "series": [["name": "=Series", "position": "2.5"]],
        ])
        try await reader.review(paused, rating: 1, text: "+paused")
        _ = try await reader.execute(
            """
            mutation($id: ID!) { updateBook(id: $id, input: {status: PAUSED, currentPage: 77}) { id } }
            """, ["id": paused])
        let quoted = try await reader.makeBook([
            "title": "'=quoted", "isbn": "9780374104092", "status": "READ", "publisher": "P",
            "publishedDate": "1965-08", "pageCount": 412, "language": "pt-BR",
            "authors": [
                ["name": "Le Guin, Ursula K."],
                ["name": "Sam \"Q\" Lee, Jr.", "role": "TRANSLATOR"],
                ["name": "A. & B."], ["name": "-Ann", "role": "CONTRIBUTOR"],
            ],
        ])
        _ = try await reader.requireValue(
            "mutation($id: ID!) { reviewBook(id: $id, input: {text: \"No rating\"}) { id } }",
            ["id": quoted], "reviewBook")
        for status in ["READING", "DID_NOT_FINISH", "WANT_TO_READ"] {
            _ = try await reader.makeBook("Émile \(status)", status: status)
        }
        let past = try await reader.requireValue(
            ReadTests.start,
            [
                "id": quoted,
                "input": [
                    "startedOn": "2018-12", "finishedOn": "2019", "format": "AUDIO",
                    "lengthSeconds": 36_000, "note": "=Loud, \"and\" clear",
                ],
            ], "startRead", "id")
        let again = try await reader.requireValue(
            ReadTests.start, ["id": quoted, "input": ["startedOn": .null]], "startRead", "id")
        _ = try await reader.requireValue(
            ProgressTests.log,
            [
                "inputs": [
                    ["readId": past, "seconds": 18_000, "at": "2019-01-01T12:00:00.123456Z"],
                    ["readId": again, "percent": 12.5, "note": "Here"],
                    ["readId": again, "page": 400],
                ]
            ], "logProgress", 2, "entry")
        _ = try await reader.requireValue(
            NoteTests.createMany,
            [
                "inputs": [
                    [
                        "bookId": quoted, "text": "=Fear is\n\n\"the mind-killer\" 日本", "page": 12,
                        "color": "GREEN", "createdAt": "2019-01-01T12:00:00.123456Z",
                    ], ["bookId": quoted, "comment": "No quote", "chapter": "“I”", "seconds": 60],
                    ["bookId": read, "text": "Words", "percent": 33.3],
                ]
            ], "createNotes", 2, "note")
        _ = try await reader.swipe("DISLIKE", [cards[2]["id"] ?? .null])
        _ = try await reader.requireValue(
            """
            mutation($card: ID!) {
              recordSwipes(inputs: [{cardId: $card, action: BUY, bookstoreId: "bookshop.org"}]) { recorded }
            }
            """, ["card": cards[0]["id"] ?? .null], "recordSwipes")
    }

    /// The archive names the tokens without their secrets, and what e-readers have reported.
    @Test func archiveHasTokensAndDocumentsOfEReaders() async throws {
        let app = try await TestApp.start(catalog: [])
        let kobo = try await EReader(try await app.makeReader())
        let book = try await kobo.reader.makeBook("Dune")
        _ = await kobo.push("abc", 0.5, metadata: #"{"title":"Dune"}"#)
        try await kobo.linkLast(to: book)
        let user = kobo.reader.id.string ?? ""
        try await app.database.execute(
            """
            INSERT INTO oauth_clients (id, tenant_id, name, redirect_uris, scopes, allows_device)
            SELECT gen_random_uuid(), tenant_id, 'Reading Stats', '{}', '{FEED}', true FROM users WHERE id = '\(user)';
            INSERT INTO oauth_grants (user_id, id, client_id, scopes, refresh_hash, expires_at)
            SELECT '\(user)', gen_random_uuid(), id, '{FEED}', 'secret', now() + interval '1 day' FROM oauth_clients;
            INSERT INTO access_tokens (user_id, id, name, scopes, token_hash, seed, last_characters, grant_id)
            SELECT '\(user)', gen_random_uuid(), 'Not shown', '{FEED}', sha256('x'), '', 'abcd', id FROM oauth_grants
            """)
        let archive = try await open(app, token(try await link(kobo.reader)))
        let text = String(decoding: try files(archive)["library.json"] ?? [], as: UTF8.self)
        #expect(!text.contains(kobo.secret) && !text.contains("Not shown"))
        let json = try parseJSON(Array(text.utf8))
        #expect(json["identities", 0, "provider"] == "apple")
        #expect(json["identities", 0, "subject"] == .string(kobo.reader.subject))
        #expect(json["accessTokens", 0, "name"] == "Kobo")
        #expect(json["authorizedApps", 0, "name"] == "Reading Stats")
        #expect(json["authorizedApps", 0, "scopes"] == ["FEED"])
        #expect(json["ereaderDocuments", 0, "hash"] == "abc")
        #expect(json["ereaderDocuments", 0, "bookId"] == book)
        #expect(json["ereaderPositions", 0, "percent"] == 50)
    }

    @Test func documentsAndPositionsOfEReadersAreImported() async throws {
        let app = try await TestApp.start(catalog: [])
        let kobo = try await EReader(try await app.makeReader())
        let book = try await kobo.reader.makeBook(["title": "Dune", "isbn": "9780441172719"])
        _ = await kobo.push("unlinked", 0.25, progress: " /body[1]", metadata: #"{"title":"Emma"}"#)
        _ = await kobo.push("linked", 0.5)
        try await kobo.linkLast(to: book)
        _ = await kobo.put(
            """
            {"modified":"2026-01-02T03:04:05Z","device":{"id":"urn:uuid:1","name":"Thorium"},\
            "progression":0.75,"references":["a","b"]}
            """, in: try await kobo.reader.makeBook("Emma"))
        let archive = try await open(app, token(try await link(kobo.reader)))

        // The other library has the book with another id.
        let other = try await EReader(try await app.makeReader())
        let same = try await other.reader.makeBook(["title": "Dune", "isbn": "9780441172719"])
        for _ in 0..<2 { #expect(try await imported(other.reader, archive)["failed"] == []) }
        let documents = try await other.documents()
        #expect(documents.map { $0["hash"] } == ["linked", "unlinked"])
        #expect(documents.map { $0["percent"] } == [50, 25])
        #expect(documents.map { $0["book", "id"] ?? .null } == [same, .null])
        #expect(documents[1]["title"] == "Emma")
        #expect(await other.pull("unlinked").json["progress"] == " /body[1]")
        let exported = try await open(app, token(try await link(other.reader)))
        let names = ["modifiedAt", "percent", "deviceId", "deviceName", "references"]
        func positions(_ archive: [UInt8]) throws -> Set<String> {
            let json = try parseJSON(try files(archive)["library.json"] ?? [])
            let positions = json["ereaderPositions"]?.list ?? []
            return Set(
                positions.map { position in
                    names.map { "\(position[$0] ?? .null)" }.joined(separator: "; ")
                })
        }
        #expect(try positions(exported) == positions(archive))
        #expect(try positions(archive).count == 2)
    }

    @Test func exportAndImportLoseNothing() async throws {
        let app = try await TestApp.start()
        let (from, to) = (try await app.makeReader(), try await app.makeReader())
        try await fill(from)
        let pictured = try await from.requireValue(
            Self.library, .null, "me", "books", "nodes", 0, "id")
        _ = try await from.setCover(
            """
            mutation($book: ID!, $image: Upload!) {
              setCover(id: $book, input: {image: $image}) { id }
            }
            """, pictured, TestImage.png())
        let before = try await from.requireValue(Self.library, .null, "me")

        let archive = try await open(app, token(try await link(from)))
        let files = try files(archive)
        #expect(
            files.keys.sorted() == [
                "covers/\(pictured.string ?? "").jpg", "goodreads_library_export.csv",
                "library.json",
            ])
        let result = try await imported(to, archive)
        #expect(result == ["state": "DONE", "created": 6, "updated": 0, "failed": []])
        #expect(try await to.requireValue(Self.library, .null, "me") == before)
        let cover = "query($id: ID!) { book(id: $id) { image { width height source } } }"
        #expect(
            try await to.requireValue(cover, ["id": pictured], "book", "image")
                == from.requireValue(cover, ["id": pictured], "book", "image"))
        // Covers are searched for the books that have none in the archive.
        #expect(
            try await app.database.count("SELECT count(*) FROM jobs WHERE kind = 'cover.fetch'")
                == 5)
        // Swipes and the review of the paused book are imported too.
        let swipes = "SELECT count(*) FROM swipes"
        #expect(try await app.database.count(swipes) == 4)
        #expect(try await app.database.count("\(swipes) WHERE store = 'bookshop.org'") == 2)
        #expect(try await app.database.count("SELECT count(*) FROM reviews") == 6)

        let again = try await imported(to, archive)
        #expect(again == ["state": "DONE", "created": 0, "updated": 0, "failed": []])
    }

    /// Goodreads has whole stars only, so its format has the rating that older apps show.
    @Test func quarterStarsAreExported() async throws {
        let app = try await TestApp.start(catalog: [])
        let reader = try await app.makeReader()
        try await reader.review(
            try await reader.makeBook("Half", status: "READ"), rating: 4)
        try await reader.executeSQL("UPDATE reviews SET quarter_stars = 15")
        let files = try files(await open(app, token(try await link(reader))))
        let library = try parseJSON(files["library.json"] ?? [])
        #expect(library["books", 0, "review", "rating"] == 4)
        #expect(library["books", 0, "review", "stars"]?.double == 3.75)
        let table = CSVReader((files["goodreads_library_export.csv"] ?? [])[...])
        let lines = try table.map { try $0.fields.get() }
        let column = try #require(lines.first?.firstIndex(of: "My Rating"))
        #expect(lines.last?[column] == "4")
    }

    /// The CSV file has the data of all its columns, and no formulas.
    @Test func csvFileCanBeImportedAsGoodreads() async throws {
        let app = try await TestApp.start()
        let (from, to) = (try await app.makeReader(), try await app.makeReader())
        try await fill(from)
        let table = try #require(
            try files(await open(app, token(try await link(from))))["goodreads_library_export.csv"])
        for record in CSVReader(table[...]) {
            for field in try record.fields.get() where !field.hasPrefix("=\"") {
                #expect(!"=+-@".contains(field.first ?? " "), "\(field)")
            }
        }
        let result = try await imported(to, table)
        #expect(result["created"] == 6 && result["failed"] == [])
        let fields = """
            { me { books(orderBy: TITLE_ASC, first: 100) { nodes {
              id title authors { name role } isbn13 status review { rating text } } } } }
            """
        #expect(
            try await to.requireValue(fields, .null, "me") == from.requireValue(fields, .null, "me")
        )
    }

    @Test func linkExpiresAndEndsWithItsSession() async throws {
        let app = try await TestApp.start(catalog: [])
        let reader = try await app.makeReader()
        let url = try await link(reader)
        #expect(url.hasPrefix("http://covers.test/exports/") && url.hasSuffix(".zip"))
        let token = token(url)
        _ = try await open(app, token)
        let signed = try #require(
            ExportLink(token: token, keys: app.keys, now: unixSecondsNow()))
        let late = unixSecondsNow() + ExportLink.secondsMax + 1
        #expect(ExportLink(token: token, keys: app.keys, now: late) == nil)
        #expect(
            ExportLink(token: token, keys: SessionKeys.generate(), now: unixSecondsNow()) == nil)
        for index in 0..<token.count {
            var bytes = Array(token.utf8)
            bytes[index] = bytes[index] == 65 ? 66 : 65
            let changed = ExportLink(
                token: String(decoding: bytes, as: UTF8.self), keys: app.keys,
                now: unixSecondsNow())
            #expect(changed == nil || changed == signed)
        }
        await #expect(
            throws: BookplateError.notFound(.noSuchLink)
        ) { try await open(app, "nonsense") }

        _ = try await reader.execute("mutation { signOut { endedSessions } }")
        await #expect(throws: BookplateError.unauthenticated) { try await open(app, token) }
        let response = try await reader.execute("mutation { exportLibrary { url } }")
        #expect(response.code == "UNAUTHENTICATED")
    }

    /// The admin CLI writes the archive that the user would get.
    @Test func operatorGetsTheSameArchive() async throws {
        let app = try await TestApp.start()
        let reader = try await app.makeReader()
        try await fill(reader)
        let mine = try files(await open(app, token(try await link(reader))))
        let user = try #require(UUID(reader.id.string ?? ""))
        var template = Array("/tmp/bookplate-export-XXXXXX".utf8CString)
        let file = mkstemp(&template)
        unlink(template)
        defer { close(file) }
        let connection = try AdminConnection(try app.database.url(as: TestCluster.owner))
        try await LibraryExport.write(of: user, to: file, connection, store: app.covers.store)
        let theirs = try files(try OpenObject(descriptor: dup(file))?.bytes() ?? [])
        #expect(theirs.keys.sorted() == mine.keys.sorted())
        #expect(theirs["goodreads_library_export.csv"] == mine["goodreads_library_export.csv"])
    }

    @Test func librariesLargerThanAPageAreExported() async throws {
        let app = try await TestApp.start(catalog: [])
        let reader = try await app.makeReader()
        try await app.database.execute(
            """
            INSERT INTO books (user_id, id, title) SELECT '\(reader.id.string ?? "")', gen_random_uuid(), 'Book ' || n
            FROM generate_series(1, 1201) n
            """)
        let files = try files(await open(app, token(try await link(reader))))
        let library = try parseJSON(
            files["library.json"] ?? [], limits: JSONLimits(bytesMax: 1 << 24))
        #expect(library["books"]?.list?.count == 1201)
        let table = Array(CSVReader((files["goodreads_library_export.csv"] ?? [])[...]))
        #expect(table.count == 1202)
    }
}
