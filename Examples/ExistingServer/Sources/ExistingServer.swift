import Dispatch
import Glibc
import GraphQL
import GraphQLNIO
import NIOCore
import NIOHTTP1
import NIOPosix

/// Adds GraphQL to the channels of a SwiftNIO server. The first argument is the port.
@main
struct ExistingServer {
    static func main() async throws {
        let port = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 8080
        var options = GraphQLServer.Options()
        options.otherRequests = { respond(to: $0) }
        let graphql = GraphQLChannels(try schema(), options: options)
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    // A NIOSSLServerHandler for TLS belongs here.
                    try graphql.addHandlers(to: channel)
                }
            }
            .bind(host: "127.0.0.1", port: port).get()
        print("listening on http://127.0.0.1:\(server.localAddress?.port ?? port)/graphql")
        fflush(nil)

        await stopSignal()
        try await server.close()
        await graphql.shutDown()
    }

    static func schema() throws -> ExecutableSchema<NoContext> {
        try ExecutableSchema(
            """
            type Query { hello(name: String!): String! }
            type Subscription { countdown(from: Int!): Int! }
            """
        ) { resolvers in
            resolvers.query.field("hello") { request in
                "Hello, \(request.arguments["name"]?.string ?? "")!"
            }
            resolvers.subscription.stream("countdown") { request in
                AsyncStream { events in
                    let from = min(max(0, request.arguments["from"]?.int ?? 0), 100)
                    for number in (0...from).reversed() { events.yield(number) }
                    events.finish()
                }
            }
        }
    }

    /// Responds to the requests for other paths than `/graphql`.
    static func respond(to request: OtherRequest) -> OtherResponse? {
        switch (request.method, request.path) {
        case (.GET, "/health"): OtherResponse(.ok, text: "ok\n")
        case (.POST, "/echo"): OtherResponse(.ok, body: request.body)
        default: nil
        }
    }

    /// Waits for Control-C or `kill`.
    private static func stopSignal() async {
        let (signals, continuation) = AsyncStream.makeStream(of: Void.self)
        let sources = [SIGINT, SIGTERM].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number)
            source.setEventHandler { continuation.yield() }
            source.resume()
            return source
        }
        for await _ in signals { break }
        withExtendedLifetime(sources) {}
    }
}
