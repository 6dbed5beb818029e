import Basics
import GraphQL

/// Executes GraphQL requests. A transport such as HTTP or WebSocket calls it.
///
/// `SchemaService` executes the requests of an `ExecutableSchema`. Implement the protocol for more, such as rate limits or
/// stored documents. There is one instance per event loop, and all methods are called on that loop.
public protocol GraphQLService: AnyObject {
    /// The codes of the engine's errors.
    var errorCodes: ErrorCodes { get }

    /// Executes a request.
    ///
    /// If `request.expectsSingleResponse` is true, the result must be a single response: refuse subscriptions. If
    /// `request.incrementalFormat` is nil, it must not be a response in several parts. The task is cancelled when the client disconnects, or when the response takes too long.
    func execute(_ request: GraphQLRequest) async -> GraphQLOperation

    /// Returns whether an access token is valid. Only requests with a valid token may upload files.
    func accepts(bearerToken: String, requestID: String) -> Bool

    /// Authenticates the client of a long-lived connection: a WebSocket or a stream of responses.
    ///
    /// - Parameters:
    ///   - bearerToken: The access token, not verified.
    ///   - kind: The kind of the connection.
    ///   - onSessionEnd: Called if the session ends while the returned value is alive, on any thread, perhaps several times.
    func authenticateConnection(
        _ bearerToken: String, for kind: ConnectionKind,
        onSessionEnd: @escaping @Sendable () -> Void
    ) async throws(ConnectionAuthenticationError) -> AuthenticatedConnection
}

extension GraphQLService {
    /// The codes of Apollo's servers.
    public var errorCodes: ErrorCodes { .apollo }

    /// Returns false.
    public func accepts(bearerToken: String, requestID: String) -> Bool { false }

    /// Accepts every client, for a year.
    public func authenticateConnection(
        _ bearerToken: String, for kind: ConnectionKind,
        onSessionEnd: @escaping @Sendable () -> Void
    ) async throws(ConnectionAuthenticationError) -> AuthenticatedConnection {
        AuthenticatedConnection(tokenLifetime: .seconds(365 * 86_400), session: "", watch: self)
    }

    /// Executes a request for a client that reads a single response. A subscription is refused.
    public func respond(to request: GraphQLRequest) async -> GraphQLResponse {
        var request = request
        request.expectsSingleResponse = true
        request.incrementalFormat = nil
        switch await execute(request) {
        case .response(let response): return response
        case .responses, .incremental:
            // A defect of the service: see `execute`.
            return GraphQLResponse(
                body: RequestErrors([.subscriptionNeedsStream]).coded(by: errorCodes).body,
                isRequestError: true)
        }
    }
}

/// The result of an operation: a single response, one response per event, or a response in several parts.
public enum GraphQLOperation {
    /// The response to a query, to a mutation, or to a request that cannot be executed.
    case response(GraphQLResponse)
    /// The responses of a subscription.
    case responses(ResponseStream)
    /// The first part of a response with `@defer` or `@stream`, and the others. Cancelling the task ends the others soon,
    /// with errors.
    case incremental(GraphQLResponse, rest: ResponseStream)
}

/// A well-formed GraphQL request with its credentials and its origin.
public struct GraphQLRequest: Sendable {
    /// The document's text. nil only if `documentID` or `extensions.persistedQuery` identifies the document.
    public var query: String?
    /// The identifier of a trusted document.
    public var documentID: String?
    /// nil or not empty.
    public var operationName: String?
    /// A JSON object, or nil.
    public var variables: Value?
    /// A JSON object, or nil.
    public var extensions: Value?
    /// The parameter `onError`, not validated.
    public var onError: Value?
    /// The files of a multipart request. `variables` contains an `UploadReference` for each.
    package var uploads: [StoredBytes] = []
    /// The size of the JSON that contained the request; 0 if it is unknown.
    package var bodyByteCount = 0
    /// The access token, not verified; nil for an anonymous request.
    public var bearerToken: String?
    /// Whether mutations are refused, as for HTTP GET.
    public var isReadOnly = false
    /// Whether subscriptions are refused, because the client reads a single response.
    public var expectsSingleResponse = false
    /// The format of a response in several parts; nil if the client does not accept one. `@defer` and `@stream` then have no
    /// effect.
    public var incrementalFormat: IncrementalFormat?
    /// The id of the request, for the log and for internal errors.
    public var requestID: String
    /// The client's address; nil if it is unknown.
    public var client: ClientAddress?
    /// Returns the value of a header of the HTTP request, or of the handshake of its WebSocket; nil if there is none. Names are
    /// compared without regard to case. The values of several headers with the name are joined with commas.
    ///
    /// ```swift
    /// GraphQLServer(schema) { request in
    ///     Caller(language: request.header("Accept-Language"))
    /// }
    /// ```
    public var header: @Sendable (String) -> String? = { _ in nil }
    /// The header `Accept-Language` of an HTTP request, or of the handshake of a WebSocket. Unlike `header`, it is known if the server does not keep all headers.
    package var acceptLanguage: String?
    package var app = ClientApp()
    /// Whether the request's task was cancelled because the response took too long. If the task was cancelled for another
    /// reason, the client has disconnected.
    package var hasTimedOut: @Sendable () -> Bool = { false }

    /// - Parameters:
    ///   - query: The document's text.
    ///   - documentID: The identifier of a stored document, in place of the text.
    ///   - operationName: The operation to execute; nil if the document has only one.
    ///   - variables: A JSON object.
    ///   - extensions: A JSON object.
    ///   - bearerToken: The access token, not verified.
    ///   - requestID: The id of the request, for logs.
    public init(
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
public struct GraphQLResponse: Sendable {
    /// The response as JSON.
    public var body: [UInt8]
    /// Whether the response has no `data`, because the document or the request is invalid.
    public var isRequestError: Bool
    /// The reason why the request was refused, if transports report it in their own form, such as an HTTP status.
    public var refusal: Refusal?
    /// Whether other clients may get the same response: it is the response to a named document without variables, sent
    /// without a token, and has no errors.
    package var isPublic = false
    /// The codes of the errors, for the log.
    package var errorCodes: [String] = []
    /// The name of the executed operation, for the log; nil if it has none.
    package var operationName: String?
    /// The state of the caller's rate limit; nil if no limit applies.
    package var rateLimit: RateLimitStatus?
    /// Returns the memory, in bytes, of the rows that the parts of the response have loaded so far. They are kept until the last
    /// part is sent. Called on the service's event loop.
    package var retainedByteCount: @Sendable () -> Int = { 0 }
    /// The database work of the request; nil if it is not reported.
    package var databaseCost: DatabaseCost?

    /// The reason why a request was refused.
    public enum Refusal: Sendable, Equatable {
        /// A mutation in a request that is read-only.
        case mutationInReadOnlyRequest
        /// The client has exceeded a rate limit, and can try again after this number of seconds.
        case rateLimited(retryAfterSeconds: Int)
        /// The server cannot process requests at the moment. The client can try again after this number of seconds.
        case unavailable(retryAfterSeconds: Int)
    }

    /// - Parameters:
    ///   - body: The response as JSON.
    ///   - isRequestError: Whether the response has no `data`.
    ///   - refusal: The reason why the request was refused, if transports report it in their own form.
    public init(body: [UInt8], isRequestError: Bool = false, refusal: Refusal? = nil) {
        self.body = body
        self.isRequestError = isRequestError
        self.refusal = refusal
    }
}
