import Testing

/// No error repeats a large part of a request.
@Suite struct LongNamesInErrorsTests {
    private static let long = String(repeating: "a", count: 100_000)

    @Test(arguments: [
        "{ book(id: 1) { LONG } }", "{ LONG { id } }", "{ book(LONG: 1) { id } }",
        "{ book(id: 1) { nick(style: LONG) } }", "{ book(id: 1) { nick(style: \"LONG\") } }",
        "{ book(id: $LONG) { id } }", "query($LONG: Int) { author { name } }",
        "query($x: LONG) { book(id: $x) { id } }", "{ ...LONG }",
        "fragment LONG on Book { id } { author { name } }",
        "{ node(id: 1) { ... on LONG { id } } }", "{ author { name @LONG } }",
        "{ items(filter: {LONG: 1}) { __typename } }",
        "{ items(filter: {limit: \"LONG\"}) { __typename } }",
        "{ items(filter: {limit: [LONG, {LONG: $LONG}]}) { __typename } }",
        "query LONG { author { name } } query LONG { author { name } }",
        "{ LONG: author { name } LONG: named { name } }", "{ author(LONG) }", "{ author LONG\" }",
        "\"LONG\"", "{ author { name } } LONG", "subscription LONG { a b }",
        "query LONG { a @skip }",
    ])
    func messageIsShort(source: String) async throws {
        let response = try await respond(
            to: source.replacing("LONG", with: Self.long), schema: harnessSchema)
        let messages = try #require(try json(response)["errors"]?.list?.map { $0["message"] })
        #expect(!messages.isEmpty)
        for message in messages {
            let length = try #require(message?.string).utf8.count
            #expect(length <= 1_500, "\(source)")
        }
    }

    @Test func unknownOperationIsNamedByItsBeginningAndItsEnd() async throws {
        let response = try await respond(
            to: "query A { author { name } }", operationName: Self.long, schema: harnessSchema)
        let message = try #require(
            try json(response)["errors"]?.list?.first?["message"]?.string)
        #expect(message.hasPrefix("Unknown operation named \"aaa"))
        #expect(message.hasSuffix("aaa\".") && message.contains("…") && message.utf8.count <= 1_500)
    }

    /// The names and values of variables.
    @Test(arguments: [
        ("query($LONG: Int!) { count(of: [$LONG]) }", "{}"),
        ("query($x: Int) { count(of: [1, $x]) }", #"{"x": "LONG"}"#),
        ("query($x: Style) { author { nick(style: $x) } }", #"{"x": "LONG"}"#),
        ("query($x: Filter) { items(filter: $x) { __typename } }", #"{"x": {"LONG": 1}}"#),
        ("query($x: [Int!]!) { count(of: $x) }", #"{"x": ["LONG", "LONG", "LONG"]}"#),
    ])
    func messageAboutVariablesIsShort(source: String, variables: String) async throws {
        let response = try await respond(
            to: source.replacing("LONG", with: Self.long),
            variables: variables.replacing("LONG", with: Self.long), schema: harnessSchema)
        let errors = try #require(try json(response)["errors"]?.list)
        #expect(!errors.isEmpty)
        for error in errors {
            #expect(try #require(error["message"]?.string).utf8.count <= 1_500)
        }
    }
}
