import GraphQL

/// A signed-in user of a test app.
package struct TestReader: Sendable {
    package let app: TestApp
    /// The subject of the identity token.
    package let subject: String
    package let id: Value
    package let token: String
    package let refreshToken: String

    struct SignInFailure: Error {
        let response: Value
    }

    /// - Parameter field: The mutation that has signed in.
    package init(
        _ app: TestApp, _ subject: String, _ response: TestResponse, field: String = "signIn"
    ) throws {
        let session = response.json["data"]?[field]
        guard let id = session?["user"]?["id"],
            let token = session?["accessToken"]?.string,
            let refreshToken = session?["refreshToken"]?.string
        else { throw SignInFailure(response: response.json) }
        self.app = app
        self.subject = subject
        self.id = id
        self.token = token
        self.refreshToken = refreshToken
    }

    package func execute(
        _ query: String, _ variables: Value = .null
    ) async throws -> TestResponse {
        try await app.execute(query, variables, token: token)
    }

    package func subscribe(
        _ query: String, _ variables: Value = .null
    ) async throws -> TestSubscription {
        try await app.subscribe(query, variables, token: token)
    }

    // MARK: - Setup

    /// A step of a test's setup failed. It ends the test.
    struct SetupFailure: Error, CustomStringConvertible {
        let description: String
    }

    /// Executes a request and returns the value at the path below `data`.
    ///
    /// - Throws: `SetupFailure` if the value is missing or null.
    package func requireValue(
        _ query: String, _ variables: Value = .null, _ path: PathElement...
    ) async throws -> Value {
        let response = try await execute(query, variables)
        guard let value = response.value(at: path), !value.isNull else {
            throw SetupFailure(description: "\(query): \(response.json)")
        }
        return value
    }

    /// Returns the id of the new shelf.
    package func makeShelf(_ name: String) async throws -> Value {
        try await requireValue(
            "mutation($name: String!) { createShelf(input: {name: $name}) { id } }",
            ["name": .string(name)], "createShelf", "id")
    }

    /// Changes this user's rows with SQL, then sends the notification that a server sends after each commit.
    package func executeSQL(_ sql: String) async throws {
        try await app.database.execute(sql)
        try await app.database.execute("NOTIFY changes, '\(id.string ?? "")'")
    }

    /// Returns the id of the new book.
    package func makeBook(_ input: Value) async throws -> Value {
        try await requireValue(
            "mutation($input: CreateBookInput!) { createBook(input: $input) { id } }",
            ["input": input], "createBook", "id")
    }

    /// Returns the id of the new book.
    package func makeBook(
        _ title: String, status: String = "WANT_TO_READ", shelves: [Value] = []
    ) async throws -> Value {
        try await makeBook([
            "title": .string(title), "status": .string(status), "shelfIds": .list(shelves),
        ])
    }

    /// Creates books named "<title> 1", "<title> 2", and so on, 50 per request, and returns their ids.
    @discardableResult
    package func makeBooks(
        _ count: Int, _ title: String = "Book", status: String = "WANT_TO_READ",
        shelves: [Value] = []
    ) async throws -> [Value] {
        var ids: [Value] = []
        for start in stride(from: 0, to: count, by: 50) {
            let inputs = (start..<min(count, start + 50)).map { index -> Value in
                [
                    "title": "\(title) \(index + 1)", "status": .string(status),
                    "shelfIds": .list(shelves),
                ]
            }
            let created = try await requireValue(
                """
                mutation($inputs: [CreateBookInput!]!) {
                  createBooks(inputs: $inputs) { book { id } error { code message } }
                }
                """, ["inputs": .list(inputs)], "createBooks")
            ids += created.list?.compactMap { $0["book"]?["id"] } ?? []
        }
        return ids
    }

    /// Reviews a book, and returns the review's id.
    @discardableResult
    package func review(_ book: Value, rating: Int = 4, text: String? = nil) async throws -> Value {
        try await requireValue(
            """
            mutation($book: ID!, $input: ReviewInput!) {
              reviewBook(id: $book, input: $input) { id }
            }
            """,
            [
                "book": book,
                "input": ["rating": .int(rating), "text": text.map { .string($0) } ?? .null],
            ], "reviewBook", "id")
    }

    package func swipe(_ action: String, _ cards: [Value], at time: String? = nil) async throws
        -> TestResponse
    {
        try await execute(
            """
            mutation($swipes: [SwipeInput!]!) {
              recordSwipes(inputs: $swipes) { recorded saved { id title status card { id } } }
            }
            """,
            [
                "swipes": .list(
                    cards.map { card in
                        [
                            "cardId": card, "action": .string(action),
                            "swipedAt": time.map { .string($0) } ?? .null,
                        ]
                    })
            ])
    }

    /// Returns the first cards of the feed, each as `{id title genres { name } isbn13}`.
    package func feedCards(_ first: Int) async throws -> [Value] {
        try await requireValue(
            "query($first: Int) { feed(first: $first) { nodes { id title genres { name } isbn13 } } }",
            ["first": .int(first)], "feed", "nodes"
        ).list ?? []
    }
}
