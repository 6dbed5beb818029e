import GraphQL
import NIOCore

/// How requests are taken from HTTP, and refused where they are not well-formed GraphQL-over-HTTP requests.
///
/// Spec: https://graphql.github.io/graphql-over-http/draft/#sec-Request-Parameters
extension GraphQLRequest {
    /// What a POST's body asks for.
    enum Posted {
        case one(GraphQLRequest)
        /// Answered in one list, in this order.
        case batch([GraphQLRequest])
    }

    /// From a POST's body.
    ///
    /// - Parameter batchRequestsMax: how many requests a list may have; 0 where lists are not taken.
    static func posted(
        _ request: HTTPRequest, mediaType: ResponseMediaType, batchRequestsMax: Int
    ) throws(HTTPProblem) -> Posted {
        let body = try json(Array(request.body.readableBytesView), what: "The request's body")
        guard case .list(let entries) = body else {
            return .one(try GraphQLRequest(body, of: request, mediaType: mediaType))
        }
        guard batchRequestsMax > 0 else {
            throw .badRequest(
                "The request's body must be a JSON object: lists of requests are not taken.")
        }
        guard !entries.isEmpty, entries.count <= batchRequestsMax else {
            throw .badRequest("A list of requests has 1 to \(batchRequestsMax) of them.")
        }
        return .batch(
            try entries.map { entry throws(HTTPProblem) in
                try GraphQLRequest(entry, of: request, mediaType: mediaType)
            })
    }

    /// From the JSON of one request. Members that have no meaning are left alone, as the specification keeps them
    /// for its future.
    init(
        _ body: Value, of request: HTTPRequest, mediaType: ResponseMediaType
    ) throws(HTTPProblem) {
        guard case .object(let members) = body else {
            throw .badRequest("The request's body must be a JSON object.")
        }
        self.init(request, mediaType: mediaType)
        for member in members {
            switch member.name {
            case "query": query = try member.string()
            case "documentId": documentID = try member.string()
            case "operationName": operationName = try member.string()
            case "variables": variables = try member.object()
            case "extensions": extensions = try member.object()
            default: break
            }
        }
        try finish()
    }

    /// From a GET's address.
    init(get request: HTTPRequest, mediaType: ResponseMediaType) throws(HTTPProblem) {
        let parameters = try QueryString(request.query ?? "")
        self.init(request, mediaType: mediaType)
        isGET = true
        query = parameters["query"]
        documentID = parameters["documentId"]
        operationName = parameters["operationName"]
        variables = try Self.object(parameters, "variables")
        extensions = try Self.object(parameters, "extensions")
        try finish()
    }

    private init(_ request: HTTPRequest, mediaType: ResponseMediaType) {
        self.init(
            bearerToken: request.headers.bearerToken, mediaType: mediaType, requestID: request.id)
        client = request.client
        timeout = request.timeout
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
            // How many bytes there may be was decided when they were counted.
            return try parseJSON(bytes, limits: JSONLimits(bytesMax: bytes.count))
        } catch {
            throw .badRequest("\(what) cannot be read: \(error.message)")
        }
    }
}

extension Value.Member {
    /// The string; nil where it is null, which is the same as absent.
    fileprivate func string() throws(HTTPProblem) -> String? {
        switch value {
        case .string(let text): return text
        case .null: return nil
        default: throw .badRequest("The parameter '\(name)' must be a string.")
        }
    }

    /// The object; nil where it is null, which is the same as absent.
    fileprivate func object() throws(HTTPProblem) -> Value? {
        switch value {
        case .object: return value
        case .null: return nil
        default: throw .badRequest("The parameter '\(name)' must be a JSON object.")
        }
    }
}
