import GraphQL
import NIOCore
import NIOHTTP1

/// GraphQL over HTTP for one event loop.
///
/// Spec: https://graphql.github.io/graphql-over-http/draft/
struct GraphQLEndpoint {
    static let path = "/graphql"

    let service: any GraphQLService
    let loop: any EventLoop
    /// What a browser gets; nil where there is none.
    let page: Asset?
    let bodyBytesMax: Int
    /// How many requests one body may have in a list; 0 where lists are not taken.
    let batchRequestsMax: Int
    /// Of a request with files, all parts together.
    let multipartBytesMax: Int
    let socketOrigins: AllowedOrigins
    /// The limit on the response to a list of requests.
    let responseBytesMax: Int
    let unread: UnreadBytes

    var routes: [Route] {
        [
            Route(
                .POST, Self.path, bodyBytesMax: bodyBytesMax, allowsOtherOrigins: true,
                admit: admit, respond: post),
            Route(
                .GET, Self.path, allowsOtherOrigins: true,
                webSocket: WebSocketEndpoint(
                    service: service, messageBytesMax: bodyBytesMax, origins: socketOrigins),
                respond: get),
        ]
    }

    private func post(_ request: HTTPRequest) async -> HTTPResponse {
        let accepted = Accepted(request)
        guard accepted.isAny else { return HTTPProblem.notAcceptable.response() }
        do throws(HTTPProblem) {
            if let boundary = Self.boundary(request.headers) {
                return await answer(
                    try GraphQLRequest(
                        multipart: request, boundary: boundary, mediaType: accepted.problemType),
                    as: accepted)
            }
            guard let contentType = request.headers.contentType, Self.isJSON(contentType) else {
                throw .unsupportedMediaType
            }
            switch try GraphQLRequest.posted(
                request, mediaType: accepted.problemType, batchRequestsMax: batchRequestsMax)
            {
            case .one(let request): return await answer(request, as: accepted)
            case .batch(let requests):
                // A list has no form as a stream.
                guard let single = accepted.single else { throw .notAcceptable }
                return await answer(requests, as: single)
            }
        } catch {
            return error.response(as: accepted.problemType)
        }
    }

    /// Files may come from whoever is signed in, and from no page that a browser lets send a form without asking.
    private func admit(_ request: HTTPRequest) -> Admission {
        guard Self.boundary(request.headers) != nil else {
            return .accepted(bodyBytesMax: bodyBytesMax)
        }
        guard request.headers.hasPreflight else {
            return .refused(
                .badRequest(
                    "A request of multipart/form-data needs the header GraphQL-Preflight: 1."))
        }
        guard let token = request.headers.bearerToken,
            service.accepts(bearerToken: token, requestID: request.id)
        else { return .refused(.unauthenticated) }
        return .accepted(bodyBytesMax: multipartBytesMax)
    }

    /// The boundary of a request of `multipart/form-data`; nil for any other type.
    private static func boundary(_ headers: RequestHeaders) -> String? {
        // What most clients send is not taken apart.
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
        // Some browsers let a page of another origin send a body's type with a GET, to tell answers apart by their time.
        if let contentType = request.headers.contentType, !Self.isJSON(contentType) {
            return HTTPProblem.unsupportedMediaType.response(as: accepted.problemType)
        }
        var response: HTTPResponse
        do throws(HTTPProblem) {
            response = await answer(
                try GraphQLRequest(get: request, mediaType: accepted.problemType), as: accepted)
        } catch {
            response = error.response(as: accepted.problemType)
        }
        if !response.headers.contains(where: { $0.0 == "cache-control" }) {
            response.headers.append(("cache-control", "no-store"))
        }
        response.headers.append(("vary", "accept, authorization"))
        return response
    }

    /// The formats that the client accepts: for a single response, for a stream, or for both.
    private struct Accepted {
        let single: ResponseMediaType?
        let stream: StreamFormat?

        init(_ request: HTTPRequest) {
            if case .graphQL(let type) = Negotiation.choose(accept: request.headers.accept) {
                single = type
            } else {
                single = nil
            }
            stream = Negotiation.stream(accept: request.headers.accept)
        }

        var isAny: Bool { single != nil || stream != nil }
        /// The media type of a response to a request that is refused before execution.
        var problemType: ResponseMediaType { single ?? .json }
    }

    /// Answers a query or mutation with a single response if the client accepts one, whatever the weights (`q`) say. A
    /// stream is for subscriptions, and for clients that accept nothing else.
    private func answer(_ request: GraphQLRequest, as accepted: Accepted) async -> HTTPResponse {
        // The memory for unread responses may be full.
        if let refusal = unread.refusal(for: request.client) {
            return refusal.response(as: request.mediaType)
        }
        guard let format = accepted.stream else {
            return single(await service.answer(request, on: loop), request)
        }
        switch await service.open(request, on: loop) {
        case .answer(let answer) where accepted.single != nil || answer.status == .methodNotAllowed:
            return single(answer, request)
        case .answer(let answer):
            return stream(format, headers: answer.headers) { body in
                await body.write(format.next(answer.body.readableBytesView))
                await body.write(format.complete)
            }
        case .responses(let responses):
            return stream(format) { [service, loop] body in
                await Self.send(
                    responses, to: body, as: format, bearerToken: request.bearerToken, service,
                    loop)
            }
        }
    }

