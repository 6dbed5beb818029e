import Bookplate
import GraphQLNIO
import NIOCore
import NIOHTTP1
import Postgres
import Requests

/// The routes of OAuth, for one event loop: the pages under `/oauth/authorize`, `/oauth/requests`, and `/oauth/device`, and the
/// endpoints that apps call. Scripts of other origins can call the endpoints of apps, but not the pages.
struct OAuthRoutes {
    private let endpoint: OAuthEndpoint

    init(database: ConnectionPool, services: Services, publicURL: String) {
        endpoint = OAuthEndpoint(database: database, services: services, publicURL: publicURL)
    }

    var routes: [Route] {
        [
            get("/.well-known/oauth-authorization-server/", isOpen: true) { await $0.metadata($1) },
            Route(.GET, Self.resourcePath, allowsOtherOrigins: true) { [endpoint] in
                HTTPResponse(
                    await endpoint.protectedResource(OAuthRequest($0, after: Self.resourcePath)))
            },
            get("\(Self.resourcePath)/", isOpen: true) { await $0.protectedResource($1) },
            get("/oauth/authorize/") { await $0.authorize($1) },
            get("/oauth/requests/") { await $0.requestPage($1) },
            get("/oauth/device/") { await $0.devicePage($1) },
            post("/oauth/requests/", isOpen: false) { await $0.cancel($1) },
            post("/oauth/device_authorization/") { await $0.authorizeDevice($1) },
            post("/oauth/token/") { await $0.token($1) },
            post("/oauth/revoke/") { await $0.revoke($1) },
            post("/oauth/register/") { await $0.register($1) },
            Self.file("/oauth/page.css", OAuthEndpoint.style, contentType: "text/css"),
            Self.file("/oauth/page.js", OAuthEndpoint.script, contentType: "text/javascript"),
        ]
    }

    private static let resourcePath = "/.well-known/oauth-protected-resource"

    private typealias Work = (OAuthEndpoint, OAuthRequest) async -> OAuthResponse

    private func get(_ prefix: String, isOpen: Bool = false, _ work: @escaping Work) -> Route {
        Route(.GET, "\(prefix)*", allowsOtherOrigins: isOpen) { [endpoint] in
            HTTPResponse(await work(endpoint, OAuthRequest($0, after: prefix)))
        }
    }

    private func post(_ prefix: String, isOpen: Bool = true, _ work: @escaping Work) -> Route {
        Route(
            .POST, "\(prefix)*", bodyBytesMax: OAuthEndpoint.bodyBytesMax,
            allowsOtherOrigins: isOpen
        ) { [endpoint] in
            HTTPResponse(await work(endpoint, OAuthRequest($0, after: prefix)))
        }
    }

    private static func file(_ path: String, _ text: String, contentType: String) -> Route {
        Route(.GET, path) { _ in
            var response = HTTPResponse.text(
                .ok, text, contentType: "\(contentType); charset=utf-8")
            response.headers = [("Cache-Control", "public, max-age=3600")]
            return response
        }
    }
}

extension OAuthRequest {
    fileprivate init(_ request: HTTPRequest, after prefix: String) {
        self.init(
            path: request.path.dropFirst(prefix.count), query: request.query,
            body: Array(request.body.readableBytesView),
            contentType: request.headers.contentType,
            authorization: request.headers.authorization, cookie: request.headers.cookie,
            acceptLanguage: request.headers.acceptLanguage,
            address: request.client.map { RateKey($0) }, requestID: request.id)
    }
}

extension HTTPResponse {
    fileprivate init(_ response: OAuthResponse) {
        self.init(
            HTTPResponseStatus(statusCode: response.status), contentType: response.contentType,
            body: ByteBuffer(bytes: response.body), headers: response.headers)
    }
}
