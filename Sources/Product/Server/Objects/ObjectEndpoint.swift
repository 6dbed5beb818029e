import GraphQLNIO
import NIOCore
import NIOHTTP1
import ObjectStorage

/// The routes of image URLs, for one event loop.
final class ObjectEndpoint {
    private static let shortCacheControl = "public, max-age=300, stale-while-revalidate=30"

    private let service: any ObjectService
    private let bodyBytesMax: Int
    private var files: ServedFileCache

    /// - Parameter filesMax: The maximum number of files that are kept open.
    init(service: any ObjectService, bodyBytesMax: Int, filesMax: Int) {
        files = ServedFileCache(countMax: filesMax)
        self.service = service
        self.bodyBytesMax = bodyBytesMax
    }

    var routes: [Route] {
        let covers = "/\(Bucket.bookCovers.rawValue)/*"
        return [
            Route(
                .GET, covers, allowsOtherOrigins: true, respondSynchronously: getCached,
                respond: get),
            Route(
                .PUT, covers, bodyBytesMax: bodyBytesMax, allowsOtherOrigins: true,
                checkHead: checkOwner, respond: put),
            Route(
                .DELETE, covers, allowsOtherOrigins: true, checkHead: checkOwner, respond: delete),
            Route(
                .GET, "/\(Bucket.titleCards.rawValue)/*", allowsOtherOrigins: true,
                respondSynchronously: getCached, respond: get),
            Route(
                .GET, "/\(Bucket.editionCovers.rawValue)/*", allowsOtherOrigins: true,
                respondSynchronously: getCached, respond: get),
        ]
    }

    // MARK: - Reading

    /// Returns the response to a GET request if the file is in the cache.
    private func getCached(_ request: HTTPRequest) -> HTTPResponse? {
        guard let file = files.file(at: request.target.text) else { return nil }
        return response(file, file.immutableHeaders, request)
    }

    private func get(_ request: HTTPRequest) async -> HTTPResponse {
        guard let address = ObjectURL(path: request.path, query: request.query) else {
            return HTTPProblem.notFound.response()
        }
        guard let variant = address.variant else {
            return HTTPProblem.badRequest("The size must be thumbnail, full, or large.").response()
        }
        if let version = address.version,
            let path = Self.path(address.key, version, variant),
            let object = service.openNow(path)
        {
            let file = ServedFile(object, tag: Self.tag(path))
            files.insert(file, at: request.target.text)
            return response(file, file.immutableHeaders, request)
        }
        do throws(HTTPProblem) {
            if let version = address.version,
                let path = Self.path(address.key, version, variant),
                case .bytes(let bytes)? = try await service.open(
                    path, for: request.client, requestID: request.id)
            {
                let file = ServedFile(bytes, tag: Self.tag(path))
                return response(file, file.immutableHeaders, request)
            }
            // A URL with an old version never shows a new image, because clients cache it for ever.
            let version = try await service.currentVersion(
                of: address.key, requested: address.version, requestID: request.id)
            guard let version, let path = Self.path(address.key, version, variant) else {
                return HTTPProblem.notFound.response()
            }
            if let response = try await response(
                path, isImmutable: address.version != nil, request)
            {
                return response
            }
            return try await placeholder(for: address.key, request)
                ?? HTTPProblem.notFound.response()
        } catch {
            return error.response()
        }
    }

    /// Returns the title card of a book whose cover has lost a file. Clients keep it only for a short time.
    private func placeholder(
        for key: ObjectKey, _ request: HTTPRequest
    ) async throws(HTTPProblem) -> HTTPResponse? {
        guard key.bucket != .titleCards,
            let card = ObjectKey(.titleCards, folder: key.folder, name: key.name),
            let version = try await service.currentVersion(
                of: card, requested: nil, requestID: request.id),
            let path = Self.path(card, version, .full)
        else { return nil }
        return try await response(path, isImmutable: false, request)
    }

