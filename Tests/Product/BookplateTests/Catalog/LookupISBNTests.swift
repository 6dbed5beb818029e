import Basics
import BookSources
import GraphQL
import Postgres
import Synchronization
import TestSupport
import Testing

/// Lookups of ISBNs that the catalog may not have: `lookupISBN`, and books that are created by ISBN.
@Suite struct LookupISBNTests {
    static let lookup = """
        query($isbn: String!) { lookupISBN(isbn: $isbn) {
          id title author authors { name } publisher publishedDate pageCount description hook genres { name }
          isbn13 isbn10 isbn13Hyphenated inLibrary { id }
        } }
        """

    static let fox = BookRecord(
        title: " Fantastic Mr. Fox ", subtitle: "A story",
        authors: ["Roald Dahl", "Quentin Blake"],
        isbns: ["0-14-032872-6"], publisher: "Puffin", publishedDate: PartialDate("1988-10-01"),
        pageCount: 96,
        language: "en", genres: ["crime", "Foxes"],
        description: "Mr. Fox steals from three farmers every night. They want him dead.",
        covers: [CoverCandidate(source: .openLibrary, url: "https://covers.example/1.jpg")],
        keys: [SourceKey(source: .openLibrary, key: "OL7353617M")])

    private struct Setting {
        let app: TestApp
        let reader: TestReader
        let library: TestSource
        let google: TestSource
    }

    private func start(
        _ library: [String: BookRecord] = ["9780140328721": fox],
        google: [String: BookRecord] = [:]
    ) async throws -> Setting {
        let (library, google) = (TestSource(library), TestSource(google))
        let app = try await TestApp.start(
            sources: SourceChain([library.source(.openLibrary), google.source(.googleBooks)]))
        return Setting(
            app: app, reader: try await app.makeReader(), library: library, google: google)
    }

    @Test func catalogIsQueriedFirst() async throws {
        let setting = try await start()
        // Fill the cache of the catalog's genres.
        _ = try await setting.reader.execute("{ genres { id } }")
        let response = try await setting.reader.execute(
            Self.lookup, ["isbn": .string(TestCatalog.isbn(3))])
        #expect(response["lookupISBN", "title"] == "Card 3")
        #expect(setting.library.requests.isEmpty)
        // `inLibrary` is a level of its own.
        #expect(response.statements == 4)
        #expect(response.roundTrips == 2)
    }

    /// The fields of one level look up their ISBNs together, also an ISBN that two of them ask for.
    @Test func fieldsOfOneLevelShareTheirLookups() async throws {
        let setting = try await start()
        let response = try await setting.reader.execute(
            """
            {
              a: lookupISBN(isbn: "9780140328721") { title }
              b: lookupISBN(isbn: "9780140328721") { isbn13 }
              known: lookupISBN(isbn: "\(TestCatalog.isbn(3))") { title }
              unknown: lookupISBN(isbn: "9780141439587") { title }
            }
            """)
        #expect(response["a", "title"] == "Fantastic Mr. Fox")
        #expect(response["b", "isbn13"] == "9780140328721")
        #expect(response["known", "title"] == "Card 3")
        #expect(response["unknown"] == .null)
        #expect(response.errors.isEmpty)
        #expect(setting.library.requests.sorted() == ["9780140328721", "9780141439587"])
    }

