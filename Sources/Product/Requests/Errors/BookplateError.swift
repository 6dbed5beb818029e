import GraphQL
import GraphQLServing
import Postgres

/// An error that is sent to clients. The codes are stable and are not reused for other errors.
package enum BookplateError: Error, Equatable {
    case unauthenticated
    /// The caller is known, but may not do this. `missingScopes` are the scopes that the token lacks.
    case forbidden(String, missingScopes: [String] = [])
    case notFound(ErrorReason)
    case badUserInput(field: String, InputProblem)
    /// The input conflicts with an existing object. `id` is the ID of that object and `field` the input field that both have
    /// in common.
    case conflict(InputProblem, id: String? = nil, field: String? = nil)
    case rateLimited(retryAfterSeconds: Int)
    /// The file is too large.
    case payloadTooLarge(InputProblem)
    /// The storage for covers is used up.
    case quotaExceeded(InputProblem)
    case unsupportedImage(InputProblem)
    /// The change log no longer contains the client's cursor. `cursor` is where to continue after fetching everything.
    case resetRequired(cursor: String)
    case upstreamUnavailable(InputProblem)
    /// The operation needs more of the database at once than a limit allows.
    case operationTooComplex(Pipeline.Limit, count: Int)
    /// The database cannot be reached, did not respond, or too many requests wait for it; or the store of covers did not respond.
    case serviceUnavailable(retryAfterSeconds: Int, outcome: Outcome = .notDone)
    /// The disk for covers is full.
    case storageFull
    /// The request's task was cancelled: its client closed the connection, or cancelled the operation. See
    /// `RequestContext.fieldError` for a task that was cancelled because it took too long.
    case cancelled
    /// A defect of the server or an error of the database. The log contains the details with the request's ID.
    case internalError

    /// The known effect of an interrupted request.
    package enum Outcome: String, Sendable {
        /// The request has changed nothing. It can be sent again.
        case notDone = "NOT_DONE"
        /// The change may have been made. The request can be sent again with the same ids.
        case unknown = "UNKNOWN"
    }

    package var code: String {
        switch self {
        case .unauthenticated: "UNAUTHENTICATED"
        case .forbidden: "FORBIDDEN"
        case .notFound: "NOT_FOUND"
        case .badUserInput: "BAD_USER_INPUT"
        case .conflict: "CONFLICT"
        case .rateLimited: "RATE_LIMITED"
        case .payloadTooLarge: "PAYLOAD_TOO_LARGE"
        case .quotaExceeded: "QUOTA_EXCEEDED"
        case .unsupportedImage: "UNSUPPORTED_IMAGE"
        case .resetRequired: "RESET_REQUIRED"
        case .upstreamUnavailable: "UPSTREAM_UNAVAILABLE"
        case .operationTooComplex: "OPERATION_TOO_COMPLEX"
        case .serviceUnavailable, .storageFull: Self.serviceUnavailableCode
        case .cancelled: Self.cancelledCode
        case .internalError: "INTERNAL_SERVER_ERROR"
        }
    }

    /// The code of `cancelled`. It is not sent to clients, but distinguishes these errors from internal errors.
    static let cancelledCode = "CLIENT_CLOSED_REQUEST"

    static let serviceUnavailableCode = "SERVICE_UNAVAILABLE"

    /// An operator has to free disk space.
    package static let storageFullRetrySeconds = 300

    /// The English message for the user, which says what to do.
    package var message: String { message(in: .english) }

    /// The message for the user in the language of `texts`. Messages for the developers of apps and for operators are in English.
    func message(in texts: ErrorTexts) -> String {
        if let problem { return texts.sentence(problem, field: field) }
        return switch self {
        case .unauthenticated: texts.signIn
        case .forbidden(let message, _): message
        case .resetRequired: texts.resetRequired
        case .rateLimited(let seconds): texts.sentence(texts.tooManyRequests, seconds: seconds)
        case .serviceUnavailable(let seconds, .notDone):
            texts.sentence(texts.notDone, seconds: seconds)
        case .serviceUnavailable(let seconds, .unknown):
            texts.sentence(texts.unknownOutcome, seconds: seconds)
        case .storageFull:
            texts.sentence(texts.storageFull, seconds: Self.storageFullRetrySeconds)
        case .operationTooComplex(let limit, let count):
            "The operation needs \(count) \(limit.unit) of the database at once, at most \(limit.max) are allowed. Select fewer fields or split the operation."
        case .cancelled: "The request was cancelled before its response was complete."
        case .notFound, .badUserInput, .conflict, .payloadTooLarge, .quotaExceeded,
            .unsupportedImage, .upstreamUnavailable, .internalError:
            texts.internalError
        }
    }

    /// Why the input is refused; nil for errors that have no other cause than their code.
    package var problem: InputProblem? {
        switch self {
        case .notFound(let reason): InputProblem(reason)
        case .badUserInput(_, let problem), .conflict(let problem, _, _),
            .payloadTooLarge(let problem), .quotaExceeded(let problem),
            .unsupportedImage(let problem), .upstreamUnavailable(let problem):
            problem
        case .unauthenticated, .forbidden, .rateLimited, .resetRequired, .operationTooComplex,
            .serviceUnavailable, .storageFull, .cancelled, .internalError:
            nil
        }
    }

    /// The input field that is invalid or conflicts.
    package var field: String? {
        if case .badUserInput(let field, _) = self { return field }
        if case .conflict(_, _, let field) = self { return field }
        return nil
    }

    /// The error of a request that is refused before its operation is executed.
    func requestErrors(for request: GraphQLRequest) -> RequestErrors {
        let error = fieldError(
            requestID: request.requestID, language: request.acceptLanguage)
        return RequestErrors([GraphQLError(error.message, extensions: error.extensions)])
    }

    /// - Parameter language: The header `Accept-Language` of the request.
    func fieldError(requestID: String, language: String?) -> FieldError {
        var extensions = [Value.Member("code", .string(code))]
        if let problem {
            extensions.append(.init("reason", .string(problem.reason.rawValue)))
            if let min = problem.min { extensions.append(.init("min", .number(min))) }
            if let max = problem.max { extensions.append(.init("max", .number(max))) }
        }
        if let field { extensions.append(.init("field", .string(field))) }
        switch self {
        case .conflict(_, let id?, _):
            extensions.append(.init("id", .string(id)))
        case .forbidden(_, let scopes):
            if !scopes.isEmpty {
                extensions.append(.init("missingScopes", .list(scopes.map { .string($0) })))
            }
        case .resetRequired(let cursor):
            extensions.append(.init("cursor", .string(cursor)))
        case .rateLimited(let seconds):
            extensions.append(.init("retryAfter", .int(seconds)))
        case .serviceUnavailable(let seconds, let outcome):
            extensions.append(.init("retryAfter", .int(seconds)))
            extensions.append(.init("outcome", .string(outcome.rawValue)))
        case .storageFull:
            extensions.append(.init("retryAfter", .int(Self.storageFullRetrySeconds)))
            extensions.append(.init("outcome", .string(Outcome.notDone.rawValue)))
        case .operationTooComplex(let limit, _):
            extensions.append(.init("limit", .string(limit.rawValue)))
            extensions.append(.init("max", .int(limit.max)))
        case .internalError:
            extensions.append(.init("requestId", .string(requestID)))
        case .unauthenticated, .notFound, .badUserInput, .conflict, .upstreamUnavailable,
            .payloadTooLarge, .quotaExceeded, .unsupportedImage, .cancelled:
            break
        }
        return FieldError(message(in: .preferred(by: language)), extensions: extensions)
    }
}

extension Value {
    /// A whole number as an integer, and any other as a float.
    fileprivate static func number(_ value: Double) -> Value {
        Int(exactly: value).map { .int($0) } ?? .float(value)
    }
}
