import GraphQL
import Postgres

/// An error that is sent to clients. The codes are stable and are not reused for other errors.
package enum BookplateError: Error, Equatable {
    case unauthenticated
    /// The caller is known, but may not do this. `missingScopes` are the scopes that the token lacks.
    case forbidden(String, missingScopes: [String] = [])
    case notFound(String)
    case badUserInput(field: String, String)
    /// The input conflicts with an existing object. `id` is the ID of that object and `field` the input field that both have
    /// in common.
    case conflict(String, id: String? = nil, field: String? = nil)
    case rateLimited(retryAfterSeconds: Int)
    /// The file is too large.
    case payloadTooLarge(String)
    /// The storage for covers is used up.
    case quotaExceeded(String)
    case unsupportedImage(String)
    /// The change log no longer contains the client's cursor. `cursor` is where to continue after fetching everything.
    case resetRequired(cursor: String)
    case upstreamUnavailable(String)
    /// The operation needs more of the database at once than a limit allows.
    case operationTooComplex(Pipeline.Limit, count: Int)
    /// The database cannot be reached, did not respond, or too many requests wait for it; or the store of covers did not respond.
    case serviceUnavailable(retryAfterSeconds: Int, outcome: Outcome = .notDone)
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
        case .serviceUnavailable: Self.serviceUnavailableCode
        case .cancelled: Self.cancelledCode
        case .internalError: "INTERNAL_SERVER_ERROR"
        }
    }

    /// The code of `cancelled`. It is not sent to clients, but distinguishes these errors from internal errors.
    static let cancelledCode = "CLIENT_CLOSED_REQUEST"

    static let serviceUnavailableCode = "SERVICE_UNAVAILABLE"

    /// The message for the user, which says what to do.
    package var message: String {
        switch self {
        case .unauthenticated: "Sign in and try again."
        case .notFound(let message), .badUserInput(_, let message), .conflict(let message, _, _),
            .upstreamUnavailable(let message), .payloadTooLarge(let message),
            .quotaExceeded(let message), .unsupportedImage(let message),
            .forbidden(let message, _):
            message
        case .resetRequired:
            "The change log does not continue from this cursor. Fetch the whole library again, then continue from extensions.cursor."
        case .rateLimited(let seconds): "Too many requests. Try again in \(seconds) s."
        case .serviceUnavailable(let seconds, .notDone):
            "The server cannot reach the data now. Nothing was changed. Try again in \(seconds) s."
        case .serviceUnavailable(let seconds, .unknown):
            "The database did not respond. The change may have been made. Send it again in \(seconds) s, with the same id."
        case .operationTooComplex(let limit, let count):
            "The operation needs \(count) \(limit.unit) of the database at once, at most \(limit.max) are allowed. Select fewer fields or split the operation."
        case .cancelled: "The request was cancelled before its response was complete."
        case .internalError:
            "An internal error occurred. Try again. If the error persists, report the request ID."
        }
    }

    /// The input field that is invalid or conflicts.
    package var field: String? {
        if case .badUserInput(let field, _) = self { return field }
        if case .conflict(_, _, let field) = self { return field }
        return nil
    }

    /// The error of a request that is refused before its operation is executed.
    func requestErrors(requestID: String) -> RequestErrors {
        RequestErrors([
            GraphQLError(message, extensions: fieldError(requestID: requestID).extensions)
        ])
    }

    func fieldError(requestID: String) -> FieldError {
        var extensions = [Value.Member("code", .string(code))]
        switch self {
        case .badUserInput(let field, _):
            extensions.append(.init("field", .string(field)))
        case .conflict(_, let id, let field):
            if let id { extensions.append(.init("id", .string(id))) }
            if let field { extensions.append(.init("field", .string(field))) }
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
        case .operationTooComplex(let limit, _):
            extensions.append(.init("limit", .string(limit.rawValue)))
            extensions.append(.init("max", .int(limit.max)))
        case .internalError:
            extensions.append(.init("requestId", .string(requestID)))
        case .unauthenticated, .notFound, .upstreamUnavailable, .payloadTooLarge,
            .quotaExceeded, .unsupportedImage, .cancelled:
            break
        }
        return FieldError(message, extensions: extensions)
    }
}
