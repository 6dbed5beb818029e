import NIOHTTP1

/// One method of one path.
package struct Route {
    package let method: HTTPMethod
    package let path: String
    package let bodyBytesMax: Int
    /// Whether pages of other origins may call it and read its answer; a path's routes agree on this.
    package let allowsOtherOrigins: Bool
    /// For those who ask for a WebSocket instead.
    package let webSocket: WebSocketEndpoint?
    /// Runs on the event loop that the route was made for.
    package let respond: (HTTPRequest) async -> HTTPResponse

    package init(
        _ method: HTTPMethod, _ path: String, bodyBytesMax: Int = 0,
        allowsOtherOrigins: Bool = false, webSocket: WebSocketEndpoint? = nil,
        respond: @escaping (HTTPRequest) async -> HTTPResponse
    ) {
        self.method = method
        self.path = path
        self.bodyBytesMax = bodyBytesMax
        self.allowsOtherOrigins = allowsOtherOrigins
        self.webSocket = webSocket
        self.respond = respond
    }
}

/// All routes of a server, by path and method; HEAD goes where GET goes.
struct RouteTable {
    enum Match {
        case route(Route)
        /// OPTIONS, with the methods that the path has.
        case options(allow: String)
        case methodNotAllowed(allow: String)
        case notFound
    }

    private struct Path {
        var routes: [Route]
        var allow: String
    }

    private let paths: [Substring: Path]

    init(_ routes: [Route]) {
        paths = Dictionary(grouping: routes) { $0.path[...] }.mapValues { routes in
            var methods = routes.map(\.method.rawValue)
            if methods.contains("GET") { methods.append("HEAD") }
            return Path(
                routes: routes, allow: (methods + ["OPTIONS"]).joined(separator: ", "))
        }
    }

    /// Whether pages of other origins may use the path.
    func allowsOtherOrigins(path: Substring) -> Bool {
        paths[path]?.routes.contains(where: \.allowsOtherOrigins) ?? false
    }

    func find(_ method: HTTPMethod, path: Substring) -> Match {
        guard let path = paths[path] else { return .notFound }
        let wanted = method == .HEAD ? .GET : method
        if let route = path.routes.first(where: { $0.method == wanted }) { return .route(route) }
        return method == .OPTIONS
            ? .options(allow: path.allow) : .methodNotAllowed(allow: path.allow)
    }
}
