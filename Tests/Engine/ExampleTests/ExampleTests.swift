import FoundationEssentials
import GraphQL
import GraphQLServing
import Testing

@testable import GettingStarted
@testable import Starwars
@testable import Subscriptions

/// The example packages, built as targets of this package. `scripts/check examples` builds them as packages of their own.
@Suite struct ExampleTests {
    @Test(
        arguments: [
            (
                "{ books(first: 1) { title pages } }",
                #"{"data":{"books":[{"title":"Emma","pages":474}]}}"#
            ),
            (
                "{ books { title pages } }",
                #"{"data":{"books":[{"title":"Emma","pages":474},{"title":"Sanditon","pages":null}]}}"#
            ),
        ])
    func gettingStartedReturnsBooks(query: String, expected: String) async throws {
        #expect(await respond(try GettingStarted.schema(), query) == expected)
    }

    @Test func gettingStartedCountsDown() async throws {
        let service = SchemaService(try GettingStarted.schema()) { _ in NoContext() }
        #expect(
            try await events(of: service, "subscription { countdown(from: 1) }", count: 2) == [
                #"{"data":{"countdown":1}}"#, #"{"data":{"countdown":0}}"#,
            ])
    }

    @Test(
        arguments: [
            (
                "{ hero(episode: EMPIRE) { __typename name appearsIn friends { name } } }",
                #"{"data":{"hero":{"__typename":"Human","name":"Luke Skywalker","#
                    + #""appearsIn":["NEWHOPE","EMPIRE","JEDI"],"#
                    + #""friends":[{"name":"Han Solo"},{"name":"Leia Organa"},{"name":"R2-D2"}]}}}"#
            ),
            (
                #"{ hero { ... on Droid { primaryFunction } } human(id: "1003") { homePlanet } }"#,
                #"{"data":{"hero":{"primaryFunction":"Astromech"},"human":{"homePlanet":"Alderaan"}}}"#
            ),
            (#"{ human(id: "2001") { id } }"#, #"{"data":{"human":null}}"#),
        ])
    func starwarsResolvesCharacters(query: String, expected: String) async throws {
        #expect(await respond(try Starwars.schema(), query) == expected)
    }

    @Test func subscribersReceiveNewMessages() async throws {
        let service = SchemaService(try Subscriptions.schema(of: Room())) { _ in NoContext() }
        let request = GraphQLRequest(query: "subscription { posted { number text } }")
        guard case .responses(let stream) = await service.execute(request) else {
            Issue.record("the operation is not a subscription")
            return
        }
        let mutation = GraphQLRequest(query: #"mutation { post(text: "Hello") { number } }"#)
        #expect(
            String(decoding: await service.respond(to: mutation).body, as: UTF8.self)
                == #"{"data":{"post":{"number":1}}}"#)
        let response = try await stream.next()
        #expect(
            response.map { String(decoding: $0.body, as: UTF8.self) }
                == #"{"data":{"posted":{"number":1,"text":"Hello"}}}"#)
    }

    /// The guides show the code of an example as it is.
    @Test(
        arguments: [
            "docs/how-to/use-the-graphql-engine.md",
            "Sources/Engine/GraphQL/GraphQL.docc/GettingStarted.md",
        ])
    func guideContainsExample(guide: String) throws {
        let root = #filePath.split(separator: "/", omittingEmptySubsequences: false)
            .dropLast(4).joined(separator: "/")
        func text(_ path: String) throws -> String {
            try String(contentsOfFile: "\(root)/\(path)", encoding: .utf8)
        }
        let code = try text("Examples/GettingStarted/Sources/GettingStarted.swift")
        #expect(try text(guide).contains("```swift\n\(code)```"))
    }

    private func respond(_ schema: ExecutableSchema<NoContext>, _ query: String) async -> String {
        let service = SchemaService(schema) { _ in NoContext() }
        return String(
            decoding: await service.respond(to: GraphQLRequest(query: query)).body, as: UTF8.self)
    }

    private func events(
        of service: SchemaService<NoContext>, _ query: String, count: Int
    ) async throws -> [String] {
        guard case .responses(let stream) = await service.execute(GraphQLRequest(query: query))
        else { return [] }
        var events: [String] = []
        while events.count < count, let response = try await stream.next() {
            events.append(String(decoding: response.body, as: UTF8.self))
        }
        return events
    }
}
