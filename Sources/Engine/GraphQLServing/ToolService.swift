import GraphQL

/// Offers operations as tools for assistants. A product implements this; the endpoint of the Model Context Protocol calls it.
///
/// There is one instance per event loop, and all methods are called on that loop.
package protocol ToolService: AnyObject {
    /// Checks that the caller may call tools.
    func authenticate(_ caller: ToolCaller) async throws(ToolRefusal)

    /// Returns the tools that the caller may call, in pages.
    ///
    /// - Parameter cursor: `ToolPage.next` of the previous page; nil for the first page.
    func tools(
        for caller: ToolCaller, after cursor: String?
    ) async throws(ToolRefusal) -> ToolPage

    /// Calls a tool, and returns the response of its operation; nil if there is no such tool.
    ///
    /// - Parameter arguments: A JSON object.
    func call(
        _ tool: String, _ arguments: Value, for caller: ToolCaller
    ) async throws(ToolRefusal) -> GraphQLResponse?
}

/// The client that sent a request about tools.
package struct ToolCaller: Sendable {
    /// The access token, not verified.
    package let bearerToken: String
    /// The group of users that the client has named; nil if it has named none. The token must belong to this group.
    package let tenant: String?
    /// The id of the request, for the log and for internal errors.
    package let requestID: String
    /// The client's address; nil if it is unknown.
    package let client: ClientAddress?
    package let app: ClientApp
    /// The size of the message, in bytes.
    package let bodyByteCount: Int
    /// See `GraphQLRequest.hasTimedOut`.
    package let hasTimedOut: @Sendable () -> Bool

    package init(
        bearerToken: String, tenant: String? = nil, requestID: String, client: ClientAddress?,
        app: ClientApp,
        bodyByteCount: Int = 0,
        hasTimedOut: @escaping @Sendable () -> Bool
    ) {
        self.bearerToken = bearerToken
        self.tenant = tenant
        self.requestID = requestID
        self.client = client
        self.app = app
        self.bodyByteCount = bodyByteCount
        self.hasTimedOut = hasTimedOut
    }
}

package struct ToolPage: Sendable {
    /// The tools as JSON: objects of the type `Tool` of the Model Context Protocol.
    package let tools: [[UInt8]]
    /// The cursor of the next page; nil if this is the last one.
    package let next: String?

    package init(tools: [[UInt8]], next: String?) {
        self.tools = tools
        self.next = next
    }
}

/// The reason why a request about tools is refused.
package enum ToolRefusal: Error, Equatable {
    /// The token is invalid, or was revoked.
    case unauthenticated
    /// The caller may not use tools. The message says why.
    case forbidden(String)
    case rateLimited(retryAfterSeconds: Int)
    /// The server cannot process requests at the moment.
    case unavailable(retryAfterSeconds: Int)
    case invalidCursor
    /// A defect. The log contains the details with the id of the request.
    case internalError
}
