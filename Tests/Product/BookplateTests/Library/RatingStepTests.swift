import GraphQL
import TestSupport
import Testing

@testable import Bookplate

/// Ratings in half and quarter stars, which a tenant may allow: `ReviewInput.stars` and `Review.stars`.
@Suite struct RatingStepTests {
    /// The tenant alpha allows quarter stars, and beta only whole stars.
    static let app = Shared {
        let app = try await TestApp.start(catalog: [])
        try await app.database.execute(
            "UPDATE tenants SET rating_step = CASE slug WHEN 'alpha' THEN 1 ELSE 4 END")
        return app
    }

    static let write = """
        mutation($book: ID!, $input: ReviewInput!) {
          reviewBook(id: $book, input: $input) { rating stars text }
        }
        """

    private func stars(_ stars: Double) -> Value { .float(stars) }

    @Test func settingIsThatOfTheTenant() async throws {
        for (tenant, step) in [(TestApp.Tenant.alpha, 0.25), (.beta, 1)] {
            let reader = try await Self.app().makeReader(tenant)
            let settings = try await reader.requireValue(
                "{ settings { ratingStep } }", .null, "settings")
            #expect(settings["ratingStep"]?.double == step)
        }
    }

    @Test(arguments: [
        (0.25, 1), (0.5, 1), (1, 1), (1.25, 1), (3.5, 4), (4.25, 4), (4.5, 5), (4.75, 5), (5, 5),
    ])
    func ratingShowsRoundedStars(stars: Double, rating: Int) async throws {
        let reader = try await Self.app().makeReader()
        let book = try await reader.makeBook("Book", status: "READ")
        let response = try await reader.execute(
            Self.write, ["book": book, "input": ["stars": .float(stars)]])
        #expect(response["reviewBook", "stars"]?.double == stars, "\(response.json)")
        #expect(response["reviewBook", "rating"] == .int(rating))
    }

    /// An app that does not know half stars sends the rating that it shows, together with a new text.
    @Test func ratingThatIsShownAlreadyKeepsStars() async throws {
        let reader = try await Self.app().makeReader()
        let book = try await reader.makeBook("Book", status: "READ")
        for (input, rating, stars, text) in [
            (["stars": 4.5], 5, 4.5, nil),
            (["rating": 5, "text": "Words"], 5, 4.5, "Words"),
            (["rating": .null, "stars": 2.5], 3, 2.5, "Words"),
            (["rating": 4, "stars": .null], 4, 4, "Words"),
            (["stars": 1.5, "text": .null], 2, 1.5, nil),
            (["stars": 1.75], 2, 1.75, nil),
            (["rating": 2], 2, 1.75, nil),
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

    @Test func starsAreMultiplesOfTheStep() async throws {
        let reader = try await Self.app().makeReader(.beta)
        let book = try await reader.makeBook("Book", status: "READ")
        let whole = try await reader.execute(
            Self.write, ["book": book, "input": ["stars": stars(4)]])
        #expect(whole["reviewBook", "rating"] == 4)
        let half = try await reader.execute(
            Self.write, ["book": book, "input": ["stars": stars(3.5), "text": "Words"]])
        #expect(half.code == "BAD_USER_INPUT" && half.field == "stars")
        #expect(half.message == "Stars must be a multiple of 1, at most 5.")
        let kept = try await reader.requireValue(
            "query($id: ID!) { book(id: $id) { review { stars text } } }", ["id": book], "book",
            "review")
        #expect(kept["stars"]?.double == 4 && kept["text"] == .null)
    }

    /// Reviews keep their stars when the operator chooses a greater step.
    @Test func earlierStarsStay() async throws {
        let reader = try await Self.app().makeReader(.beta)
        let book = try await reader.makeBook("Book", status: "READ")
        let review = try await reader.review(book, rating: 4)
        try await reader.executeSQL(
            "UPDATE reviews SET quarter_stars = 15 WHERE id = '\(review.string ?? "")'")
        let edited = try await reader.requireValue(
            Self.write, ["book": book, "input": ["rating": 4, "text": "Words"]], "reviewBook")
        #expect(edited["stars"]?.double == 3.75 && edited["text"] == "Words")
        let resent = try await reader.requireValue(
            Self.write, ["book": book, "input": ["stars": 3.75, "text": "More"]], "reviewBook")
        #expect(resent["stars"]?.double == 3.75 && resent["text"] == "More")
        let other = try await reader.execute(
            Self.write, ["book": book, "input": ["stars": 3.5, "text": "Others"]])
        #expect(other.code == "BAD_USER_INPUT" && other.field == "stars")
    }

    @Test(arguments: [0, 0.1, -1, 4.7, 5.25, 1e300])
    func otherNumbersAreRejected(stars: Double) async throws {
        let reader = try await Self.app().makeReader()
        let book = try await reader.makeBook("Book", status: "READ")
        let response = try await reader.execute(
            Self.write, ["book": book, "input": ["stars": .float(stars)]])
        #expect(response.code == "BAD_USER_INPUT" && response.field == "stars")
        #expect(response.message == "Stars must be a multiple of 0.25, at most 5.")
    }

    @Test func ratingAndStarsExcludeEachOther() async throws {
        let reader = try await Self.app().makeReader()
        let book = try await reader.makeBook("Book", status: "READ")
        let response = try await reader.execute(
            Self.write, ["book": book, "input": ["rating": 4, "stars": 4]])
        #expect(response.code == "BAD_USER_INPUT" && response.field == "stars")
        #expect(response.message == "Send only one of `rating`, `stars`.")
    }

    @Test func statisticsAndFiltersKnowQuarterStars() async throws {
        let reader = try await Self.app().makeReader()
        for (book, stars) in zip(try await reader.makeBooks(3, status: "READ"), [4.75, 2, 4.5]) {
            _ = try await reader.execute(
                Self.write, ["book": book, "input": ["stars": .float(stars)]])
        }
        let me = try await reader.requireValue(
            """
            {
              me {
                stats { averageRating ratings { stars bookCount } }
                within: books(ratingMin: 4.6, ratingMax: 4.8) { nodes { review { stars } } }
                exact: books(ratingMin: 4.5, ratingMax: 4.5) { totalCount }
                best: books(orderBy: RATING_DESC) { nodes { review { stars } } }
              }
            }
            """, .null, "me")
        #expect(me["stats", "averageRating"]?.double == 3.75)
        #expect(me["stats", "ratings"]?.list?.map { $0["stars"]?.double } == [4.75, 4.5, 2])
        #expect(me["within", "nodes"]?.list?.map { $0["review", "stars"]?.double } == [4.75])
        #expect(me["exact", "totalCount"] == 1)
        #expect(
            me["best", "nodes"]?.list?.map { $0["review", "stars"]?.double } == [4.75, 4.5, 2])
    }
}
