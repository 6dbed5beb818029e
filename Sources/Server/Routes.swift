import GraphQL
import NIOCore
import Telemetry

/// Whether the server can serve, and if not, why.
package enum Readiness: Sendable, Equatable {
    case ready
    /// A word for the operator, without secrets.
    case notReady(String)
}

/// The routes that every server has, for one event loop.
///
/// - Parameters:
///   - batchRequestsMax: How many requests one body may have in a list; 0 where lists are not taken.
///   - schemaText: The SDL; nil where clients may not read it.
///   - explorer: The page that browsers get; nil where they get none.
///   - objects: What is behind the plain addresses of pictures, with the size of one in bytes; nil where there
///     are none.
///   - socketOrigins: Whose pages may open a WebSocket.
///   - responseBytesMax: The limit on the response to a list of requests. The service limits single responses.
///   - unread: Counts the responses that clients have not read; the same as the server has.
///   - metrics: What `/metrics` tells.
///   - readiness: Asked by `/health/ready` each time.
package func standardRoutes(
    loop: any EventLoop, service: any GraphQLService, bodyBytesMax: Int,
    batchRequestsMax: Int = 0, explorer: Explorer?, schemaText: String?,
    socketOrigins: AllowedOrigins = AllowedOrigins([]),
    objects: (service: any ObjectService, bytesMax: Int)? = nil,
    responseBytesMax: Int = .max, unread: UnreadBytes = UnreadBytes(),
    metrics: Metrics = Metrics(), readiness: @escaping () async -> Readiness
) -> [Route] {
    var routes = GraphQLEndpoint(
        service: service, loop: loop, page: explorer?.page, bodyBytesMax: bodyBytesMax,
        batchRequestsMax: batchRequestsMax,
        // Besides the file, what describes it.
        multipartBytesMax: bodyBytesMax + (objects?.bytesMax ?? 0), socketOrigins: socketOrigins,
        responseBytesMax: responseBytesMax, unread: unread
    ).routes
    if let (service, bytesMax) = objects {
        routes += ObjectEndpoint(service: service, bodyBytesMax: bytesMax).routes
    }
    routes += explorer?.routes(bodyBytesMax: bodyBytesMax) ?? []
    if let schemaText {
        let asset = Asset(Array(schemaText.utf8), contentType: "text/plain; charset=utf-8")
        routes.append(Route(.GET, "/schema.graphql") { asset.response(to: $0) })
    }
    return routes + healthRoutes(readiness) + [metricsRoute(metrics)]
}
