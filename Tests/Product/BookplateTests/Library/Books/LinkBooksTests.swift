import GraphQL
import Postgres
import TestBasics
import TestSupport
import Testing

@testable import Bookplate
@testable import Operations
@testable import JobQueue

/// The links of books to records of the catalog: at creation, after changes, and when the catalog grows.
@Suite struct LinkBooksTests {
    private struct Record {
        var title: String
        var authors: [String]
        var subtitle: String?
        var series: String?
        var seriesPosition: String?

        init(
            _ title: String, _ authors: [String], subtitle: String? = nil, series: String? = nil,
            _ seriesPosition: String? = nil
        ) {
            self.title = title
            self.authors = authors
            self.subtitle = subtitle
            self.series = series
            self.seriesPosition = seriesPosition
        }

        /// Returns a line of a catalog file.
        func line(_ number: Int, hasISBN: Bool = true) -> String {
            func member(_ name: String, _ text: String?) -> String {
                text.map { "\"\(name)\":\"\($0)\"," } ?? ""
            }
            let isbn = hasISBN ? TestCatalog.isbn(number) : nil
            return """
                {"ids":{"goodreads":"\(number)"},\(member("isbn13", isbn))\(member("subtitle", subtitle))\
                \(member("series", series))\(member("seriesPosition", seriesPosition))"title":"\(title)",\
                "authors":[\(authors.map { "\"\($0)\"" }.joined(separator: ","))],"genres":["Fantasy"],\
                "description":"A book of the catalog.","ratingsCount":\(10_000 - number)}
                """
        }
    }

    private static let records = [
        Record("The Left Hand of Darkness", ["Ursula K. Le Guin"], series: "Hainish Cycle", "4"),
        Record("Good Omens", ["Terry Pratchett", "Neil Gaiman"]),
        Record("Sapiens", ["Yuval Noah Harari"], subtitle: "A Brief History of Humankind"),
        Record("Unbroken", ["Laura Hillenbrand"]),
        Record("The Hunger Games", ["Suzanne Collins"], series: "The Hunger Games", "1"),
        Record("Saga", ["Brian K. Vaughan"], series: "Saga", "1"),
        Record("Saga", ["Brian K. Vaughan"], series: "Saga", "2"),
        Record("Cat's Cradle", ["Kurt Vonnegut Jr."]),
        Record("Kafka on the Shore", ["村上春樹"]),
    ]

    static let app = Shared {
        try await TestApp.start(
            catalog: records.enumerated().map { $0.element.line(1 + $0.offset) })
    }

    private static let card = "query($id: ID!) { book(id: $id) { card { title isbn13 } } }"

    /// The ISBN of the book's card.
    private func card(_ book: Value, _ reader: TestReader) async throws -> String? {
        try await reader.execute(Self.card, ["id": book])["book", "card", "isbn13"]?.string
    }

    private func isbn(_ number: Int?) -> String? { number.map { TestCatalog.isbn($0) } }

    private static func update(
        _ reader: TestReader, _ book: Value, _ input: Value
    ) async throws {
        _ = try await reader.requireValue(
            """
            mutation($id: ID!, $input: UpdateBookInput!) {
              updateBook(id: $id, input: $input) { id }
            }
            """, ["id": book, "input": input], "updateBook")
    }

    /// Runs a worker until no book waits for a link.
    private func runLinks(_ app: TestApp) async throws {
        try await app.database.execute("UPDATE jobs SET run_at = now() WHERE kind = 'library.link'")
        let worker = try await TestWorker.start(app.database, [LinkBooks()])
        try await waitUntil("the books are linked") {
            try await app.database.count("SELECT count(*) FROM jobs WHERE kind = 'library.link'")
                == 0
        }
        await worker.stop()
        #expect(try await app.database.count("SELECT count(*) FROM books_to_link") == 0)
    }

    // MARK: - By title and author

