import GraphQL
import NIOCore

/// Answers GraphQL requests; one value per event loop, called on that loop.
package protocol GraphQLService: AnyObject {
    /// Runs one request on the calling event loop's executor.
    ///
    /// The task is cancelled when the client goes away.
    func answer(_ request: GraphQLRequest, on loop: any EventLoop) async -> GraphQLAnswer

    /// Whether a token is good, so that its bearer may send files.
    func accepts(bearerToken: String, requestID: String) -> Bool

    /// Runs one request that may be a subscription, for a client that can read many answers.
    func open(_ request: GraphQLRequest, on loop: any EventLoop) async -> GraphQLOperation

    /// Lets a caller open what lasts: a socket, or a stream of answers.
    ///
    /// - Parameter onEnd: called on the loop, once at most, when the session ends while the admission is kept.
    func admit(
        _ bearerToken: String, to opening: Opening, on loop: any EventLoop,
        onEnd: @escaping () -> Void
    ) async throws(AdmissionError) -> AdmittedCaller
}

/// What an operation gives: one answer, or one for each event.
package enum GraphQLOperation {
    case answer(GraphQLAnswer)
    case responses(ResponseStream)
}

/// A well-formed GraphQL-over-HTTP request: what it asks for, and who asks how.
package struct GraphQLRequest: Sendable {
    /// The document's text; nil only where `documentID` or `extensions.persistedQuery` names it.
    package var query: String?
    /// The name of a trusted document.
    package var documentID: String?
    /// Never empty.
    package var operationName: String?
    /// An object, or nil where there are none.
    package var variables: Value?
    /// An object, or nil where there are none.
    package var extensions: Value?
    /// The files of a multipart request; `UploadReference`s to them stand in `variables`.
    package var uploads: [ByteBuffer] = []
    /// What stands after `Authorization: Bearer`, not verified; nil where the header is absent.
    package var bearerToken: String?
    /// Whether it came by GET, which runs queries only.
    package var isGET: Bool
    package var mediaType: ResponseMediaType
    /// For the log and for masked errors.
    package var requestID: String
    /// Where it comes from; nil where that is not known.
    package var client: ClientAddress?
    /// nil where a response may take as long as it needs, as on a WebSocket.
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

/// A GraphQL response, ready to be sent.
package struct GraphQLAnswer: Sendable {
    /// The JSON text.
    package var body: ByteBuffer
    /// Whether there is no `data` in it: the document or the request was wrong.
    ///
    /// Such an answer has status 400 as `application/graphql-response+json` and 200 as `application/json`.
    package var isRequestError: Bool
    /// In place of those; 405, for a mutation over GET, gets its `Allow` by itself.
    package var status: Status?
    /// Name, in lower case, and value; no line breaks.
    package var headers: [(String, String)]

    package enum Status: Sendable {
        /// A mutation came by GET.
        case methodNotAllowed
        /// Too many requests: say when to come back in `retry-after`.
        case tooManyRequests
        /// Something that the server needs is away.
        case serviceUnavailable
        /// A fault of ours.
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
