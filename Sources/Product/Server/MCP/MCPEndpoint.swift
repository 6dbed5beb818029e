import GraphQL
import GraphQLNIO
import GraphQLServing
import NIOCore
import NIOHTTP1
import Version

/// The routes `POST /mcp` and `POST /mcp/TENANT` of the Model Context Protocol, for one event loop.
///
/// It is stateless: there are no sessions (`Mcp-Session-Id`), each response is one JSON object, and the server sends no
/// requests or notifications. `GET` and `DELETE` therefore have status 405.
///
/// Spec: https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http
package struct MCPEndpoint {
    package static let path = "/mcp"
    static let contentType = "application/json"
    /// The supported revisions of the protocol, the newest last.
    static let versions = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]

    private let service: any ToolService
    private let bodyBytesMax: Int
    private let origins: AllowedOrigins
    private let publicURL: String
    private let offersTokens: (_ tenant: String?) -> Bool
    private let unread: UnreadBytes

    /// - Parameters:
    ///   - origins: The origins whose pages may call tools.
    ///   - publicURL: The public URL of this server, without a slash at the end.
    ///   - offersTokens: Whether clients can get tokens for the tools of a tenant or, without one, of any tenant.
    ///   - unread: Counts the responses that clients have not read. Must be the instance that the server uses.
    package init(
        service: any ToolService, bodyBytesMax: Int, origins: AllowedOrigins, publicURL: String,
        offersTokens: @escaping (_ tenant: String?) -> Bool,
        unread: UnreadBytes = UnreadBytes()
    ) {
        self.service = service
        self.bodyBytesMax = bodyBytesMax
        self.origins = origins
        self.publicURL = publicURL
        self.offersTokens = offersTokens
        self.unread = unread
    }

    package var routes: [Route] {
        let compressor = ResponseCompressor()
        return [Self.path, "\(Self.path)/*"].map { path in
            Route(
                .POST, path, bodyBytesMax: bodyBytesMax, acceptsGzip: true, checkHead: checkHead
            ) { await compressor.compress(await post($0), for: $0) }
        }
    }

    /// Returns the tenant in the path of a request; nil if there is none.
    fileprivate static func tenant(_ request: HTTPRequest) -> String? {
        request.path == path ? nil : String(request.path.dropFirst(path.count + 1))
    }

    /// Returns the URL of the metadata that says where a client gets a token; nil if it cannot get one. A path that does not have the
    /// syntax of a tenant is left out, because the URL becomes a part of a header.
    ///
    /// Spec: RFC 9728, section 5.1
    private func resourceMetadata(_ request: HTTPRequest) -> String? {
        let tenant = Self.tenant(request).flatMap { tenant in
            let isSlug = tenant.utf8.allSatisfy { byte in
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    || byte == UInt8(ascii: "-")
            }
            return isSlug && (1...64).contains(tenant.utf8.count) ? tenant : nil
        }
        guard offersTokens(tenant) else { return nil }
        let scheme = publicURL.prefix { $0 != ":" }
        let rest = publicURL.dropFirst(scheme.count + 3)
        let host = rest.prefix { $0 != "/" }
        let base = rest.dropFirst(host.count)
        let path = tenant.map { "\(Self.path)/\($0)" } ?? Self.path
        return "\(scheme)://\(host)/.well-known/oauth-protected-resource\(base)\(path)"
    }

    /// Refuses pages of other origins, and requests without a token, before their bodies are read.
    private func checkHead(_ request: HTTPRequest) -> HeadCheck {
        guard origins.lists(request.headers.origin) else {
            return .refused(
                .forbidden(
                    "Pages of this origin may not call tools. The operator can add it to BOOKPLATE_ALLOWED_ORIGINS."
                ))
        }
        guard request.headers.bearerToken != nil else {
            return .refused(.unauthenticated(resourceMetadata: resourceMetadata(request)))
        }
        return .accepted(bodyBytesMax: bodyBytesMax)
    }

    private func post(_ request: HTTPRequest) async -> HTTPResponse {
        // Clients must also accept `text/event-stream`, which this server does not send.
        guard case .graphQL(.json)? = Negotiation.choose(accept: request.headers.accept) else {
            return HTTPProblem.applicationError(
                .notAcceptable, code: "NOT_ACCEPTABLE",
                "Responses are application/json. Accept it."
            ).response()
        }
        guard let contentType = request.headers.contentType, MediaType.isJSON(contentType) else {
            return HTTPProblem.unsupportedMediaType.response()
        }
        if let refusal = unread.refusal(for: request.client) { return refusal.response() }
        do throws(MCPError) {
            switch try await Self.message(of: request) {
            case .notification:
                try await authenticate(ToolCaller(request), id: .null)
                return HTTPResponse(.accepted)
            case .request(let message):
                try Self.checkVersion(request.headers.mcpProtocolVersion, of: message)
                return try await respond(to: message, ToolCaller(request))
            }
        } catch {
            return error.response(resourceMetadata: resourceMetadata(request))
        }
    }

    private static func message(of request: HTTPRequest) async throws(MCPError) -> MCPMessage {
        let bytes = Array(request.body.readableBytesView)
        let isShort = bytes.count <= RequestJSON.shortBytesMax
        let message = await RequestJSON.read(isShort: isShort, from: request.client) {
            Result { () throws(MCPError) in try MCPMessage(bytes) }
        }
        guard let message else {
            throw MCPError(
                .rateLimited(retryAfterSeconds: RequestJSON.retrySeconds), id: .null)
        }
        return try message.get()
    }

    /// Checks the header `MCP-Protocol-Version`, which clients send after the initialization. A client without the header
    /// uses the revision 2025-03-26. The responses are the same for all revisions.
    private static func checkVersion(
        _ version: String?, of message: MCPRequest
    ) throws(MCPError) {
        guard let version, !versions.contains(version), message.method != "initialize" else {
            return
        }
        var error = MCPError(
            .unsupportedVersion,
            "This revision of the protocol is not supported. Send MCP-Protocol-Version: \(versions[versions.count - 1]).",
            id: message.id)
        error.status = .badRequest
        error.data = .object([
            .init("supported", .list(versions.map { .string($0) })),
            .init("requested", .string(String(version.prefix(MCPMessage.nameBytesMax)))),
        ])
        throw error
    }

    private func respond(
        to message: MCPRequest, _ caller: ToolCaller
    ) async throws(MCPError) -> HTTPResponse {
        switch message.method {
        case "tools/list": return try await listTools(message, caller)
        case "tools/call": return try await callTool(message, caller)
        default: break
        }
        try await authenticate(caller, id: message.id)
        switch message.method {
        case "initialize":
            let version = try message.text("protocolVersion")
            return Self.response(to: message) { $0.write(Self.initialization(version)) }
        case "ping": return Self.response(to: message) { $0.append("{}") }
        default:
            throw MCPError(
                .methodNotFound, "There is no method '\(message.method)'.", id: message.id)
        }
    }

    /// Returns the requested revision if it is supported, and the newest one otherwise.
    ///
    /// Spec: https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#version-negotiation
    private static func initialization(_ requested: String) -> Value {
        let version = versions.contains(requested) ? requested : versions[versions.count - 1]
        return .object([
            .init("protocolVersion", .string(version)),
            .init("capabilities", .object([.init("tools", .object([]))])),
            .init(
                "serverInfo",
                .object([
                    .init("name", .string("bookplate")), .init("title", .string("Bookplate")),
                    .init("version", .string(bookplateVersion)),
                ])),
        ])
    }

    private func listTools(
        _ message: MCPRequest, _ caller: ToolCaller
    ) async throws(MCPError) -> HTTPResponse {
        let cursor = try message.optionalText("cursor")
        let page = try await refusing(message) { () async throws(ToolRefusal) in
            try await service.tools(for: caller, after: cursor)
        }
        return Self.response(to: message) { writer in
            writer.append("{\"tools\":[")
            for (index, tool) in page.tools.enumerated() {
                if index > 0 { writer.append(",") }
                writer.append(tool)
            }
            writer.append("]")
            if let next = page.next {
                writer.append(",\"nextCursor\":")
                writer.write(next)
            }
            writer.append("}")
        }
    }

    private func callTool(
        _ message: MCPRequest, _ caller: ToolCaller
    ) async throws(MCPError) -> HTTPResponse {
        let (name, arguments) = (try message.text("name"), try message.object("arguments"))
        let result = try await refusing(message) { () async throws(ToolRefusal) in
            try await service.call(name, arguments, for: caller)
        }
        guard let result else {
            throw MCPError(
                .invalidParams,
                "There is no tool '\(String(name.prefix(MCPMessage.nameBytesMax)))'.",
                id: message.id)
        }
        return Self.response(to: message) { Self.write(result, to: &$0) }
    }

    /// Writes a `CallToolResult`. Its content is the `data` of the operation or, if there are errors, the whole response
    /// with
    /// `errors` and `data`.
    private static func write(_ response: GraphQLResponse, to writer: inout ResponseWriter) {
        let dataStart = Array("{\"data\":".utf8)
        // Errors come before the data.
        let isError = !response.body.starts(with: dataStart)
        let content =
            isError ? response.body[...] : response.body.dropFirst(dataStart.count).dropLast()
        content.withUnsafeBufferPointer { content in
            writer.append("{\"content\":[{\"type\":\"text\",\"text\":")
            writer.write(utf8: content)
            writer.append("}],\"structuredContent\":")
            writer.append(content)
        }
        writer.append(isError ? ",\"isError\":true}" : ",\"isError\":false}")
    }

    /// Returns a response of JSON-RPC.
    ///
    /// - Parameter writeResult: Writes the member `result`.
    private static func response(
        to message: MCPRequest, _ writeResult: (inout ResponseWriter) -> Void
    ) -> HTTPResponse {
        var writer = ResponseWriter()
        writer.append("{\"jsonrpc\":\"2.0\",\"id\":")
        writer.write(message.id)
        writer.append(",\"result\":")
        writeResult(&writer)
        writer.append("}")
        return HTTPResponse(
            .ok, contentType: contentType, body: ByteBuffer(bytes: writer.bytes),
            headers: [("Cache-Control", "no-store")])
    }

    private func authenticate(_ caller: ToolCaller, id: Value) async throws(MCPError) {
        do throws(ToolRefusal) {
            try await service.authenticate(caller)
        } catch {
            throw MCPError(error, id: id)
        }
    }

    private func refusing<Result>(
        _ message: MCPRequest, _ work: () async throws(ToolRefusal) -> Result
    ) async throws(MCPError) -> Result {
        do throws(ToolRefusal) {
            return try await work()
        } catch {
            throw MCPError(error, id: message.id)
        }
    }
}

extension ToolCaller {
    /// The caller of a request with a token.
    fileprivate init(_ request: HTTPRequest) {
        self.init(
            bearerToken: request.headers.bearerToken ?? "", tenant: MCPEndpoint.tenant(request),
            requestID: request.id,
            client: request.client, app: ClientApp(request.headers),
            bodyByteCount: request.body.readableBytes,
            hasTimedOut: { [timeout = request.timeout] in timeout?.hasPassed ?? false })
    }
}
