import GraphQL
import TestSupport
import Testing

@Suite struct ReviewTests {
    static let app = Shared { try await TestApp.start(catalog: []) }

    static let write = """
        mutation($book: ID!, $input: ReviewInput!) {
          reviewBook(id: $book, input: $input) {
            id rating text createdAt updatedAt book { id status review { id } }
          }
        }
        """
    static let lookup = """
        query($book: ID!, $review: ID!) {
          book(id: $book) { review { id rating text } }
          node(id: $review) { __typename }
          me { reviews { totalCount nodes { id } } stats { reviewCount averageRating } }
        }
        """
    static let absent: Value = "0198c0de-0000-7000-8000-00000000dead"

    @Test func reviewIsCreatedAndUpdated() async throws {
        let reader = try await Self.app().makeReader()
        let book = try await reader.makeBook("Book", status: "READ")
        let first = try await reader.execute(
            Self.write, ["book": book, "input": ["rating": 4, "text": " Good.\nVery. "]])
        let review = try #require(first["reviewBook"])
        #expect(review["rating"] == 4)
        #expect(review["text"] == "Good.\nVery.")
        #expect(review["book", "id"] == book)
        #expect(review["book", "review", "id"] == review["id"])
        let second = try await reader.execute(Self.write, ["book": book, "input": ["rating": 2]])
        #expect(second["reviewBook", "id"] == review["id"])
        #expect(second["reviewBook", "rating"] == 2)
        #expect(second["reviewBook", "createdAt"] == review["createdAt"])
    }

    @Test(
        arguments: [
            (["rating": 3], "Before"), (["rating": 3, "text": .null], nil),
            (["rating": 3, "text": " "], nil),
            (["rating": 3, "text": "After"], "After"),
        ] as [(Value, String?)])
    func absentTextIsUnchangedAndNullRemovesIt(input: Value, expected: String?) async throws {
        let reader = try await Self.app().makeReader()
        let book = try await reader.makeBook("Book", status: "READ")
        try await reader.review(book, text: "Before")
        let response = try await reader.execute(Self.write, ["book": book, "input": input])
        #expect(response["reviewBook", "text"] == (expected.map { .string($0) } ?? .null))
    }

    @Test func markOfSpoilersIsKeptUnlessGiven() async throws {
        let reader = try await Self.app().makeReader()
        let book = try await reader.makeBook("Book", status: "READ")
        let write = """
            mutation($book: ID!, $input: ReviewInput!) {
              reviewBook(id: $book, input: $input) { hasSpoilers text }
            }
            """
        for (input, expected) in [
            (["text": "It was the butler."], false), (["hasSpoilers": true], true),
            (["text": "The butler."], true), (["hasSpoilers": .null], false),
        ] as [(Value, Value)] {
            let response = try await reader.execute(write, ["book": book, "input": input])
            #expect(response["reviewBook", "hasSpoilers"] == expected)
        }
        // A spoiler mark alone is not a review.
        let other = try await reader.makeBook("Other", status: "READ")
        let alone = try await reader.execute(
            write, ["book": other, "input": ["hasSpoilers": true]])
        #expect(alone.code == "BAD_USER_INPUT" && alone.field == "rating")
    }

    // MARK: - Reviews without a rating

    static let writeStars = """
        mutation($book: ID!, $input: ReviewInput!) {
          reviewBook(id: $book, input: $input) { rating stars text }
        }
        """

    /// An absent field is unchanged, and null removes it.
    @Test func reviewCanHaveATextARatingOrBoth() async throws {
        let reader = try await Self.app().makeReader()
        let book = try await reader.makeBook("Book", status: "READ")
        for (input, expected) in [
            (["text": "Words"], ["rating": .null, "stars": .null, "text": "Words"]),
            (["rating": 4], ["rating": 4, "stars": 4, "text": "Words"]),
            (["text": .null], ["rating": 4, "stars": 4, "text": .null]),
            (
                ["rating": .null, "text": "More"],
                ["rating": .null, "stars": .null, "text": "More"]
            ),
        ] as [(Value, Value)] {
            let response = try await reader.execute(
                Self.writeStars, ["book": book, "input": input])
            #expect(response["reviewBook"] == expected, "\(response.json)")
        }
    }

