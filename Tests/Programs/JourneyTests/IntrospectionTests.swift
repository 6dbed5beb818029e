import GraphQL
import SocketClient
import TestSupport
import Testing

/// With `BOOKPLATE_INTROSPECTION=off`, introspection is refused over every transport and in every kind of request.
@Suite struct IntrospectionTests {
    private static let text = "{ __schema { queryType { name } } }"
    /// The SHA-256 of `text`.
    private static let hash = "3158fa8cd4c4b15c9b6bae16e2b19ee8ecde105ee3b48f444c48391d30c6132e"

    private static let installation = Shared {
        let installation = try await Installation.ready(catalog: [])
        // The admin command allows introspection by default, so it accepts the document.
        let manifest = try installation.write(#"{"introspect": "\#(text)"}"#, to: "manifest.json")
        let outcome = try await installation.admin("documents", "sync", manifest)
        guard outcome.code == 0 else { throw Program.Failure(description: outcome.errors) }
        return installation
    }
    private static let server = Shared {
        try await installation().startServer([
            "BOOKPLATE_INTROSPECTION": "off", "BOOKPLATE_LIMITS": "batch=3",
        ])
    }

    private static let refused = [
        text, "{ s: __schema { queryType { name } } }", #"{ __type(name: \"Book\") { name } }"#,
        "{ ...F } fragment F on Query { __schema { queryType { name } } }",
        "{ ... on Query { ... { __schema @skip(if: false) { queryType { name } } } } }",
    ]

    private func expectRefusal(
        _ response: Value, sourceLocation: Testing.SourceLocation = #_sourceLocation
    ) {
        let error = response["errors", 0]
        #expect(
            error?["extensions", "code"] == "GRAPHQL_VALIDATION_FAILED", "\(response)",
            sourceLocation: sourceLocation)
        #expect(
            error?["message"]?.string?.hasSuffix(
                "introspection is disabled. The operator of this server can enable it with "
                    + "BOOKPLATE_INTROSPECTION=on.") == true, sourceLocation: sourceLocation)
        #expect(response["data"] == nil, sourceLocation: sourceLocation)
    }

    /// Each document is sent twice, because the second request uses the document cache.
    @Test(arguments: refused, 1...2)
    func isRefusedByPOST(query: String, attempt: Int) async throws {
        for (accept, status) in [
            ("application/json", 200), ("application/graphql-response+json", 400),
        ] {
            let response = try await Self.server().client.send(
                "POST", "/graphql", body: #"{"query":"\#(query)"}"#, headers: ["accept": accept])
            #expect(response.status == status)
            expectRefusal(response.json)
        }
    }

    @Test func isRefusedByGETAndInABatch() async throws {
        let client = try await Self.server().client
        let get = try await client.send(
            "GET", "/graphql?query=%7B__schema%7BqueryType%7Bname%7D%7D%7D")
        expectRefusal(get.json)
        let batch = try await client.send(
            "POST", "/graphql",
            body:
                #"[{"query":"{ __typename }"},{"query":"\#(Self.text)"},{"documentId":"introspect"}]"#
        )
        #expect(batch.json[0, "data", "__typename"] == "Query")
        for response in batch.json.list?.dropFirst() ?? [] { expectRefusal(response) }
        #expect(batch.json.list?.count == 3)
    }

    @Test func isRefusedAsAnEventStreamAndOverAWebSocket() async throws {
        let server = try await Self.server()
        let stream = try await server.client.send(
            "POST", "/graphql", body: #"{"query":"\#(Self.text)"}"#,
            headers: ["accept": "text/event-stream"])
        #expect(stream.body.contains("introspection is disabled"))
        #expect(!stream.body.contains("queryType"))
        let message = try await blocking {
            let client = try SocketClient(port: server.client.port)
            try client.initialize()
            try client.send(
                #"{"id":"1","type":"subscribe","payload":{"query":"\#(Self.text)"}}"#)
            return try client.message()
        }
        let json = try parseJSON(Array(message.utf8))
        #expect(json["type"] == "error")
        expectRefusal(["errors": json["payload"] ?? .null])
    }

    /// Persisted queries and trusted documents are refused, too.
    @Test func isRefusedByDocumentIDAndByHash() async throws {
        let client = try await Self.server().client
        func post(_ body: String) async throws -> Value {
            try await client.send("POST", "/graphql", body: body).json
        }
        let extensions =
            #""extensions":{"persistedQuery":{"version":1,"sha256Hash":"\#(Self.hash)"}}"#
        for body in [
            #"{"query":"\#(Self.text)",\#(extensions)}"#, "{\(extensions)}",
            #"{"documentId":"introspect"}"#, #"{"documentId":"sha256:\#(Self.hash)"}"#,
        ] {
            expectRefusal(try await post(body))
        }
    }

    @Test(
        arguments: [
            ("{ __typename }", ["__typename": "Query"]),
            ("{ a: __typename ... on Query { b: __typename } }", ["a": "Query", "b": "Query"]),
        ] as [(String, Value)])
    func typenameIsAllowed(query: String, data: Value) async throws {
        let response = try await Self.server().client.execute(query)
        #expect(response == ["data": data])
    }

    @Test func theSchemaFileIsNotServed() async throws {
        #expect(try await Self.server().client.send("GET", "/schema.graphql").status == 404)
    }

    @Test func manifestsAreCheckedWithTheSameSetting() async throws {
        let installation = try await Self.installation()
        let outcome = try await installation.admin(
            ["documents", "sync", "manifest.json"], ["BOOKPLATE_INTROSPECTION": "off"])
        #expect(outcome.code == 2)
        #expect(outcome.errors.contains("BOOKPLATE_INTROSPECTION=on"), "\(outcome.errors)")
    }

    @Test func worksIfEnabled() async throws {
        let server = try await Self.installation().startServer([
            "BOOKPLATE_ENV": "development", "BOOKPLATE_INTROSPECTION": "on",
        ])
        let response = try await server.client.execute(Self.text)
        #expect(response["data", "__schema", "queryType", "name"] == "Query")
    }
}
