import GraphQL
import GraphQLHummingbird
import Hummingbird

struct Book {
    var title: String
    var pages: Int?
}

/// Serves the schema of the example GettingStarted with Hummingbird. The first argument is the port.
@main
struct HummingbirdExample {
    static func main() async throws {
        let port = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 8080
        let router = Router()
        router.get("/") { _, _ in "GraphQL is at /graphql.\n" }
        router.graphQL("graphql", try schema()) { _ in NoContext() }
        let application = Application(
            router: router,
            configuration: .init(address: .hostname("127.0.0.1", port: port)))
        try await application.runService()
    }

    static func schema() throws -> ExecutableSchema<NoContext> {
        try ExecutableSchema(
            """
            type Query { books(first: Int! = 10): [Book!]! }
            type Mutation { add(title: String!): Book! }
            type Subscription { countdown(from: Int!): Int! }
            type Book { title: String!  pages: Int }
            """
        ) { resolvers in
            let books = [Book(title: "Emma", pages: 474), Book(title: "Sanditon")]
            resolvers.query.field("books") { request in
                Array(books.prefix(max(0, try request.arguments.value("first"))))
            }
            resolvers.mutation.field("add") { request in
                Book(title: try request.arguments.value("title"))
            }
            resolvers.subscription.stream("countdown") { request in
                let from: Int = try request.arguments.value("from")
                return AsyncStream { events in
                    for number in (0...min(max(0, from), 100)).reversed() { events.yield(number) }
                    events.finish()
                }
            }
            let book = resolvers.type("Book", Book.self)
            book.field("title", \.title)
            book.field("pages", \.pages)
        }
    }
}
