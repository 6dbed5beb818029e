import GraphQL
import TestSupport
import Testing

@testable import Bookplate
@testable import Requests

/// The limit on the rows that one operation loads. The response is refused as if it were too large itself.
@Suite struct RowLimitTests {
    /// A reader with 100 books that are reviewed, each with 100,000 characters.
    private static func readerOfLongReviews() async throws -> TestReader {
        let reader = try await TestApp.start(catalog: []).makeReader()
        let id = try #require(reader.id.string)
        try await reader.app.database.execute(
            """
            INSERT INTO books (user_id, id, title, status)
            SELECT '\(id)', md5('book-' || n)::uuid, 'Book ' || n, 'READ' FROM generate_series(1, 100) n;
            INSERT INTO reviews (user_id, book_id, id, quarter_stars, text)
            SELECT '\(id)', md5('book-' || n)::uuid, md5('review-' || n)::uuid, 3, repeat('x', 100000)
            FROM generate_series(1, 100) n
            """)
        return reader
    }

    /// Lists of reviews, each under its own alias.
    private static func lists(_ count: Int, first: Int, _ fields: String) -> String {
        (0..<count).map { "a\($0): reviews(first: \(first)) { nodes { \(fields) } }" }
            .joined(separator: " ")
    }

    @Test func rowsBeyondTheLimitAreRefusedAsALargeResponse() async throws {
        let reader = try await Self.readerOfLongReviews()
        let small = try await reader.execute(
            "{ me { \(Self.lists(5, first: 1, "text book { id }")) } }")
        #expect(small.errors.isEmpty)
        let refused = try await reader.execute(
            "{ me { \(Self.lists(5, first: 100, "text book { id }")) } }")
        #expect(refused.json["data"]?.isNull == true)
        #expect(refused.errors.count == 1)
        #expect(
            refused.message
                == "The response is larger than 8388608 bytes. Select fewer fields or request smaller pages."
        )
        #expect(
            refused.errors.first?["extensions"]
                == ["code": "RESPONSE_TOO_LARGE", "limit": "responseBytesMax", "max": 8_388_608])
        // The books were not loaded any more.
        #expect(refused.roundTrips == small.roundTrips - 1)

        let next = try await reader.execute("{ me { \(Self.lists(1, first: 10, "text")) } }")
        #expect(next.errors.isEmpty)
        #expect(next["me", "a0", "nodes", 9, "text"]?.string?.utf8.count == 100_000)
    }

    @Test func theRowsOfAllLevelsCountTogether() async throws {
        let reader = try await Self.readerOfLongReviews()
        // The texts of the first level have 9 MB, and so have those of the second.
        let fields = "text book { review { text book { shelves { id } } } }"
        let small = try await reader.execute("{ me { \(Self.lists(1, first: 1, fields)) } }")
        #expect(small.errors.isEmpty)
        let refused = try await reader.execute("{ me { \(Self.lists(1, first: 90, fields)) } }")
        #expect(refused.code == "RESPONSE_TOO_LARGE")
        #expect(refused.roundTrips < small.roundTrips)
        #expect(
            await reader.app.services.metrics.text().contains(
                #"bookplate_errors_total{code="RESPONSE_TOO_LARGE"} 1"#))
    }

    @Test func allMutationsOfARefusedResponseAreExecuted() async throws {
        let reader = try await Self.readerOfLongReviews()
        let refused = try await reader.execute(
            """
            mutation {
              updateProfile(input: {displayName: "Ada"}) { \(Self.lists(5, first: 100, "text")) }
              createShelf(input: {name: "Sea"}) { id }
            }
            """)
        #expect(refused.code == "RESPONSE_TOO_LARGE")
        let me = try await reader.execute("{ me { displayName shelves { name } } }")
        #expect(me["me", "displayName"] == "Ada")
        #expect(me["me", "shelves"]?.list?.contains(["name": "Sea"]) == true)
    }

    @Test func theLimitFollowsTheLimitOnTheResponse() {
        var limits = RequestLimits()
        #expect(limits.rowBytesMax == 16 << 20)
        limits.responseBytesMax = 1000
        #expect(limits.rowBytesMax == 16 << 20)
        limits.responseBytesMax = 10 << 20
        #expect(limits.rowBytesMax == 20 << 20)
        limits.responseBytesMax = .max
        #expect(limits.rowBytesMax == .max)
    }
}
