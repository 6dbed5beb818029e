import GraphQL
import NIOCore

/// Executes GraphQL requests. There is one instance per event loop, called on that loop.
package protocol GraphQLService: AnyObject {
    /// Executes a request that has a single response, on the calling event loop's executor.
    ///
    /// The task is cancelled when the client disconnects.
    func respond(to request: GraphQLRequest, on loop: any EventLoop) async -> GraphQLResponse

    /// Returns whether an access token is valid. Only requests with a valid token may upload files.
    func accepts(bearerToken: String, requestID: String) -> Bool

    /// Executes a request that may be a subscription, for a client that can read several responses.
    func open(_ request: GraphQLRequest, on loop: any EventLoop) async -> GraphQLOperation

    /// Authenticates the client of a long-lived connection: a WebSocket or a stream of responses.
    ///
    /// - Parameter onSessionEnd: Called on the loop, at most once, if the session ends while the returned value is
    ///   alive.
    func authenticateConnection(
        _ bearerToken: String, for kind: ConnectionKind, on loop: any EventLoop,
        onSessionEnd: @escaping () -> Void
    ) async throws(ConnectionAuthenticationError) -> AuthenticatedConnection
}

/// The result of an operation: a single response, or one response per event.
package enum GraphQLOperation {
    case response(GraphQLResponse)
    case responses(ResponseStream)
}

/// A well-formed GraphQL-over-HTTP request with its credentials and its origin.
package struct GraphQLRequest: Sendable {
    /// The document's text. nil only if `documentID` or `extensions.persistedQuery` identifies the document.
    package var query: String?
    /// The identifier of a trusted document.
    package var documentID: String?
    /// nil or not empty.
    package var operationName: String?
    /// A JSON object, or nil.
    package var variables: Value?
    /// A JSON object, or nil.
    package var extensions: Value?
    /// The files of a multipart request. `variables` contains an `UploadReference` for each.
    package var uploads: [ByteBuffer] = []
    /// The token of `Authorization: Bearer TOKEN`, not verified. nil without that header.
    package var bearerToken: String?
    /// Whether the request uses GET, which allows queries only.
    package var isGET: Bool
    package var mediaType: ResponseMediaType
    /// The id of the request, for the log and for internal errors.
    package var requestID: String
    /// The client's address; nil if it is unknown.
    package var client: ClientAddress?
    /// nil if the response has no time limit, as on a WebSocket.
    package var timeout: ResponseTimeout?

    package init(
        query: String? = nil, documentID: String? = nil, operationName: String? = nil,
        variables: Value? = nil, extensions: Value? = nil, bearerToken: String? = nil,
        isGET: Bool = false, mediaType: ResponseMediaType = .graphQLResponse,
        requestID: String = ""
    ) {
        self.query = query
        self.documentID = documentID
        self.operationName = operationName
        self.variables = variables
        self.extensions = extensions
        self.bearerToken = bearerToken
        self.isGET = isGET
        self.mediaType = mediaType
        self.requestID = requestID
    }
}

/// A GraphQL response in its serialized form.
package struct GraphQLResponse: Sendable {
    /// The response as JSON.
    package var body: ByteBuffer
    /// Whether the response has no `data`, because the document or the request is invalid.
    ///
    /// The HTTP status of such a response is 400 as `application/graphql-response+json` and 200 as `application/json`.
    package var isRequestError: Bool
    /// Overrides the status that follows from `isRequestError`. Status 405, for a mutation over GET, adds the `Allow`
    /// header.
    package var status: Status?
    /// Additional headers. Names are in lower case; values contain no line breaks.
    package var headers: [(String, String)]

    package enum Status: Sendable {
        /// A mutation was sent with GET.
        case methodNotAllowed
        /// The client exceeded a rate limit. `retry-after` says when to try again.
        case tooManyRequests
        /// A dependency of the server is unavailable.
        case serviceUnavailable
        /// The server failed.
        case internalServerError
    }

    package init(
        body: ByteBuffer, isRequestError: Bool = false, status: Status? = nil,
        headers: [(String, String)] = []
    ) {
        self.body = body
        self.isRequestError = isRequestError
        self.status = status
        self.headers = headers
    }
}

/// The two media types of a GraphQL response.
package enum ResponseMediaType: Sendable, Equatable {
    /// `application/graphql-response+json`: the status says whether the request was wrong.
    case graphQLResponse
    /// `application/json`: 200 for every well-formed request.
    case json

    /// The value of `content-type`.
    package var contentType: String {
        switch self {
        case .graphQLResponse: "application/graphql-response+json; charset=utf-8"
        case .json: "application/json; charset=utf-8"
        }
    }
}
