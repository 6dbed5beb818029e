import GraphQL
import Postgres
import TestSupport
import Testing

@testable import Bookplate

/// The change log of a library as clients read it.
@Suite struct ChangeTests {
    private static let app = Shared { try await TestApp.start() }

    private static let query = """
        query Changes($after: String, $first: Int) {
          changes(after: $after, first: $first) {
            changes { cursor kind typename nodeId changedAt node { __typename id ... on Book { title } } }
            pageInfo { endCursor hasNextPage } resetRequired
          }
        }
        """

    private func page(
        _ reader: TestReader, after cursor: Value = .null, first: Int = 100
    ) async throws -> Value {
        try await reader.requireValue(
            Self.query, ["after": cursor, "first": .int(first)], "changes")
    }

    @Test func aChangeNamesItsObject() async throws {
        let reader = try await Self.app().makeReader()
        let shelf = try await reader.makeShelf("Named")
        let change = try await page(reader)["changes", 0]
        #expect(change?["nodeId"] == shelf)
        #expect(change?["node", "id"] == shelf)
    }

    /// Returns each change as text, such as `CREATED Book`.
    private func summary(_ page: Value) -> [String] {
        page["changes"]?.list?.map {
            "\($0["kind"]?.string ?? "?") \($0["typename"]?.string ?? "?")"
        } ?? []
    }

    @Test func eachMutationLogsItsChanges() async throws {
        let reader = try await Self.app().makeReader()
        var cursor = try await page(reader)["pageInfo", "endCursor"] ?? .null
        func expect(
            _ expected: [String], sourceLocation: Testing.SourceLocation = #_sourceLocation
        ) async throws {
            let page = try await page(reader, after: cursor)
            #expect(summary(page) == expected, sourceLocation: sourceLocation)
            #expect(page["pageInfo", "hasNextPage"] == false && page["resetRequired"] == false)
            cursor = page["pageInfo", "endCursor"] ?? .null
        }
        try await expect([])
        let shelf = try await reader.makeShelf("Shelf")
        try await expect(["CREATED Shelf"])
        let book = try await reader.makeBook("Book", status: "READ", shelves: [shelf])
        try await expect(["CREATED Book", "CREATED Read", "UPDATED Shelf"])
        try await reader.review(book)
        try await expect(["CREATED Review", "UPDATED Book"])
        try await reader.review(book, rating: 1)
        try await expect(["UPDATED Review", "UPDATED Book"])

        let update =
            "mutation($id: ID!, $input: UpdateBookInput!) { updateBook(id: $id, input: $input) { id } }"
        _ = try await reader.execute(
            update, ["id": book, "input": ["title": "New", "shelfIds": []]])
        try await expect(["UPDATED Book", "UPDATED Shelf"])
        // The review stays.
        _ = try await reader.execute(update, ["id": book, "input": ["status": "READING"]])
        try await expect(["CREATED Read", "UPDATED Book"])
        _ = try await reader.execute(update, ["id": book, "input": ["status": "READ"]])
        try await expect(["UPDATED Read", "UPDATED Book"])

        let other = try await reader.makeShelf("Other")
        try await expect(["CREATED Shelf"])
        // The positions of the other shelves change too. Shelves that do not change are not logged.
        _ = try await reader.execute(
            "mutation($id: ID!) { updateShelf(id: $id, input: {position: 0}) { id } }",
            ["id": other])
        try await expect(["UPDATED Shelf", "UPDATED Shelf"])
        _ = try await reader.execute(
            "mutation($id: ID!) { updateShelf(id: $id, input: {position: 0}) { id } }",
            ["id": other])
        try await expect([])
        _ = try await reader.execute(
            "mutation($id: ID!, $to: ID!) { moveBook(id: $id, input: {to: $to}) { book { id } } }",
            ["id": book, "to": other])
        try await expect(["UPDATED Book", "UPDATED Shelf"])
        _ = try await reader.execute(
            "mutation($id: ID!) { deleteShelf(id: $id) { id } }", ["id": other])
        try await expect(["DELETED Shelf", "UPDATED Book", "UPDATED Shelf"])
        _ = try await reader.execute(
            "mutation($id: ID!) { deleteBook(id: $id) { id } }", ["id": book])
        try await expect(["DELETED Review", "DELETED Book", "DELETED Read", "DELETED Read"])
        _ = try await reader.execute(
            "mutation($id: ID!) { deleteBook(id: $id) { id } }", ["id": book])
        try await expect([])
    }

