import Bookplate
import GraphQLNIO
import NIOHTTP1
import Requests
import Server

/// The route `GET /exports/{token}.zip`, which returns the archive of a library. It needs no token in a header, so that
/// a browser can open the link.
final class ExportRoute {
    private let exports: ExportEndpoint

    init(_ exports: ExportEndpoint) { self.exports = exports }

    var route: Route {
        Route(.GET, "\(ExportLink.path)*") { request in
            let name = request.path.dropFirst(ExportLink.path.count)
            guard name.hasSuffix(".zip") else { return HTTPProblem.notFound.response() }
            do throws(BookplateError) {
                let object = try await self.exports.open(
                    token: name.dropLast(4), requestID: request.id)
                return .file(
                    object, contentType: "application/zip",
                    headers: [
                        ("Content-Disposition", "attachment; filename=\"bookplate-library.zip\""),
                        ("Cache-Control", "private, no-store"), ("Referrer-Policy", "no-referrer"),
                    ])
            } catch {
                return HTTPProblem(error).response()
            }
        }
    }
}
