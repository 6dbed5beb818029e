import Basics
import GraphQL
import Identity
import ObjectStorage
import Postgres
import Requests

/// The HTTP endpoint of links: `/s/TOKEN` is the page, `/s/TOKEN/COVER.jpg` a cover that the reader has chosen, and `/s/page.css`
/// the style. Belongs to one event loop.
package final class SharedEndpoint {
    package static let path = SharedLink.path
    /// How long browsers and proxies may show a page or cover without asking again, and thus after the link was revoked.
    private static let secondsMax = 60

    package struct Request {
        /// The path after `/s/`.
        let path: Substring
        let query: Substring
        let acceptLanguage: String?
        let ifNoneMatch: String?
        let address: RateKey?
        let requestID: String

        package init(
            path: Substring, query: Substring?, acceptLanguage: String?, ifNoneMatch: String?,
            address: RateKey?, requestID: String
        ) {
            self.path = path
            self.query = query ?? ""
            self.acceptLanguage = acceptLanguage
            self.ifNoneMatch = ifNoneMatch
            self.address = address
            self.requestID = requestID
        }
    }

    package struct Response {
        package let status: Int
        package let contentType: String?
        package let body: [UInt8]
        package let headers: [(String, String)]
    }

    private let database: ConnectionPool
    private let services: Services
    /// The origins of covers and of the style, for the header `Content-Security-Policy`.
    private let origins: String

    package init(database: ConnectionPool, services: Services) {
        self.database = database
        self.services = services
        let urls = services.covers.urls
        origins = [urls.publicURL, urls.bucketURL].compactMap { $0.map(Self.origin) }
            .joined(separator: " ")
    }

    /// Returns `https://host:port` of a URL.
    private static func origin(_ url: String) -> String {
        url.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false).prefix(3)
            .joined(separator: "/")
    }

    // MARK: - Requests

    /// - Throws: `.rateLimited`, `.serviceUnavailable`, or `.internalError`. A link that does not exist is a page with the status 404.
    package func get(_ request: Request) async throws(BookplateError) -> Response {
        if request.path == "page.css" {
            return Response(
                status: 200, contentType: "text/css; charset=utf-8",
                body: PackageResources.sharing_css,
                headers: [("Cache-Control", "public, max-age=3600")])
        }
        do throws(BookplateError) {
            let parts = request.path.split(separator: "/", omittingEmptySubsequences: false)
            if parts.count == 2 {
                return try await cover(parts[1], of: parts[0], request)
            }
            return try await page(request)
        } catch .notFound {
            let page = SharedPage(acceptLanguage: request.acceptLanguage, services: services)
            return response(404, page.missing, page.language, [("Cache-Control", "no-store")])
        }
    }

    private func page(_ request: Request) async throws(BookplateError) -> Response {
        try charge(request)
        let cursor = request.query.split(separator: "&").first { $0.hasPrefix("after=") }
        let item = try await SharedItem.find(
            request.path, after: cursor.map { String($0.dropFirst(6)) }, in: context(request))
        let page = SharedPage(acceptLanguage: request.acceptLanguage, services: services)
        let html = page.html(item)
        let tag = "\"\(lowercaseHex(Array(sha256(html.utf8).prefix(16))))\""
        let cached = [
            ("ETag", tag), ("Cache-Control", "public, max-age=\(Self.secondsMax), must-revalidate"),
        ]
        if request.ifNoneMatch?.contains(tag) == true {
            return response(304, nil, page.language, cached)
        }
        return response(200, html, page.language, cached)
    }

    /// The cover of a book that the page shows. Its address was encrypted by this server for this link, so only addresses that it has not
    /// made are charged: a page can have many covers.
    private func cover(
        _ name: Substring, of text: Substring, _ request: Request
    ) async throws(BookplateError) -> Response {
        guard let token = SharedToken(text), name.hasSuffix(".jpg"),
            let value = token.open(
                name.dropLast(4), for: "cover", keys: services.accounts.sessionKeys),
            value.count > 16, let book = value.prefix(16).withUnsafeBytes({ UUID(bytes: $0) })
        else {
            try charge(request)
            throw SharedItem.noSuchLink
        }
        let version = String(decoding: value.dropFirst(16), as: UTF8.self)
        guard
            let link = try await OpenedLink.find(
                token, cover: version, of: book, context(request))
        else { throw SharedItem.noSuchLink }
        let headers = [
            ("Cache-Control", "public, max-age=\(Self.secondsMax), must-revalidate"),
            ("ETag", "\"\(version)\""), ("X-Robots-Tag", "noindex"),
            ("Content-Security-Policy", "default-src 'none'; sandbox"),
            ("Referrer-Policy", "no-referrer"),
        ]
        if request.ifNoneMatch?.contains("\"\(version)\"") == true {
            return Response(status: 304, contentType: nil, body: [], headers: headers)
        }
        guard
            let key = ObjectKey(
                .bookCovers, folder: link.owner.description, name: book.description),
            let path = ObjectPath(key, version: version, .full),
            let bytes = try await read(path, request)
        else { throw SharedItem.noSuchLink }
        return Response(status: 200, contentType: "image/jpeg", body: bytes, headers: headers)
    }

    private func read(
        _ path: ObjectPath, _ request: Request
    ) async throws(BookplateError) -> [UInt8]? {
        try await services.covers.bucketReads.run(for: request.address) {
            () async throws(BookplateError) in
            do throws(ObjectError) {
                return try await services.covers.store.read(path)
            } catch {
                throw services.covers.bookplateError(
                    error, "a shared cover cannot be read", requestID: request.requestID)
            }
        }
    }

    // MARK: - Parts

    private func charge(_ request: Request) throws(BookplateError) {
        guard let address = request.address,
            let seconds = services.environment.secondsToWait(from: address)
        else { return }
        throw .rateLimited(retryAfterSeconds: seconds)
    }

    private func context(_ request: Request) -> RequestContext {
        RequestContext(
            viewer: nil, database: database, services: services, requestID: request.requestID,
            address: request.address)
    }

    /// Returns a page. It loads only covers and its style, runs no script, and no other page can contain it.
    private func response(
        _ status: Int, _ html: String?, _ language: String, _ headers: [(String, String)]
    ) -> Response {
        Response(
            status: status, contentType: html == nil ? nil : "text/html; charset=utf-8",
            body: html.map { Array($0.utf8) } ?? [],
            headers: headers + [
                (
                    "Content-Security-Policy",
                    "default-src 'none'; style-src \(origins); img-src \(origins); "
                        + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
                ),
                ("Referrer-Policy", "no-referrer"), ("X-Robots-Tag", "noindex"),
                ("X-Frame-Options", "DENY"), ("Content-Language", language),
                ("Vary", "Accept-Language"),
            ])
    }
}
