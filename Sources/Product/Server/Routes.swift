import GraphQL
import GraphQLExplorer
import GraphQLNIO
import GraphQLServing
import NIOCore
import Telemetry

/// Whether the server can serve requests, and the reason if it cannot.
package enum ReadinessStatus: Sendable, Equatable {
    case ready
    /// The reason, for the operator. It contains no secrets.
    case notReady(String)
}

/// Returns the routes that every server has, for one event loop.
///
/// - Parameters:
///   - batchRequestsMax: The maximum number of requests in a JSON array. 0 disables request arrays.
///   - schemaText: The schema in SDL. nil if clients may not read it.
///   - explorer: The page for browsers. nil disables it.
///   - objects: The service that handles image URLs, the maximum size of an uploaded image in bytes, and the maximum number of files
///     that are kept open. nil disables these routes.
///   - socketOrigins: The origins whose pages may open a WebSocket.
///   - responseBytesMax: The limit on the response to an array of requests. The service limits single responses.
///   - unread: Counts the responses that clients have not read. Must be the instance that the server uses.
///   - metrics: The metrics that `/metrics` returns.
///   - shutdown: Must be the instance that the server uses.
///   - readiness: Called for every request to `/health/ready`.
package func standardRoutes(
    loop: any EventLoop, service: any GraphQLService, bodyBytesMax: Int,
    batchRequestsMax: Int = 0, explorer: Explorer?, schemaText: String?,
    socketOrigins: AllowedOrigins = AllowedOrigins([]),
    objects: (service: any ObjectService, bytesMax: Int, filesMax: Int)? = nil,
    responseBytesMax: Int = .max, unread: UnreadBytes = UnreadBytes(),
    metrics: Metrics = Metrics(), shutdown: ShutdownState = ShutdownState(),
    readiness: @escaping () async -> ReadinessStatus
) -> [Route] {
    var routes = GraphQLEndpoint(
        service: service, loop: loop, page: explorer?.page, bodyBytesMax: bodyBytesMax,
        batchRequestsMax: batchRequestsMax,
        // The body contains the file and the JSON that describes it.
        multipartBytesMax: bodyBytesMax + (objects?.bytesMax ?? 0), socketOrigins: socketOrigins,
        responseBytesMax: responseBytesMax, unread: unread
    ).routes
    if let (service, bytesMax, filesMax) = objects {
        routes +=
            ObjectEndpoint(service: service, bodyBytesMax: bytesMax, filesMax: filesMax)
            .routes
    }
    routes += explorer?.routes(bodyBytesMax: bodyBytesMax) ?? []
    if let schemaText { routes.append(schemaRoute(schemaText)) }
    return routes + healthRoutes(shutdown, readiness) + [metricsRoute(metrics)]
}
