import GraphQL
import GraphQLServing
import NIOCore

/// Parses GraphQL-over-HTTP requests. Invalid requests are refused with an error.
///
/// Spec: https://graphql.github.io/graphql-over-http/draft/#sec-Request-Parameters
extension GraphQLRequest {
    /// The content of a POST request's body.
    enum PostBody {
        case single(GraphQLRequest)
        /// Executed in this order, with an array of responses.
        case batch([GraphQLRequest])
    }

    /// Reads a body. See `RequestJSON.read`.
    static func read<Value: Sendable>(
        isShort: Bool, of request: HTTPRequest,
        _ read: @escaping @Sendable () throws(HTTPProblem) -> Value
    ) async throws(HTTPProblem) -> Value {
        let result = await RequestJSON.read(isShort: isShort, from: request.client) {
            Result { () throws(HTTPProblem) in try read() }
        }
        guard let result else {
            throw .applicationError(
                .tooManyRequests, code: "RATE_LIMITED",
                "Too many large requests from your address are in progress. Try again soon.",
                retryAfterSeconds: RequestJSON.retrySeconds)
        }
        return try result.get()
    }

    /// Parses the body of a POST request.
    ///
    /// - Parameter batchRequestsMax: The maximum number of requests in an array; 0 if arrays are not accepted.
    static func parseBody(
        of request: HTTPRequest, batchRequestsMax: Int
    ) async throws(HTTPProblem) -> PostBody {
        let bytes = Array(request.body.readableBytesView)
        let isShort = bytes.count <= RequestJSON.shortBytesMax
        let body = try await read(isShort: isShort, of: request) { () throws(HTTPProblem) in
            try json(bytes, what: "The request's body")
        }
        guard case .list(let entries) = body else {
            var single = try GraphQLRequest(body, of: request)
            single.bodyByteCount = bytes.count
            return .single(single)
        }
        guard batchRequestsMax > 0 else {
            throw .badRequest(
                "The request's body must be a JSON object. This server does not accept arrays of requests."
            )
        }
        guard !entries.isEmpty, entries.count <= batchRequestsMax else {
            throw .badRequest("An array of requests must contain 1 to \(batchRequestsMax) of them.")
        }
        return .batch(
            try entries.map { entry throws(HTTPProblem) in
                var single = try GraphQLRequest(entry, of: request)
                single.bodyByteCount = bytes.count / entries.count
                return single
            })
    }

    /// Reads a request from JSON. Unknown members are ignored, because the specification reserves them for future use.
    init(
        _ body: Value, of request: HTTPRequest
    ) throws(HTTPProblem) {
        guard case .object(let members) = body else {
            throw .badRequest("The request's body must be a JSON object.")
        }
        self.init(request)
        for member in members {
            switch member.name {
            case "query": query = try member.string()
            case "documentId": documentID = try member.string()
            case "operationName": operationName = try member.string()
            case "variables": variables = try member.object()
            case "extensions": extensions = try member.object()
            case "onError": onError = member.value
            default: break
            }
        }
        try finish()
    }

    /// Reads a request from the query string of a GET request.
    init(get request: HTTPRequest) throws(HTTPProblem) {
        let parameters = try QueryString(request.query ?? "")
        self.init(request)
        isReadOnly = true
        // Empty parameters count as absent, because some clients add all parameters to the URL.
        query = parameters["query"]
        documentID = parameters["documentId"].flatMap { $0.isEmpty ? nil : $0 }
        operationName = parameters["operationName"]
        variables = try Self.object(parameters, "variables")
        extensions = try Self.object(parameters, "extensions")
        onError = parameters["onError"].flatMap { $0.isEmpty ? nil : .string($0) }
        try finish()
    }

    private init(_ request: HTTPRequest) {
        self.init(
            bearerToken: request.headers.bearerToken, requestID: request.id)
        client = request.client
        if let reader = request.headerReader { header = reader }
        acceptLanguage = request.headers.acceptLanguage
        app = ClientApp(
            name: request.headers.clientName, version: request.headers.clientVersion)
        hasTimedOut = { [timeout = request.timeout] in timeout?.hasPassed ?? false }
    }

    private mutating func finish() throws(HTTPProblem) {
        if operationName == "" { operationName = nil }
        guard query != nil || documentID != nil || extensions?["persistedQuery"] != nil else {
            throw .badRequest("The parameter 'query' is missing.")
        }
    }

    private static func object(
        _ parameters: QueryString, _ name: String
    ) throws(HTTPProblem) -> Value? {
        guard let text = parameters[name], !text.isEmpty else { return nil }
        let value = try json(Array(text.utf8), what: "The parameter '\(name)'")
        return try Value.Member(name, value).object()
    }

    static func json(_ bytes: [UInt8], what: String) throws(HTTPProblem) -> Value {
        do throws(JSONError) {
            return try RequestJSON.parse(bytes)
        } catch {
            throw .badRequest("\(what) cannot be parsed: \(error.message)")
        }
    }
}

extension Value.Member {
    /// Returns the string; nil if the member is null, which means the same as absent.
    fileprivate func string() throws(HTTPProblem) -> String? {
        switch value {
        case .string(let text): return text
        case .null: return nil
        default: throw .badRequest("The parameter '\(name)' must be a string.")
        }
    }

    /// Returns the object; nil if the member is null, which means the same as absent.
    fileprivate func object() throws(HTTPProblem) -> Value? {
        switch value {
        case .object: return value
        case .null: return nil
        default: throw .badRequest("The parameter '\(name)' must be a JSON object.")
        }
    }
}

extension ClientApp {
    package init(_ headers: RequestHeaders) {
        self.init(name: headers.clientName, version: headers.clientVersion)
    }
}
