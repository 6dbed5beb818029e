import NIOCore
import NIOHTTP1

/// A request that has arrived whole.
package struct HTTPRequest: Sendable {
    package var method: HTTPMethod
    /// Path and query as they were sent, nothing decoded.
    package var target: RequestTarget
    package var headers: RequestHeaders
    package var body: ByteBuffer
    /// The client's `x-request-id` where it is well-formed, or one of ours.
    package var id: String
    /// Where it comes from, as far as that can be believed; nil for what is no TCP connection.
    package var client: ClientAddress?
    /// nil until the request is run.
    package var timeout: ResponseTimeout?

    /// Nothing decoded.
    package var path: Substring { target.path }
    /// What stands after `?`, nothing decoded; nil where there is no `?`.
    package var query: Substring? { target.query }
}

/// What a request is for.
package struct RequestTarget: Sendable {
    /// A path, and a query where there is one.
    package let text: Substring
    /// Where the query's `?` is.
    private let mark: Substring.Index?

    /// - Parameter address: a path, or a whole address where a proxy sent it.
    init(_ address: String) {
        text = address.utf8.first == UInt8(ascii: "/") ? address[...] : Self.withoutHost(address)
        mark = text.utf8.firstIndex(of: UInt8(ascii: "?"))
    }

    private static func withoutHost(_ address: String) -> Substring {
        for scheme in ["http://", "https://"] where address.hasPrefix(scheme) {
            let rest = address.dropFirst(scheme.utf8.count).drop { $0 != "/" && $0 != "?" }
            return rest.first == "/" ? rest : "/\(rest)"
        }
        return address[...]
    }

    package var path: Substring { mark.map { text[..<$0] } ?? text }
    package var query: Substring? { mark.map { text[text.utf8.index(after: $0)...] } }
}
