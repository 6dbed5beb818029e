import GraphQL
import NIOCore

/// The reason to refuse a request or a response: too many bytes of earlier responses are unread.
package struct UnreadRefusal: Sendable, Equatable, Error {
    enum Limit: Sendable {
        case address, process
        /// The process has too little memory for a new request.
        case memory
    }

    let limit: Limit
    let bytesMax: Int

    /// After this time, slow readers have been disconnected.
    private static let retryAfterSeconds = 5

    var error: GraphQLError {
        let retry = "Try again in \(Self.retryAfterSeconds) s."
        let retryAfter = Value.Member("retryAfter", .int(Self.retryAfterSeconds))
        return switch limit {
        case .address:
            GraphQLError(
                "Clients at your address have not read their responses, and at most \(bytesMax) bytes may be unread. "
                    + "Read them, or close the connections. \(retry)",
                extensions: [
                    .init("code", .string("RATE_LIMITED")),
                    .init("limit", .string("unreadBytesPerAddressMax")),
                    .init("max", .int(bytesMax)), retryAfter,
                ])
        case .memory:
            GraphQLError(
                "The server has too little memory for more requests at the moment. \(retry)",
                extensions: [
                    .init("code", .string("SERVICE_UNAVAILABLE")), retryAfter,
                    .init("outcome", .string("NOT_DONE")),
                ])
        case .process:
            GraphQLError(
                "The server holds too many responses that clients have not read. \(retry)",
                // The refused response may be that of a mutation, which was executed.
                extensions: [
                    .init("code", .string("SERVICE_UNAVAILABLE")), retryAfter,
                    .init("outcome", .string("UNKNOWN")),
                ])
        }
    }

    package func response(as mediaType: ResponseMediaType = .json) -> HTTPResponse {
        HTTPResponse(
            limit == .address ? .tooManyRequests : .serviceUnavailable,
            contentType: mediaType.contentType,
            body: ByteBuffer(bytes: RequestErrors([error]).body),
            headers: [("Retry-After", "\(Self.retryAfterSeconds)")])
    }
}
