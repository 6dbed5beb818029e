import GraphQL
import GraphQLNIO

/// Serves the schema of graphql.org's examples. The first argument is the port.
@main
struct Starwars {
    static func main() async throws {
        let port = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 8080
        try await GraphQLServer(schema(), port: port).run()
    }

    /// The plugin GraphQLTypes generates this initializer, and `QueryFields`, from `schema.graphql`.
    static func schema() throws -> ExecutableSchema<NoContext> {
        try ExecutableSchema(query: Query())
    }
}

struct Query: QueryFields {
    func hero(episode: Episode?, _ request: FieldRequest<NoContext>) -> any Character {
        episode == .empire ? luke : artoo
    }

    func human(id: String, _ request: FieldRequest<NoContext>) -> Human? {
        characters[id] as? Human
    }

    func droid(id: String, _ request: FieldRequest<NoContext>) -> Droid? {
        characters[id] as? Droid
    }
}
