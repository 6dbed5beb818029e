import GraphQLServing
import GraphQL
import Postgres
import TestBasics
import TestSupport
import Testing

@testable import Bookplate

/// Imports of uploaded files, from the mutation to the library.
@Suite struct ImportLibraryTests {
    private static let fields =
        "id state total done created updated failed { line field message } ignoredColumns"
    static let mutation = """
        mutation($file: Upload!, $format: ImportFormat) {
          importLibrary(input: {file: $file, format: $format}) { \(fields) }
        }
        """
    static let library = """
        { me { shelves { name bookCount }
          books(orderBy: TITLE_ASC, first: 100) { nodes {
            id title author isbn13 publisher publishedDate pageCount status addedAt
            reads { nodes { startedOn finishedOn } }
            shelves { name } review { rating text createdAt } } } } }
        """

    private func upload(
        _ reader: TestReader, _ bytes: [UInt8], format: Value = "AUTO"
    ) async throws -> TestResponse {
        try await reader.app.execute(
            Self.mutation, ["file": UploadReference.value(0), "format": format],
            token: reader.token, uploads: [bytes])
    }

    /// Uploads a file, runs a worker until the import has ended, and returns the import.
    func imported(_ reader: TestReader, _ bytes: [UInt8]) async throws -> Value {
        let response = try await upload(reader, bytes)
        let id = try #require(response["importLibrary", "id"], "\(response.json)")
        let worker = try await TestWorker.start(
            reader.app.database, [ImportLibrary(covers: reader.app.covers)])
        let done = try await finished(reader, id)
        await worker.stop()
        return done
    }

    func finished(_ reader: TestReader, _ id: Value) async throws -> Value {
        var found = Value.null
        try await waitUntil("the import has ended") {
            found = try await reader.requireValue(
                "query($id: ID!) { node(id: $id) { ... on Import { \(Self.fields) } } }",
                ["id": id], "node")
            return ["DONE", "FAILED"].contains(found["state"])
        }
        return found
    }

    private func csv(_ count: Int) -> [UInt8] {
        let header = "Book Id,Title,Author,ISBN13,My Rating,Bookshelves,Exclusive Shelf,My Review\n"
        return Array(
            (header
                + (1...count).map {
                    "\($0),Title \($0),Author \($0 % 50),\(TestCatalog.isbn(500_000 + $0)),\($0 % 6),"
                        + "\"shelf \($0 % 7), shelf \($0 % 11)\",read,Words \($0)\n"
                }.joined()).utf8)
    }

    /// The database may lack the name of the reader's time zone, by which the days of the file become times.
    @Test(arguments: [
        "calibre.csv", "goodreads.csv", "hardcover.csv", "librarything.json", "librarything.tsv",
        "openreads.csv", "storygraph.csv",
    ])
    func filesOfAllFormatsAreImportedInAnUnknownTimeZone(file: String) async throws {
        let app = try await TestApp.start(catalog: [])
        let reader = try await app.makeReader()
        try await app.database.execute("UPDATE users SET time_zone = 'Europe/Nowhere'")
        let result = try await imported(reader, ImportRecordTests.fixture(file))
        #expect(result["state"] == "DONE" && result["created"] != 0, "\(result)")
        let books = try await reader.requireValue(Self.library, .null, "me", "books", "nodes")
        #expect(result["created"] == .int(books.list?.count ?? 0))
    }

