import GraphQL
import TestSupport
import Testing

/// The filters and the backward pages of `User.books`.
@Suite struct BookFilterTests {
    private static let app = Shared { try await TestApp.start(catalog: []) }

    /// 400 books, so that each step of a page with filters is executed: many, some, and few books match.
    private static let reader = Shared {
        let reader = try await app().makeReader()
        let id = reader.id.string ?? ""
        try await reader.app.database.execute(
            """
            INSERT INTO books (user_id, id, title, authors, status, language, added_at, finished_at, series)
            SELECT '\(id)', gen_random_uuid(), 'Title ' || lpad((n * 7919 % 1000)::text, 3, '0') || CASE WHEN n % 2 = 0 THEN ' even' ELSE ' odd' END,
                ARRAY['Author ' || n % 10],
                ('{READ,WANT_TO_READ,READING,PAUSED,DID_NOT_FINISH}'::reading_status[])[1 + n % 5],
                (ARRAY['en', 'pt-BR', 'pt', 'de', 'en-GB', 'en', 'en', 'en'])[1 + n % 8],
                now() - n % 50 * interval '1 hour',
                CASE WHEN n % 5 = 0 THEN timestamptz '2020-03-01' + n % 4 * interval '1 year' END,
                CASE WHEN n % 40 = 0 THEN 'A Series' END
            FROM generate_series(1, 400) n;
            INSERT INTO reviews (user_id, book_id, id, quarter_stars)
            SELECT user_id, id, gen_random_uuid(), 1 + abs(hashtext(title)) % 20
            FROM books
            WHERE user_id = '\(id)' AND status = 'READ';
            INSERT INTO reads (user_id, id, book_id, outcome, finished_on, format)
            SELECT user_id, gen_random_uuid(), id, 'FINISHED', to_char(finished_at, 'YYYY-MM-DD'),
                CASE WHEN language = 'de' THEN 'AUDIO' ELSE 'PRINT' END::read_format
            FROM books
            WHERE user_id = '\(id)' AND status = 'READ';
            INSERT INTO shelves (user_id, id, name, position) VALUES ('\(id)', '0198c0de-0000-7000-8000-0000000000aa', 'Shelf', 0);
            INSERT INTO shelf_books (user_id, shelf_id, book_id, added_at)
            SELECT user_id, '0198c0de-0000-7000-8000-0000000000aa', id, added_at
            FROM books
            WHERE user_id = '\(id)' AND title LIKE '%even'
            """)
        return reader
    }

    private static let books =
        "totalCount edges { cursor node { id title } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor }"

    /// Filters with the condition that they mean on `books b`.
    static let filters: [(String, String)] = [
        ("", "true"),
        ("status: READ", "b.status = 'READ'"),
        ("statuses: [READING, PAUSED]", "b.status IN ('READING', 'PAUSED')"),
        ("statuses: []", "true"),
        ("status: READ, statuses: [PAUSED]", "false"),
        ("language: \"pt\"", "b.language IN ('pt', 'pt-BR')"),
        ("language: \"en\"", "b.language IN ('en', 'en-GB')"),
        ("language: \"fr\"", "false"),
        ("finishedIn: 2021", "b.finished_at BETWEEN '2021-01-01' AND '2022-01-01'"),
        ("finishedIn: 1999", "false"),
        (
            "ratingMin: 3",
            "(SELECT r.quarter_stars FROM reviews r WHERE r.user_id = b.user_id AND r.book_id = b.id) >= 12"
        ),
        (
            "ratingMin: 2.5, ratingMax: 4",
            "(SELECT r.quarter_stars FROM reviews r WHERE r.user_id = b.user_id AND r.book_id = b.id) BETWEEN 10 AND 16"
        ),
        ("format: AUDIO", "b.language = 'de' AND b.status = 'READ'"),
        ("format: EBOOK", "false"),
        ("search: \"even\"", "b.title LIKE '% even'"),
        ("search: \"even author\", status: READ", "b.title LIKE '% even' AND b.status = 'READ'"),
        ("search: \"nothing\"", "false"),
        ("shelfId: \"0198c0de-0000-7000-8000-0000000000aa\"", "b.title LIKE '% even'"),
        (
            "shelfId: \"0198c0de-0000-7000-8000-0000000000aa\", language: \"pt\"",
            "b.title LIKE '% even' AND b.language IN ('pt', 'pt-BR')"
        ),
        ("seriesId: \"SERIES\"", "b.series IS NOT NULL"),
        (
            "seriesId: \"SERIES\", statuses: [READ, READING], search: \"title\"",
            "b.series IS NOT NULL AND b.status IN ('READ', 'READING')"
        ),
    ]

    private static func filter(_ text: String) async throws -> String {
        let id = try await app().database.text("series_id('A Series')::text")
        return text.replacing("SERIES", with: id)
    }