    /// Updates all books as a request does, which logs a read and its book itself.
    private static let startReading = """
        UPDATE books b
        SET status = 'READING', started_at = r.started_at, updated_at = now()
        FROM books k
        CROSS JOIN LATERAL change_reads(k.user_id, k.id, 'READING', NULL, NULL) r
        WHERE k.user_id = app_user_id() AND b.user_id = k.user_id AND b.id = k.id;
        """

    /// Also in transactions that change rows of other tables or the same rows before, that write books without logging them, and in
    /// subtransactions.
    @Test(arguments: [
        "",
        "UPDATE books SET private_notes = 'a' WHERE user_id = app_user_id();",
        "SAVEPOINT a; UPDATE books SET private_notes = 'a' WHERE user_id = app_user_id(); RELEASE a;",
        "SAVEPOINT a; UPDATE books SET private_notes = 'a' WHERE user_id = app_user_id(); ROLLBACK TO a;",
        "UPDATE books SET private_notes = private_notes WHERE user_id = app_user_id();",
        """
        SET LOCAL app.bulk = 'on';
        UPDATE books SET private_notes = 'a' WHERE user_id = app_user_id();
        SET LOCAL app.bulk = '';
        """,
        """
        INSERT INTO reviews (user_id, book_id, id, quarter_stars)
        SELECT user_id, id, gen_random_uuid(), 16 FROM books WHERE user_id = app_user_id();
        """,
        """
        INSERT INTO shelf_books (user_id, shelf_id, book_id, added_at)
        SELECT b.user_id, s.id, b.id, now() FROM books b JOIN shelves s USING (user_id) WHERE user_id = app_user_id();
        """,
        startReading,
        "SAVEPOINT a; \(startReading) ROLLBACK TO a;",
    ])
    func aTransactionLogsEachBookOnce(before: String) async throws {
        let reader = try await Self.app().makeReader()
        _ = try await reader.makeShelf("All")
        try await reader.makeBooks(30)
        let user = reader.id.string ?? ""
        let last = try await Self.app().database.count(
            "SELECT max(seq) FROM changes WHERE user_id = '\(user)'")
        try await reader.executeSQL(
            """
            BEGIN;
            SET LOCAL app.user_id = '\(user)';
            \(before)
            UPDATE books SET title = title || '!', updated_at = now() WHERE user_id = '\(user)';
            UPDATE books SET title = title || '!', updated_at = now() WHERE user_id = '\(user)';
            COMMIT
            """)
        let updates = try await Self.app().database.withConnection { connection in
            let rows = try connection.query(
                """
                SELECT count(*), count(DISTINCT id) FROM changes
                WHERE user_id = '\(user)' AND seq > \(last) AND typename = 'Book' AND kind = 'UPDATED'
                """)
            return [rows.int64(0, 0), rows.int64(0, 1)]
        }
        #expect(updates == [30, 30])
    }

