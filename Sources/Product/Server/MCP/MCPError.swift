import GraphQL
import GraphQLNIO
import GraphQLServing
import NIOCore
import NIOHTTP1

/// An error of the protocol. The errors of operations are results of tools instead.
struct MCPError: Error {
    /// Spec: https://www.jsonrpc.org/specification#error_object
    enum Code: Int {
        case parseError = -32700
        case invalidRequest = -32600
        case methodNotFound = -32601
        case invalidParams = -32602
        case internalError = -32603
        /// The client has no access, or must wait. `data.code` says why.
        case refused = -32000
        /// The revision of the protocol in the header is not supported.
        case unsupportedVersion = -32022
    }

    let code: Code
    let message: String
    /// The id of the request; nil if it is unknown.
    var id: Value?
    var data: Value?
    var status = HTTPResponseStatus.ok
    var headers: [(String, String)] = []

    init(_ code: Code, _ message: String, id: Value? = nil) {
        self.code = code
        self.message = message
        self.id = id
        if code == .parseError || code == .invalidRequest { status = .badRequest }
    }

    init(_ refusal: ToolRefusal, id: Value) {
        switch refusal {
        case .invalidCursor:
            self.init(.invalidParams, "'params.cursor' is not the cursor of a page.", id: id)
        case .internalError:
            self.init(.internalError, "The server cannot process this request.", id: id)
        case .unauthenticated:
            self.init(.refused, "The access token is invalid.", id: id)
            setRefusal(.unauthorized, "UNAUTHENTICATED")
        case .forbidden(let message):
            self.init(.refused, message, id: id)
            setRefusal(.forbidden, "FORBIDDEN")
        case .rateLimited(let seconds):
            self.init(.refused, "Too many requests. Try again in \(seconds) s.", id: id)
            setRefusal(.tooManyRequests, "RATE_LIMITED", retryAfterSeconds: seconds)
        case .unavailable(let seconds):
            self.init(.refused, "The server is unavailable. Try again in \(seconds) s.", id: id)
            setRefusal(.serviceUnavailable, "SERVICE_UNAVAILABLE", retryAfterSeconds: seconds)
        }
    }

    private mutating func setRefusal(
        _ status: HTTPResponseStatus, _ code: String, retryAfterSeconds: Int? = nil
    ) {
        self.status = status
        var members: [Value.Member] = [.init("code", .string(code))]
        if let retryAfterSeconds {
            members.append(.init("retryAfter", .int(retryAfterSeconds)))
            headers.append(("Retry-After", "\(retryAfterSeconds)"))
        }
        data = .object(members)
    }

    /// Returns the response of JSON-RPC.
    ///
    /// - Parameter resourceMetadata: The URL of the metadata that says where a client gets a token; nil if it cannot get one.
    func response(resourceMetadata: String?) -> HTTPResponse {
        var headers = headers
        if status == .unauthorized {
            let parameter = resourceMetadata.map { ", resource_metadata=\"\($0)\"" } ?? ""
            headers.append(("WWW-Authenticate", "Bearer error=\"invalid_token\"\(parameter)"))
        }
        var members: [Value.Member] = [
            .init("code", .int(code.rawValue)), .init("message", .string(message)),
        ]
        if let data { members.append(.init("data", data)) }
        var writer = ResponseWriter()
        writer.write(
            Value.object([
                .init("jsonrpc", .string("2.0")), .init("id", id ?? .null),
                .init("error", .object(members)),
            ]))
        return HTTPResponse(
            status, contentType: MCPEndpoint.contentType, body: ByteBuffer(bytes: writer.bytes),
            headers: [("Cache-Control", "no-store")] + headers)
    }
}
