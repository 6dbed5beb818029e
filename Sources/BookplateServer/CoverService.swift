import Basics
import Bookplate
import GraphQLNIO
import GraphQLServing
import NIOCore
import NIOHTTP1
import ObjectStorage
import Server

/// Connects the routes of image URLs to covers and their storage, on one event loop.
///
/// The URL of an image does not say in which database it is, so the databases are asked one after the other.
final class CoverService: ObjectService {
    private let runner: RequestRunner
    /// The covers of each database, and first those of the home database.
    private let databases: [CoverEndpoints]
    /// The stores whose objects are files on this machine.
    private let fileStores: [FileStore]

    init(_ runner: RequestRunner, _ databases: [CoverEndpoints]) {
        self.runner = runner
        self.databases = databases
        fileStores = databases.compactMap { $0.store as? FileStore }
    }

    func openNow(_ path: ObjectPath) -> OpenObject? {
        for store in fileStores {
            if let object = try? store.openNow(path) { return object }
        }
        return nil
    }

    func open(
        _ path: ObjectPath, for client: ClientAddress?, requestID: String
    ) async throws(HTTPProblem) -> ObjectContent? {
        try await first { covers throws(BookplateError) in
            // Files have been looked for without waiting.
            guard !(covers.store is FileStore) else { return nil }
            return try await covers.open(path, for: client, requestID: requestID)
        }
    }

    func currentVersion(
        of key: ObjectKey, requested: String?, requestID: String
    ) async throws(HTTPProblem) -> String? {
        try await first { covers throws(BookplateError) in
            try await covers.currentVersion(of: key, requested: requested, requestID: requestID)
        }
    }

    /// Returns the first value that a database has.
    ///
    /// - Throws: the last error, if no database has a value.
    private func first<Value>(
        _ work: (CoverEndpoints) async throws(BookplateError) -> Value?
    ) async throws(HTTPProblem) -> Value? {
        var failure: BookplateError?
        for covers in databases {
            do throws(BookplateError) {
                if let value = try await work(covers) { return value }
            } catch {
                failure = error
            }
        }
        if let failure { throw HTTPProblem(failure) }
        return nil
    }

    func user(of bearerToken: String, requestID: String) -> String? {
        runner.user(of: bearerToken, requestID: requestID)?.description
    }

    func put(
        _ body: StoredBytes, of key: ObjectKey, bearerToken: String, requestID: String
    ) async throws(HTTPProblem) -> PutObject {
        let put = try await mappingErrors { covers throws(BookplateError) in
            try await covers.put(
                body, of: key.name, bearerToken: bearerToken,
                requestID: requestID)
        }
        return PutObject(url: put.url, isNew: put.isNew)
    }

    func delete(
        _ key: ObjectKey, bearerToken: String, requestID: String
    ) async throws(HTTPProblem) {
        try await mappingErrors { covers throws(BookplateError) in
            try await covers.delete(key.name, bearerToken: bearerToken, requestID: requestID)
        }
    }

    /// Starts in the home database. The requests of the work go to the database of their caller.
    private func mappingErrors<Value>(
        _ work: (CoverEndpoints) async throws(BookplateError) -> Value
    ) async throws(HTTPProblem) -> Value {
        guard let home = databases.first else { throw HTTPProblem(.internalError) }
        do throws(BookplateError) {
            return try await work(home)
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
            self = .unauthenticated
            return
        case .accountMoved: status = .gone
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
