import GraphQL
import GraphQLServing
import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import SocketClient
import Synchronization
import Testing

@testable import GraphQLNIO

/// A server with the bootstrap of another program. All connections have the same event loop, so when one has ended because of a
/// shutdown, the others know of it.
struct ExistingServer {
    let channel: any Channel
    let port: Int
    let graphql: GraphQLChannels
    let held: HeldField
    /// The accepted channels.
    let children: ChannelList

    static func run(
        tls: NIOSSLContext? = nil, bodyBytesMax: Int = 1 << 20,
        trustedProxies: TrustedProxies = TrustedProxies(),
        _ test: (ExistingServer) async throws -> Void
    ) async throws {
        let held = HeldField()
        var options = GraphQLServer.Options()
        options.bodyBytesMax = bodyBytesMax
        options.trustedProxies = trustedProxies
        options.logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        options.otherRequests = { other($0) }
        let graphql = GraphQLChannels(try schema(held), options: options)
        let children = ChannelList()
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton.next())
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let tls {
                        try channel.pipeline.syncOperations.addHandler(
                            NIOSSLServerHandler(context: tls))
                    }
                    try graphql.addHandlers(to: channel)
                    children.append(channel)
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let server = ExistingServer(
            channel: channel, port: channel.localAddress?.port ?? 0, graphql: graphql, held: held,
            children: children)
        let result: Result<Void, any Error>
        do {
            result = .success(try await test(server))
        } catch {
            result = .failure(error)
        }
        held.release()
        try? await channel.close()
        await graphql.shutDown()
        try result.get()
    }

    /// Sends the event of `ServerQuiescingHelper` to all connections.
    func quiesce() {
        for child in children.all {
            child.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        }
    }

    private static func schema(_ held: HeldField) throws -> ExecutableSchema<NoContext> {
        try ExecutableSchema(
            """
            type Query { name: String!  held: String! }
            type Mutation { hold: String! }
            type Subscription { count(to: Int!): Int!  heldCount: Int! }
            """, hasIncrementalDelivery: true
        ) { resolvers in
            resolvers.mutation.field("hold") { _ in await held.value() }
            resolvers.subscription.stream("heldCount") { _ in
                _ = await held.value()
                return held.endless.stream
            }
            resolvers.query.field("name") { _ in "Ada" }
            resolvers.query.field("held") { _ in await held.value() }
            resolvers.subscription.stream("count") { request in
                AsyncStream { events in
                    for number in 1...(request.arguments["to"]?.int ?? 1) { events.yield(number) }
                    events.finish()
                }
            }
        }
    }

    private static func other(_ request: OtherRequest) -> OtherResponse? {
        switch (request.method, request.path) {
        case (.GET, "/hello"):
            OtherResponse(
                .ok,
                text: "\(request.method.rawValue) \(request.path) \(request.query ?? "") "
                    + (request.headers.first(name: "x-mood") ?? "none"))
        case (_, "/echo"): OtherResponse(.ok, body: request.body)
        case (.GET, "/headers"):
            OtherResponse(
                .ok,
                headers: [
                    "Location": "/a\r\nb", "a: b\r\nc": "d", "Content-Length": "1",
                    "Connection": "close", "Transfer-Encoding": "chunked",
                ], body: ByteBuffer(string: "four"))
        case (.GET, "/informational"):
            OtherResponse(.custom(code: 103, reasonPhrase: "Early Hints"))
        case (.GET, "/phrase"):
            OtherResponse(.custom(code: 299, reasonPhrase: "Fine\r\na: b"))
        case (.GET, "/client"):
            OtherResponse(.ok, text: "\(request.client?.low ?? 0) \(request.id)")
        default: nil
        }
    }
}

final class ChannelList: Sendable {
    private let channels = Mutex<[any Channel]>([])
    private let additions = AsyncStream.makeStream(of: Void.self)

    var all: [any Channel] { channels.withLock { $0 } }

    func append(_ channel: any Channel) {
        channels.withLock { $0.append(channel) }
        additions.continuation.yield()
    }

    /// Waits for the first channel.
    func first() async { _ = await additions.stream.first { _ in true } }
}

/// A field whose value a test releases.
final class HeldField: Sendable {
    private let starts = AsyncStream.makeStream(of: Void.self)
    private let releases = AsyncStream.makeStream(of: Void.self)
    /// Events that never come.
    let endless = AsyncStream.makeStream(of: Int.self)

    func value() async -> String {
        starts.continuation.yield()
        for await _ in releases.stream {}
        return "released"
    }

    /// Waits until a request runs.
    func started() async { _ = await starts.stream.first { _ in true } }

    func release() { releases.continuation.finish() }
}
