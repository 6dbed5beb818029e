import GraphQL
import NIOCore

/// Whether the server can serve, and if not, why.
package enum Readiness: Sendable, Equatable {
    case ready
    /// A word for the operator, without secrets.
    case notReady(String)
}

/// The routes that every server has, for one event loop.
///
/// - Parameters:
///   - schemaText: The SDL; nil where clients may not read it.
///   - hasExplorer: Whether browsers get the explorer page.
///   - objects: What is behind the plain addresses of pictures, with the size of one in bytes; nil where there
///     are none.
///   - socketOrigins: Whose pages may open a WebSocket.
///   - readiness: Asked by `/health/ready` each time.
package func standardRoutes(
    loop: any EventLoop, service: any GraphQLService, bodyBytesMax: Int, hasExplorer: Bool,
    schemaText: String?, socketOrigins: AllowedOrigins = AllowedOrigins([]),
    objects: (service: any ObjectService, bytesMax: Int)? = nil,
    readiness: @escaping () async -> Readiness
) -> [Route] {
    var routes = GraphQLEndpoint(
        service: service, loop: loop, page: hasExplorer ? Explorer.page : nil,
        bodyBytesMax: bodyBytesMax,
        // Besides the file, what describes it.
        multipartBytesMax: bodyBytesMax + (objects?.bytesMax ?? 0), socketOrigins: socketOrigins
    ).routes
    if let (service, bytesMax) = objects {
        routes += ObjectEndpoint(service: service, bodyBytesMax: bytesMax).routes
    }
    if hasExplorer { routes += Explorer.routes }
    if let schemaText {
        let asset = Asset(Array(schemaText.utf8), contentType: "text/plain; charset=utf-8")
        routes.append(Route(.GET, "/schema.graphql") { asset.response(to: $0) })
    }
    return routes + healthRoutes(readiness)
}
