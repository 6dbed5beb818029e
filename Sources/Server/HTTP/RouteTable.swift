import NIOHTTP1

/// One method of one path, or of all that begin with one: `/covers/*`.
package final class Route {
    package let method: HTTPMethod
    package let path: String
    package let bodyBytesMax: Int
    /// Whether pages of other origins may call it and read its answer; a path's routes agree on this.
    package let allowsOtherOrigins: Bool
    /// Judges a request by its head, before its body is read; nil admits all.
    package let admit: ((HTTPRequest) -> Admission)?
    /// For those who ask for a WebSocket instead.
    package let webSocket: WebSocketEndpoint?
    /// Answers what needs no waiting, without the cost of a task; nil leaves the request to `respond`.
    package let respondAtOnce: ((HTTPRequest) -> HTTPResponse?)?
    /// Runs on the event loop that the route was made for.
    package let respond: (HTTPRequest) async -> HTTPResponse
    /// What counts its answers, once there was one.
    var counts: RouteCounts?

    package init(
        _ method: HTTPMethod, _ path: String, bodyBytesMax: Int = 0,
        allowsOtherOrigins: Bool = false, admit: ((HTTPRequest) -> Admission)? = nil,
        webSocket: WebSocketEndpoint? = nil,
        respondAtOnce: ((HTTPRequest) -> HTTPResponse?)? = nil,
        respond: @escaping (HTTPRequest) async -> HTTPResponse
    ) {
        self.method = method
        self.path = path
        self.bodyBytesMax = bodyBytesMax
        self.allowsOtherOrigins = allowsOtherOrigins
        self.admit = admit
        self.webSocket = webSocket
        self.respondAtOnce = respondAtOnce
        self.respond = respond
    }
}

/// What becomes of a request whose head is known.
package enum Admission {
    case accepted(bodyBytesMax: Int)
    case refused(HTTPProblem)
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
        /// With what the paths of those begin that end in `*`.
        let text: String
        let isBeginning: Bool
        let routes: [Route]
        let allow: String

        init(_ path: String, _ routes: [Route]) {
            isBeginning = path.last == "*"
            text = isBeginning ? String(path.dropLast()) : path
            self.routes = routes
            allow = RouteTable.allow(routes)
        }

        func matches(_ path: Substring) -> Bool {
            isBeginning ? path.utf8.starts(with: text.utf8) : path == text
        }
    }

    /// Whole paths first. There are few: looking at all of them takes less time than a hash of one.
    private let paths: [Path]
    /// The methods of all paths together, for `OPTIONS *`.
    let allow: String

    init(_ routes: [Route]) {
        let all = Dictionary(grouping: routes, by: \.path).map { Path($0.key, $0.value) }
        paths = all.filter { !$0.isBeginning } + all.filter(\.isBeginning)
        allow = Self.allow(routes)
    }

    /// The value of an `Allow` header for these routes, each method once.
    private static func allow(_ routes: [Route]) -> String {
        var methods: [String] = []
        for method in routes.map(\.method.rawValue) where !methods.contains(method) {
            methods.append(method)
        }
        if methods.contains("GET") { methods.append("HEAD") }
        return (methods + ["OPTIONS"]).joined(separator: ", ")
    }

    private func path(_ path: Substring) -> Path? { paths.first { $0.matches(path) } }

    /// Whether pages of other origins may use the path.
    func allowsOtherOrigins(path: Substring) -> Bool {
        self.path(path)?.routes.contains(where: \.allowsOtherOrigins) ?? false
    }

    func find(_ method: HTTPMethod, path: Substring) -> Match {
        guard let path = self.path(path) else { return .notFound }
        let wanted = method == .HEAD ? .GET : method
        if let route = path.routes.first(where: { $0.method == wanted }) { return .route(route) }
        return method == .OPTIONS
            ? .options(allow: path.allow) : .methodNotAllowed(allow: path.allow)
    }
}
