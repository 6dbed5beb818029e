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
}
