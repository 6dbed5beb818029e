import GraphQL
import TestSupport
import Testing

@testable import Bookplate

/// The facts of a book that its reader enters: publisher, date, language, description, and pages.
@Suite struct BookFactsTests {
    static let app = Shared {
        try await TestApp.start(catalog: [
            """
            {"title":"The Catalog's","authors":["A"],"isbn13":"9780306406157","publisher":"Theirs",\
            "publishedDate":"1999","language":"fr","pageCount":100,"description":"Their text.",\
            "genres":["Fantasy"],"ratingsCount":1000}
            """
        ])
    }

    private static let fields =
        "title publisher publishedDate pageCount language description currentPage"
    private static let create = """
        mutation($input: CreateBookInput!) { createBook(input: $input) { id \(fields) } }
        """
    private static let update = """
        mutation($id: ID!, $input: UpdateBookInput!) { updateBook(id: $id, input: $input) { \(fields) } }
        """
    private static let facts: Value = [
        "publisher": " Ace ", "publishedDate": "1969-03", "pageCount": 304, "language": "EN-us",
        "description": "A planet without\nsexes.",
    ]
    private static let stored: Value = [
        "publisher": "Ace", "publishedDate": "1969-03", "pageCount": 304, "language": "en-US",
        "description": "A planet without\nsexes.",
    ]