    /// The number of entries of the log that an update of many books reads for each book does not depend on their number. This is also
    /// true for a second update in the same transaction.
    @Test func anUpdateOfManyBooksReadsFewEntriesForEach() async throws {
        let app = try await TestApp.start(catalog: [])
        func entriesRead(_ count: Int) async throws -> Int {
            let user = try await app.makeReader().id.string ?? ""
            try await app.database.execute(
                """
                INSERT INTO books (user_id, id, title)
                SELECT '\(user)', gen_random_uuid(), 'Book ' || n FROM generate_series(1, \(count)) n
                """)
            return try await app.database.withConnection { connection in
                try connection.execute(
                    """
                    BEGIN;
                    UPDATE books SET title = 'New' WHERE user_id = '\(user)';
                    UPDATE books SET title = 'Newer' WHERE user_id = '\(user)'
                    """)
                let rows = try connection.query(
                    "SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_xact_user_tables WHERE relname = 'changes'"
                )
                try connection.execute("COMMIT")
                return Int(try #require(rows.int64(0, 0)))
            }
        }
        for count in [20, 1000] {
            // Each update reads the newest entry, and at most the eight newest ones of the transaction.
            #expect((count...count * 20).contains(try await entriesRead(count)))
        }
    }

    @Test func nodeIsTheCurrentObject() async throws {
        let reader = try await Self.app().makeReader()
        let kept = try await reader.makeBook("Old title")
        let gone = try await reader.makeBook("Gone")
        _ = try await reader.execute(
            "mutation($id: ID!) { updateBook(id: $id, input: {title: \"New title\"}) { id } }",
            ["id": kept])
        _ = try await reader.execute(
            "mutation($id: ID!) { deleteBook(id: $id) { id } }", ["id": gone])
        let changes = try #require(try await page(reader)["changes"]?.list)
        #expect(changes.map { $0["nodeId"] } == [kept, gone, kept, gone])
        #expect(
            changes.map { $0["node", "title"] } == ["New title", nil, "New title", nil])
        #expect(changes[0]["node", "__typename"] == "Book")
        #expect(changes[1]["node"] == .null)
    }

    @Test func pagesContinueAtTheCursor() async throws {
        let reader = try await Self.app().makeReader()
        let ids = try await reader.makeBooks(7)
        var cursor = Value.null
        var found: [Value] = []
        for rest in [4, 1, 0] {
            let page = try await page(reader, after: cursor, first: 3)
            #expect(page["pageInfo", "hasNextPage"] == .boolean(rest > 0))
            found += page["changes"]?.values(of: "nodeId") ?? []
            cursor = page["pageInfo", "endCursor"] ?? .null
            #expect(cursor == page["changes"]?.list?.last?["cursor"])
        }
        #expect(found == ids)
        let end = try await page(reader, after: cursor)
        #expect(end["changes"] == [] && end["pageInfo", "endCursor"] == cursor)
    }

    @Test func statementCountDoesNotDependOnTheNumberOfChanges() async throws {
        let reader = try await Self.app().makeReader()
        let shelf = try await reader.makeShelf("Shelf")
        let book = try await reader.makeBook("Book", status: "READ", shelves: [shelf])
        try await reader.review(book)
        let few = try await reader.execute(Self.query)
        try await reader.makeBooks(50, shelves: [shelf])
        let many = try await reader.execute(Self.query)
        #expect(many["changes", "changes"]?.list?.count ?? 0 > 50)
        #expect(few.statements == many.statements && few.roundTrips == many.roundTrips)
        #expect(many.roundTrips == 2)
    }

    @Test(
        arguments: [
            ["after": "nonsense"], ["after": ""], ["after": "YwAAAAAAAAAB="], ["first": 0],
            ["first": 501], ["first": -1],
        ] as [Value])
    func invalidInputIsRejected(variables: Value) async throws {
        let reader = try await Self.app().makeReader()
        let response = try await reader.execute(Self.query, variables)
        #expect(response.code == "BAD_USER_INPUT")
        #expect(["after", "first"].contains(response.field))
    }

    private static let ageLogs =
        "UPDATE logs_to_prune SET oldest_at = oldest_at - interval '100 days'"

