import Basics
import Bookplate
import GraphQLNIO
import GraphQLServing
import NIOCore
import NIOHTTP1
import ObjectStorage
import Requests
import Server

/// Connects the routes of image URLs to covers and their storage, on one event loop.
final class CoverService: ObjectService {
    private let runner: RequestRunner
    private let covers: CoverEndpoints
    /// The store, if its objects are files on this machine.
    private let files: FileStore?

    init(_ runner: RequestRunner, _ covers: CoverEndpoints) {
        self.runner = runner
        self.covers = covers
        files = covers.store as? FileStore
    }

    func openNow(_ path: ObjectPath) -> OpenObject? { try? files?.openNow(path) }

    func open(
        _ path: ObjectPath, for client: ClientAddress?, requestID: String
    ) async throws(HTTPProblem) -> ObjectContent? {
        // Its files have been looked for without waiting.
        guard files == nil else { return nil }
        return try await mappingErrors { () async throws(BookplateError) in
            try await covers.open(path, for: client, requestID: requestID)
        }
    }

    func currentVersion(
        of key: ObjectKey, requested: String?, requestID: String
    ) async throws(HTTPProblem) -> String? {
        try await mappingErrors { () async throws(BookplateError) in
            try await covers.currentVersion(
                of: key, requested: requested, requestID: requestID)
        }
    }

    func user(of bearerToken: String, requestID: String) -> String? {
        runner.user(of: bearerToken, requestID: requestID)?.description
    }

    func put(
        _ body: StoredBytes, of key: ObjectKey, bearerToken: String, requestID: String
    ) async throws(HTTPProblem) -> PutObject {
        let put = try await mappingErrors { () async throws(BookplateError) in
            try await covers.put(
                body, of: key.name, bearerToken: bearerToken,
                requestID: requestID)
        }
        return PutObject(url: put.url, isNew: put.isNew)
    }

    func delete(
        _ key: ObjectKey, bearerToken: String, requestID: String
    ) async throws(HTTPProblem) {
        try await mappingErrors { () async throws(BookplateError) in
            try await covers.delete(key.name, bearerToken: bearerToken, requestID: requestID)
        }
    }

    private func mappingErrors<Value>(
        _ work: () async throws(BookplateError) -> Value
    ) async throws(HTTPProblem) -> Value {
        do throws(BookplateError) {
            return try await work()
        } catch {
            throw HTTPProblem(error)
        }
    }
}

extension HTTPProblem {
    init(_ error: BookplateError) {
        let status: HTTPResponseStatus
        var retryAfterSeconds: Int?
        switch error {
        case .unauthenticated:
            self = .unauthenticated()
            return
        case .forbidden: status = .forbidden
        case .notFound: status = .notFound
        case .badUserInput, .operationTooComplex: status = .badRequest
        case .conflict, .resetRequired: status = .conflict
        case .rateLimited(let seconds):
            status = .tooManyRequests
            retryAfterSeconds = seconds
        case .serviceUnavailable(let seconds, _):
            status = .serviceUnavailable
            retryAfterSeconds = seconds
        case .storageFull:
            status = .serviceUnavailable
            retryAfterSeconds = BookplateError.storageFullRetrySeconds
        case .payloadTooLarge, .quotaExceeded: status = .payloadTooLarge
        case .unsupportedImage: status = .unsupportedMediaType
        case .upstreamUnavailable: status = .badGateway
        case .internalError: status = .internalServerError
        case .cancelled:
            // The client still waits for the response, so the request was cancelled because it took too long.
            self.init(.internalError)
            return
        }
        self = .applicationError(
            status, code: error.code, error.message, retryAfterSeconds: retryAfterSeconds)
    }
}