    private func expect(_ book: Value?, _ facts: Value, _ comment: Comment? = nil) {
        guard case .object(let members) = facts else { return }
        for member in members { #expect(book?[member.name] == member.value, comment) }
    }

    @Test func factsAreStoredAndCleared() async throws {
        let reader = try await Self.app().makeReader()
        guard case .object(let members) = Self.facts else { return }
        let created = try await reader.execute(
            Self.create, ["input": .object(members + [.init("title", "Own")])])
        expect(created["createBook"], Self.stored)
        let book = try await reader.makeBook("Other")
        let updated = try await reader.execute(Self.update, ["id": book, "input": Self.facts])
        expect(updated["updateBook"], Self.stored)
        let unchanged = try await reader.execute(
            Self.update, ["id": book, "input": ["title": "New"]])
        expect(unchanged["updateBook"], Self.stored)
        let cleared = try await reader.execute(
            Self.update,
            ["id": book, "input": .object(members.map { .init($0.name, .null) })])
        expect(cleared["updateBook"], .object(members.map { .init($0.name, .null) }))
    }

    /// The reader's facts take precedence over those of the card, also after the card is corrected.
    @Test func factsOfTheReaderOverrideTheCard() async throws {
        let reader = try await Self.app().makeReader()
        let card = try await reader.feedCards(1)[0]["id"] ?? .null
        let book = try await reader.makeBook([
            "cardId": card, "publisher": "Own", "description": "Own text.",
        ])
        _ = try await reader.execute(Self.update, ["id": book, "input": ["pageCount": 90]])
        let expected: Value = [
            "title": "The Catalog's", "publisher": "Own", "publishedDate": "1999", "pageCount": 90,
            "language": "fr", "description": "Own text.",
        ]
        let before = try await reader.requireValue(
            "query($id: ID!) { book(id: $id) { \(Self.fields) } }", ["id": book], "book")
        expect(before, expected)
        try await reader.app.database.execute(
            """
            UPDATE editions SET publisher = 'New', published_date = '2001', page_count = 200, language = 'de',
              description = 'New'
            """)
        let after = try await reader.requireValue(
            "query($id: ID!) { book(id: $id) { \(Self.fields) } }", ["id": book], "book")
        #expect(after == before)
    }

    @Test(
        arguments: [
            (
                "publishedDate",
                [
                    "65", "1965-13", "1965-00", "1965-8", "1965-02-29", "1900-02-29", "August 1965",
                    "0000", "1965-08-01T00:00:00Z", "１９６５",
                ]
            ),
            (
                "language",
                ["e", "english", "en_US", "en-", "-en", "e1", "en-toolongsubtag", "Deutsch!"]
            ),
        ] as [(String, [String])])
    func invalidTextsAreRejected(field: String, texts: [String]) async throws {
        let reader = try await Self.app().makeReader()
        let book = try await reader.makeBook("Book")
        for text in texts {
            let updated = try await reader.execute(
                Self.update, ["id": book, "input": .object([.init(field, .string(text))])])
            #expect(updated.code == "BAD_USER_INPUT" && updated.field == field, "\(text)")
            let created = try await reader.execute(
                Self.create,
                ["input": .object([.init("title", "T"), .init(field, .string(text))])])
            #expect(created.code == "BAD_USER_INPUT" && created.field == field, "\(text)")
        }
    }

    @Test(
        arguments: [
            ("publishedDate", ["1965", "1965-08", "1965-08-01", "2000-02-29", "0001"]),
            ("language", ["en", "eng", "pt-BR", "zh-Hant", "zh-Hant-TW", "sr-Latn", "de-1996"]),
        ] as [(String, [String])])
    func validTextsAreStored(field: String, texts: [String]) async throws {
        let reader = try await Self.app().makeReader()
        let book = try await reader.makeBook("Book")
        for text in texts {
            let updated = try await reader.execute(
                Self.update, ["id": book, "input": .object([.init(field, .string(text))])])
            #expect(updated["updateBook"]?[field] == .string(text))
        }
    }

    @Test func lengthsAreLimited() async throws {
        let reader = try await Self.app().makeReader()
        let book = try await reader.makeBook("Book")
        for (field, max) in [("publisher", 500), ("description", 100_000)] {
            for count in [max, max + 1] {
                let text = Value.string(String(repeating: "é", count: count))
                let response = try await reader.execute(
                    Self.update, ["id": book, "input": .object([.init(field, text)])])
                if count == max {
                    #expect(response["updateBook"]?[field] == text)
                } else {
                    #expect(response.code == "BAD_USER_INPUT" && response.field == field)
                }
            }
        }
        for count in [0, -1] {
            let response = try await reader.execute(
                Self.update, ["id": book, "input": ["pageCount": .int(count)]])
            #expect(response.code == "BAD_USER_INPUT" && response.field == "pageCount")
        }
    }

    // MARK: - Pages

    /// The page is never beyond the end, also in updates with other fields, and a refused update changes nothing.
    @Test(
        arguments: [[:], ["title": "New"], ["status": "DID_NOT_FINISH"], ["shelfIds": []]]
            as [Value])
    func pageBeyondTheEndIsRefused(others: Value) async throws {
        let reader = try await Self.app().makeReader()
        let book = try await reader.makeBook(["title": "Book", "pageCount": 300])
        guard case .object(let others) = others else { return }
        func update(_ input: [Value.Member]) async throws -> TestResponse {
            try await reader.execute(Self.update, ["id": book, "input": .object(input + others)])
        }
        #expect(
            try await update([.init("currentPage", 300)])["updateBook", "currentPage"] == 300)
        let before = try await reader.requireValue(
            "query($id: ID!) { book(id: $id) { title updatedAt pageCount } }", ["id": book], "book")
        let beyond = try await update([.init("currentPage", 301)])
        #expect(beyond.code == "BAD_USER_INPUT" && beyond.field == "currentPage")
        #expect(
            beyond.message == "This is beyond the end of the book: it may be at most 300.")
        let shorter = try await update([.init("pageCount", 299)])
        #expect(shorter.code == "BAD_USER_INPUT" && shorter.field == "pageCount")
        #expect(
            shorter.message
                == "The reader has reached page 300. Send at least as many pages, or change currentPage, too."
        )
        let both = try await update([.init("currentPage", 20), .init("pageCount", 10)])
        #expect(both.code == "BAD_USER_INPUT" && both.field == "currentPage")
        #expect(
            try await reader.requireValue(
                "query($id: ID!) { book(id: $id) { title updatedAt pageCount } }", ["id": book],
                "book") == before)
        // Both at once, or without a known end.
        #expect(
            try await update([.init("currentPage", 5), .init("pageCount", 10)])[
                "updateBook", "pageCount"] == 10)
        #expect(
            try await update([.init("currentPage", 5000), .init("pageCount", .null)])[
                "updateBook", "currentPage"] == 5000)
        #expect(try await update([.init("currentPage", .null)]).errors.isEmpty)
    }

    // MARK: - Purchase links

    @Test func bookWithoutACardHasPurchaseLinks() async throws {
        let reader = try await Self.app().makeReader()
        let query = """
            query($id: ID!) { book(id: $id) {
              card { id } purchaseLinks { url bookstore { id name country } }
            } }
            """
        let book = try await reader.makeBook(["title": "By hand", "isbn": "9780140328721"])
        let found = try await reader.requireValue(query, ["id": book], "book")
        #expect(found["card"] == .null)
        #expect(
            found["purchaseLinks"] == [
                [
                    "url": "https://www.amazon.com/dp/0140328726?tag=alpha-20",
                    "bookstore": ["id": "amazon.com", "name": "Amazon", "country": "US"],
                ],
                [
                    "url": "https://bookshop.org/a/111/9780140328721",
                    "bookstore": ["id": "bookshop.org", "name": "Bookshop.org", "country": "US"],
                ],
            ])
        let untitled = try await reader.makeBook(["title": "Notes", "authors": [["name": "Me"]]])
        #expect(
            try await reader.requireValue(
                query, ["id": untitled], "book", "purchaseLinks", 1, "url")
                == "https://bookshop.org/search?keywords=Notes%20Me")
    }

    /// A book with all facts of its edition copies the columns that follow from them.
    @Test(
        arguments: [
            "title = title", "subtitle = 'Another'", "title = 'Another'", "authors = '{B}'",
            "authors = '{A,B}'",
            "authors = '{}'", "genre = 'Another'", "genre = NULL", "series = 'Another'",
            "series_position = '2'",
        ],
        [
            "title = title", "authors = '{A,B}'", "authors = '{}'", "subtitle = 'Theirs'",
            "series = 'Theirs'",
            "series_position = '1'", "genres = '{}'",
        ])
    func computedColumnsFollowFromTheFacts(ofBook change: String, ofEdition given: String)
        async throws
    {
        let reader = try await Self.app().makeReader()
        let id = reader.id.string ?? ""
        let wrong = try await Self.app().database.withConnection { connection in
            try connection.execute(
                """
                BEGIN;
                INSERT INTO editions (id, title, authors, genres) VALUES ('\(id)', 'The Edition''s', '{A}', '{Fantasy}');
                UPDATE editions SET \(given) WHERE id = '\(id)';
                INSERT INTO books (user_id, id, edition_id, title, subtitle, authors, genre)
                SELECT '\(id)', gen_random_uuid(), e.id, e.title, e.subtitle, e.authors, e.genres[1]
                FROM editions e
                WHERE e.id = '\(id)';
                UPDATE books SET \(change) WHERE user_id = '\(id)';
                """)
            defer { try? connection.execute("ROLLBACK") }
            return try connection.texts(
                """
                SELECT b.search_text
                FROM books b
                JOIN editions e ON e.id = b.edition_id
                CROSS JOIN LATERAL (
                    SELECT search_text(b.title, b.subtitle, b.series, b.series_position, b.authors) AS own_text
                ) o
                WHERE b.user_id = '\(id)'
                    AND (b.author, b.author_ids, b.series_id, b.title_card_version, b.search_text) IS DISTINCT FROM (
                        author_text(b.authors, b.author_roles), author_ids(b.authors), series_id(b.series),
                        title_card_version(b.title, author_text(b.authors, b.author_roles), b.genre),
                        CASE
                            WHEN o.own_text = e.search_text THEN o.own_text
                            ELSE with_words_of_edition(o.own_text, e.search_text)
                        END
                    )
                """)
        }
        #expect(wrong == [])
    }
}
