import Bookplate
import GraphQLNIO
import NIOCore
import NIOHTTP1
import Requests
import Server

/// The route `GET /s/…`: the pages of links, with their covers and their style, for one event loop.
struct SharedRoute {
    private let endpoint: SharedEndpoint

    init(_ endpoint: SharedEndpoint) { self.endpoint = endpoint }

    var route: Route {
        Route(.GET, "\(SharedEndpoint.path)*") { [endpoint] request in
            do throws(BookplateError) {
                let response = try await endpoint.get(
                    SharedEndpoint.Request(
                        path: request.path.dropFirst(SharedEndpoint.path.count),
                        query: request.query, acceptLanguage: request.headers.acceptLanguage,
                        ifNoneMatch: request.headers.ifNoneMatch,
                        address: request.client.map { RateKey($0) }, requestID: request.id))
                return HTTPResponse(
                    HTTPResponseStatus(statusCode: response.status),
                    contentType: response.contentType, body: ByteBuffer(bytes: response.body),
                    headers: response.headers)
            } catch {
                return HTTPProblem(error).response()
            }
        }
    }
}