    @Test(
        arguments: [
            [:], ["text": .null], ["text": " "], ["rating": .null], ["rating": .null, "text": ""],
        ] as [Value])
    func emptyReviewIsRejected(input: Value) async throws {
        let reader = try await Self.app().makeReader()
        let book = try await reader.makeBook("Book", status: "READ")
        let response = try await reader.execute(
            Self.writeStars, ["book": book, "input": input])
        #expect(response.code == "BAD_USER_INPUT" && response.field == "rating")
        #expect(
            response.message
                == "A review needs a rating or a text. To delete a review, use deleteReview.")
        // An existing review cannot become empty.
        try await reader.review(book, rating: 3)
        let cleared = try await reader.execute(
            Self.writeStars, ["book": book, "input": ["rating": .null]])
        #expect(cleared.code == "BAD_USER_INPUT" && cleared.field == "rating")
        let kept = try await reader.requireValue(
            "query($id: ID!) { book(id: $id) { review { rating } } }", ["id": book], "book",
            "review", "rating")
        #expect(kept == 3)
    }

    @Test func statisticsCountReviewsWithoutARatingAndIgnoreThemInTheMean() async throws {
        let reader = try await Self.app().makeReader()
        let stats = "{ me { stats { reviewCount averageRating } } }"
        let books = try await reader.makeBooks(3, status: "READ")
        _ = try await reader.execute(
            Self.writeStars, ["book": books[0], "input": ["text": "Words"]])
        #expect(
            try await reader.requireValue(stats, .null, "me", "stats")
                == ["reviewCount": 1, "averageRating": .null])
        try await reader.review(books[1], rating: 5)
        try await reader.review(books[2], rating: 2)
        #expect(
            try await reader.requireValue(stats, .null, "me", "stats")
                == ["reviewCount": 3, "averageRating": 3.5])
    }

    @Test(arguments: [0, 6, -1, Int(Int32.max), Int(Int32.min)])
    func ratingOutsideOneToFiveIsRejected(rating: Int) async throws {
        let reader = try await Self.app().makeReader()
        let book = try await reader.makeBook("Book", status: "READ")
        let response = try await reader.execute(
            Self.write, ["book": book, "input": ["rating": .int(rating)]])
        #expect(response.code == "BAD_USER_INPUT")
        #expect(response.field == "rating")
        #expect(response.message == "Rating must be from 1 to 5.")
    }

    @Test(arguments: [Value.float(4.5), "4", .boolean(true), .int(1 << 40)])
    func ratingMustBeAnInt(rating: Value) async throws {
        let reader = try await Self.app().makeReader()
        let book = try await reader.makeBook("Book", status: "READ")
        let response = try await reader.execute(
            Self.write, ["book": book, "input": ["rating": rating]])
        #expect(response.isRequestError)
        #expect(response.errors.count == 1)
    }

    @Test func textHasAtMost100000Characters() async throws {
        let reader = try await Self.app().makeReader()
        let book = try await reader.makeBook("Book", status: "READ")
        let longest = String(repeating: "é", count: 100_000)
        let good = try await reader.execute(
            Self.write, ["book": book, "input": ["rating": 1, "text": .string(longest)]])
        #expect(good["reviewBook", "text"] == .string(longest))
        let bad = try await reader.execute(
            Self.write, ["book": book, "input": ["rating": 1, "text": .string(longest + "x")]])
        #expect(bad.code == "BAD_USER_INPUT")
        #expect(bad.field == "text")
    }

    @Test(arguments: ["WANT_TO_READ", "READING", "READ", "PAUSED", "DID_NOT_FINISH"])
    func bookWithAnyStatusCanBeReviewed(status: String) async throws {
        let reader = try await Self.app().makeReader()
        let book = try await reader.makeBook("Book", status: status)
        let response = try await reader.execute(
            Self.write, ["book": book, "input": ["rating": 2, "text": "Words"]])
        #expect(response["reviewBook", "rating"] == 2)
        #expect(response["reviewBook", "book", "status"] == .string(status))
        #expect(response["reviewBook", "book", "review", "id"] == response["reviewBook", "id"])
        let shown = try await reader.execute(
            Self.lookup, ["book": book, "review": response["reviewBook", "id"] ?? .null])
        #expect(shown["node", "__typename"] == "Review")
        #expect(shown["me", "reviews", "totalCount"] == 1)
        #expect(shown["me", "stats"] == ["reviewCount": 1, "averageRating": 2])
        let filtered = try await reader.requireValue(
            """
            { me { books(ratingMin: 2, ratingMax: 2, orderBy: RATING_DESC) { nodes { id review { rating } } } } }
            """, .null, "me", "books", "nodes")
        #expect(filtered == [["id": book, "review": ["rating": 2]]])
    }

    /// Also when a read book is read again.
    @Test(arguments: ["WANT_TO_READ", "READING", "PAUSED", "DID_NOT_FINISH"])
    func reviewStaysWhenTheStatusChanges(status: String) async throws {
        let reader = try await Self.app().makeReader()
        let book = try await reader.makeBook("Book", status: "READ")
        let review = try await reader.review(book, rating: 5, text: "Kept")
        let ids: Value = ["book": book, "review": review]
        let shown = try await reader.execute(Self.lookup, ids)
        #expect(shown["book", "review", "text"] == "Kept")
        for status in [status, "READ"] {
            _ = try await reader.execute(
                UpdateBookTests.update, ["id": book, "input": ["status": .string(status)]])
            #expect(try await reader.execute(Self.lookup, ids).json == shown.json)
        }
    }

    @Test func deletingAReviewCanBeRepeated() async throws {
        let reader = try await Self.app().makeReader()
        let book = try await reader.makeBook("Book", status: "READ")
        let review = try await reader.review(book)
        let delete = "mutation($id: ID!) { deleteReview(id: $id) { book { id } } }"
        let response = try await reader.execute(delete, ["id": book])
        #expect(response["deleteReview", "book", "id"] == book)
        let found = try await reader.execute(Self.lookup, ["book": book, "review": review])
        #expect(found["book", "review"] == .null)
        #expect(found["node"] == .null)
        #expect(try await reader.execute(delete, ["id": book]).json == response.json)
    }

    @Test(arguments: [absent, "no id"])
    func reviewOfAnUnknownBookIsNotFound(id: Value) async throws {
        let reader = try await Self.app().makeReader()
        let response = try await reader.execute(Self.write, ["book": id, "input": ["rating": 5]])
        #expect(response.code == "NOT_FOUND")
        #expect(response.message == "There is no such book in the library.")
    }

    @Test func reviewsAreListedNewestFirstInPages() async throws {
        let reader = try await Self.app().makeReader()
        var reviews: [Value] = []
        for number in 0..<5 {
            let book = try await reader.makeBook("Book \(number)", status: "READ")
            reviews.append(try await reader.review(book))
        }
        var seen: [Value] = []
        var after = Value.null
        for _ in 0..<3 {
            let response = try await reader.execute(
                """
                query($after: String) { me { reviews(first: 2, after: $after) {
                  totalCount nodes { id book { title } } pageInfo { hasNextPage endCursor }
                } } }
                """, ["after": after])
            seen += response["me", "reviews", "nodes"]?.values(of: "id") ?? []
            #expect(response["me", "reviews", "totalCount"] == 5)
            after = response["me", "reviews", "pageInfo", "endCursor"] ?? .null
        }
        #expect(seen == reviews.reversed())
    }
}
