import NIOHTTP1

/// The handler of one method of a path, or of all paths with a prefix, such as `/covers/*`.
package final class Route {
    /// nil handles all methods.
    package let method: HTTPMethod?
    package let path: String
    package let bodyBytesMax: Int
    /// Whether a body may be compressed with gzip. Its contents can then have at most `bodyBytesMax`.
    let acceptsGzip: Bool
    /// Whether pages of other origins may call it and read its response. All routes of a path have the same value.
    package let allowsOtherOrigins: Bool
    /// Checks a request's head before the body is read. nil accepts all requests.
    package let checkHead: ((HTTPRequest) -> HeadCheck)?
    /// Serves requests for a WebSocket on this path.
    package let webSocket: WebSocketEndpoint?
    /// Returns a response without the cost of a task if no waiting is needed. nil leaves the request to `respond`.
    package let respondSynchronously: ((HTTPRequest) -> HTTPResponse?)?
    /// Handles a request, on the event loop that the route was created for.
    package let respond: (HTTPRequest) async -> HTTPResponse
    /// The metrics of this route, created with the first response.
    var counts: RouteCounts?

    package init(
        _ method: HTTPMethod?, _ path: String, bodyBytesMax: Int = 0, acceptsGzip: Bool = false,
        allowsOtherOrigins: Bool = false, checkHead: ((HTTPRequest) -> HeadCheck)? = nil,
        webSocket: WebSocketEndpoint? = nil,
        respondSynchronously: ((HTTPRequest) -> HTTPResponse?)? = nil,
        respond: @escaping (HTTPRequest) async -> HTTPResponse
    ) {
        self.method = method
        self.path = path
        self.bodyBytesMax = bodyBytesMax
        self.acceptsGzip = acceptsGzip
        self.allowsOtherOrigins = allowsOtherOrigins
        self.checkHead = checkHead
        self.webSocket = webSocket
        self.respondSynchronously = respondSynchronously
        self.respond = respond
    }
}

/// The result of checking a request's head.
package enum HeadCheck {
    /// - Parameter isStored: Whether the body is written to a file, which the request has as `storedBody`, instead of memory.
    case accepted(bodyBytesMax: Int, isStored: Bool = false)
    case refused(HTTPProblem)
}

/// All routes of a server by path and method. HEAD requests use the routes of GET.
struct RouteTable {
    enum Match {
        case route(Route)
        /// An OPTIONS request. `allow` lists the methods of the path.
        case options(allow: String)
        case methodNotAllowed(allow: String)
        case notFound
    }

    private final class Path {
        /// The path, or the prefix without its `*`.
        let text: String
        let byteCount: Int
        let isPrefix: Bool
        let routes: [Route]
        let allow: String

        init(_ path: String, _ routes: [Route]) {
            isPrefix = path.last == "*"
            text = isPrefix ? String(path.dropLast()) : path
            byteCount = text.utf8.count
            self.routes = routes
            allow = RouteTable.allow(routes)
        }

        func matches(_ path: Substring, byteCount: Int) -> Bool {
            if isPrefix {
                return byteCount >= self.byteCount && path.utf8.starts(with: text.utf8)
            }
            return byteCount == self.byteCount && path == text
        }
    }

    /// Whole paths come before prefixes, and long prefixes before short ones. There are few paths, and few of them have the
    /// same length, so comparing all of them takes less time than hashing one.
    private let paths: [Path]
    /// The methods of all paths, for `OPTIONS *`.
    let allow: String

    init(_ routes: [Route]) {
        let all = Dictionary(grouping: routes, by: \.path).map { Path($0.key, $0.value) }
        paths =
            all.filter { !$0.isPrefix }
            + all.filter(\.isPrefix).sorted { $0.byteCount > $1.byteCount }
        allow = Self.allow(routes)
    }

    /// Returns the value of an `Allow` header for these routes, with each method once.
    private static func allow(_ routes: [Route]) -> String {
        var methods: [String] = []
        for method in routes.compactMap(\.method?.rawValue) where !methods.contains(method) {
            methods.append(method)
        }
        if methods.contains("GET") { methods.append("HEAD") }
        return (methods + ["OPTIONS"]).joined(separator: ", ")
    }

    private func path(_ path: Substring) -> Path? {
        let byteCount = path.utf8.count
        return paths.first { $0.matches(path, byteCount: byteCount) }
    }

    /// Returns whether the path allows cross-origin requests.
    func allowsOtherOrigins(path: Substring) -> Bool {
        self.path(path)?.routes.contains(where: \.allowsOtherOrigins) ?? false
    }

    func find(_ method: HTTPMethod, path: Substring) -> Match {
        guard let path = self.path(path) else { return .notFound }
        let requested = method == .HEAD ? .GET : method
        if let route = path.routes.first(where: { $0.method == nil || $0.method == requested }) {
            return .route(route)
        }
        return method == .OPTIONS
            ? .options(allow: path.allow) : .methodNotAllowed(allow: path.allow)
    }
}
