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
    /// Of a request with files, all parts together.
    let multipartBytesMax: Int

    var routes: [Route] {
        [
            Route(
                .POST, Self.path, bodyBytesMax: bodyBytesMax, allowsOtherOrigins: true,
                admit: admit, respond: post),
            Route(.GET, Self.path, allowsOtherOrigins: true, respond: get),
        ]
    }

    private func post(_ request: HTTPRequest) async -> HTTPResponse {
        guard case .graphQL(let mediaType) = Negotiation.choose(accept: request.headers.accept)
        else { return HTTPProblem.notAcceptable.response() }
        do throws(HTTPProblem) {
            if let boundary = Self.boundary(request.headers) {
                return await answer(
                    try GraphQLRequest(
                        multipart: request, boundary: boundary, mediaType: mediaType))
            }
            guard let contentType = request.headers.contentType, Self.isJSON(contentType) else {
                throw .unsupportedMediaType
            }
            return await answer(try GraphQLRequest(post: request, mediaType: mediaType))
        } catch {
            return error.response(as: mediaType)
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
        guard let contentType = headers.contentType, let media = MediaType.single(contentType),
            media.is("multipart", "form-data")
        else { return nil }
        return media.parameter("boundary") ?? ""
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
