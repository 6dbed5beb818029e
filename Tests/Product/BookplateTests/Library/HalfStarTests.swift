import GraphQL
import TestSupport
import Testing

@testable import Bookplate

/// Ratings in half stars, which a tenant may allow: `ReviewInput.stars` and `Review.stars`.
@Suite struct HalfStarTests {
    /// The tenant alpha allows half stars, and beta does not.
    static let app = Shared {
        let app = try await TestApp.start(catalog: [])
        try await app.database.execute("UPDATE tenants SET half_stars = slug = 'alpha'")
        return app
    }

    static let write = """
        mutation($book: ID!, $input: ReviewInput!) {
          reviewBook(id: $book, input: $input) { rating stars text }
        }
        """

    private func stars(_ stars: Double) -> Value { .float(stars) }

    @Test func settingIsThatOfTheTenant() async throws {
        for (tenant, isAllowed) in [(TestApp.Tenant.alpha, true), (.beta, false)] {
            let reader = try await Self.app().makeReader(tenant)
            let settings = try await reader.requireValue(
                "{ settings { halfStars } }", .null, "settings")
            #expect(settings == ["halfStars": .boolean(isAllowed)])
        }
    }

    @Test(arguments: [(0.5, 1), (1, 1), (3.5, 4), (4.5, 5), (5, 5)])
    func ratingShowsStarsRoundedUp(stars: Double, rating: Int) async throws {
        let reader = try await Self.app().makeReader()
        let book = try await reader.makeBook("Book", status: "READ")
        let response = try await reader.execute(
            Self.write, ["book": book, "input": ["stars": .float(stars)]])
        #expect(response["reviewBook", "stars"]?.double == stars, "\(response.json)")
        #expect(response["reviewBook", "rating"] == .int(rating))
    }

    /// An app that does not know half stars sends the rating that it shows, together with a new text.
    @Test func ratingThatIsShownAlreadyKeepsHalfStars() async throws {
        let reader = try await Self.app().makeReader()
        let book = try await reader.makeBook("Book", status: "READ")
        for (input, rating, stars, text) in [
            (["stars": 4.5], 5, 4.5, nil),
            (["rating": 5, "text": "Words"], 5, 4.5, "Words"),
            (["rating": .null, "stars": 2.5], 3, 2.5, "Words"),
            (["rating": 4, "stars": .null], 4, 4, "Words"),
            (["stars": 1.5, "text": .null], 2, 1.5, nil),
            (["rating": 1], 1, 1, nil),
            (["stars": 5], 5, 5, nil),
        ] as [(Value, Int, Double, String?)] {
            let review = try await reader.requireValue(
                Self.write, ["book": book, "input": input], "reviewBook")
            #expect(review["rating"] == .int(rating) && review["stars"]?.double == stars)
            #expect(review["text"] == (text.map { .string($0) } ?? .null))
        }
        _ = try await reader.execute(Self.write, ["book": book, "input": ["text": "Kept"]])
        let cleared = try await reader.requireValue(
            Self.write, ["book": book, "input": ["stars": .null]], "reviewBook")
        #expect(cleared == ["rating": .null, "stars": .null, "text": "Kept"])
    }

    @Test func halfStarsNeedTheSetting() async throws {
        let reader = try await Self.app().makeReader(.beta)
        let book = try await reader.makeBook("Book", status: "READ")
        let whole = try await reader.execute(
            Self.write, ["book": book, "input": ["stars": stars(4)]])
        #expect(whole["reviewBook", "rating"] == 4)
        let half = try await reader.execute(
            Self.write, ["book": book, "input": ["stars": stars(3.5), "text": "Words"]])
        #expect(half.code == "BAD_USER_INPUT" && half.field == "stars")
        #expect(half.message == "Half stars are not allowed here. Choose 1, 2, 3, 4, or 5 stars.")
        let kept = try await reader.requireValue(
            "query($id: ID!) { book(id: $id) { review { stars text } } }", ["id": book], "book",
            "review")
        #expect(kept["stars"]?.double == 4 && kept["text"] == .null)
    }

    /// Reviews keep their half stars when the operator turns the setting off.
    @Test func earlierHalfStarsStay() async throws {
        let reader = try await Self.app().makeReader(.beta)
        let book = try await reader.makeBook("Book", status: "READ")
        let review = try await reader.review(book, rating: 4)
        try await reader.executeSQL(
            "UPDATE reviews SET half_stars = 7 WHERE id = '\(review.string ?? "")'")
        let edited = try await reader.requireValue(
            Self.write, ["book": book, "input": ["rating": 4, "text": "Words"]], "reviewBook")
        #expect(edited["stars"]?.double == 3.5 && edited["text"] == "Words")
    }

    @Test(arguments: [0, 0.25, -1, 4.75, 5.5, 1e300])
    func otherNumbersAreRejected(stars: Double) async throws {
        let reader = try await Self.app().makeReader()
        let book = try await reader.makeBook("Book", status: "READ")
        let response = try await reader.execute(
            Self.write, ["book": book, "input": ["stars": .float(stars)]])
        #expect(response.code == "BAD_USER_INPUT" && response.field == "stars")
        #expect(response.message == "Stars must be a multiple of 0.5 from 0.5 to 5.")
    }

    @Test func ratingAndStarsExcludeEachOther() async throws {
        let reader = try await Self.app().makeReader()
        let book = try await reader.makeBook("Book", status: "READ")
        let response = try await reader.execute(
            Self.write, ["book": book, "input": ["rating": 4, "stars": 4]])
        #expect(response.code == "BAD_USER_INPUT" && response.field == "stars")
        #expect(response.message == "Send only one of `rating`, `stars`.")
    }

    @Test func statisticsCountHalfStars() async throws {
        let reader = try await Self.app().makeReader()
        for (book, stars) in zip(try await reader.makeBooks(2, status: "READ"), [4.5, 2]) {
            _ = try await reader.execute(
                Self.write, ["book": book, "input": ["stars": .float(stars)]])
        }
        let mean = try await reader.requireValue(
            "{ me { stats { averageRating } } }", .null, "me", "stats", "averageRating")
        #expect(mean.double == 3.25)
    }
}
