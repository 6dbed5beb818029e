import Basics
import GraphQLServing
import NIOCore
import NIOHTTP1

/// A complete request.
package struct HTTPRequest: Sendable {
    package var method: HTTPMethod
    /// The path and query as they were sent, not decoded.
    package var target: RequestTarget
    private let storedHeaders: StoredHeaders
    package var headers: RequestHeaders { storedHeaders.value }
    /// The head with all headers; nil unless the server keeps the heads of requests.
    var wholeHead: HTTPRequestHead? { storedHeaders.wholeHead }
    /// Reads all headers; nil unless the server keeps the heads of requests.
    var headerReader: (@Sendable (String) -> String?)? { storedHeaders.reader }
    package var body: ByteBuffer
    /// The body, if the route's `checkHead` has requested a file. `body` is then empty.
    package var storedBody = StoredBytes.memory([])
    /// The client's `x-request-id` if it is valid, or else a generated id.
    package var id: String
    /// The client's address according to the peer and trusted proxies; nil if the connection does not use TCP.
    package var client: ClientAddress?
    /// nil until the request runs.
    package var timeout: ResponseTimeout?

    init(
        method: HTTPMethod, target: RequestTarget, headers: StoredHeaders, body: ByteBuffer,
        id: String
    ) {
        self.method = method
        self.target = target
        storedHeaders = headers
        self.body = body
        self.id = id
    }

    /// The path, not decoded.
    package var path: Substring { target.path }
    /// The query after `?`, not decoded; nil without `?`.
    package var query: Substring? { target.query }
}

/// The target of a request line.
package struct RequestTarget: Sendable {
    /// The path with its query, if any.
    package let text: Substring
    /// The index of the `?` before the query.
    private let questionMark: Substring.Index?

    /// - Parameter target: A path, or an absolute URL as proxies send it.
    init(_ target: String) {
        text = target.utf8.first == UInt8(ascii: "/") ? target[...] : Self.withoutHost(target)
        questionMark = text.utf8.firstIndex(of: UInt8(ascii: "?"))
    }

    private static func withoutHost(_ url: String) -> Substring {
        for scheme in ["http://", "https://"] where url.hasPrefix(scheme) {
            let rest = url.dropFirst(scheme.utf8.count).drop { $0 != "/" && $0 != "?" }
            return rest.first == "/" ? rest : "/\(rest)"
        }
        return url[...]
    }

    package var path: Substring { questionMark.map { text[..<$0] } ?? text }
    package var query: Substring? { questionMark.map { text[text.utf8.index(after: $0)...] } }
}
