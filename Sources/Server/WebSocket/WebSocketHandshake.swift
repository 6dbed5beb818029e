import NIOCore
import NIOHTTP1
import NIOWebSocket

/// What a path offers to clients that ask for a WebSocket.
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

    /// What is wrong with the client's handshake; nil where it may go on.
    ///
    /// Spec: RFC 6455, section 4.2
    func problem(of head: HTTPRequestHead) -> HTTPProblem? {
        guard
            origins.allows(
                head.headers.first(name: "origin"), host: head.headers.first(name: "host"))
        else { return .forbiddenOrigin }
        guard head.headers["sec-websocket-version"] == ["13"] else { return .webSocketVersion }
        let keys = head.headers["sec-websocket-key"]
        guard keys.count == 1, keys[0].utf8.count == 24 else {
            return .badRequest("The WebSocket handshake needs one Sec-WebSocket-Key of 16 bytes.")
        }
        return nil
    }

    /// Whether the client offers the one sub-protocol that there is.
    func speaksSubprotocol(_ head: HTTPRequestHead) -> Bool {
        head.headers[canonicalForm: "sec-websocket-protocol"].contains { $0 == Self.subprotocol }
    }

    /// Whether a request asks for a WebSocket at all.
    static func isAskedFor(_ head: HTTPRequestHead) -> Bool {
        head.method == .GET && head.version == .http1_1
            && head.headers[canonicalForm: "upgrade"].contains { $0.lowercased() == "websocket" }
            && head.headers[canonicalForm: "connection"].contains { $0.lowercased() == "upgrade" }
    }

    /// The headers of the answer 101.
    func acceptance(
        of head: HTTPRequestHead, on channel: any Channel
    ) -> EventLoopFuture<HTTPHeaders> {
        let headers: HTTPHeaders =
            speaksSubprotocol(head) ? ["sec-websocket-protocol": Self.subprotocol] : [:]
        let upgrader = NIOWebSocketServerUpgrader(
            shouldUpgrade: { channel, _ in channel.eventLoop.makeSucceededFuture(headers) },
            upgradePipelineHandler: { channel, _ in channel.eventLoop.makeSucceededVoidFuture() })
        return upgrader.buildUpgradeResponse(
            channel: channel, upgradeRequest: head, initialResponseHeaders: [:])
    }
}
