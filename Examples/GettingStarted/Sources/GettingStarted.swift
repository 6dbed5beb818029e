import GraphQL
import GraphQLNIO

struct Book {
    var title: String
    var pages: Int?
}

@main
struct GettingStarted {
    static func main() async throws {
        let port = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 8080
        try await GraphQLServer(schema(), port: port).run()
    }

    static func schema() throws -> ExecutableSchema<NoContext> {
        try ExecutableSchema(
            """
            type Query { books(first: Int! = 10): [Book!]! }
            type Subscription { countdown(from: Int!): Int! }
            type Book { title: String!  pages: Int }
            """
        ) { resolvers in
            let books = [Book(title: "Emma", pages: 474), Book(title: "Sanditon")]
            resolvers.query.field("books") { request in
                Array(books.prefix(max(0, request.arguments["first"]?.int ?? 0)))
            }
            resolvers.subscription.stream("countdown") { request in
                AsyncStream { events in
                    let from = min(max(0, request.arguments["from"]?.int ?? 0), 100)
                    for number in (0...from).reversed() { events.yield(number) }
                    events.finish()
                }
            }
            let book = resolvers.type("Book", Book.self)
            book.field("title", \.title)
            book.field("pages", \.pages)
        }
    }
}
