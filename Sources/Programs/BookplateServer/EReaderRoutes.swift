import Bookplate
import GraphQLNIO
import NIOCore
import NIOHTTP1
import Postgres
import Requests

/// The routes of e-readers: `/koreader/…` and `/opds/…`, for one event loop.
struct EReaderRoutes {
    private let koreader: KOReaderEndpoint
    private let progression: ProgressionEndpoint

    init(database: ConnectionPool, services: Services) {
        koreader = KOReaderEndpoint(database: database, services: services)
        progression = ProgressionEndpoint(database: database, services: services)
    }

    var routes: [Route] {
        let koreaderPath = "\(KOReaderEndpoint.path)*"
        let progressionPath = "\(ProgressionEndpoint.path)*"
        return [
            Route(.GET, koreaderPath) { [koreader] in
                HTTPResponse(await koreader.get(.koreader($0)))
            },
            Route(.PUT, koreaderPath, bodyBytesMax: KOReaderEndpoint.bodyBytesMax) { [koreader] in
                HTTPResponse(await koreader.put(.koreader($0)))
            },
            Route(.POST, koreaderPath, bodyBytesMax: KOReaderEndpoint.bodyBytesMax) { [koreader] in
                HTTPResponse(koreader.post(.koreader($0)))
            },
            Route(.GET, ProgressionEndpoint.authenticationPath) { [progression] _ in
                HTTPResponse(progression.authentication())
            },
            Route(.GET, progressionPath) { [progression] in
                HTTPResponse(await progression.get(.opds($0)))
            },
            Route(.PUT, progressionPath, bodyBytesMax: ProgressionEndpoint.bodyBytesMax) {
                [progression] in
                HTTPResponse(await progression.put(.opds($0)))
            },
        ]
    }
}

extension EReaderRequest {
    fileprivate static func koreader(_ request: HTTPRequest) -> Self {
        Self(
            request,
            TokenCredential(
                koreaderUser: request.headers.authUser, key: request.headers.authKey))
    }

    fileprivate static func opds(_ request: HTTPRequest) -> Self {
        Self(request, TokenCredential(authorization: request.headers.authorization))
    }

    private init(_ request: HTTPRequest, _ credential: TokenCredential?) {
        self.init(
            path: request.path, credential: credential, body: Array(request.body.readableBytesView),
            address: request.client.map { RateKey($0) }, requestID: request.id)
    }
}

extension HTTPResponse {
    fileprivate init(_ response: EReaderResponse) {
        self.init(
            HTTPResponseStatus(statusCode: response.status), contentType: response.contentType,
            body: ByteBuffer(bytes: response.body), headers: response.headers)
    }
}
