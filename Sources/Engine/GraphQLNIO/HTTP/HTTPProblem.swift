import GraphQL
import NIOCore
import NIOHTTP1

/// An HTTP error response to a request that is refused before GraphQL executes it.
package enum HTTPProblem: Error, Equatable, Sendable {
    /// The request violates HTTP or GraphQL over HTTP. The message says how.
    case badRequest(String)
    case notFound
    /// The path does not support the method. `allow` lists the methods that it supports.
    case methodNotAllowed(allow: String)
    case notAcceptable
    case requestTimeout
    case bodyTooLarge(bytesMax: Int)
    case unsupportedMediaType
    /// A body with a content coding that the path does not support.
    case unsupportedContentEncoding(acceptsGzip: Bool)
    case expectationFailed
    /// The request line is longer than the limit.
    case uriTooLong(bytesMax: Int)
    case headersTooLarge
    /// A version of HTTP other than 1.0 and 1.1.
    case unsupportedVersion
    case overloaded
    /// The process has too little memory for a large request.
    case memoryShort
    /// The access token is missing or invalid.
    ///
    /// - Parameter resourceMetadata: The URL of the metadata that says where clients get tokens (RFC 9728).
    case unauthenticated(resourceMetadata: String? = nil)
    case forbidden(String)
    /// An error of the application, with its status, code, and message, and the number of seconds after which to try
    /// again.
    case applicationError(HTTPResponseStatus, code: String, String, retryAfterSeconds: Int? = nil)
    /// The client requested a WebSocket version other than 13.
    case unsupportedWebSocketVersion

    var status: HTTPResponseStatus {
        switch self {
        case .badRequest: .badRequest
        case .notFound: .notFound
        case .methodNotAllowed: .methodNotAllowed
        case .notAcceptable: .notAcceptable
        case .requestTimeout: .requestTimeout
        case .bodyTooLarge: .payloadTooLarge
        case .unsupportedMediaType, .unsupportedContentEncoding: .unsupportedMediaType
        case .expectationFailed: .expectationFailed
        case .uriTooLong: .uriTooLong
        case .headersTooLarge: .requestHeaderFieldsTooLarge
        case .unsupportedVersion: .httpVersionNotSupported
        case .overloaded, .memoryShort: .serviceUnavailable
        case .unauthenticated: .unauthorized
        case .forbidden: .forbidden
        case .applicationError(let status, _, _, _): status
        case .unsupportedWebSocketVersion: .upgradeRequired
        }
    }

    /// The value of `extensions.code`. A code is never reused for another error.
    var code: String {
        switch self {
        case .badRequest, .expectationFailed: "BAD_REQUEST"
        case .notFound: "NOT_FOUND"
        case .methodNotAllowed: "METHOD_NOT_ALLOWED"
        case .notAcceptable: "NOT_ACCEPTABLE"
        case .requestTimeout: "REQUEST_TIMEOUT"
        case .bodyTooLarge: "PAYLOAD_TOO_LARGE"
        case .unsupportedMediaType, .unsupportedContentEncoding: "UNSUPPORTED_MEDIA_TYPE"
        case .uriTooLong: "URI_TOO_LONG"
        case .headersTooLarge: "HEADERS_TOO_LARGE"
        case .unsupportedVersion: "HTTP_VERSION_NOT_SUPPORTED"
        case .overloaded, .memoryShort: "SERVICE_UNAVAILABLE"
        case .unauthenticated: "UNAUTHENTICATED"
        case .forbidden: "FORBIDDEN"
        case .applicationError(_, let code, _, _): code
        case .unsupportedWebSocketVersion: "UPGRADE_REQUIRED"
        }
    }

    var message: String {
        switch self {
        case .badRequest(let message): message
        case .notFound: "There is nothing at this URL."
        case .methodNotAllowed(let allow): "This URL supports only \(allow)."
        case .notAcceptable:
            "Responses are application/graphql-response+json or application/json. Accept one of them."
        case .requestTimeout: "The request did not arrive in time."
        case .bodyTooLarge(let bytesMax): "The request's body is larger than \(bytesMax) bytes."
        case .unsupportedMediaType:
            "The request's content-type must be application/json with charset UTF-8."
        case .unsupportedContentEncoding(true):
            "The request's content-encoding is not supported. Send the body uncompressed, or with gzip."
        case .unsupportedContentEncoding(false):
            "The request's content-encoding is not supported. Send the body uncompressed."
        case .expectationFailed: "The only supported expectation is 100-continue."
        case .uriTooLong(let bytesMax):
            "The request line is longer than \(bytesMax) bytes. Send a long query by POST."
        case .headersTooLarge: "The request's headers are too large."
        case .unsupportedVersion: "The HTTP version is not supported. Use HTTP/1.1."
        case .overloaded: "The server has too many connections. Try again soon."
        case .memoryShort:
            "The server has too little memory for more requests at the moment. Try again soon."
        case .unauthenticated: "Sign in and try again."
        case .forbidden(let message): message
        case .applicationError(_, _, let message, _): message
        case .unsupportedWebSocketVersion: "The WebSocket version must be 13."
        }
    }

    private var retryAfterSeconds: Int? {
        switch self {
        case .overloaded: 1
        case .memoryShort: 5
        case .applicationError(_, _, _, let seconds): seconds
        default: nil
        }
    }

    /// Returns the error as a GraphQL response without `data`.
    package func response(as mediaType: ResponseMediaType = .json) -> HTTPResponse {
        var headers: [(String, String)] = []
        if let retryAfterSeconds { headers.append(("Retry-After", "\(retryAfterSeconds)")) }
        switch self {
        case .methodNotAllowed(let allow): headers.append(("Allow", allow))
        case .unauthenticated(let metadata):
            let parameter = metadata.map { " resource_metadata=\"\($0)\"" } ?? ""
            headers.append(("WWW-Authenticate", "Bearer\(parameter)"))
        case .unsupportedContentEncoding(let acceptsGzip):
            headers.append(("Accept-Encoding", acceptsGzip ? "gzip, identity" : "identity"))
        case .unsupportedWebSocketVersion:
            headers.append(("Sec-WebSocket-Version", "13"))
            // RFC 9110, section 15.5.22: a 426 response names the required protocol. Section 7.8: the `upgrade` header
            // requires a `connection: upgrade` header.
            headers += [("Upgrade", "websocket"), ("Connection", "upgrade")]
        default: break
        }
        return HTTPResponse(
            status, contentType: mediaType.contentType, body: body, headers: headers)
    }

    private var body: ByteBuffer {
        var body = ByteBuffer()
        body.writeStaticString(#"{"errors":[{"message":"#)
        body.writeJSONString(message)
        body.writeStaticString(#","extensions":{"code":"#)
        body.writeJSONString(code)
        if let retryAfterSeconds { body.writeString(",\"retryAfter\":\(retryAfterSeconds)") }
        body.writeStaticString("}}]}")
        return body
    }
}

extension ByteBuffer {
    /// Writes a string as a JSON string with its quotes.
    package mutating func writeJSONString(_ text: String) {
        writeInteger(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""): writeStaticString(#"\""#)
            case UInt8(ascii: "\\"): writeStaticString(#"\\"#)
            case 0x0A: writeStaticString(#"\n"#)
            case 0..<0x20:
                writeStaticString(byte < 0x10 ? #"\u000"# : #"\u001"#)
                writeInteger("0123456789abcdef".utf8.dropFirst(Int(byte & 0x0F)).first ?? 0x30)
            default: writeInteger(byte)
            }
        }
        writeInteger(UInt8(ascii: "\""))
    }
}
