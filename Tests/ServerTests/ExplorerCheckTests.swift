import GraphQL
import TestSupport
import Testing

@testable import Server

/// The check of documents on the explorer page.
@Suite struct ExplorerCheckTests {
    private func check(
        _ query: String, variables: Value = .null, limits: RequestLimits = RequestLimits()
    ) throws -> Value {
        let sdl = """
            type Query { hello(name: String!, loud: Boolean): String greet(who: Who): String }
            input Who { surname: String }
            type Subscription { greeted: String }
            """
        let schema = try buildSchema(parse(Source(sdl)))
        return ExplorerCheck(schema: schema, limits: limits)
            .check(query, variables: variables)
    }

    @Test func aValidDocumentIsPrinted() throws {
        #expect(
            try check("query A($n: String!) {hello(name:$n)}", variables: ["n": "you"]) == [
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

    @Test func errorsHaveLocations() throws {
        let found = try check("{\n  helo\n}")
        #expect(found["errors", 0, "locations"] == [["line": 2, "column": 3]])
        #expect(found["errors", 0, "message"]?.string?.contains("Did you mean \"hello\"?") == true)
        // An invalid document can still be printed, and its operations are listed.
        #expect(found["printed"] == "{\n  helo\n}")
        #expect(found["operations", 0, "kind"] == "query")
        let broken = try check("{ hello(")
        #expect(broken["errors"]?.list?.count == 1)
        #expect(broken["printed"] == .null)
        #expect(try check("subscription { greeted }")["operations", 0, "kind"] == "subscription")
    }

    @Test(
        arguments: [
            ([:], 1), (["n": 5], 1), (["n": .null], 1), (["n": "you"], 0), (.null, 1),
        ] as [(Value, Int)])
    func variablesAreChecked(variables: Value, errors: Int) throws {
        let found = try check("query($n: String!) { hello(name: $n) }", variables: variables)
        #expect(found["errors"] == [])
        #expect(found["variableErrors"]?.list?.count == errors)
    }

    /// With introspection off, neither the document's errors nor those of its variables suggest names.
    @Test func namesAreSuggestedOnlyIfTheLimitsAllowIt() throws {
        var limits = RequestLimits()
        for isOn in [true, false] {
            limits.validation.hasSuggestions = isOn
            let query = try check("{ helo }", limits: limits)
            let variables = try check(
                "query($w: Who) { greet(who: $w) }", variables: ["w": ["surnam": "x"]],
                limits: limits)
            for message in [
                query["errors", 0, "message"], variables["variableErrors", 0, "message"],
            ] {
                let text = try #require(message?.string)
                #expect(text.contains("Did you mean") == isOn, "\(text)")
            }
        }
    }

    @Test func theRouteEnforcesItsLimits() async throws {
        try await TestServer.run { server in
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
            // A page of another origin can send only types such as text/plain without a CORS preflight.
            #expect(try await post(#"{"query":"{ hello }"}"#, "text/plain") == 400)
            #expect(try await post(String(repeating: " ", count: 5000)) == 413)
            let settings = try await server.get("/explorer/settings")
            #expect(settings.body == #"{"isDevelopment":false,"hasDevelopmentSignIn":false}"#)
        }
    }
}