    @Test func editionFromASourceIsAddedToTheCatalog() async throws {
        let setting = try await start()
        let response = try await setting.reader.execute(Self.lookup, ["isbn": "ISBN 0-14-032872-6"])
        let card = try #require(response["lookupISBN"], "\(response.json)")
        #expect(card["title"] == "Fantastic Mr. Fox")
        #expect(card["author"] == "Roald Dahl, Quentin Blake")
        #expect(card["authors"] == [["name": "Roald Dahl"], ["name": "Quentin Blake"]])
        #expect(card["publisher"] == "Puffin")
        #expect(card["publishedDate"] == "1988-10-01")
        #expect(card["pageCount"] == 96)
        #expect(card["isbn13"] == "9780140328721")
        #expect(card["isbn10"] == "0140328726")
        #expect(card["isbn13Hyphenated"] == "978-0-14-032872-1")
        #expect(card["hook"] == "Mr. Fox steals from three farmers every night.")
        // Only canonical genres, under their names.
        #expect(card["genres"] == [["name": "Mystery & Crime"]])
        #expect(setting.library.requests == ["9780140328721"])

        let again = try await setting.reader.execute(Self.lookup, ["isbn": "9780140328721"])
        #expect(again["lookupISBN"] == card)
        #expect(setting.library.requests.count == 1)
        let kept = try await setting.app.database.withConnection { connection in
            try connection.query(
                """
                SELECT s.key, e.cover_links[1], e.subtitle, e.language FROM editions e
                JOIN edition_sources s ON s.edition_id = e.id WHERE e.isbn13 = '9780140328721'
                """)
        }
        #expect(kept.text(0, 0) == "OL7353617M")
        #expect(kept.text(0, 1) == "open_library https://covers.example/1.jpg")
        #expect(kept.text(0, 2) == "A story")
        #expect(kept.text(0, 3) == "en")
    }