    /// One after the other, for those behind may build on those before; the list has status 200, whatever its answers say.
    private func answer(
        _ batch: [GraphQLRequest], as mediaType: ResponseMediaType
    ) async -> HTTPResponse {
        let client = batch.first?.client
        if let refusal = unread.refusal(for: client) { return refusal.response(as: mediaType) }
        // The responses are kept while later requests run.
        var heldBytes = 0
        defer { unread.add(-heldBytes, for: client) }
        var body = ByteBuffer(string: "[")
        for (index, request) in batch.enumerated() {
            if index > 0 { body.writeStaticString(",") }
            var answer = await service.answer(request, on: loop)
            if body.readableBytes + answer.body.readableBytes > responseBytesMax {
                let error = GraphQLError.responseTooLarge(bytesMax: responseBytesMax)
                answer.body = ByteBuffer(bytes: RequestErrors([error]).body)
            }
            let byteCount = answer.body.readableBytes
            if let refusal = unread.take(byteCount, for: client) {
                return refusal.response(as: mediaType)
            }
            heldBytes += byteCount
            body.writeBuffer(&answer.body)
        }
        body.writeStaticString("]")
        return HTTPResponse(.ok, contentType: mediaType.contentType, body: body)
    }

    private func single(_ answer: GraphQLAnswer, _ request: GraphQLRequest) -> HTTPResponse {
        var response = HTTPResponse(
            answer.httpStatus(as: request.mediaType), contentType: request.mediaType.contentType,
            body: answer.body, headers: answer.headers)
        if response.status == .methodNotAllowed { response.headers.append(("allow", "POST")) }
        return response
    }

    private func stream(
        _ format: StreamFormat, headers: [(String, String)] = [],
        _ produce: @escaping (BodyStream) async -> Void
    ) -> HTTPResponse {
        var response = HTTPResponse(
            .ok, contentType: format.contentType,
            // The last is for a proxy that would otherwise collect the whole body first.
            headers: headers + [("cache-control", "no-store"), ("x-accel-buffering", "no")])
        response.stream = { body in
            body.heartbeat = format.heartbeat
            body.writeNow(format.opening)
            await produce(body)
            if case .refused(let refusal)? = body.ending {
                Self.fail(body, format, refusal.error)
            }
        }
        return response
    }

    private static func send(
        _ responses: ResponseStream, to body: BodyStream, as format: StreamFormat,
        bearerToken: String?, _ service: any GraphQLService, _ loop: any EventLoop
    ) async {
        var admission: AdmittedCaller?
        if let bearerToken {
            do throws(AdmissionError) {
                let admitted = try await service.admit(bearerToken, to: .stream, on: loop) {
                    [weak body] in body?.end(.sessionEnded)
                }
                body.expiresAt = admitted.expiresAt
                admission = admitted
            } catch {
                return fail(body, format, error == .refused ? .sessionEnded : .unavailable)
            }
        }
        // Watched to the end.
        defer { withExtendedLifetime(admission) {} }
        do throws(RequestErrors) {
            // Nothing is executed for a client that has not read the response before.
            while await body.mayWrite(), let response = try await responses.next() {
                await body.write(format.next(response.body))
            }
        } catch  where body.ending == nil {
            body.writeNow(format.failed(error.errors))
            return body.writeNow(format.complete)
        } catch {}
        switch body.ending {
        case nil: await body.write(format.complete)
        case .sessionEnded: fail(body, format, .sessionEnded)
        case .tooSlow: fail(body, format, .tooSlow)
        // `stream` writes the refusal.
        case .clientGone, .stopping, .refused: break
        }
    }

    private static func fail(_ body: BodyStream, _ format: StreamFormat, _ error: GraphQLError) {
        body.writeNow(format.failed([error]))
        body.writeNow(format.complete)
    }

    private static func isJSON(_ contentType: String) -> Bool {
        if contentType == "application/json" { return true }
        guard let media = MediaType.single(contentType) else { return false }
        return media.is("application", "json") && media.isUTF8
    }
}

extension GraphQLAnswer {
    fileprivate func httpStatus(as mediaType: ResponseMediaType) -> HTTPResponseStatus {
        switch status {
        case .methodNotAllowed?: .methodNotAllowed
        case .tooManyRequests?: .tooManyRequests
        case .serviceUnavailable?: .serviceUnavailable
        case .internalServerError?: .internalServerError
        case nil: isRequestError && mediaType == .graphQLResponse ? .badRequest : .ok
        }
    }
}