    @Test(
        arguments: [
            ("The Left Hand of Darkness", "Ursula K. Le Guin", 1),
            ("left hand of darkness", "Le Guin, Ursula K.", 1),
            ("The Left Hand of Darkness (Hainish Cycle, #4)", "Ursula Le Guin", 1),
            ("THE LEFT-HAND OF DARKNESS [paperback]", "U. K. Lé Guin", 1),
            ("The Left Hand of Darkness: A Novel", "Ursula K. Le Guin", 1),
            ("Good Omens", "Terry Pratchett", 2),
            ("Good Omens", "Terry Pratchett, Neil Gaiman", 2),
            ("Good Omens", "Neil Gaiman & Terry Pratchett", 2),
            ("Good Omens", "Neil Gaiman and Terry Pratchett", 2),
            ("Sapiens", "Yuval Noah Harari", 3),
            ("Sapiens: A brief history of humankind", "Yuval Noah Harari", 3),
            ("Unbroken: A Story of Survival", "Laura Hillenbrand", 4),
            ("The Hunger Games", "Suzanne Collins", 5),
            ("The Hunger Games (The Hunger Games #1)", "Suzanne Collins", 5),
            ("The Hunger Games (Book One)", "Suzanne Collins", 5),
            ("Saga, (Vol. 2)", "Brian K. Vaughan", 7),
            ("Saga (Saga, #1)", "Brian Vaughan", 6),
            ("Saga (II)", "Brian Vaughan", nil),
            ("Saga (2)", "Brian Vaughan", 7),
            ("Cat’s Cradle", "Kurt Vonnegut", 8),
            ("Cats Cradle", "Kurt Vonnegut, Jr.", 8),
            ("Cat's Cradle", "Vonnegut, Kurt, Jr.", 8),
            ("Kafka on the Shore", "村上 春樹", 9),
            // Other works.
            ("The Right Hand of Darkness", "Ursula K. Le Guin", nil),
            ("The Left Hand of Darkness", "Ada Palmer", nil),
            ("The Left Hand of Darkness", "Peter Le Guin", nil),
            ("The Left Hand of Darkness", nil, nil),
            ("Sapiens: A Graphic History", "Yuval Noah Harari", nil),
            ("Unbroken: Volume 2", "Laura Hillenbrand", nil),
            ("The Hunger Games: Mockingjay", "Suzanne Collins", nil),
            ("The Hunger Games (The Hunger Games, #2)", "Suzanne Collins", nil),
            ("The Hunger Games (The Hunger Games, #1-3)", "Suzanne Collins", nil),
            ("Saga", "Brian K. Vaughan", nil),
            ("Saga (Saga, #3)", "Brian K. Vaughan", nil),
            ("☃", "Kurt Vonnegut", nil), ("Cat's Cradle", "☃", nil),
        ] as [(String, String?, Int?)])
    func titleAndAuthorFindTheRecord(title: String, author: String?, number: Int?) async throws {
        let reader = try await Self.app().makeReader()
        let book = try await reader.makeBook([
            "title": .string(title), "authors": .list(author.map { [["name": .string($0)]] } ?? []),
        ])
        #expect(try await card(book, reader) == isbn(number))
        // The record may be another edition, so it does not fill fields.
        let fields = try await reader.requireValue(
            "query($id: ID!) { book(id: $id) { title isbn13 description } }", ["id": book], "book")
        #expect(
            fields == ["title": .string(title), "isbn13": .null, "description": .null])
    }

    /// The spelling of a title does not change the volume. The seed is printed.
    @Test func volumesAreNeverConfused() async throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        print("seed \(seed)")
        var random = SeededGenerator(seed)
        let app = try await TestApp.start(
            catalog: (1...12).map {
                Record("The Chronicle", ["Ann Author"], series: "The Chronicle", String($0)).line(
                    $0)
            })
        let reader = try await app.makeReader()
        let words = ["One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten"]
        let forms: [(Int) -> String] = [
            { "The Chronicle (The Chronicle, #\($0))" }, { "Chronicle [Vol. \($0)]" },
            { "THE CHRONICLE (Book \($0))" }, { "The Chronicle (volume \($0))" },
            { "The Chronicle (\($0))" },
            {
                $0 <= words.count
                    ? "the chronicle (Book \(words[$0 - 1]))" : "Chronicle (No. \($0))"
            },
        ]
        for volume in (1...14).shuffled(using: &random) {
            let title = forms.randomElement(using: &random)?(volume) ?? ""
            let book = try await reader.makeBook([
                "title": .string(title),
                "authors": [["name": ["Ann Author", "Author, A."][volume % 2]]],
            ])
            #expect(
                try await card(book, reader) == (volume <= 12 ? TestCatalog.isbn(volume) : nil),
                "\(title)")
        }
    }

    @Test func aSecondCopyGetsAnotherRecordOrNone() async throws {
        let app = try await TestApp.start(catalog: [
            Record("Dune", ["Frank Herbert"]).line(1), Record("Dune", ["Frank Herbert"]).line(2),
        ])
        let reader = try await app.makeReader()
        var cards: [String?] = []
        for _ in 0..<3 {
            let copy = try await reader.makeBook([
                "title": "Dune", "authors": [["name": "Frank Herbert"]],
            ])
            cards.append(try await card(copy, reader))
        }
        #expect(cards == [TestCatalog.isbn(1), TestCatalog.isbn(2), nil])
        // Another reader's books do not matter.
        let other = try await app.makeReader()
        let book = try await other.makeBook([
            "title": "Dune", "authors": [["name": "Frank Herbert"]],
        ])
        #expect(try await card(book, other) == TestCatalog.isbn(1))
    }

    // MARK: - Changes of the book

    @Test func changedTitleOrAuthorChangesTheLink() async throws {
        let reader = try await Self.app().makeReader()
        let book = try await reader.makeBook(["title": "Notes"])
        #expect(try await card(book, reader) == nil)
        let steps: [(Value, Int?)] = [
            (["title": "Good Omens", "authors": [["name": "Terry Pratchett"]]], 2),
            (["status": "READ"], 2),
            (["title": "Sapiens"], nil),
            (["authors": [["name": "Harari, Yuval Noah"]]], 3),
            (["isbn": .string(TestCatalog.isbn(8))], 8),
            // The ISBN says which book it is.
            (["title": "My favourite"], 8),
            (["isbn": .null], nil),
        ]
        for (input, number) in steps {
            try await Self.update(reader, book, input)
            #expect(try await card(book, reader) == isbn(number), "\(input)")
        }
    }

    @Test func chosenCardIsKept() async throws {
        let reader = try await Self.app().makeReader()
        let id = try await reader.requireValue(
            "query($isbn: String!) { lookupISBN(isbn: $isbn) { id } }",
            ["isbn": .string(TestCatalog.isbn(2))], "lookupISBN", "id")
        let book = try await reader.makeBook(["cardId": id, "title": "Sapiens"])
        for input in [
            ["authors": [["name": "Yuval Noah Harari"]]], ["isbn": .string(TestCatalog.isbn(8))],
            ["title": "Notes", "isbn": .null],
        ] as [Value] {
            try await Self.update(reader, book, input)
            #expect(try await card(book, reader) == TestCatalog.isbn(2))
        }
    }

    @Test func editionWithTheISBNReplacesALinkByTitle() async throws {
        let app = try await TestApp.start(catalog: [Record("Dune", ["Frank Herbert"]).line(1)])
        let reader = try await app.makeReader()
        let book = try await reader.makeBook([
            "title": "Dune", "authors": [["name": "Frank Herbert"]],
            "isbn": .string(TestCatalog.isbn(2)),
        ])
        #expect(try await card(book, reader) == TestCatalog.isbn(1))
        try await app.database.importCatalog([Record("Dune", ["Frank Herbert"]).line(2)])
        try await Self.update(reader, book, ["title": "Dune!"])
        #expect(try await card(book, reader) == TestCatalog.isbn(2))
    }

    // MARK: - Changes of the catalog

    @Test func newEditionsLinkBooks() async throws {
        let app = try await TestApp.start(catalog: [])
        let readers = [try await app.makeReader(), try await app.makeReader()]
        var books: [[Value]] = []
        for reader in readers {
            books.append([
                try await reader.makeBook([
                    "title": "Good Omens", "authors": [["name": "Neil Gaiman"]],
                ]),
                try await reader.makeBook([
                    "title": "Mine", "isbn": .string(TestCatalog.isbn(3)), "status": "READ",
                ]),
                try await reader.makeBook([
                    "title": "Saga (Saga, #3)", "authors": [["name": "B. Vaughan"]],
                ]),
                try await reader.makeBook([
                    "title": "Unrelated", "authors": [["name": "Neil Gaiman"]],
                ]),
            ])
        }
        try await readers[0].review(books[0][1], rating: 5)
        let log = "SELECT count(*) FROM changes WHERE kind = 'UPDATED'"
        let before = try await app.database.count(log)
        try await app.database.importCatalog([
            Record("Good Omens", ["Neil Gaiman", "Terry Pratchett"]).line(1),
            Record("Saga", ["Brian K. Vaughan"], "2").line(2),
            Record("The exact edition", ["Somebody"]).line(3),
        ])
        /// Changes when the second reader was last active.
        func moveLastUse(_ change: String) async throws {
            try await app.database.execute(
                """
                UPDATE sessions SET rotated_at = rotated_at \(change)
                WHERE user_id = '\(readers[1].id.string ?? "")'
                """)
        }
        try await moveLastUse("- interval '31 days'")
        try await app.database.execute(
            "DELETE FROM jobs WHERE kind = 'feed.deck'; UPDATE feed_readers SET deck_due_at = NULL")
        try await runLinks(app)
        // Active readers get new decks at once.
        #expect(try await app.waitingDeckCount() == 1)
        try await moveLastUse("+ interval '31 days'")
        for (reader, books) in zip(readers, books) {
            var cards: [String?] = []
            for book in books { cards.append(try await card(book, reader)) }
            #expect(cards == [TestCatalog.isbn(1), TestCatalog.isbn(3), nil, nil])
        }
        // The change log has one entry for each linked book.
        #expect(try await app.database.count(log) == before + 4)
        // Reviews and statuses of linked books are signals.
        #expect(
            try await app.database.count(
                """
                SELECT count(*)
                FROM reader_signals s
                JOIN editions e ON e.id = s.edition_id
                WHERE e.isbn13 = '\(TestCatalog.isbn(3))' AND s.weight > 1
                """) == 1)
        // A corrected record links the remaining volume.
        try await app.database.importCatalog([
            Record("Saga", ["Brian K. Vaughan"], series: "Saga", "3").line(2)
        ])
        try await runLinks(app)
        #expect(try await card(books[0][2], readers[0]) == TestCatalog.isbn(2))
    }

    /// Links are signals, so the reader's next scroll starts with a new deck, also in filtered feeds.
    @Test func linkedBooksReplaceTheDecksOfTheirReader() async throws {
        let app = try await TestApp.start(
            catalog: (2...20).map { Record("Card \($0)", ["Author \($0)"]).line($0) })
        let readers = [try await app.makeReader(), try await app.makeReader()]
        _ = try await readers[0].makeBook([
            "title": "Good Omens", "authors": [["name": "Neil Gaiman"]],
        ])
        try await app.database.importCatalog([Record("Good Omens", ["Neil Gaiman"]).line(1)])
        /// Starts a scroll of each reader, and returns the numbers of their decks.
        func scroll() async throws -> [Int] {
            var counts: [Int] = []
            for reader in readers {
                _ = try await reader.requireValue(
                    #"{ feed(first: 3, genres: ["Fantasy"]) { nodes { id } } }"#, .null, "feed")
                counts.append(
                    try await app.database.count(
                        "SELECT count(*) FROM feed_decks WHERE user_id = '\(reader.id.string ?? "")'"
                    ))
            }
            return counts
        }
        #expect(try await scroll() == [1, 1])
        #expect(try await scroll() == [1, 1])
        try await runLinks(app)
        #expect(try await scroll() == [2, 1])
    }

    /// The book's transaction neither sees the editions of the import nor is seen by its triggers.
    @Test func booksAddedDuringAnImportAreLinked() async throws {
        let app = try await TestApp.start(catalog: [])
        let reader = try await app.makeReader()
        let id = UUID.version7()
        let owner = reader.id.string ?? ""
        let addition = Task {
            try await app.database.withConnection { connection in
                try connection.execute("BEGIN; LOCK TABLE search_words IN EXCLUSIVE MODE")
                // The import has stored its editions when it waits for the lock.
                while try connection.query(
                    "SELECT FROM pg_locks WHERE relation = 'search_words'::regclass AND NOT granted"
                ).count == 0 {}
                try connection.execute(
                    """
                    INSERT INTO books (user_id, id, title, authors)
                    VALUES ('\(owner)', '\(id)', 'Good Omens', '{Terry Pratchett}');
                    COMMIT
                    """)
            }
        }
        try await waitUntil("the table is locked") {
            try await app.database.count(
                """
                SELECT count(*)
                FROM pg_locks
                WHERE relation = 'search_words'::regclass AND mode = 'ExclusiveLock' AND granted
                """) == 1
        }
        _ = try await app.database.importCatalog([Self.records[1].line(2)])
        try await addition.value
        try await runLinks(app)
        #expect(try await card(.string("\(id)"), reader) == TestCatalog.isbn(2))
    }

    /// An import that is interrupted after its commit has not linked the books that it did not see. The next import does.
    @Test func importThatIsRepeatedAfterAnInterruptionLinksBooks() async throws {
        let app = try await TestApp.start(catalog: [])
        let reader = try await app.makeReader()
        let id = UUID.version7()
        let line = Self.records[1].line(2)
        try await app.database.execute(
            "ALTER FUNCTION enqueue_links_of_recent_editions RENAME TO not_available")
        await #expect(throws: PostgresError.self) {
            try await app.database.importCatalog([line])
        }
        try await app.database.execute(
            """
            ALTER FUNCTION not_available RENAME TO enqueue_links_of_recent_editions;
            INSERT INTO books (user_id, id, title, authors)
            VALUES ('\(reader.id.string ?? "")', '\(id)', 'Good Omens', '{Terry Pratchett}')
            """)
        let repeated = try await app.database.importCatalog([line])
        #expect(repeated.summary.unchanged == 1)
        try await runLinks(app)
        #expect(try await card(.string("\(id)"), reader) == TestCatalog.isbn(2))
        #expect(try await app.database.count("SELECT count(*) FROM checkpoints") == 0)
    }

    @Test func removedEditionIsReplacedByAnotherRecord() async throws {
        let app = try await TestApp.start(catalog: [
            Record("Dune", ["Frank Herbert"]).line(1), Record("Dune", ["Frank Herbert"]).line(2),
        ])
        let reader = try await app.makeReader()
        let book = try await reader.makeBook(["isbn": .string(TestCatalog.isbn(1))])
        try await app.database.execute(
            "DELETE FROM editions WHERE isbn13 = '\(TestCatalog.isbn(1))'")
        #expect(try await card(book, reader) == nil)
        try await runLinks(app)
        #expect(try await card(book, reader) == TestCatalog.isbn(2))
    }

    /// A request of one reader never links the books of another one. Only the job does.
    @Test func readersCannotLinkBooksOfOthers() async throws {
        let app = try await TestApp.start(catalog: [])
        let owner = try await app.makeReader()
        let book = try await owner.makeBook([
            "title": "Good Omens", "authors": [["name": "Neil Gaiman"]],
        ])
        try await app.database.importCatalog([Self.records[1].line(2), Self.records[7].line(8)])
        let id = owner.id.string ?? ""
        let other = try await app.makeReader()
        try await app.database.withConnection(as: TestCluster.app) { connection in
            try connection.execute("BEGIN")
            try connection.execute(
                "SELECT set_config('app.user_id', '\(other.id.string ?? "")', true)")
            try connection.execute(
                "SELECT link_books(ARRAY['\(id)'::uuid], ARRAY['\(book.string ?? "")'::uuid])")
            try connection.execute("COMMIT")
        }
        #expect(try await app.database.count("SELECT count(edition_id) FROM books") == 0)
        await #expect(throws: PostgresError.self) {
            try await app.database.withConnection(as: TestCluster.app) { connection in
                try connection.execute("SELECT count(*) FROM books_to_link")
            }
        }
    }
}
