import GraphQL

/// Somebody signed in.
package struct Reader: Sendable {
    package let app: TestApp
    /// Of the identity token.
    package let subject: String
    package let id: Value
    package let token: String
    package let refreshToken: String

    struct NotSignedIn: Error {
        let answer: Value
    }

    package init(_ app: TestApp, _ subject: String, _ answer: Answer) throws {
        guard let id = answer["signInWithApple", "user", "id"],
            let token = answer["signInWithApple", "accessToken"]?.string,
            let refreshToken = answer["signInWithApple", "refreshToken"]?.string
        else { throw NotSignedIn(answer: answer.json) }
        self.app = app
        self.subject = subject
        self.id = id
        self.token = token
        self.refreshToken = refreshToken
    }

    package func ask(_ query: String, _ variables: Value = .null) async throws -> Answer {
        try await app.ask(query, variables, token: token)
    }

    package func subscribe(_ query: String, _ variables: Value = .null) async throws -> LiveAnswers
    {
        try await app.subscribe(query, variables, token: token)
    }

    // MARK: - What tests need to begin with

    /// What a test needs did not work; the test ends.
    struct Unexpected: Error, CustomStringConvertible {
        let description: String
    }

    /// The answer's value at the path.
    package func need(
        _ query: String, _ variables: Value = .null, _ path: PathElement...
    ) async throws -> Value {
        let answer = try await ask(query, variables)
        guard let value = answer.value(at: path), !value.isNull else {
            throw Unexpected(description: "\(query): \(answer.json)")
        }
        return value
    }

    /// The new shelf's id.
    package func makeShelf(_ name: String) async throws -> Value {
        try await need(
            "mutation($name: String!) { createShelf(input: {name: $name}) { id } }",
            ["name": .string(name)], "createShelf", "id")
    }

    /// Changes what is theirs beside the server, and tells of it as a server does after its commits.
    package func execute(_ sql: String) async throws {
        try await app.database.execute(sql)
        try await app.database.execute("NOTIFY changes, '\(id.string ?? "")'")
    }

    /// The new book's id.
    package func makeBook(_ input: Value) async throws -> Value {
        try await need(
            "mutation($input: CreateBookInput!) { createBook(input: $input) { id } }",
            ["input": input], "createBook", "id")
    }

    /// The new book's id.
    package func makeBook(
        _ title: String, status: String = "WANT_TO_READ", shelves: [Value] = []
    ) async throws -> Value {
        try await makeBook([
            "title": .string(title), "status": .string(status), "shelfIds": .list(shelves),
        ])
    }

    /// The ids of books "<title> 1" and on, in batches.
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
            let made = try await need(
                """
                mutation($inputs: [CreateBookInput!]!) {
                  createBooks(inputs: $inputs) { book { id } error { code message } }
                }
                """, ["inputs": .list(inputs)], "createBooks")
            ids += made.list?.compactMap { $0["book"]?["id"] } ?? []
        }
        return ids
    }

    /// Rates a book that is READ; the review's id.
    @discardableResult
    package func review(_ book: Value, rating: Int = 4, text: String? = nil) async throws -> Value {
        try await need(
            """
            mutation($book: ID!, $input: ReviewInput!) {
              reviewBook(bookId: $book, input: $input) { id }
            }
            """,
            [
                "book": book,
                "input": ["rating": .int(rating), "text": text.map { .string($0) } ?? .null],
            ], "reviewBook", "id")
    }

    package func swipe(_ action: String, _ cards: [Value], at time: String? = nil) async throws
        -> Answer
    {
        try await ask(
            """
            mutation($swipes: [SwipeInput!]!) {
              recordSwipes(swipes: $swipes) { recorded saved { id title status card { id } } }
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

    /// The first cards of the feed, as `{id title genre}`.
    package func cards(_ first: Int) async throws -> [Value] {
        try await need(
            "query($first: Int) { feed(first: $first) { nodes { id title genre isbn13 } } }",
            ["first": .int(first)], "feed", "nodes"
        ).list ?? []
    }
}