    @Test func oldCursorRequiresAReset() async throws {
        let app = try await TestApp.start(catalog: [])
        let reader = try await app.makeReader()
        _ = try await reader.makeShelf("One")
        let old = try await page(reader)["pageInfo", "endCursor"] ?? .null
        _ = try await reader.makeShelf("Two")
        let middle = try await page(reader)["pageInfo", "endCursor"] ?? .null
        try await app.database.execute(
            "UPDATE changes SET at = at - interval '100 days' WHERE seq <= 2; " + Self.ageLogs)
        _ = try await reader.makeShelf("Three")
        try await app.database.withConnection(as: TestCluster.app) {
            _ = try $0.query("SELECT prune_changes(90, 100)")
        }
        #expect(try await app.database.count("SELECT count(*) FROM changes") == 1)

        for cursor in [old, .null] {
            let page = try await page(reader, after: cursor)
            #expect(page["resetRequired"] == true)
            #expect(page["changes"] == [] && page["pageInfo", "hasNextPage"] == false)
            // The log continues at the page's cursor.
            _ = try await reader.makeShelf("After \(cursor)")
            let next = try await self.page(reader, after: page["pageInfo", "endCursor"] ?? .null)
            #expect(summary(next) == ["CREATED Shelf"])
        }
        #expect(summary(try await page(reader, after: middle)).count == 3)
        // A cursor that is newer than the log, as after the restore of an older backup.
        let future = try await page(reader, after: .string(ChangeCursor(seq: 999, at: 0).text))
        #expect(future["resetRequired"] == true)
    }

