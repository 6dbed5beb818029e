import GraphQL
import TestSupport
import Testing

/// Searches of a library in which more books match than are sorted or ranked (300 and 250).
@Suite struct LibrarySearchTests {
    private static let reader = Shared {
        let reader = try await TestApp.start(catalog: []).makeReader()
        try await reader.app.database.execute(
            """
            SET app.bulk = 'on';
            INSERT INTO books (user_id, id, title, status, added_at)
            SELECT '\(reader.id.string ?? "")', gen_random_uuid(), t.title, t.status::reading_status, now() - t.n * interval '1 hour'
            FROM (
                SELECT n, 'Chronicle of ' || n AS title, 'READ' AS status FROM generate_series(1, 700) n
                UNION ALL SELECT n, 'Chronicle of ' || n, 'READING' FROM generate_series(701, 710) n
                UNION ALL SELECT n, '日本史 ' || n, 'READ' FROM generate_series(711, 1400) n
                UNION ALL SELECT 1401, 'ある 本日の物語', 'READ'
                UNION ALL SELECT n, '# ' || n || ' +', 'READ' FROM generate_series(1402, 1800) n
                UNION ALL SELECT 1801, 'C#+', 'READ'
            ) t;
            RESET app.bulk
            """)
        return reader
    }

    private static let query = """
        query($search: String!, $order: BookOrder!, $statuses: [ReadingStatus!]) {
          me { books(search: $search, orderBy: $order, statuses: $statuses, first: 20) { totalCount nodes { title } } }
        }
        """

    @Test(arguments: [
        ("chronicle", "ADDED_DESC", [], 20), ("chronicle", "TITLE_ASC", ["READING"], 10),
        ("chronicle", "RELEVANCE", ["READING"], 10), ("chronicel", "ADDED_DESC", [], 20),
        ("chronicel", "TITLE_ASC", [], 20), ("chronicel", "RELEVANCE", [], 20),
        ("本日", "ADDED_DESC", [], 1), ("本日", "RELEVANCE", [], 1), ("日本", "TITLE_ASC", [], 20),
        ("#", "TITLE_ASC", [], 20), ("#+", "ADDED_DESC", [], 1),
        ("chronicle 本日", "ADDED_DESC", [], 0),
    ])
    func matchesBeyondTheLimitsAreFound(
        search: String, order: String, statuses: [String], count: Int
    ) async throws {
        let response = try await Self.reader().execute(
            Self.query,
            [
                "search": .string(search), "order": .string(order),
                "statuses": .list(statuses.map { .string($0) }),
            ])
        let books = response["me", "books"]
        #expect(books?["nodes"]?.list?.count == count, "\(response.json)")
        let total = books?["totalCount"]?.int ?? -1
        #expect(count < 20 ? total == count : total >= 20, "\(total)")
    }

    private static let smallReader = Shared {
        let reader = try await TestApp.start(catalog: []).makeReader()
        for (title, author, status) in [
            ("Dune", "Frank Herbert", "READ"),
            ("The Lord of the Rings", "J.R.R. Tolkien", "WANT_TO_READ"),
            ("Harry Potter and the Goblet of Fire", "J.K. Rowling", "READ"),
            ("For Whom the Bell Tolls", "Ernest Hemingway", "READ"),
        ] {
            _ = try await reader.makeBook([
                "title": .string(title), "authors": [["name": .string(author)]],
                "status": .string(status),
            ])
        }
        return reader
    }

    /// Aliases have their meaning, and words that no book has are dropped, or one of at least three.
    @Test(
        arguments: [
            ("lotr", [], ["The Lord of the Rings"]),
            ("LOTR tolkien", [], ["The Lord of the Rings"]),
            ("hp", [], ["Harry Potter and the Goblet of Fire"]),
            ("the lord fo the rings", [], ["The Lord of the Rings"]),
            ("the lord fo the rings epub", [], ["The Lord of the Rings"]),
            ("dune frank herbert epub", [], ["Dune"]), ("kindle dune", [], ["Dune"]),
            ("lotr epub", [], ["The Lord of the Rings"]), ("dnue herbert", [], ["Dune"]),
            // Two words of different books, and words that say too little.
            ("dune tolkien", [], []), ("the epub", [], []), ("epub", [], []),
            ("dune epub kindle", [], []), ("the dune fo", [], []),
            ("herbert the fo zzzz qqqq", [], []), ("the lord fo", [], ["The Lord of the Rings"]),
            // The book has no number.
            ("hp 4", [], []), ("harry potter 4", [], []),
            // A book of another status has the meaning.
            ("lotr", ["READ"], []), ("the lord fo the rings", ["READ"], []),
            ("dune epub", ["READ"], ["Dune"]), ("dune epub", ["READING"], []),
            ("dnue herbert", ["READ"], ["Dune"]), ("dnue herbert", ["READING"], []),
        ] as [(String, [String], [String])], ["ADDED_DESC", "RELEVANCE"])
    func aliasesAndStrayWords(
        search: (text: String, statuses: [String], titles: [String]), order: String
    ) async throws {
        let response = try await Self.smallReader().execute(
            Self.query,
            [
                "search": .string(search.text), "order": .string(order),
                "statuses": .list(search.statuses.map { .string($0) }),
            ])
        let books = response["me", "books"]
        #expect(
            books?["nodes"]?.values(of: "title") == search.titles.map { .string($0) },
            "\(response.json)")
        #expect(books?["totalCount"] == .int(search.titles.count))
    }
}
