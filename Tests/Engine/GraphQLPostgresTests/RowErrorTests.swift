import GraphQL
import GraphQLPostgres
import Testing

@Suite struct RowErrorTests {
    /// Returns the paths of the errors with their messages.
    private static func errors(_ response: Library.Response) throws -> [String] {
        try response.value["errors"]?.list?.map { error in
            let path = error["path"]?.list?.map { $0.string ?? "\($0.int ?? -1)" } ?? []
            return "\(path.joined(separator: ".")): \(error["message"]?.string ?? "")"
        } ?? []
    }

    @Test func everyFieldOfAFailedRoundTripHasAnError() async throws {
        let response = try await Library.execute(
            """
            { author(id: "\(Library.shelley)") { name books { title failingReview { text } review { text } } } }
            """)
        #expect(
            try Self.errors(response) == [
                "author.books.0.failingReview: The server failed.",
                "author.books.0.review: The server failed.",
            ])
        // The rows of earlier round trips are in the response.
        #expect(
            response.body.hasSuffix(
                """
                "data":{"author":{"name":"Shelley","books":[\
                {"title":"Frankenstein","failingReview":null,"review":null}]}}}
                """))
        #expect(response.statementCounts == [1, 2])
    }

    @Test func failedLookup() async throws {
        // The failing relation is part of the lookup's statement.
        let response = try await Library.execute(
            #"{ book(id: "\#(Library.emma)") { title failingReview { text } } }"#)
        #expect(try Self.errors(response) == ["book: The server failed."])
        #expect(response.body.hasSuffix(#""data":{"book":null}}"#))
    }

    @Test func failedPage() async throws {
        let response = try await Library.execute(
            """
            { book(id: "\(Library.emma)") { failingReview { text } }
              author(id: "\(Library.austen)") { name bookPages { totalCount } } }
            """)
        // All statements of the round trip are one transaction. The page below a failed lookup is discarded.
        #expect(
            try Self.errors(response) == [
                "book: The server failed.", "author: The server failed.",
            ])
    }

    @Test func callerIsRequired() async throws {
        let response = try await Library.execute(
            #"{ me { name } book(id: "\#(Library.emma)") { title } }"#, as: nil)
        #expect(
            try Self.errors(response) == ["me: Sign in first.", "book: Sign in first."])
        #expect(response.roundTrips == [])
    }

    @Test(arguments: [0, -1, PageSize.max + 1, Int(Int32.max)])
    func invalidPageSize(first: Int) async throws {
        let response = try await Library.execute(
            "{ me { authors { bookPages(first: \(first)) { totalCount } } } }")
        let message = "The page size must be between 1 and 100."
        #expect(
            try Self.errors(response)
                == (0..<3).map { "me.authors.\($0).bookPages: \(message)" })
        // Nothing is sent for the page.
        #expect(response.statementCounts == [1])
    }

    @Test(arguments: [("", 1), ("x", 1), ("!", 1), ("A", 4), ("A", 20_000)])
    func invalidCursor(text: String, repetitions: Int) async throws {
        let after = String(repeating: text, count: repetitions)
        let response = try await Library.execute(
            """
            query ($after: String) {
              author(id: "\(Library.austen)") { name bookPages(after: $after) { totalCount } }
            }
            """, variables: .object([.init("after", .string(after))]))
        #expect(
            try Self.errors(response) == [
                "author.bookPages: The cursor does not belong to this list."
            ])
        #expect(response.body.hasSuffix(#""data":{"author":{"name":"Austen","bookPages":null}}}"#))
        #expect(response.statementCounts == [1])
    }

    @Test func cursorOfAnotherOrder() async throws {
        let page = #"author(id: "\#(Library.austen)")"#
        let first = try await Library.execute(
            "{ \(page) { bookPages(orderBy: TITLE) { pageInfo { endCursor } } } }")
        let info = try first.value["data"]?["author"]?["bookPages"]?["pageInfo"]
        let cursor = try #require(info?["endCursor"]?.string)
        let response = try await Library.execute(
            #"{ \#(page) { bookPages(orderBy: ADDED_AT, after: "\#(cursor)") { totalCount } } }"#)
        #expect(
            try Self.errors(response) == [
                "author.bookPages: The cursor does not belong to this list."
            ])
    }
}
