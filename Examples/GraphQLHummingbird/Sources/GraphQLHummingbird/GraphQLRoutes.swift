import GraphQL
import GraphQLServing
import HTTPTypes
import Hummingbird

extension RouterMethods {
    /// Serves a schema by [GraphQL over HTTP](https://graphql.github.io/graphql-over-http/draft/).
    ///
    /// ```swift
    /// let router = Router()
    /// router.graphQL("graphql", schema) { _ in NoContext() }
    /// ```
    ///
    /// - `POST` runs every operation, and `GET` queries.
    /// - A single response is `application/json`, or `application/graphql-response+json` if the client prefers it.
    /// - A subscription is a stream of `text/event-stream`
    ///   ([graphql-sse](https://github.com/enisdenjo/graphql-sse/blob/master/PROTOCOL.md), distinct connections).
    ///
    /// - Parameters:
    ///   - path: The path of the endpoint.
    ///   - schema: The schema with its resolvers.
    ///   - limits: The limits of requests.
    ///   - bodyBytesMax: The maximum size of a request's body, in bytes.
    ///   - makeContext: Creates the context of a request. See `SchemaService`.
    @discardableResult
    public func graphQL<ExecutionState: ExecutionContext & Sendable>(
        _ path: RouterPath = "graphql", _ schema: ExecutableSchema<ExecutionState>,
        limits: RequestLimits = RequestLimits(), bodyBytesMax: Int = 1 << 20,
        makeContext:
            @escaping @Sendable (GraphQLRequest) async throws(RequestErrors) -> ExecutionState
    ) -> Self {
        let endpoint = GraphQLEndpoint(bodyBytesMax: bodyBytesMax) {
            SchemaService(schema, limits: limits, makeContext: makeContext)
        }
        on(path, method: .post) { request, context in
            await endpoint.post(request, id: context.id)
        }
        on(path, method: .get) { request, context in
            await endpoint.get(request, id: context.id)
        }
        return self
    }
}

/// The responses to requests, without the routing.
struct GraphQLEndpoint: Sendable {
    private let workers: WorkerPool
    private let bodyBytesMax: Int

    init(bodyBytesMax: Int, makeService: @Sendable () -> any GraphQLService) {
        workers = WorkerPool(makeService)
        self.bodyBytesMax = bodyBytesMax
    }

    func post(_ httpRequest: Request, id: String) async -> Response {
        guard let accepted = Accepted(httpRequest.headers[values: .accept]) else {
            return .problem(.notAcceptable, "Accept application/json or text/event-stream.")
        }
        guard isJSON(httpRequest.headers[.contentType] ?? "") else {
            return .problem(.unsupportedMediaType, "The content type must be application/json.")
        }
        // The body is stored in the request, because an event stream watches if the client disconnects.
        var httpRequest = httpRequest
        guard let body = try? await httpRequest.collectBody(upTo: bodyBytesMax) else {
            return .problem(
                .contentTooLarge, "The request's body is longer than \(bodyBytesMax) bytes.")
        }
        do throws(ParameterError) {
            var request = try GraphQLRequest(json: Array(body.readableBytesView))
            request.addOrigin(httpRequest, id)
            return await respond(to: request, as: accepted, httpRequest.body)
        } catch {
            return .problem(.badRequest, error.message)
        }
    }

    func get(_ httpRequest: Request, id: String) async -> Response {
        guard let accepted = Accepted(httpRequest.headers[values: .accept]) else {
            return .problem(.notAcceptable, "Accept application/json or text/event-stream.")
        }
        var response: Response
        do throws(ParameterError) {
            var request = try GraphQLRequest(queryString: httpRequest.uri.query ?? "")
            request.addOrigin(httpRequest, id)
            request.isReadOnly = true
            response = await respond(to: request, as: accepted, httpRequest.body)
        } catch {
            response = .problem(.badRequest, error.message)
        }
        response.headers[.cacheControl] = "no-store"
        return response
    }

    private func respond(
        to request: GraphQLRequest, as accepted: Accepted, _ httpBody: RequestBody
    ) async -> Response {
        var request = request
        request.expectsSingleResponse = !accepted.eventStream
        let worker = workers.next()
        switch await worker.execute(request) {
        case .response(let response):
            if let type = accepted.single { return Response(response, as: type) }
            if response.refusal != nil { return Response(response, as: .json) }
            return .events { writer in
                try await writer.write(.event(response.body))
                try await writer.write(.complete)
                try await writer.finish(nil)
            }
        case .stream(let stream):
            return .events { writer in
                try await worker.send(stream, to: &writer, untilCloseOf: httpBody)
                try await writer.finish(nil)
            }
        }
    }

    private func isJSON(_ contentType: String) -> Bool {
        contentType.prefix { $0 != ";" && $0 != " " }.lowercased() == "application/json"
    }
}

extension GraphQLRequest {
    fileprivate mutating func addOrigin(_ request: Request, _ id: String) {
        requestID = id
        guard let authorization = request.headers[.authorization],
            authorization.prefix(7).lowercased() == "bearer "
        else { return }
        bearerToken = String(authorization.dropFirst(7))
    }
}

extension Response {
    /// The reason why a request is not executed, in the form of a GraphQL response.
    fileprivate static func problem(_ status: HTTPResponse.Status, _ message: String) -> Response {
        Response(
            status: status, headers: [.contentType: SingleMediaType.json.contentType],
            body: ResponseBody(
                byteBuffer: ByteBuffer(bytes: RequestErrors([GraphQLError(message)]).body)))
    }

    fileprivate static func events(
        _ write: @escaping @Sendable (inout any ResponseBodyWriter) async throws -> Void
    ) -> Response {
        Response(
            status: .ok,
            headers: [
                .contentType: "text/event-stream; charset=utf-8", .cacheControl: "no-store",
            ], body: ResponseBody(write))
    }

    /// Spec: https://graphql.github.io/graphql-over-http/draft/#sec-Status-Codes
    fileprivate init(_ response: GraphQLResponse, as type: SingleMediaType) {
        self.init(
            status: .ok, headers: [.contentType: type.contentType],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: response.body)))
        switch response.refusal {
        case .mutationInReadOnlyRequest?:
            status = .methodNotAllowed
            headers[.allow] = "POST"
        case .rateLimited(let seconds)?:
            status = .tooManyRequests
            headers[.retryAfter] = "\(seconds)"
        case .unavailable(let seconds)?:
            status = .serviceUnavailable
            headers[.retryAfter] = "\(seconds)"
        case nil:
            if response.isRequestError, type == .graphQLResponse { status = .badRequest }
        }
    }
}
