import GraphQL
import NIOCore

/// Why a request is not run, or its response not sent: too many bytes of earlier responses have not been read.
package struct UnreadRefusal: Sendable, Equatable, Error {
    enum Limit: Sendable {
        case address, process
    }

    let limit: Limit
    let bytesMax: Int

    /// By then slow readers have been closed.
    private static let retryAfterSeconds = 5

    var error: GraphQLError {
        let retry = "Try again in \(Self.retryAfterSeconds) s."
        let retryAfter = Value.Member("retryAfter", .int(Self.retryAfterSeconds))
        return switch limit {
        case .address:
            GraphQLError(
                "\(bytesMax) bytes of responses wait to be read by clients at your address, and more are not allowed. "
                    + "Read them, or close their connections. \(retry)",
                extensions: [
                    .init("code", .string("RATE_LIMITED")),
                    .init("limit", .string("unreadBytesPerAddressMax")),
                    .init("max", .int(bytesMax)), retryAfter,
                ])
        case .process:
            GraphQLError(
                "The server holds too many responses that clients have not read. \(retry)",
                extensions: [.init("code", .string("UNAVAILABLE")), retryAfter])
        }
    }

    func response(as mediaType: ResponseMediaType = .json) -> HTTPResponse {
        HTTPResponse(
            limit == .address ? .tooManyRequests : .serviceUnavailable,
            contentType: mediaType.contentType,
            body: ByteBuffer(bytes: RequestErrors([error]).body),
            headers: [("retry-after", "\(Self.retryAfterSeconds)")])
    }
}