    @Test func lookupAddsRolesAndBiographiesOfAuthors() async throws {
        var fox = Self.fox
        fox.contributors = [Contributor(name: "Quentin Blake", role: .illustrator)]
        fox.authorRecords = [
            AuthorRecord(name: "Roald Dahl", key: "OL34184A", bio: "A life.", isComplete: true),
            AuthorRecord(name: "Quentin Blake", key: "../x", isComplete: false),
        ]
        let setting = try await start(["9780140328721": fox])
        let authors = try await setting.reader.requireValue(
            "{ lookupISBN(isbn: \"9780140328721\") { authors { name role bio } } }", .null,
            "lookupISBN", "authors")
        #expect(
            authors == [
                ["name": "Roald Dahl", "role": "AUTHOR", "bio": "A life."],
                ["name": "Quentin Blake", "role": "AUTHOR", "bio": .null],
                ["name": "Quentin Blake", "role": "ILLUSTRATOR", "bio": .null],
            ])
        // Another person of the same name does not replace the first one.
        var other = Self.fox
        other.authorRecords = [AuthorRecord(name: "Dahl, Roald", key: "OL1A", bio: "Another life.")]
        let second = try await start(["9780140328721": other])
        try await second.app.database.execute(
            "SELECT save_authors('{Roald Dahl}', '{OL34184A}', '{NULL}', '{t}')")
        let kept = try await second.reader.requireValue(
            "{ lookupISBN(isbn: \"9780140328721\") { authors { bio } } }", .null, "lookupISBN",
            "authors")
        #expect(kept == [["bio": .null], ["bio": .null]])
    }

    @Test func unknownISBNIsNullAndNotLookedUpAgain() async throws {
        let setting = try await start()
        for _ in 0..<2 {
            let response = try await setting.reader.execute(Self.lookup, ["isbn": "9780306406157"])
            #expect(response["lookupISBN"] == .null)
            #expect(response.errors.isEmpty)
        }
        #expect(setting.library.requests.count == 1)
        #expect(setting.google.requests.count == 1)
        // It is looked up again after the miss has expired.
        try await setting.app.database.execute("UPDATE source_misses SET expires_at = now()")
        _ = try await setting.reader.execute(Self.lookup, ["isbn": "9780306406157"])
        #expect(setting.library.requests.count == 2)
    }

    @Test func onlyFailedSourcesAreQueriedAgain() async throws {
        let setting = try await start()
        setting.google.fail(with: .status(503))
        let response = try await setting.reader.execute(Self.lookup, ["isbn": "9780306406157"])
        // Open Library does not know the ISBN, which is a valid result.
        #expect(response["lookupISBN"] == .null)
        #expect(response.errors.isEmpty)
        setting.google.fail(with: nil)
        _ = try await setting.reader.execute(Self.lookup, ["isbn": "9780306406157"])
        #expect(setting.library.requests.count == 1)
        #expect(setting.google.requests.count == 2)
    }

    @Test func failsIfNoSourceCanAnswer() async throws {
        let setting = try await start()
        setting.library.fail(with: .busy)
        setting.google.fail(with: .unreachable(.timedOut))
        let response = try await setting.reader.execute(Self.lookup, ["isbn": "9780140328721"])
        #expect(response.code == "UPSTREAM_UNAVAILABLE")
        #expect(response.message?.hasSuffix(".") == true)
        let made = try await setting.reader.execute(
            CreateBookTests.create, ["input": ["isbn": "9780140328721"]])
        #expect(made.code == "UPSTREAM_UNAVAILABLE")
        // The failure was not stored, so the book is found when the source is available again.
        setting.library.fail(with: nil)
        let found = try await setting.reader.execute(Self.lookup, ["isbn": "9780140328721"])
        #expect(found["lookupISBN", "title"] == "Fantastic Mr. Fox")
    }

    /// The lookups of a level run concurrently: the source does not answer before all of them have arrived.
    @Test func lookupsOfALevelRunConcurrently() async throws {
        let isbns = (1...4).map { TestCatalog.isbn(2000 + $0) }
        let arrived = Mutex(0)
        let source = BookSource(
            name: .openLibrary,
            edition: { number, options async throws(SourceError) in
                arrived.withLock { $0 += 1 }
                while arrived.withLock({ $0 < 4 }) {
                    guard ContinuousClock.now < options.deadline else {
                        throw .unreachable(.timedOut)
                    }
                    try? await Task.sleep(for: .milliseconds(2))
                }
                return number.isbn13 == isbns[3]
                    ? nil : BookRecord(title: "Outside \(number.isbn13)")
            }, search: { _, _, _ async throws(SourceError) in [] })
        let app = try await TestApp.start(sources: SourceChain([source]))
        let reader = try await app.makeReader()
        let query = """
            query($a: String!, $b: String!, $c: String!, $d: String!, $e: String!) {
              a: lookupISBN(isbn: $a) { title inLibrary { id } } again: lookupISBN(isbn: $a) { title }
              b: lookupISBN(isbn: $b) { title } c: lookupISBN(isbn: $c) { title } d: lookupISBN(isbn: $d) { title }
              e: lookupISBN(isbn: $e) { title } bad: lookupISBN(isbn: "1") { title }
            }
            """
        let response = try await reader.execute(
            query,
            [
                "a": .string(isbns[0]), "b": .string(isbns[1]), "c": .string(isbns[2]),
                "d": .string(isbns[3]), "e": .string(TestCatalog.isbn(3)),
            ])
        #expect(response["a", "title"] == .string("Outside \(isbns[0])"), "\(response.json)")
        #expect(response["again", "title"] == response["a", "title"])
        #expect(response["b", "title"] == .string("Outside \(isbns[1])"))
        #expect(response["c", "title"] == .string("Outside \(isbns[2])"))
        #expect(response["d"] == .null)
        #expect(response["e", "title"] == "Card 3")
        #expect(response.errors.map { $0["path"] } == [["bad"]])
        #expect(arrived.withLock { $0 } == 4)
    }

    @Test(arguments: ["", " ", "9780306406158", "12345", "4006381333931", "0000000000", "x"])
    func invalidISBNIsRefused(isbn: String) async throws {
        let setting = try await start()
        let response = try await setting.reader.execute(Self.lookup, ["isbn": .string(isbn)])
        #expect(response.code == "BAD_USER_INPUT")
        #expect(response.field == "isbn")
        #expect(setting.library.requests.isEmpty)
    }

    @Test func lookupRequiresSignIn() async throws {
        let setting = try await start()
        let response = try await setting.app.execute(Self.lookup, ["isbn": "9780140328721"])
        #expect(response.code == "UNAUTHENTICATED")
        #expect(setting.library.requests.isEmpty)
    }

    @Test func createBookUsesTheSources() async throws {
        let setting = try await start()
        let response = try await setting.reader.execute(
            CreateBookTests.create, ["input": ["isbn": "0140328726"]])
        #expect(response["createBook", "title"] == "Fantastic Mr. Fox", "\(response.json)")
        #expect(response["createBook", "author"] == "Roald Dahl, Quentin Blake")
        #expect(response["createBook", "card", "title"] == "Fantastic Mr. Fox")
        let again = try await setting.reader.execute(
            CreateBookTests.create, ["input": ["isbn": "9780140328721"]])
        #expect(again.code == "CONFLICT")
        #expect(again.errors.first?["extensions", "id"] == response["createBook", "id"])
    }

    /// A book with a title is created without querying the sources.
    @Test func createBookWithATitleDoesNotQuerySources() async throws {
        let setting = try await start()
        let book = try await setting.reader.execute(
            CreateBookTests.create, ["input": ["isbn": "9780140328721", "title": "The fox"]])
        #expect(book["createBook", "title"] == "The fox")
        #expect(book["createBook", "isbn13"] == "9780140328721")
        #expect(setting.library.requests.isEmpty)
    }

    @Test func createBooksLooksUpFiftyISBNs() async throws {
        let known = (1...25).map { TestCatalog.isbn(1000 + $0) }
        let setting = try await start(
            Dictionary(
                uniqueKeysWithValues: known.map { ($0, BookRecord(title: "Outside \($0)")) }))
        var inputs: [Value] = known.map { ["isbn": .string($0)] }
        inputs += (1...20).map { ["isbn": .string(TestCatalog.isbn($0))] }
        inputs += [
            ["isbn": "9780306406157"], ["isbn": "9780306406158"], ["title": "By hand"],
            ["isbn": .string(known[0])], ["title": "Another"],
        ]
        let response = try await setting.reader.execute(
            """
            mutation($i: [CreateBookInput!]!) {
              createBooks(inputs: $i) { book { title } error { code field } }
            }
            """, ["i": .list(inputs)])
        let results = try #require(response["createBooks"]?.list, "\(response.json)")
        #expect(results.count == 50)
        #expect(
            results.prefix(25).map { $0["book", "title"] }
                == known.map { .string("Outside \($0)") })
        #expect(results[25..<45].allSatisfy { $0["error"] == .null })
        #expect(
            results.suffix(5).map { $0["error", "code"]?.string } == [
                "NOT_FOUND", "BAD_USER_INPUT", nil, "CONFLICT", nil,
            ])
        #expect(setting.library.requests.sorted() == (known + ["9780306406157"]).sorted())
    }

    @Test func entriesOfABatchFailSeparately() async throws {
        let setting = try await start()
        setting.library.fail(with: .busy)
        setting.google.fail(with: .busy)
        let response = try await setting.reader.execute(
            """
            mutation { createBooks(inputs: [{isbn: "9780140328721"}, {title: "A"}, {isbn: "9780306406157", title: "B"}]) {
              book { title } error { code }
            } }
            """)
        #expect(
            response["createBooks"]?.list?.map { $0["error", "code"]?.string } == [
                "UPSTREAM_UNAVAILABLE", nil, nil,
            ])
    }

    /// `save_edition` fills missing data and never changes existing data.
    @Test func serverCanOnlyFillMissingData() async throws {
        let setting = try await start()
        let isbn = TestCatalog.isbn(3)
        let rows = try await setting.app.database.withConnection(as: TestCluster.app) {
            connection in
            _ = try connection.query(
                """
                SELECT save_edition('\(isbn)', 'Other title', 'Subtitle', '{Nobody}', '{EDITOR}', 'Nobody', '2020', 1,
                  'xx', '{Romance}', 'Other', 'Other', '{x}', '{open_library}', '{OL1M}',
                  '{open_library}', '{OL1W}')
                """)
            return try connection.query(
                "SELECT title, subtitle, authors[1], publisher FROM editions WHERE isbn13 = '\(isbn)'"
            )
        }
        #expect(rows.text(0, 0) == "Card 3")
        #expect(rows.text(0, 1) == "Subtitle")
        #expect(rows.text(0, 2) == "Author 3")
        #expect(rows.text(0, 3) == "House")
    }
}