    @Test func goodreadsLibraryIsImported() async throws {
        let app = try await TestApp.start(catalog: [])
        let reader = try await app.makeReader()
        let result = try await imported(reader, ImportRecordTests.fixture("goodreads.csv"))
        #expect(
            result == [
                "id": result["id"] ?? .null, "state": "DONE", "total": 4, "done": 4, "created": 4,
                "updated": 0, "failed": [], "ignoredColumns": ["Average Rating"],
            ])
        let books = try await reader.requireValue(Self.library, .null, "me", "books", "nodes")
        #expect(
            books.values(of: "title") == [
                "The Great Gatsby", "The Hunger Games", "Like Water for Chocolate", "The Shining",
            ])
        let games = try #require(books[1])
        #expect(games["status"] == "READ" && games["isbn13"] == "9780439023481")
        #expect(games["addedAt"] == "2021-02-01T12:00:00.000Z")
        #expect(games["reads", "nodes", 0, "finishedOn"] == "2021-03-14")
        #expect(games["shelves"]?.values(of: "name") == ["favorites", "dystopia"])
        #expect(games["review", "rating"] == 5 && games["review", "text"] == "Loved it.\nTwice.")
        #expect(books[0]?["status"] == "WANT_TO_READ" && books[2]?["status"] == "READING")

        // A second import changes nothing and logs no changes.
        let log = "SELECT count(*) FROM changes"
        let before = try await reader.requireValue(Self.library, .null, "me")
        let changes = try await app.database.count(log)
        let again = try await imported(reader, ImportRecordTests.fixture("goodreads.csv"))
        #expect(again["id"] != result["id"])
        #expect(again["created"] == 0 && again["updated"] == 0 && again["done"] == 4)
        #expect(try await reader.requireValue(Self.library, .null, "me") == before)
        #expect(try await app.database.count(log) == changes)
        // The files were deleted.
        #expect(
            try await app.database.count("SELECT count(*) FROM imports WHERE content IS NOT NULL")
                == 0)
    }

    @Test func importKeepsExistingData() async throws {
        let app = try await TestApp.start(catalog: [])
        let reader = try await app.makeReader()
        let shelf = try await reader.makeShelf("FAVORITES")
        let own = try await reader.makeBook([
            "title": "My own title", "isbn": "9780439023481", "status": "READING",
        ])
        let gatsby = try await reader.makeBook([
            "title": "the great gatsby", "authors": [["name": "F. Scott Fitzgerald"]],
            "status": "READ",
            "shelfIds": [shelf],
        ])
        try await reader.review(gatsby, rating: 2, text: "Mine")
        let result = try await imported(reader, ImportRecordTests.fixture("goodreads.csv"))
        #expect(result["created"] == 2 && result["updated"] == 2)
        let books =
            try await reader.requireValue(Self.library, .null, "me", "books", "nodes").list ?? []
        #expect(books.count == 4)
        let games = try #require(books.first { $0["id"] == own })
        #expect(games["title"] == "My own title" && games["status"] == "READ")
        #expect(games["review", "rating"] == 5 && games["publisher"] == "Scholastic Press")
        // The names of shelves are compared without case.
        #expect(games["shelves"]?.values(of: "name") == ["FAVORITES", "dystopia"])
        let kept = try #require(books.first { $0["id"] == gatsby })
        #expect(kept["status"] == "READ" && kept["review", "text"] == "Mine")
    }

    @Test func importCompletesTheAuthorsOfABook() async throws {
        let app = try await TestApp.start(catalog: [])
        let reader = try await app.makeReader()
        let plain = try await reader.makeBook(["title": "Plain"])
        _ = try await reader.makeBook(["title": "Both", "authors": [["name": "J.R.R. Two"]]])
        _ = try await reader.makeBook(["title": "Other", "authors": [["name": "Somebody Else"]]])
        let result = try await imported(
            reader,
            Array(
                """
                Title,Author,Additional Authors,My Rating,Exclusive Shelf,My Review
                Plain,Ann One,Bob Two (Illustrator),0,read,
                Both,Ann One,J. R. R. Two,0,to-read,
                Other,Ann One,,0,to-read,
                """.utf8))
        // A book with one of the authors is the same book.
        #expect(result["created"] == 1 && result["updated"] == 1)
        // The book has its authors already.
        #expect(result["failed"]?.values(of: "field") == ["authors"])
        let authors = try await reader.requireValue(
            "query($id: ID!) { book(id: $id) { authors { name role } } }", ["id": plain], "book",
            "authors")
        #expect(
            authors == [
                ["name": "Ann One", "role": "AUTHOR"], ["name": "Bob Two", "role": "ILLUSTRATOR"],
            ])
    }

    /// The feed shows no book that an import brought, whatever edition the reader has and however its title is written.
    @Test func importedWorksLeaveTheFeed() async throws {
        let lines = try StarterCatalog.lines(400)
        let app = try await TestApp.start(catalog: lines)
        let reader = try await app.makeReader()
        var csv = "Book Id,Title,Author,ISBN13,My Rating,Exclusive Shelf\n"
        var ownedTitles: Set<String> = []
        func cell(_ text: String) -> String {
            "\""
                + text.split(separator: "\"", omittingEmptySubsequences: false).joined(
                    separator: "\"\"")
                + "\""
        }
        for (number, line) in lines.enumerated() where number % 4 != 3 {
            let book = try parseJSON(Array(line.utf8))
            let title = book["title"]?.string ?? ""
            let author = book["authors", 0]?.string ?? ""
            var cells: [String]
            switch number % 12 {
            // The same edition.
            case 0, 1: cells = ["", title, author, book["isbn13"]?.string ?? ""]
            // Goodreads' title and no ISBN, as for an electronic edition.
            case 2, 4:
                let series = book["series"]?.string.map { series in
                    " (\(series), #\(book["seriesPosition"]?.string ?? "1"))"
                }
                cells = ["", title + (series ?? ""), author, ""]
            // Another edition.
            case 5, 6: cells = ["", title.uppercased(), author, TestCatalog.isbn(700_000 + number)]
            case 8:
                let subtitle = book["subtitle"]?.string.map { ": \($0)" }
                cells = ["", title + (subtitle ?? ""), "\(author), A. Translator", ""]
            // Another title with Goodreads' id.
            default:
                cells = [book["ids", "goodreads"]?.string ?? "", "Livre \(number)", author, ""]
            }
            csv += (cells + [String(number % 6), "read"]).map(cell).joined(separator: ",") + "\n"
            ownedTitles.insert(title)
        }
        let result = try await imported(reader, Array(csv.utf8))
        #expect(result["failed"] == [] && result["created"] == 300)
        let unlinked = try await app.database.withConnection { connection in
            let rows = try connection.query("SELECT title FROM books WHERE edition_id IS NULL")
            return (0..<rows.count).map { rows.text($0, 0) ?? "" }
        }
        #expect(unlinked.isEmpty)
        var shown: [String] = []
        var cursor = Value.null
        repeat {
            let page = try await reader.requireValue(
                """
                query($after: String) { feed(first: 50, after: $after) {
                  nodes { title } pageInfo { hasNextPage endCursor }
                } }
                """, ["after": cursor], "feed")
            shown += page["nodes"]?.values(of: "title").compactMap(\.string) ?? []
            cursor =
                page["pageInfo", "hasNextPage"] == true
                ? page["pageInfo", "endCursor"] ?? .null : .null
        } while cursor != .null
        #expect(shown.count >= 90)
        #expect(shown.filter(ownedTitles.contains).isEmpty)
    }

    @Test func invalidRecordsAreReportedWithTheirLines() async throws {
        let app = try await TestApp.start(catalog: [])
        let reader = try await app.makeReader()
        let text = """
            Title,Author,My Rating,Exclusive Shelf,My Review
            Good,A,4,read,"Two
            lines"
            ,Nobody,4,read,
            Rated too high,B,9,read,
            Unrated,C,0,read,Words
            Last,D,0,to-read,
            """
        let result = try await imported(reader, Array(text.utf8))
        #expect(result["total"] == 5 && result["done"] == 5 && result["created"] == 4)
        #expect(result["failed"]?.values(of: "line") == [4, 5])
        #expect(result["failed"]?.values(of: "field") == [.null, "My Rating"])
        #expect(
            result["failed", 1, "message"] == "“9” is not between 0 and 5. It was left out.")
    }

    /// Workers are killed during an import. The next one continues after the last batch, and stores no record twice.
    @Test func importContinuesAfterAWorkerWasKilled() async throws {
        let app = try await TestApp.start(catalog: [])
        let reader = try await app.makeReader()
        let response = try await upload(reader, csv(2_000))
        let id = try #require(response["importLibrary", "id"])
        // Kill a worker each time when some records are stored.
        for stored in [1, 600, 1_100] {
            let worker = try await TestWorker.start(
                app.database, [ImportLibrary(covers: app.covers)])
            try await waitUntil("\(stored) records are stored") {
                try await app.database.count("SELECT done FROM imports") >= stored
            }
            await worker.kill()
            #expect(try await app.database.count("SELECT done % 500 FROM imports") == 0)
            #expect(
                try await app.database.count(
                    "SELECT (SELECT count(*) FROM books) - (SELECT done FROM imports)") == 0)
        }
        let worker = try await TestWorker.start(app.database, [ImportLibrary(covers: app.covers)])
        let result = try await finished(reader, id)
        await worker.stop()
        #expect(result["created"] == 2_000 && result["updated"] == 0 && result["done"] == 2_000)
        #expect(try await app.database.count("SELECT count(*) FROM books") == 2_000)
        #expect(try await app.database.count("SELECT count(*) FROM reviews") == 2_000)
        #expect(
            try await app.database.count(
                "SELECT count(*) FROM reviews WHERE quarter_stars IS NOT NULL") == 1_667)
    }

    @Test func sameFileIsImportedOnceAtATime() async throws {
        let app = try await TestApp.start(catalog: [])
        let reader = try await app.makeReader()
        let first = try await upload(reader, csv(3))
        let second = try await upload(reader, csv(3))
        #expect(first["importLibrary", "id"] == second["importLibrary", "id"])
        #expect(first["importLibrary", "state"] == "QUEUED")
        for count in 4...7 { _ = try await upload(reader, csv(count)) }
        let tooMany = try await upload(reader, csv(8))
        #expect(tooMany.code == "RATE_LIMITED")
    }

    @Test func otherFilesAreRejectedImmediately() async throws {
        let app = try await TestApp.start(catalog: [])
        let reader = try await app.makeReader()
        let other = try await upload(reader, Array("a,b\n1,2".utf8))
        #expect(other.code == "BAD_USER_INPUT" && other.field == "file")
        let wrong = try await upload(reader, csv(1), format: "STORYGRAPH")
        #expect(wrong.code == "BAD_USER_INPUT" && wrong.field == "file")
        let none = try await app.execute(
            Self.mutation, ["file": "upload:7"], token: reader.token)
        #expect(none.code == "BAD_USER_INPUT" && none.field == "file")
        #expect(try await app.database.count("SELECT count(*) FROM imports") == 0)
    }

    @Test func importsOfOtherUsersAreHidden() async throws {
        let app = try await TestApp.start(catalog: [])
        let (mine, other) = (try await app.makeReader(), try await app.makeReader())
        let response = try await upload(mine, csv(1))
        let node = try await other.execute(
            "query($id: ID!) { node(id: $id) { id } }",
            ["id": response["importLibrary", "id"] ?? .null])
        #expect(node["node"] == .null && node.errors == [])
    }

    @Test func largeLibraryIsStoredInFewTransactions() async throws {
        let app = try await TestApp.start(catalog: [])
        let reader = try await app.makeReader()
        let result = try await imported(reader, csv(1_200))
        #expect(result["created"] == 1_200)
        // `added_at` is the time of the transaction, so there were three.
        #expect(try await app.database.count("SELECT count(DISTINCT added_at) FROM books") == 3)
        // Each book is logged once.
        #expect(
            try await app.database.count(
                "SELECT count(*) FROM changes WHERE typename = 'Book'") == 1_200)
    }

    /// An import finds the books with a title by the texts by which lists sort them, which depend on the language.
    @Test func titlesAreFoundInEachLanguage() async throws {
        let app = try await TestApp.start(catalog: [])
        let missing = try await app.database.withConnection { connection in
            try connection.texts(
                """
                SELECT concat_ws(' ', l.language, t.title)
                FROM unnest('{en,de,fr-CA,es,it,pt-BR,gl,ca,nl,af,sv,da,no,nb,nn,hu,ro,ga,cy,eo,el,ar,ja}'::text[] || NULL::text)
                    AS l (language)
                CROSS JOIN unnest(ARRAY[
                    'The Hobbit', '"The" X', 'An', 'l''amour', 'L’Été', 'A', 'A  B', 'Der Steppenwolf', 'Το Νησί', 'الكتاب',
                    'un''altra', 'gl''italiani', '''t Huis', 'The The', '¿El Quijote?', '$', '«Le Monde»', 'L''', '...', '(The) X',
                    'THE HOBBIT', 'ÉTÉ à la mer', 'Das Kapital', 'De ontdekking', 'Y Dref', 'O', 'Les Misérables'
                ]) AS t (title)
                WHERE book_sort_title(t.title, l.language) <> ALL(possible_sort_titles(lower(t.title)))
                """)
        }
        #expect(missing == [])
    }

    /// Noon is on the same day in most other time zones.
    @Test func dayOfAReviewIsADayOfTheReader() async throws {
        let app = try await TestApp.start(catalog: [])
        let reader = try await app.makeReader()
        _ = try await reader.execute(
            "mutation { updateProfile(input: {timeZone: \"America/Los_Angeles\"}) { id } }")
        let file = Array(
            """
            Title,Author,Status,Hardcover Book ID,Date Finished,Rating,Review Date
            Dune,Frank Herbert,Did Not Finish,1,2020-01-05,1,2021-02-01
            """.utf8)
        #expect(try await imported(reader, file)["failed"] == [])
        let review = try await reader.requireValue(
            "{ me { reviews { nodes { rating createdAt book { status } } } } }", .null, "me",
            "reviews", "nodes", 0)
        #expect(
            review == [
                "rating": 1, "createdAt": "2021-02-01T20:00:00.000Z",
                "book": ["status": "DID_NOT_FINISH"],
            ])
    }

    /// The parsers do not create such records. In the database, they must not affect the other records of the transaction.
    @Test func recordsThatTheDatabaseRejectsDoNotAffectOthers() async throws {
        let app = try await TestApp.start(catalog: [])
        let reader = try await app.makeReader()
        let id = UUID.version7()
        try await app.database.execute(
            """
            INSERT INTO imports (user_id, id, format, state, content_hash)
            VALUES ('\(reader.id.string ?? "")', '\(id)', 'GOODREADS', 'RUNNING', '')
            """)
        let authors = #""authors": [], "authorRoles": []"#
        let records = """
            [{"line": 2, "book": {"id": "\(UUID.version7())", "title": "One", "status": "READ", "shelves": ["s"], \(authors)}},
             {"line": 3, "book": {"id": "\(UUID.version7())", "title": " ", "status": "READ", "shelves": ["s"], "quarterStars": 4, \(authors)}},
             {"line": 4, "book": {"id": "\(UUID.version7())", "title": "Two", "status": "READ", "shelves": [], "quarterStars": 39, \(authors)}},
             {"line": 5, "book": {"id": "\(UUID.version7())", "title": "Three", "status": "none", "shelves": [], \(authors)}},
             {"line": 6, "book": {"id": "\(UUID.version7())", "title": "Four", "status": "READ", "shelves": ["s"], "quarterStars": 8, \(authors)}}]
            """
        let reached = try await app.database.withConnection(as: TestCluster.app) { connection in
            try connection.execute("SET app.user_id = '\(reader.id.string ?? "")'")
            return try connection.query(
                "SELECT import_records('\(id)', 0, '\(records)')"
            ).int32(0, 0)
        }
        #expect(reached == 5)
        let found = try await reader.requireValue(
            "query($id: ID!) { node(id: $id) { ... on Import { created done failed { line message } } } }",
            ["id": .string(id.description)], "node")
        #expect(found["created"] == 2 && found["done"] == 5)
        #expect(found["failed"]?.values(of: "line") == [3, 4, 5])
        #expect(found["failed", 0, "message"] == "This book cannot be stored.")
        #expect(try await app.database.count("SELECT count(*) FROM books") == 2)
        #expect(try await app.database.count("SELECT count(*) FROM reviews") == 1)
        #expect(try await app.database.count("SELECT count(*) FROM shelf_books") == 2)
    }

    /// An import without progress ends with a failure, and its file is deleted.
    @Test func abandonedImportsAreEnded() async throws {
        let app = try await TestApp.start(catalog: [])
        let reader = try await app.makeReader()
        let old = try await upload(reader, csv(1))["importLibrary", "id"] ?? .null
        let fresh = try await upload(reader, csv(2))["importLibrary", "id"] ?? .null
        try await app.database.execute(
            "UPDATE imports SET updated_at = now() - interval '8 days' WHERE id = '\(old.string ?? "")'"
        )
        let worker = try await TestWorker.start(app.database, [PruneImports()])
        let ended = try await finished(reader, old)
        await worker.stop()
        #expect(ended["state"] == "FAILED")
        #expect(
            ended["failed"] == [
                [
                    "line": 0, "field": .null,
                    "message": "This import was given up. Import the file again.",
                ]
            ])
        let kept = try await app.database.count(
            "SELECT count(*) FROM imports WHERE content IS NOT NULL AND id = '\(fresh.string ?? "")'"
        )
        #expect(kept == 1)
        // An import that has just made progress is not ended, whatever number of days is given.
        for days in [0, -7] {
            let ended = try await app.database.withConnection(as: TestCluster.app) {
                try $0.query("SELECT prune_imports(\(days))").count
            }
            #expect(ended == 0, "\(days) days")
        }
        #expect(
            try await app.database.count("SELECT count(*) FROM imports WHERE content IS NOT NULL")
                == 1)
    }
}