    /// After an asynchronous failover or the restore of a backup, the numbers of lost changes are given to other changes.
    @Test func cursorsOfLostChangesNeedAReset() async throws {
        let app = try await TestApp.start(catalog: [])
        let reader = try await app.makeReader()
        _ = try await reader.makeShelf("Kept")
        let kept = try await page(reader)["pageInfo", "endCursor"] ?? .null
        _ = try await reader.makeShelf("Lost")
        let lost = try await page(reader)["pageInfo", "endCursor"] ?? .null
        // The state before the change was restored.
        try await app.database.execute(
            "DELETE FROM shelves WHERE name = 'Lost'; DELETE FROM changes WHERE seq > 1")
        for name in ["Instead", "Next"] { _ = try await reader.makeShelf(name) }

        let refused = try await page(reader, after: lost)
        #expect(refused["resetRequired"] == true)
        #expect(refused["changes"] == [])
        #expect(summary(try await page(reader, after: kept)).count == 2)
        #expect(
            summary(try await page(reader, after: refused["pageInfo", "endCursor"] ?? .null)) == [])
        let live = try await reader.subscribe(
            "subscription($c: String) { changes(after: $c) { kind } }", ["c": lost])
        #expect(await live.next()["errors", 0, "extensions", "code"] == "RESET_REQUIRED")
    }

    /// The clock of the database may be set back, so a later entry can have an earlier time.
    @Test func pruningLeavesNoGap() async throws {
        let app = try await TestApp.start(catalog: [])
        let reader = try await app.makeReader()
        for number in 1...5 { _ = try await reader.makeShelf("\(number)") }
        try await app.database.execute(
            "UPDATE changes SET at = at - interval '100 days' WHERE seq IN (1, 3); " + Self.ageLogs)
        try await app.database.withConnection(as: TestCluster.app) {
            _ = try $0.query("SELECT prune_changes(90, 100)")
        }
        let left = try await app.database.text(
            "SELECT string_agg(seq::text, ' ' ORDER BY seq) FROM changes")
        #expect(left == "2 3 4 5")
    }

    /// Users who are changing something are passed over, however many there are.
    @Test func pruningPassesOverLockedLogs() async throws {
        let app = try await TestApp.start(catalog: [])
        let readers = [try await app.makeReader(), try await app.makeReader(.beta)]
        for reader in readers {
            for number in 1...2 { _ = try await reader.makeShelf("\(number)") }
        }
        try await app.database.execute(
            "UPDATE changes SET at = at - interval '100 days'; " + Self.ageLogs)
        func prune() async throws -> Int {
            try await app.database.count("SELECT prune_changes(90, 1)::bigint")
        }
        try await app.database.withConnection { connection in
            // The log with the oldest entry is locked.
            try connection.execute("BEGIN")
            _ = try connection.query(
                "SELECT lock_user(user_id) FROM logs_to_prune ORDER BY oldest_at LIMIT 1")
            let other = try AdminConnection(try app.database.url(as: TestCluster.app))
            let counts = try (1...2).map { _ in
                try other.query("SELECT prune_changes(90, 1)::text").text(0, 0)
            }
            #expect(counts == ["1", "0"])
            try connection.execute("COMMIT")
        }
        #expect(try await prune() == 1)
        #expect(try await prune() == 0)
    }

    /// Zero or a negative number of days counts as one day.
    @Test(arguments: [0, -90]) func pruningKeepsTheLastDay(days: Int) async throws {
        let app = try await TestApp.start(catalog: [])
        _ = try await app.makeReader().makeShelf("One")
        let before = try await app.database.count("SELECT count(*) FROM changes")
        try await app.database.withConnection(as: TestCluster.app) {
            _ = try $0.query("SELECT prune_changes(\(days), 100), prune_events(\(days), 100)")
        }
        #expect(try await app.database.count("SELECT count(*) FROM changes") == before)
    }

    @Test func changesOfOtherUsersAreHidden() async throws {
        let app = try await Self.app()
        let (mine, other) = (try await app.makeReader(), try await app.makeReader(.beta))
        let before = try await page(mine)
        _ = try await other.makeShelf("Theirs")
        #expect(
            try await page(mine, after: before["pageInfo", "endCursor"] ?? .null)["changes"] == [])
        let anonymous = try await app.execute(Self.query)
        #expect(anonymous.code == "UNAUTHENTICATED")
    }

    /// A transaction commits after a later one has begun. The later one waits, so no reader of the log skips a change.
    @Test func lateCommitIsNotSkipped() async throws {
        let app = try await TestApp.start(catalog: [])
        let reader = try await app.makeReader()
        let user = reader.id.string ?? ""
        let start = try await page(reader)["pageInfo", "endCursor"] ?? .null
        let quick = try await app.database.withConnection { connection in
            try connection.execute("BEGIN")
            try connection.execute(
                """
                INSERT INTO shelves (user_id, id, name, position)
                VALUES ('\(user)', '0198c0de-0000-7000-8000-00000000000a', 'Late', 0)
                """)
            let quick = Task { try await reader.makeShelf("Quick") }
            // Wait until the other transaction is blocked by this one.
            while try connection.query(
                "SELECT count(*) FROM pg_locks WHERE NOT granted"
            ).int64(0, 0) == 0 {}
            #expect(
                try AdminConnection(try app.database.url(as: TestCluster.owner))
                    .query("SELECT count(*) FROM changes").int64(0, 0) == 0)
            try connection.execute("COMMIT")
            return quick
        }
        let id = try await quick.value
        let changes = try await page(reader, after: start)["changes"]
        #expect(changes?.values(of: "nodeId") == ["0198c0de-0000-7000-8000-00000000000a", id])
    }

    @Test func deletedAccountLeavesNoLog() async throws {
        let app = try await TestApp.start(catalog: [])
        let reader = try await app.makeReader()
        let shelf = try await reader.makeShelf("Shelf")
        try await reader.makeBooks(3, status: "READ", shelves: [shelf])
        _ = try await reader.requireValue(
            "mutation($id: String!) { deleteAccount(confirm: $id) { id } }", ["id": reader.id],
            "deleteAccount", "id")
        #expect(
            try await app.database.count(
                "SELECT count(*) FROM changes") == 0)
    }
}
