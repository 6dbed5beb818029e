import GraphQL
import GraphQLNIO

/// Serves a chat with a subscription. The first argument is the port.
@main
struct Subscriptions {
    static func main() async throws {
        let port = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 8080
        try await GraphQLServer(schema(of: Room()), port: port).run()
    }

    static func schema(of room: Room) throws -> ExecutableSchema<NoContext> {
        let sdl = String(decoding: PackageResources.schema_graphql, as: UTF8.self)
        return try ExecutableSchema(sdl) { resolvers in
            resolvers.query.field("messages") { _ in room.messages }
            resolvers.mutation.field("post") { request in
                room.post(request.arguments["text"]?.string ?? "")
            }
            resolvers.subscription.stream("posted") { _ in room.newMessages() }
            let message = resolvers.type("Message", Message.self)
            message.field("number", \.number)
            message.field("text", \.text)
        }
    }
}
