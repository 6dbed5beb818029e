import GraphQL

/// What a client may be told went wrong. Codes are stable and never used again for something else.
package enum BookplateError: Error, Equatable {
    case unauthenticated
    case notFound(String)
    case badUserInput(field: String, String)
    /// Somebody was first; `id` names what is there already, `field` the input that it has in common.
    case conflict(String, id: String? = nil, field: String? = nil)
    case rateLimited(retryAfterSeconds: Int)
    /// More than may be sent, or than there is room for.
    case payloadTooLarge(String)
    case unsupportedImage(String)
    /// The log begins behind the client's cursor; `cursor` is where to go on after fetching everything.
    case resetRequired(cursor: String)
    case upstreamUnavailable(String)
    /// The request's task was cancelled: its client closed the connection, or cancelled the operation. See
    /// `RequestContext.fieldError` for a task that was cancelled because it took too long.
    case cancelled
    /// Our fault, or the database's: details are in the log under the request's id.
    case internalError

    package var code: String {
        switch self {
        case .unauthenticated: "UNAUTHENTICATED"
        case .notFound: "NOT_FOUND"
        case .badUserInput: "BAD_USER_INPUT"
        case .conflict: "CONFLICT"
        case .rateLimited: "RATE_LIMITED"
        case .payloadTooLarge: "PAYLOAD_TOO_LARGE"
        case .unsupportedImage: "UNSUPPORTED_IMAGE"
        case .resetRequired: "RESET_REQUIRED"
        case .upstreamUnavailable: "UPSTREAM_UNAVAILABLE"
        case .cancelled: Self.cancelledCode
        case .internalError: "INTERNAL_SERVER_ERROR"
        }
    }

    /// The code of `cancelled`. No client receives it: it keeps such errors apart from internal errors.
    static let cancelledCode = "CLIENT_CLOSED_REQUEST"

    /// A sentence for a person, saying what to do.
    package var message: String {
        switch self {
        case .unauthenticated: "Sign in and try again."
        case .notFound(let message), .badUserInput(_, let message), .conflict(let message, _, _),
            .upstreamUnavailable(let message), .payloadTooLarge(let message),
            .unsupportedImage(let message):
            message
        case .resetRequired:
            "The cursor is older than the log. Fetch the library anew, and go on from extensions.cursor."
        case .rateLimited(let seconds): "Too many requests. Try again in \(seconds) s."
        case .cancelled: "The request was cancelled before its response was complete."
        case .internalError:
            "Something went wrong on our side. Try again, and tell us the request id if it stays."
        }
    }

    /// The input field that is wrong, or that somebody else has.
    var field: String? {
        if case .badUserInput(let field, _) = self { return field }
        if case .conflict(_, _, let field) = self { return field }
        return nil
    }

    func fieldError(requestID: String) -> FieldError {
        var extensions = [Value.Member("code", .string(code))]
        switch self {
        case .badUserInput(let field, _):
            extensions.append(.init("field", .string(field)))
        case .conflict(_, let id, let field):
            if let id { extensions.append(.init("id", .string(id))) }
            if let field { extensions.append(.init("field", .string(field))) }
        case .resetRequired(let cursor):
            extensions.append(.init("cursor", .string(cursor)))
        case .rateLimited(let seconds):
            extensions.append(.init("retryAfter", .int(seconds)))
        case .internalError:
            extensions.append(.init("requestId", .string(requestID)))
        case .unauthenticated, .notFound, .upstreamUnavailable, .payloadTooLarge,
            .unsupportedImage, .cancelled:
            break
        }
        return FieldError(message, extensions: extensions)
    }
}
