import NIOCore
import NIOHTTP1
import Objects

/// The plain addresses of pictures, for one event loop.
final class ObjectEndpoint {
    private static let shortly = "public, max-age=300, stale-while-revalidate=30"

    private let service: any ObjectService
    private let bodyBytesMax: Int
    private var files = ServedFiles()

    init(service: any ObjectService, bodyBytesMax: Int) {
        self.service = service
        self.bodyBytesMax = bodyBytesMax
    }

    var routes: [Route] {
        let covers = "/\(Bucket.bookCovers.rawValue)/*"
        return [
            Route(
                .GET, covers, allowsOtherOrigins: true, respondAtOnce: getKnown, respond: get),
            Route(
                .PUT, covers, bodyBytesMax: bodyBytesMax, allowsOtherOrigins: true,
                admit: admitOwner, respond: put),
            Route(.DELETE, covers, allowsOtherOrigins: true, admit: admitOwner, respond: delete),
            Route(
                .GET, "/\(Bucket.titleCards.rawValue)/*", allowsOtherOrigins: true,
                respondAtOnce: getKnown, respond: get),
            Route(
                .GET, "/\(Bucket.editionCovers.rawValue)/*", allowsOtherOrigins: true,
                respondAtOnce: getKnown, respond: get),
        ]
    }

    // MARK: - Reading

    /// What was asked for lately.
    private func getKnown(_ request: HTTPRequest) -> HTTPResponse? {
        guard let file = files.file(at: request.target.text) else { return nil }
        return answer(file, file.lastingHeaders, request)
    }

    private func get(_ request: HTTPRequest) async -> HTTPResponse {
        guard let address = ObjectAddress(path: request.path, query: request.query) else {
            return HTTPProblem.notFound.response()
        }
        guard let variant = address.variant else {
            return HTTPProblem.badRequest("The size is thumbnail, full or large.").response()
        }
        if let version = address.version, let file = open(address.key, version, variant) {
            files.keep(file, at: request.target.text)
            return answer(file, file.lastingHeaders, request)
        }
        do throws(HTTPProblem) {
            let version = try await service.currentVersion(of: address.key, requestID: request.id)
            guard let version, let file = open(address.key, version, variant) else {
                return HTTPProblem.notFound.response()
            }
            return answer(
                file,
                version == address.version
                    ? file.lastingHeaders : ServedFile.headers(file.tag, Self.shortly), request)
        } catch {
            return error.response()
        }
    }

    private func open(
        _ key: ObjectKey, _ version: String, _ variant: ObjectVariant
    ) -> ServedFile? {
        // A title card is drawn in one size, which is its largest.
        let kept = key.bucket == .titleCards && variant == .large ? .full : variant
        guard let path = ObjectPath(key, version: version, kept), let object = service.open(path)
        else { return nil }
        return ServedFile(object, tag: "\"\(version)-\(kept.rawValue)\"")
    }

    private func answer(
        _ file: ServedFile, _ headers: String, _ request: HTTPRequest
    ) -> HTTPResponse {
        var response = HTTPResponse(.ok, contentType: "image/jpeg")
        response.preparedHeaders = headers
        if let known = request.headers.ifNoneMatch, Self.matches(known, file.tag) {
            response.status = .notModified
            response.contentType = nil
            return response
        }
        let count = file.object.byteCount
        let wantsPart = request.headers.ifRange.map { $0 == file.tag } ?? true
        switch ByteRange(wantsPart ? request.headers.range : nil, of: count) {
        case .whole:
            response.file = (file, 0..<count)
        case .part(let part):
            response.status = .partialContent
            response.file = (file, part)
            response.headers = [
                ("content-range", "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(count)")
            ]
        case .unsatisfiable:
            return HTTPResponse(
                .rangeNotSatisfiable, headers: [("content-range", "bytes */\(count)")])
        }
        return response
    }

    /// Weak tags of the same bytes match as well.
    private static func matches(_ known: String, _ tag: String) -> Bool {
        if known == tag || known == "*" { return true }
        return known.split(separator: ",").contains { entry in
            let entry = entry.drop { $0 == " " }
            let strong = entry.hasPrefix("W/") ? entry.dropFirst(2) : entry
            return strong.prefix(tag.count) == tag
                && strong.dropFirst(tag.count).allSatisfy { $0 == " " }
        }
    }

    // MARK: - Writing

    /// Who may write is decided by the head, before a body is read.
    private func admitOwner(_ request: HTTPRequest) -> Admission {
        guard let key = ObjectAddress.key(request.path) else { return .refused(.notFound) }
        guard let token = request.headers.bearerToken,
            let user = service.user(of: token, requestID: request.id)
        else { return .refused(.unauthenticated) }
        guard user == key.folder else {
            return .refused(.forbidden("Only its owner may change this."))
        }
        return .accepted(bodyBytesMax: request.method == .PUT ? bodyBytesMax : 0)
    }

    private func put(_ request: HTTPRequest) async -> HTTPResponse {
        guard let key = ObjectAddress.key(request.path), let token = request.headers.bearerToken
        else { return HTTPProblem.notFound.response() }
        do throws(HTTPProblem) {
            let put = try await service.put(
                request.body, of: key, bearerToken: token, requestID: request.id)
            var body = ByteBuffer(string: #"{"url":"#)
            body.writeJSONString(put.url)
            body.writeStaticString("}")
            return HTTPResponse(
                put.isNew ? .created : .ok, contentType: "application/json; charset=utf-8",
                body: body, headers: [("location", put.url), ("cache-control", "no-store")])
        } catch {
            return error.response()
        }
    }

    private func delete(_ request: HTTPRequest) async -> HTTPResponse {
        guard let key = ObjectAddress.key(request.path), let token = request.headers.bearerToken
        else { return HTTPProblem.notFound.response() }
        do throws(HTTPProblem) {
            try await service.delete(key, bearerToken: token, requestID: request.id)
            return HTTPResponse(.noContent)
        } catch {
            return error.response()
        }
    }
}
