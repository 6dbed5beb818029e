import GraphQLServing
import NIOCore
import NIOHTTP1
import NIOWebSocket

/// The WebSocket service of a path.
package struct WebSocketEndpoint {
    static let subprotocol = "graphql-transport-ws"

    let service: any GraphQLService
    let messageBytesMax: Int
    let origins: AllowedOrigins

    package init(
        service: any GraphQLService, messageBytesMax: Int, origins: AllowedOrigins
    ) {
        self.service = service
        self.messageBytesMax = messageBytesMax
        self.origins = origins
    }

    /// Returns the error of an invalid handshake; nil if it is valid.
    ///
    /// Spec: RFC 6455, section 4.2
    func problem(with head: HTTPRequestHead) -> HTTPProblem? {
        guard head.headers["sec-websocket-version"] == ["13"] else {
            return .unsupportedWebSocketVersion
        }
        let keys = head.headers["sec-websocket-key"]
        guard keys.count == 1, keys[0].utf8.count == 24 else {
            return .badRequest("The WebSocket handshake needs one Sec-WebSocket-Key of 16 bytes.")
        }
        return nil
    }

    /// Returns how to close a connection that is refused after a valid handshake; nil if it is accepted.
    ///
    /// Browsers show pages the code and the reason of a close frame, but not the response to a refused handshake.
    func refusal(of head: HTTPRequestHead) -> CloseFrame? {
        let origin = head.headers.first(name: "origin")
        guard origins.allows(origin, host: head.headers.first(name: "host")) else {
            return CloseFrame(
                .forbidden, "The list of allowed origins does not contain \(origin ?? "")")
        }
        guard supportsSubprotocol(head) else {
            return CloseFrame(.subprotocolNotAcceptable, "Subprotocol not acceptable")
        }
        return nil
    }

    /// Returns whether the client offers the supported subprotocol.
    private func supportsSubprotocol(_ head: HTTPRequestHead) -> Bool {
        head.headers[canonicalForm: "sec-websocket-protocol"].contains { $0 == Self.subprotocol }
    }

    /// Returns whether a request is a WebSocket handshake.
    static func isUpgradeRequest(_ head: HTTPRequestHead) -> Bool {
        head.method == .GET && head.version == .http1_1
            && head.headers[canonicalForm: "upgrade"].contains { $0.lowercased() == "websocket" }
            && head.headers[canonicalForm: "connection"].contains { $0.lowercased() == "upgrade" }
    }

    /// Returns the headers of the response with status 101.
    func upgradeHeaders(
        for head: HTTPRequestHead, on channel: any Channel
    ) -> EventLoopFuture<HTTPHeaders> {
        let headers: HTTPHeaders =
            supportsSubprotocol(head) ? ["Sec-WebSocket-Protocol": Self.subprotocol] : [:]
        let upgrader = NIOWebSocketServerUpgrader(
            shouldUpgrade: { channel, _ in channel.eventLoop.makeSucceededFuture(headers) },
            upgradePipelineHandler: { channel, _ in channel.eventLoop.makeSucceededVoidFuture() })
        return upgrader.buildUpgradeResponse(
            channel: channel, upgradeRequest: head, initialResponseHeaders: [:])
    }
}