    /// Returns nil if the file does not exist.
    private func response(
        _ path: ObjectPath, isImmutable: Bool, _ request: HTTPRequest
    ) async throws(HTTPProblem) -> HTTPResponse? {
        let file: ServedFile
        if let object = service.openNow(path) {
            file = ServedFile(object, tag: Self.tag(path))
        } else {
            switch try await service.open(
                path, for: request.client, requestID: request.id)
            {
            case .file(let object)?: file = ServedFile(object, tag: Self.tag(path))
            case .bytes(let bytes)?: file = ServedFile(bytes, tag: Self.tag(path))
            case .url(let url)?:
                return HTTPResponse(
                    .found,
                    headers: [("Location", url), ("Cache-Control", Self.shortCacheControl)])
            case nil: return nil
            }
        }
        return response(
            file,
            isImmutable
                ? file.immutableHeaders : ServedFile.headers(file.tag, Self.shortCacheControl),
            request)
    }

    private static func path(
        _ key: ObjectKey, _ version: String, _ variant: ObjectVariant
    ) -> ObjectPath? {
        // Title cards exist in one size, `full`, which is also their largest.
        let stored = key.bucket == .titleCards && variant == .large ? .full : variant
        return ObjectPath(key, version: version, stored)
    }

    private static func tag(_ path: ObjectPath) -> String {
        "\"\(path.version)-\(path.variant.rawValue)\""
    }

    private func response(
        _ file: ServedFile, _ headers: String, _ request: HTTPRequest
    ) -> HTTPResponse {
        var response = HTTPResponse(.ok, contentType: "image/jpeg")
        response.preparedHeaders = headers
        if let etags = request.headers.ifNoneMatch, Self.matches(etags, file.tag) {
            response.status = .notModified
            response.contentType = nil
            return response
        }
        let count = file.byteCount
        let isRangeValid = request.headers.ifRange.map { $0 == file.tag } ?? true
        switch ByteRange(isRangeValid ? request.headers.range : nil, of: count) {
        case .whole:
            file.setBody(of: &response, to: 0..<count)
        case .part(let part):
            response.status = .partialContent
            file.setBody(of: &response, to: part)
            response.headers = [
                ("Content-Range", "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(count)")
            ]
        case .unsatisfiable:
            return HTTPResponse(
                .rangeNotSatisfiable, headers: [("Content-Range", "bytes */\(count)")])
        }
        return response
    }

    /// Returns whether an `if-none-match` header contains the tag. The comparison is weak: `W/"tag"` matches too.
    private static func matches(_ etags: String, _ tag: String) -> Bool {
        if etags == tag || etags == "*" { return true }
        return etags.split(separator: ",").contains { entry in
            let entry = entry.drop { $0 == " " }
            let strong = entry.hasPrefix("W/") ? entry.dropFirst(2) : entry
            return strong.prefix(tag.count) == tag
                && strong.dropFirst(tag.count).allSatisfy { $0 == " " }
        }
    }

    // MARK: - Writing

    /// Only the owner may write. This is checked with the request's head, before the body is read.
    private func checkOwner(_ request: HTTPRequest) -> HeadCheck {
        guard let key = ObjectURL.key(request.path) else { return .refused(.notFound) }
        guard let token = request.headers.bearerToken,
            let user = service.user(of: token, requestID: request.id)
        else { return .refused(.unauthenticated()) }
        guard user == key.folder else {
            return .refused(.forbidden("Only the owner may change this image."))
        }
        return request.method == .PUT
            ? .accepted(bodyBytesMax: bodyBytesMax, isStored: true) : .accepted(bodyBytesMax: 0)
    }

    private func put(_ request: HTTPRequest) async -> HTTPResponse {
        guard let key = ObjectURL.key(request.path), let token = request.headers.bearerToken
        else { return HTTPProblem.notFound.response() }
        do throws(HTTPProblem) {
            let put = try await service.put(
                request.storedBody, of: key, bearerToken: token, requestID: request.id)
            var body = ByteBuffer(string: #"{"url":"#)
            body.writeJSONString(put.url)
            body.writeStaticString("}")
            return HTTPResponse(
                put.isNew ? .created : .ok, contentType: "application/json; charset=utf-8",
                body: body, headers: [("Location", put.url), ("Cache-Control", "no-store")])
        } catch {
            return error.response()
        }
    }

    private func delete(_ request: HTTPRequest) async -> HTTPResponse {
        guard let key = ObjectURL.key(request.path), let token = request.headers.bearerToken
        else { return HTTPProblem.notFound.response() }
        do throws(HTTPProblem) {
            try await service.delete(key, bearerToken: token, requestID: request.id)
            return HTTPResponse(.noContent)
        } catch {
            return error.response()
        }
    }
}
