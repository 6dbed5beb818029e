import GraphQL
import GraphQLServing
import Testing

/// The types and protocols that the plugin GraphQLTypes generates for the `schema.graphql` of this target.
@Suite struct GeneratedTypesTests {
    @Test(
        arguments: [
            (
                "{ books(first: 1) { id title pages published genre tags price readers } }",
                #"{"books":[{"id":"1","title":"Emma","pages":474,"published":"1815-12-23","genre":"NOVEL","#
                    + #""tags":["a","b"],"price":474,"readers":4}]}"#
            ),
            (
                "{ books { price(currency: usd) similar { __typename id } } }",
                #"{"books":[{"price":948,"similar":[{"__typename":"Book","id":"2"},null]},"#
                    + #"{"price":null,"similar":[{"__typename":"Book","id":"1"},null]}]}"#
            ),
            (
                #"{ search(text: "x") { ... on Book { title } ... on Author { name } } node(id: "9") { id } }"#,
                #"{"search":[{"title":"Emma"},{"name":"x"}],"node":null}"#
            ),
            (
                #"{ day(day: "2026-01-31") grid }"#,
                #"{"day":"2026-01-31","grid":[[1,null],[]]}"#
            ),
            (
                #"{ pet(pet: {pair: [{cat: "a"}, {where: {cat: "b"}}]}) }"#,
                #"{"pet":"a+(b)"}"#
            ),
            (
                "{ keywords { default self init Type class(in: 7) _ } }",
                #"{"keywords":{"default":"default","self":1,"init":2,"Type":3,"class":7,"_":true}}"#
            ),
            (
                #"mutation { review(input: {day: "2026-01-31", extra: [{a: 1}]}) { stars text } }"#,
                #"{"review":{"stars":5,"text":"2026-01-31"}}"#
            ),
        ])
    func resolvesOperations(query: String, expected: String) async throws {
        #expect(try await respond(query).body == #"{"data":\#(expected)}"#)
    }

    @Test func loadsAllObjectsOfALevelWithOneCall() async throws {
        let query = """
            { books(filter: {not: {genres: [IN]}, pages: {}}) { readers author { books { readers } } } }
            """
        let calls = try await respond(query).calls
        #expect(calls.first == "books min 0 not IN" && calls.last == "readers of 2", "\(calls)")
        // The two fields of the second level are loaded at the same time.
        #expect(
            calls.sorted() == [
                "author of 2", "books min 0 not IN", "readers of 2", "readers of 2",
            ])
    }

    @Test(
        arguments: [
            (
                #"{ day(day: "today") }"#,
                #"Day cannot represent the value "today"."#
            ),
            ("{ books { similar(first: null) { id } } }", "first is null."),
        ])
    func reportsInvalidInputs(query: String, message: String) async throws {
        let text = try await respond(query).body
        #expect(text.contains(message.replacing("\"", with: "\\\"")), "\(text)")
    }

    @Test func streamsEvents() async throws {
        let service = SchemaService(try Self.schema()) { _ in CallLog() }
        let request = GraphQLRequest(query: "subscription { reviews { stars } }")
        guard case .responses(let stream) = await service.execute(request) else {
            Issue.record("the operation is not a subscription")
            return
        }
        var events: [String] = []
        while let response = try await stream.next() {
            events.append(String(decoding: response.body, as: UTF8.self))
        }
        #expect(
            events == [
                #"{"data":{"reviews":{"stars":4}}}"#, #"{"data":{"reviews":{"stars":5}}}"#,
            ])
    }

    private static func schema() throws -> ExecutableSchema<CallLog> {
        try ExecutableSchema(
            query: Queries(), mutation: Mutations(), subscription: Subscriptions())
    }

    private func respond(_ query: String) async throws -> (body: String, calls: [String]) {
        let log = CallLog()
        let service = SchemaService(try Self.schema()) { _ in log }
        let response = await service.respond(to: GraphQLRequest(query: query))
        return (String(decoding: response.body, as: UTF8.self), log.calls)
    }
}
