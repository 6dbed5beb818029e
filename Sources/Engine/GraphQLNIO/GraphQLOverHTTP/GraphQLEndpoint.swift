import GraphQL
import GraphQLServing
import NIOCore
import NIOHTTP1

/// The routes of GraphQL over HTTP, for one event loop.
///
/// Spec: https://graphql.github.io/graphql-over-http/draft/
package struct GraphQLEndpoint {
    let path: String
    let service: any GraphQLService
    let loop: any EventLoop
    let page: Asset?
    let bodyBytesMax: Int
    let batchRequestsMax: Int
    let multipartBytesMax: Int
    let socketOrigins: AllowedOrigins
    let responseBytesMax: Int
    let unread: UnreadBytes

    /// - Parameters:
    ///   - page: The page for browsers; nil if there is none.
    ///   - batchRequestsMax: The maximum number of requests in a JSON array; 0 if arrays are not accepted.
    ///   - multipartBytesMax: The maximum size of a multipart request with all of its parts.
    ///   - socketOrigins: The origins whose pages may open a WebSocket.
    ///   - responseBytesMax: The limit on the response to an array of requests.
    ///   - unread: Counts the responses that clients have not read. Must be the instance that the server uses.
    package init(
        path: String = "/graphql", service: any GraphQLService, loop: any EventLoop,
        page: Asset? = nil, bodyBytesMax: Int,
        batchRequestsMax: Int, multipartBytesMax: Int, socketOrigins: AllowedOrigins,
        responseBytesMax: Int, unread: UnreadBytes
    ) {
        self.path = path
        self.service = service
        self.loop = loop
        self.page = page
        self.bodyBytesMax = bodyBytesMax
        self.batchRequestsMax = batchRequestsMax
        self.multipartBytesMax = multipartBytesMax
        self.socketOrigins = socketOrigins
        self.responseBytesMax = responseBytesMax
        self.unread = unread
    }

    package var routes: [Route] {
        let compressor = ResponseCompressor()
        return [
            Route(
                .POST, path, bodyBytesMax: bodyBytesMax, acceptsGzip: true,
                allowsOtherOrigins: true, checkHead: checkHead
            ) { await compressor.compress(await post($0), for: $0) },
            Route(
                .GET, path, allowsOtherOrigins: true,
                webSocket: WebSocketEndpoint(
                    service: service, messageBytesMax: bodyBytesMax, origins: socketOrigins)
            ) { await compressor.compress(await get($0), for: $0) },
        ]
    }

    private func post(_ request: HTTPRequest) async -> HTTPResponse {
        let accepted = Accepted(request)
        guard accepted.isAny else { return HTTPProblem.notAcceptable.response() }
        do throws(HTTPProblem) {
            if let boundary = Self.boundary(request.headers) {
                return await respond(
                    to: try await GraphQLRequest(
                        multipart: request, boundary: boundary, jsonBytesMax: bodyBytesMax),
                    as: accepted)
            }
            guard let contentType = request.headers.contentType, MediaType.isJSON(contentType)
            else {
                throw .unsupportedMediaType
            }
            switch try await GraphQLRequest.parseBody(
                of: request, batchRequestsMax: batchRequestsMax)
            {
            case .single(let request): return await respond(to: request, as: accepted)
            case .batch(let requests):
                // An array of responses cannot be streamed.
                guard let single = accepted.single else { throw .notAcceptable }
                return await respond(to: requests, as: single)
            }
        } catch {
            return error.response(as: accepted.problemType)
        }
    }

    /// Checks a request's head. Uploads need a valid access token, and a header that makes browsers send a CORS
    /// preflight first: an HTML form on another site could send multipart bodies without one.
    private func checkHead(_ request: HTTPRequest) -> HeadCheck {
        guard Self.boundary(request.headers) != nil else {
            return .accepted(bodyBytesMax: bodyBytesMax)
        }
        guard request.headers.hasPreflight else {
            return .refused(
                .badRequest(
                    "A multipart/form-data request needs the header GraphQL-Preflight: 1."))
        }
        guard let token = request.headers.bearerToken,
            service.accepts(bearerToken: token, requestID: request.id)
        else { return .refused(.unauthenticated()) }
        return .accepted(bodyBytesMax: multipartBytesMax, isStored: true)
    }

    /// Returns the boundary of a `multipart/form-data` request; nil for other content types.
    private static func boundary(_ headers: RequestHeaders) -> String? {
        // Fast path for the content type of most clients.
        guard let contentType = headers.contentType, contentType != "application/json",
            let media = MediaType.single(contentType), media.is("multipart", "form-data")
        else { return nil }
        return media.parameter("boundary") ?? ""
    }

    private func get(_ request: HTTPRequest) async -> HTTPResponse {
        if case .page? = Negotiation.choose(accept: request.headers.accept, page: page != nil) {
            return page?.response(to: request) ?? HTTPProblem.notAcceptable.response()
        }
        let accepted = Accepted(request)
        guard accepted.isAny else { return HTTPProblem.notAcceptable.response() }
        // Some browsers let a page of another origin send a GET with the content type of a form. The page could then
        // measure response times.
        if let contentType = request.headers.contentType, !MediaType.isJSON(contentType) {
            return HTTPProblem.unsupportedMediaType.response(as: accepted.problemType)
        }
        var response: HTTPResponse
        do throws(HTTPProblem) {
            response = await respond(
                to: try GraphQLRequest(get: request), as: accepted)
        } catch {
            response = error.response(as: accepted.problemType)
        }
        if !response.headers.contains(where: { $0.0 == "Cache-Control" }) {
            response.headers.append(("Cache-Control", "no-store"))
        }
        response.headers.append(("Vary", "accept, accept-encoding, authorization"))
        return response
    }

    /// The formats that the client accepts: for a single response, for the events of a subscription, and for the parts of a
    /// response.
    private struct Accepted {
        let single: ResponseMediaType?
        let streams: Negotiation.Streams

        var events: StreamFormat? { streams.events }
        var incremental: StreamFormat? { streams.incremental }

        init(_ request: HTTPRequest) {
            if case .graphQL(let type) = Negotiation.choose(accept: request.headers.accept) {
                single = type
            } else {
                single = nil
            }
            streams = Negotiation.streams(accept: request.headers.accept)
        }

        var isAny: Bool { single != nil || events != nil || incremental != nil }
        /// The media type of a response to a request that is refused before execution.
        var problemType: ResponseMediaType { single ?? .json }
    }

    /// Responds to a query or mutation with a single response if the client accepts one. Streams are for subscriptions, for
    /// `@defer` and `@stream`, and for clients that prefer an event stream or accept nothing else.
    private func respond(to request: GraphQLRequest, as accepted: Accepted) async -> HTTPResponse {
        var request = request
        // The memory for unread responses may be full.
        if let refusal = unread.refusal(for: request.client) {
            return refusal.response(as: accepted.problemType)
        }
        request.expectsSingleResponse = accepted.events == nil
        request.incrementalFormat = accepted.incremental?.incrementalFormat
        guard let format = accepted.events ?? accepted.incremental else {
            return single(
                await service.respond(to: request), accepted.problemType,
                isGET: request.isReadOnly)
        }
        let isGET = request.isReadOnly
        switch await service.execute(request) {
        case .response(let response)
        where (accepted.single != nil && !accepted.streams.prefersEventStream)
            || response.refusal == .mutationInReadOnlyRequest:
            return single(response, accepted.problemType, isGET: isGET)
        case .response(let response):
            return stream(format, headers: response.headers(isGET: isGET)) { body in
                await body.write(format.next(response.body))
                await body.write(format.complete)
            }
        case .responses(let responses):
            return stream(format, hasEvents: true) { [service, loop, request] body in
                await Self.send(
                    responses, to: body, as: format, bearerToken: request.bearerToken, service,
                    loop)
            }
        case .incremental(let first, let rest):
            // The service makes several parts only if the client accepts a format for them.
            let format = accepted.incremental ?? format
            return stream(format, headers: first.headers(isGET: isGET)) { body in
                body.limitTime()
                await Self.send(first, rest, to: body, as: format)
            }
        }
    }

    /// Executes the requests in order, because a request may depend on the effects of earlier ones. The array of
    /// responses has status 200, even if it contains errors.
    private func respond(
        to batch: [GraphQLRequest], as mediaType: ResponseMediaType
    ) async -> HTTPResponse {
        let client = batch.first?.client
        if let refusal = unread.refusal(for: client) { return refusal.response(as: mediaType) }
        // The responses stay in memory while later requests run.
        var heldBytes = 0
        defer { unread.add(-heldBytes, for: client) }
        var body = ByteBuffer(string: "[")
        for (index, request) in batch.enumerated() {
            if index > 0 { body.writeStaticString(",") }
            var response = await service.respond(to: request)
            if body.readableBytes + response.body.count > responseBytesMax {
                let error = GraphQLError.responseTooLarge(bytesMax: responseBytesMax)
                    .coded(by: service.errorCodes)
                response.body = RequestErrors([error]).body
            }
            let byteCount = response.body.count
            if let refusal = unread.reserve(byteCount, for: client) {
                return refusal.response(as: mediaType)
            }
            heldBytes += byteCount
            body.writeBytes(response.body)
        }
        body.writeStaticString("]")
        return HTTPResponse(.ok, contentType: mediaType.contentType, body: body)
    }

    private func single(
        _ result: GraphQLResponse, _ mediaType: ResponseMediaType, isGET: Bool
    ) -> HTTPResponse {
        var response = HTTPResponse(
            result.httpStatus(as: mediaType), contentType: mediaType.contentType,
            body: ByteBuffer(bytes: result.body), headers: result.headers(isGET: isGET))
        response.operationName = result.operationName
        if response.status == .methodNotAllowed { response.headers.append(("Allow", "POST")) }
        return response
    }
}