    private static func page(_ arguments: String) async throws -> Value {
        let reader = try await reader()
        let arguments = try await filter(arguments)
        let response = try await reader.execute("{ me { books(\(arguments)) { \(books) } } }")
        return try #require(response["me", "books"], "\(arguments): \(response.json)")
    }

    @Test(arguments: filters) func filterReturnsItsBooks(filter: String, condition: String)
        async throws
    {
        let reader = try await Self.reader()
        let expected = try await reader.app.database.withConnection { connection in
            try connection.texts(
                "SELECT b.id::text FROM books b WHERE b.user_id = '\(reader.id.string ?? "")' AND (\(condition))"
            )
        }
        for order in BookListTests.orders where order != "RELEVANCE" {
            for (size, cursor, direction, end) in [
                ("first", "after", "hasNextPage", "endCursor"),
                ("last", "before", "hasPreviousPage", "startCursor"),
            ] {
                var ids: [String] = []
                var position = ""
                for _ in 0..<50 {
                    let page = try await Self.page(
                        "\(filter) orderBy: \(order), \(size): 37 \(position)")
                    let found = page["edges"]?.list?.compactMap { $0["node", "id"]?.string } ?? []
                    #expect(page["totalCount"] == .int(expected.count), "\(filter) \(order)")
                    ids = size == "first" ? ids + found : found + ids
                    guard page["pageInfo"]?[direction] == true else { break }
                    position = "\(cursor): \"\(page["pageInfo"]?[end]?.string ?? "")\""
                }
                #expect(ids.count == expected.count, "\(filter) \(order) \(size)")
                #expect(Set(ids) == Set(expected), "\(filter) \(order) \(size)")
            }
        }
    }

    /// Both directions return the same list.
    @Test(arguments: BookListTests.orders) func backwardPagesHaveTheSameOrder(order: String)
        async throws
    {
        func list(_ size: String, _ cursor: String, _ direction: String, _ end: String) async throws
            -> [Value]
        {
            var titles: [Value] = []
            var position = ""
            for _ in 0..<50 {
                let page = try await Self.page("orderBy: \(order), \(size): 43 \(position)")
                let found = page["edges"]?.list?.compactMap { $0["node", "id"] } ?? []
                titles = size == "first" ? titles + found : found + titles
                guard page["pageInfo"]?[direction] == true else { break }
                position = "\(cursor): \"\(page["pageInfo"]?[end]?.string ?? "")\""
            }
            return titles
        }
        let forward = try await list("first", "after", "hasNextPage", "endCursor")
        #expect(forward.count == 400)
        #expect(try await list("last", "before", "hasPreviousPage", "startCursor") == forward)
    }

    @Test func cursorOfOtherFiltersIsRejected() async throws {
        let reader = try await Self.reader()
        let cursor =
            try await Self.page("status: READ, first: 1")["pageInfo", "endCursor"]?.string ?? ""
        for (arguments, message) in [
            (
                "status: READ, orderBy: TITLE_ASC, after: \"\(cursor)\"",
                "This cursor belongs to another order."
            ),
            ("after: \"\(cursor)\"", "This cursor belongs to a list with other filters."),
            (
                "status: READ, language: \"en\", after: \"\(cursor)\"",
                "This cursor belongs to a list with other filters."
            ),
            (
                "status: READ, last: 1, after: \"\(cursor)\"",
                "`after` does not go with `last` and `before`."
            ),
        ] {
            let response = try await reader.execute("{ me { books(\(arguments)) { totalCount } } }")
            #expect(response.code == "BAD_USER_INPUT")
            #expect(response.message?.hasPrefix(message) == true, "\(response.json)")
        }
        let same = try await reader.execute(
            "{ me { books(status: READ, after: \"\(cursor)\") { totalCount } } }")
        #expect(same["me", "books", "totalCount"] == 80)
    }

    @Test(arguments: [
        ("finishedIn: 999", "finishedIn"), ("finishedIn: 9999", "finishedIn"),
        ("ratingMin: 0", "ratingMin"),
        ("ratingMax: 5.5", "ratingMax"), ("language: \" \"", "language"), ("last: 0", "last"),
        ("last: 101", "last"),
        ("before: \"x\"", "before"), ("search: \" \"", "search"),
    ])
    func invalidArgumentsAreRejected(arguments: String, field: String) async throws {
        let response = try await Self.reader().execute(
            "{ me { books(\(arguments)) { nodes { id } } } }")
        #expect(response.code == "BAD_USER_INPUT")
        #expect(response.field == field)
    }

