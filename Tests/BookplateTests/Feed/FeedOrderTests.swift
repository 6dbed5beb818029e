import GraphQL
import TestSupport
import Testing

@testable import Bookplate

/// Cursors of earlier versions of the order, before a refresh.
@Suite struct FeedOrderTests {
    private func rest(_ reader: TestReader, after cursor: Value) async throws -> [String] {
        var ids: [String] = []
        var after = cursor
        repeat {
            let response = try await reader.execute(FeedTests.feed, ["first": 20, "after": after])
            ids += response["feed", "nodes"]?.values(of: "id").compactMap(\.string) ?? []
            guard response["feed", "pageInfo", "hasNextPage"] == true else { break }
            after = response["feed", "pageInfo", "endCursor"] ?? .null
        } while ids.count < 1000
        return ids
    }

    /// All books that were not shown move to the end of the queues. Their old positions are stored for one day. After that,
    /// the cursor continues with the new order.
    @Test func movedBooksAreShownToCursorsOfAnyAge() async throws {
        let app = try await TestApp.start(catalog: TestCatalog.lines(60))
        let reader = try await app.makeReader()
        let page = try await reader.execute(FeedTests.feed, ["first": 12])
        let cursor = page["feed", "pageInfo", "endCursor"] ?? .null
        let shown = page["feed", "nodes"]?.values(of: "id").compactMap(\.string) ?? []
        let next = try await rest(reader, after: cursor)
        #expect(Set(next).count == 48)
        try await app.database.execute(
            """
            SELECT refresh_feed();
            UPDATE editions SET ratings_count = number, popularity = number
              WHERE id <> ALL('{\(shown.joined(separator: ","))}')
            """)
        #expect(try await rest(reader, after: cursor) == next)
        try await app.database.execute(
            """
            UPDATE feed_order_before SET gone_at = now() - interval '25 hours';
            SELECT refresh_feed()
            """)
        let late = try await rest(reader, after: cursor)
        #expect(late.count == 48)
        #expect(Set(late) == Set(next))
        // Cursors of stored orders are not affected.
        let current = try await reader.execute(FeedTests.feed, ["first": 12])
        let newCursor = current["feed", "pageInfo", "endCursor"] ?? .null
        let after = try await rest(reader, after: newCursor)
        try await app.database.execute("SELECT refresh_feed()")
        #expect(try await rest(reader, after: newCursor) == after)
    }

    /// Versions that do not exist. Clients can send any cursor.
    @Test(arguments: [0, -1, -7, 1000, Int32.max])
    func unknownOrdersAreTreatedAsTheCurrentOne(version: Int32) async throws {
        let reader = try await FeedTests.app().makeReader()
        var position = FeedPosition(asOf: 1_700_000_000_000_000)
        position.read(inOrder: version)
        #expect(try await rest(reader, after: .string(position.cursor)).count == 60)
    }

    /// The genre was only the second genre of the books, and has become their first genre.
    @Test func emptiedQueueIsReadInItsEarlierOrder() async throws {
        let app = try await TestApp.start(
            catalog: (1...12).map {
                TestCatalog.line($0, genres: $0 % 2 == 0 ? ["Horror"] : ["Romance", "Fantasy"])
            })
        let reader = try await app.makeReader()
        let fantasy = try await app.database.count("SELECT id FROM genres WHERE name = 'Fantasy'")
        let order = try await app.database.count("SELECT order_version FROM feed_state")
        try await app.database.execute(
            """
            SELECT refresh_feed();
            UPDATE editions SET genres = '{Fantasy}' WHERE genres[1] = 'Romance'
            """)
        var position = FeedPosition(asOf: 1_700_000_000_000_000)
        position.filter([Int16(fantasy)])
        position.read(inOrder: Int32(order))
        let cards = try await reader.requireValue(
            FeedTests.feed,
            ["first": 20, "after": .string(position.cursor), "genres": ["Fantasy"]], "feed", "nodes"
        )
        #expect(cards.list?.count == 6)
    }
}
