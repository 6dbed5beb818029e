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

    var routes: [Route] {
        [
            Route(
                .POST, Self.path, bodyBytesMax: bodyBytesMax, allowsOtherOrigins: true,
                respond: post),
            Route(.GET, Self.path, allowsOtherOrigins: true, respond: get),
        ]
    }

    private func post(_ request: HTTPRequest) async -> HTTPResponse {
        guard case .graphQL(let mediaType) = Negotiation.choose(accept: request.headers.accept)
        else { return HTTPProblem.notAcceptable.response() }
        guard let contentType = request.headers.contentType, Self.isJSON(contentType) else {
            return HTTPProblem.unsupportedMediaType.response(as: mediaType)
        }
        do throws(HTTPProblem) {
            switch try GraphQLRequest.posted(
                request, mediaType: mediaType, batchRequestsMax: batchRequestsMax)
            {
            case .one(let request): return await answer(request)
            case .batch(let requests): return await answer(requests, as: mediaType)
            }
        } catch {
            return error.response(as: mediaType)
        }
    }

    private func get(_ request: HTTPRequest) async -> HTTPResponse {
        let mediaType: ResponseMediaType
        switch Negotiation.choose(accept: request.headers.accept, page: page != nil) {
        case .page?: return page?.response(to: request) ?? HTTPProblem.notAcceptable.response()
        case .graphQL(let type)?: mediaType = type
        case nil: return HTTPProblem.notAcceptable.response()
        }
        // Some browsers let a page of another origin send a body's type with a GET, to tell answers apart by their time.
        if let contentType = request.headers.contentType, !Self.isJSON(contentType) {
            return HTTPProblem.unsupportedMediaType.response(as: mediaType)
        }
        var response: HTTPResponse
        do throws(HTTPProblem) {
            response = await answer(try GraphQLRequest(get: request, mediaType: mediaType))
        } catch {
            response = error.response(as: mediaType)
        }
        if !response.headers.contains(where: { $0.0 == "cache-control" }) {
            response.headers.append(("cache-control", "no-store"))
        }
        response.headers.append(("vary", "accept, authorization"))
        return response
    }

    private func answer(_ request: GraphQLRequest) async -> HTTPResponse {
        let answer = await service.answer(request, on: loop)
        var response = HTTPResponse(
            answer.httpStatus(as: request.mediaType), contentType: request.mediaType.contentType,
            body: answer.body, headers: answer.headers)
        if response.status == .methodNotAllowed { response.headers.append(("allow", "POST")) }
        return response
    }

    /// One after the other, for those behind may build on those before; the list has status 200, whatever its answers say.
    private func answer(
        _ batch: [GraphQLRequest], as mediaType: ResponseMediaType
    ) async -> HTTPResponse {
        var body = ByteBuffer(string: "[")
        for (index, request) in batch.enumerated() {
            if index > 0 { body.writeStaticString(",") }
            var answer = await service.answer(request, on: loop)
            body.writeBuffer(&answer.body)
        }
        body.writeStaticString("]")
        return HTTPResponse(.ok, contentType: mediaType.contentType, body: body)
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
        case .ok?: .ok
        case .methodNotAllowed?: .methodNotAllowed
        case .tooManyRequests?: .tooManyRequests
        case .serviceUnavailable?: .serviceUnavailable
        case .internalServerError?: .internalServerError
        case nil: isRequestError && mediaType == .graphQLResponse ? .badRequest : .ok
        }
    }
}
