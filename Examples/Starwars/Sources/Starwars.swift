import GraphQL
import GraphQLNIO

/// Serves the schema of graphql.org's examples. The first argument is the port.
@main
struct Starwars {
    static func main() async throws {
        let port = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 8080
        try await GraphQLServer(schema(), port: port).run()
    }

    static func schema() throws -> ExecutableSchema<NoContext> {
        let sdl = String(decoding: PackageResources.schema_graphql, as: UTF8.self)
        return try ExecutableSchema(sdl) { resolvers in
            resolvers.query.field("hero") { request -> any Character in
                request.arguments["episode"]?.string == "EMPIRE" ? luke : artoo
            }
            resolvers.query.field("human") { request in
                characters[request.arguments["id"]?.string ?? ""] as? Human
            }
            resolvers.query.field("droid") { request in
                characters[request.arguments["id"]?.string ?? ""] as? Droid
            }
            let human = resolvers.type("Human", Human.self)
            addFields(to: human)
            human.field("homePlanet", \.homePlanet)
            let droid = resolvers.type("Droid", Droid.self)
            addFields(to: droid)
            droid.field("primaryFunction", \.primaryFunction)
        }
    }

    /// Adds the fields of the interface, which each of its types has.
    static func addFields(to type: ObjectResolvers<some Character, NoContext>) {
        type.field("id") { $0.id }
        type.field("name") { $0.name }
        type.field("appearsIn") { $0.appearsIn }
        // One call for all characters of a level. A database would be asked once for all ids.
        type.batch("friends") { parents, _ in
            parents.map { $0.friendIDs.compactMap { characters[$0] } }
        }
    }
}