    /// The numbers that the triggers maintain are those of the rows, also after a change of many books.
    @Test func countersAreThoseOfTheRows() async throws {
        let reader = try await Self.app().makeReader()
        let id = reader.id.string ?? ""
        let shelf = try await reader.makeShelf("Shelf")
        for index in 0..<12 {
            _ = try await reader.makeBook(
                "Book \(index)", status: index % 2 == 0 ? "READ" : "PAUSED",
                shelves: index % 3 == 0 ? [shelf] : [])
        }
        func check() async throws {
            let stats = try await reader.execute(
                "{ me { books(first: 1) { totalCount } shelves { bookCount } stats { bookCount read reading paused wantToRead didNotFinish } } }"
            )
            let database = reader.app.database
            func count(_ condition: String) async throws -> Value {
                .int(
                    try await database.count(
                        "SELECT count(*) FROM books b WHERE b.user_id = '\(id)' AND \(condition)"))
            }
            #expect(try await stats["me", "books", "totalCount"] == count("true"))
            for (field, status) in [
                ("read", "READ"), ("reading", "READING"), ("paused", "PAUSED"),
                ("wantToRead", "WANT_TO_READ"), ("didNotFinish", "DID_NOT_FINISH"),
            ] {
                #expect(
                    try await stats["me", "stats"]?[field] == count("b.status = '\(status)'"),
                    "\(field)")
            }
            #expect(
                try await stats["me", "shelves", 0, "bookCount"]
                    == count(
                        "EXISTS (SELECT FROM shelf_books s WHERE s.user_id = b.user_id AND s.book_id = b.id)"
                    ))
            // Each book is listed with its values.
            #expect(
                try await database.count(
                    """
                    SELECT count(*)
                    FROM books b
                    FULL JOIN listed_books l ON l.user_id = b.user_id AND l.book_id = b.id
                    WHERE coalesce(b.user_id, l.user_id) = '\(id)'
                        AND (l.list_rank, l.added_at, l.updated_at, l.finished_at, l.sort_title, l.sort_author, l.search_text)
                            IS DISTINCT FROM (
                                list_rank(b.status), b.added_at, b.updated_at, coalesce(b.finished_at, '-infinity'),
                                book_sort_title(b.title, b.language), book_sort_author(b.author), b.search_text
                            )
                    """) == 0)
        }
        try await check()
        let ids = try await reader.requireValue(
            "{ me { books(first: 20) { nodes { id } } } }", .null, "me", "books", "nodes"
        ).values(of: "id")
        for (index, status) in ["READING", "READ", "DID_NOT_FINISH", "WANT_TO_READ", "PAUSED"]
            .enumerated()
        {
            _ = try await reader.execute(
                "mutation($id: ID!, $status: ReadingStatus!) { updateBook(id: $id, input: {status: $status, title: \"New \(index)\"}) { id } }",
                ["id": ids[index], "status": .string(status)])
            try await check()
        }
        _ = try await reader.execute(
            "mutation($id: ID!) { deleteBook(id: $id) { id } }", ["id": ids[3]])
        try await check()
        _ = try await reader.execute(
            "mutation($id: ID!) { restoreBook(id: $id) { id } }", ["id": ids[3]])
        try await check()
        for bulk in ["on", ""] {
            try await reader.app.database.execute(
                """
                SET app.bulk = '\(bulk)';
                INSERT INTO books (user_id, id, title) SELECT '\(id)', gen_random_uuid(), 'Many ' || n FROM generate_series(1, 150) n;
                RESET app.bulk
                """)
            try await check()
            _ = try await reader.makeBook("One more \(bulk)")
            try await check()
            try await reader.app.database.execute(
                "UPDATE books SET status = 'READ', updated_at = now() WHERE user_id = '\(id)' AND title LIKE 'Many %'"
            )
            try await check()
            try await reader.app.database.execute(
                "DELETE FROM books WHERE user_id = '\(id)' AND title LIKE 'Many %'")
            try await check()
        }
    }

    @Test func seriesByHandHaveBooksAndANextBook() async throws {
        let reader = try await Self.app().makeReader()
        for (number, status) in [
            ("2", "WANT_TO_READ"), ("1", "READ"), ("3", "WANT_TO_READ"), ("0.5", "WANT_TO_READ"),
        ] as [(String, Value)] {
            _ = try await reader.makeBook([
                "title": .string("Part \(number)"), "status": status,
                "series": [["name": "By Hand", "position": .string(number)]],
            ])
        }
        let response = try await reader.execute(
            """
            { me { series(first: 5) { nodes {
              series { name bookCount progress { booksRead } } bookCount booksInLibrary booksRead next { id } nextBook { title }
              books(first: 3) { totalCount nodes { title } pageInfo { hasNextPage } }
            } } } }
            """)
        let series = response["me", "series", "nodes", 0]
        #expect(series?["series", "name"] == "By Hand", "\(response.json)")
        #expect(series?["series", "bookCount"] == 0)
        #expect(series?["series", "progress", "booksRead"] == 1)
        #expect(series?["bookCount"] == 4)
        #expect(series?["next"] == .null)
        #expect(series?["nextBook", "title"] == "Part 2")
        #expect(series?["books", "totalCount"] == 4)
        #expect(series?["books", "nodes"]?.values(of: "title") == ["Part 0.5", "Part 1", "Part 2"])
    }
}
