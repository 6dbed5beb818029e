import GraphQL
import GraphQLServing
import NIOCore
import NIOHTTP1

/// The routes of GraphQL over HTTP, for one event loop.
///
/// Spec: https://graphql.github.io/graphql-over-http/draft/
struct GraphQLEndpoint {
    static let path = "/graphql"

    let service: any GraphQLService
    let loop: any EventLoop
    /// The page for browsers; nil if there is none.
    let page: Asset?
    let bodyBytesMax: Int
    /// The maximum number of requests in a JSON array; 0 if arrays are not accepted.
    let batchRequestsMax: Int
    /// The maximum size of a multipart request with all of its parts.
    let multipartBytesMax: Int
    let socketOrigins: AllowedOrigins
    /// The limit on the response to an array of requests.
    let responseBytesMax: Int
    let unread: UnreadBytes

    var routes: [Route] {
        let compressor = ResponseCompressor()
        return [
            Route(
                .POST, Self.path, bodyBytesMax: bodyBytesMax, acceptsGzip: true,
                allowsOtherOrigins: true, checkHead: checkHead
            ) { await compressor.compress(await post($0), for: $0) },
            Route(
                .GET, Self.path, allowsOtherOrigins: true,
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
                    to: try GraphQLRequest(multipart: request, boundary: boundary),
                    as: accepted)
            }
            guard let contentType = request.headers.contentType, Self.isJSON(contentType) else {
                throw .unsupportedMediaType
            }
            switch try GraphQLRequest.parseBody(
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
        else { return .refused(.unauthenticated) }
        return .accepted(bodyBytesMax: multipartBytesMax)
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
        if let contentType = request.headers.contentType, !Self.isJSON(contentType) {
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

    /// Responds to a query or mutation with a single response if the client accepts one, regardless of the weights
    /// (`q`). Streams are for subscriptions, and for clients that accept nothing else.
    private func respond(to request: GraphQLRequest, as accepted: Accepted) async -> HTTPResponse {
        // The memory for unread responses may be full.
        if let refusal = unread.refusal(for: request.client) {
            return refusal.response(as: accepted.problemType)
        }
        guard let format = accepted.stream else {
            return single(
                await service.respond(to: request), accepted.problemType,
                isGET: request.isReadOnly)
        }
        switch await service.execute(request) {
        case .response(let response)
        where accepted.single != nil || response.refusal == .mutationInReadOnlyRequest:
            return single(response, accepted.problemType, isGET: request.isReadOnly)
        case .response(let response):
            return stream(format, headers: response.headers(isGET: request.isReadOnly)) { body in
                await body.write(format.next(response.body))
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
        if response.status == .methodNotAllowed { response.headers.append(("Allow", "POST")) }
        return response
    }

    private func stream(
        _ format: StreamFormat, headers: [(String, String)] = [],
        _ produce: @escaping (BodyStream) async -> Void
    ) -> HTTPResponse {
        var response = HTTPResponse(
            .ok, contentType: format.contentType,
            // The last header is for proxies that would otherwise buffer the whole body.
            headers: headers + [("Cache-Control", "no-store"), ("X-Accel-Buffering", "no")])
        response.stream = { body in
            body.heartbeat = format.heartbeat
            body.writeNow(format.preamble)
            await produce(body)
            if case .refused(let refusal)? = body.endReason {
                Self.fail(body, format, refusal.error)
            }
        }
        return response
    }

    private static func send(
        _ responses: ResponseStream, to body: BodyStream, as format: StreamFormat,
        bearerToken: String?, _ service: any GraphQLService, _ loop: any EventLoop
    ) async {
        var connection: AuthenticatedConnection?
        if let bearerToken {
            do throws(ConnectionAuthenticationError) {
                let authenticated = try await service.authenticateConnection(
                    bearerToken, for: .stream, on: loop
                ) { [weak body] in body?.end(.sessionEnded) }
                body.expiresAt = authenticated.expiresAt
                connection = authenticated
            } catch {
                return fail(body, format, error == .unauthenticated ? .sessionEnded : .unavailable)
            }
        }
        // The session is watched until the stream ends.
        defer { withExtendedLifetime(connection) {} }
        do throws(RequestErrors) {
            // The next response is computed only after the client has read the previous one.
            while await body.waitUntilWritable(), let response = try await responses.next() {
                await body.write(format.next(response.body))
            }
        } catch  where body.endReason == nil {
            body.writeNow(format.failed(error.errors))
            return body.writeNow(format.complete)
        } catch {}
        switch body.endReason {
        case nil: await body.write(format.complete)
        case .sessionEnded: fail(body, format, .sessionEnded)
        case .tooSlow: fail(body, format, .tooSlow)
        // `stream` writes the error.
        case .disconnected, .serverStopping, .refused: break
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

extension GraphQLResponse {
    /// The time for which caches may keep a public response, in seconds.
    private static let publicMaxAge = 60

    /// Returns the HTTP status. A request error has 400 as `application/graphql-response+json`, and 200 as
    /// `application/json`.
    ///
    /// Spec: https://graphql.github.io/graphql-over-http/draft/#sec-Status-Codes
    fileprivate func httpStatus(as mediaType: ResponseMediaType) -> HTTPResponseStatus {
        switch refusal {
        case .mutationInReadOnlyRequest?: .methodNotAllowed
        case .rateLimited?: .tooManyRequests
        case .unavailable?: .serviceUnavailable
        case nil: isRequestError && mediaType == .graphQLResponse ? .badRequest : .ok
        }
    }

    /// Returns the header fields that describe the response.
    ///
    /// Spec of `ratelimit`: https://www.ietf.org/archive/id/draft-ietf-httpapi-ratelimit-headers-10.html
    fileprivate func headers(isGET: Bool) -> [(String, String)] {
        var headers: [(String, String)] = []
        if let limit = rateLimit {
            headers += [
                ("RateLimit-Policy", "\"\(limit.name)\";q=\(limit.unitsPerMinute);w=60"),
                (
                    "RateLimit",
                    "\"\(limit.name)\";r=\(limit.remainingUnits);t=\(limit.waitSeconds)"
                ),
            ]
        }
        switch refusal {
        case .rateLimited(let seconds)?, .unavailable(let seconds)?:
            headers.append(("Retry-After", "\(seconds)"))
        case .mutationInReadOnlyRequest?, nil: break
        }
        if let cost = databaseCost {
            headers.append(
                (
                    "X-Database-Cost",
                    "statements=\(cost.statementCount), round-trips=\(cost.roundTripCount)"
                ))
        }
        if isGET, isPublic {
            headers.append(("Cache-Control", "public, max-age=\(Self.publicMaxAge)"))
        }
        return headers
    }
}
