import GraphQL

/// Executes GraphQL requests. A product implements this; a transport such as HTTP or WebSocket calls it.
///
/// There is one instance per event loop, and all methods are called on that loop.
package protocol GraphQLService: AnyObject {
    /// Executes a request.
    ///
    /// The task is cancelled when the client disconnects, or when the response takes too long.
    func execute(_ request: GraphQLRequest) async -> GraphQLOperation

    /// Returns whether an access token is valid. Only requests with a valid token may upload files.
    func accepts(bearerToken: String, requestID: String) -> Bool

    /// Authenticates the client of a long-lived connection: a WebSocket or a stream of responses.
    ///
    /// - Parameter onSessionEnd: Called if the session ends while the returned value is alive, on any thread, perhaps
    ///   several times.
    func authenticateConnection(
        _ bearerToken: String, for kind: ConnectionKind,
        onSessionEnd: @escaping @Sendable () -> Void
    ) async throws(ConnectionAuthenticationError) -> AuthenticatedConnection
}

extension GraphQLService {
    /// Executes a request for a client that reads a single response. A subscription is refused.
    package func respond(to request: GraphQLRequest) async -> GraphQLResponse {
        var request = request
        request.expectsSingleResponse = true
        switch await execute(request) {
        case .response(let response): return response
        case .responses:
            // `execute` must refuse subscriptions in this case.
            preconditionFailure("\(type(of: self)) returned a stream instead of a single response.")
        }
    }
}

/// The result of an operation: a single response, or one response per event.
package enum GraphQLOperation {
    case response(GraphQLResponse)
    case responses(ResponseStream)
}

/// A well-formed GraphQL request with its credentials and its origin.
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
    package var uploads: [[UInt8]] = []
    /// The access token, not verified; nil for an anonymous request.
    package var bearerToken: String?
    /// Whether mutations are refused, as for HTTP GET.
    package var isReadOnly = false
    /// Whether subscriptions are refused, because the client reads a single response.
    package var expectsSingleResponse = false
    /// The id of the request, for the log and for internal errors.
    package var requestID: String
    /// The client's address; nil if it is unknown.
    package var client: ClientAddress?
    package var app = ClientApp()
    /// Whether the request's task was cancelled because the response took too long. If the task was cancelled for another
    /// reason, the client has disconnected.
    package var hasTimedOut: @Sendable () -> Bool = { false }

    package init(
        query: String? = nil, documentID: String? = nil, operationName: String? = nil,
        variables: Value? = nil, extensions: Value? = nil, bearerToken: String? = nil,
        requestID: String = ""
    ) {
        self.query = query
        self.documentID = documentID
        self.operationName = operationName
        self.variables = variables
        self.extensions = extensions
        self.bearerToken = bearerToken
        self.requestID = requestID
    }
}

/// A GraphQL response in its serialized form.
package struct GraphQLResponse: Sendable {
    /// The response as JSON.
    package var body: [UInt8]
    /// Whether the response has no `data`, because the document or the request is invalid.
    package var isRequestError: Bool
    /// The reason why the request was refused, if transports report it in their own form, such as an HTTP status.
    package var refusal: Refusal?
    /// Whether other clients may get the same response: it is the response to a named document without variables, sent
    /// without a token, and has no errors.
    package var isPublic = false
    /// The codes of the errors, for the log.
    package var errorCodes: [String] = []
    /// The state of the caller's rate limit; nil if no limit applies.
    package var rateLimit: RateLimitStatus?
    /// The database work of the request; nil if it is not reported.
    package var databaseCost: DatabaseCost?

    package enum Refusal: Sendable, Equatable {
        /// A mutation in a request that is read-only.
        case mutationInReadOnlyRequest
        /// The client has exceeded a rate limit, and can try again after this number of seconds.
        case rateLimited(retryAfterSeconds: Int)
        /// The server cannot process requests at the moment. The client can try again after this number of seconds.
        case unavailable(retryAfterSeconds: Int)
    }

    package init(body: [UInt8], isRequestError: Bool = false, refusal: Refusal? = nil) {
        self.body = body
        self.isRequestError = isRequestError
        self.refusal = refusal
    }
}

/// The state of a rate limit after a request.
package struct RateLimitStatus: Sendable, Equatable {
    /// The name of the limit: `user`, `address`, or `tenant`.
    package var name: String
    package var unitsPerMinute: Int
    package var remainingUnits: Int
    /// The number of seconds until the limit is fully available, or until a refused request can be repeated.
    package var waitSeconds: Int

    package init(name: String, unitsPerMinute: Int, remainingUnits: Int, waitSeconds: Int) {
        self.name = name
        self.unitsPerMinute = unitsPerMinute
        self.remainingUnits = remainingUnits
        self.waitSeconds = waitSeconds
    }
}

/// The SQL statements and round trips of a request.
package struct DatabaseCost: Sendable, Equatable {
    package var statementCount: Int
    package var roundTripCount: Int

    package init(statementCount: Int, roundTripCount: Int) {
        self.statementCount = statementCount
        self.roundTripCount = roundTripCount
    }
}
