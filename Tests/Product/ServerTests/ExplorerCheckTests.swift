import GraphQL
import Testing

@testable import GraphQLNIO
@testable import GraphQLExplorer
@testable import Server

/// `POST /explorer/check`, which checks a document while the user writes it.
@Suite struct ExplorerCheckTests {
    private func check(
        _ query: String, variables: Value = .null, limits: RequestLimits = RequestLimits()
    ) async throws -> Value {
        let sdl = """
            type Query { hello(name: String!, loud: Boolean): String greet(who: Who): String }
            input Who { surname: String }
            type Subscription { greeted: String }
            """
        let schema = try buildSchema(parse(Source(sdl)))
        return await ExplorerCheck(schema: schema, limits: limits)
            .check(query, variables: variables)
    }

    @Test func formatsValidDocuments() async throws {
        #expect(
            try await check("query A($n: String!) {hello(name:$n)}", variables: ["n": "you"]) == [
                "errors": [],
                "operations": [
                    [
                        "kind": "query", "name": "A",
                        "variables": [["name": "n", "type": "String!"]],
                    ]
                ],
                "variableErrors": [], "printed": "query A($n: String!) {\n  hello(name: $n)\n}",
            ])
    }

    @Test func reportsErrorsWithLocations() async throws {
        let result = try await check("{\n  helo\n}")
        #expect(result["errors", 0, "locations"] == [["line": 2, "column": 3]])
        #expect(result["errors", 0, "message"]?.string?.contains("Did you mean \"hello\"?") == true)
        // The parser reads an invalid document, so it can be printed and its operations are known.
        #expect(result["printed"] == "{\n  helo\n}")
        #expect(result["operations", 0, "kind"] == "query")
        let incomplete = try await check("{ hello(")
        #expect(incomplete["errors"]?.list?.count == 1)
        #expect(incomplete["printed"] == .null)
        #expect(
            try await check("subscription { greeted }")["operations", 0, "kind"] == "subscription")
    }

    @Test(
        arguments: [
            ([:], 1), (["n": 5], 1), (["n": .null], 1), (["n": "you"], 0), (.null, 1),
        ] as [(Value, Int)])
    func checksVariables(variables: Value, errors: Int) async throws {
        let result = try await check("query($n: String!) { hello(name: $n) }", variables: variables)
        #expect(result["errors"] == [])
        #expect(result["variableErrors"]?.list?.count == errors)
    }

    /// Without introspection, errors in the document and in its variables do not suggest names.
    @Test func suggestsNamesOnlyIfTheLimitsAllowIt() async throws {
        var limits = RequestLimits()
        for hasSuggestions in [true, false] {
            limits.validation.hasSuggestions = hasSuggestions
            let query = try await check("{ helo }", limits: limits)
            let variables = try await check(
                "query($w: Who) { greet(who: $w) }", variables: ["w": ["surnam": "x"]],
                limits: limits)
            for message in [
                query["errors", 0, "message"], variables["variableErrors", 0, "message"],
            ] {
                let text = try #require(message?.string)
                #expect(text.contains("Did you mean") == hasSuggestions, "\(text)")
            }
        }
    }

    @Test func respondsOverHTTPWithinItsLimits() async throws {
        try await ProductServer.run { server in
            func post(_ body: String, _ type: String = "application/json") async throws -> Int {
                try await server.send(
                    "POST /explorer/check HTTP/1.1\r\nhost: test\r\ncontent-type: \(type)\r\n"
                        + "content-length: \(body.utf8.count)\r\n\r\n\(body)"
                ).status
            }
            #expect(try await post(#"{"query":"{ hello }"}"#) == 200)
            for body in ["", "{}", "[]", #"{"query":5}"#, "{"] {
                #expect(try await post(body) == 400, "\(body)")
            }
            // A page of another origin can send this content type without a preflight request.
            #expect(try await post(#"{"query":"{ hello }"}"#, "text/plain") == 400)
            #expect(try await post(String(repeating: " ", count: 5000)) == 413)
            let settings = try await server.get("/explorer/settings")
            #expect(settings.body == #"{"isDevelopment":false,"hasDevelopmentSignIn":false}"#)
        }
    }
}
