import NIOCore
import NIOHTTP1

/// From HTTP to WebSockets.
extension ConnectionHandler {
    func upgrade(
        _ request: HTTPRequest, _ head: HTTPRequestHead, _ endpoint: WebSocketEndpoint,
        _ exchange: Exchange
    ) {
        guard let context else { return }
        if let problem = endpoint.problem(of: head) {
            return finish(problem.response(), exchange)
        }
        phase = .upgrading
        let connection = NIOLoopBound((self, endpoint, exchange), eventLoop: loopContext.loop)
        endpoint.acceptance(of: head, on: context.channel).whenComplete { result in
            let (handler, endpoint, exchange) = connection.value
            switch result {
            case .success(let headers):
                handler.become(
                    WebSocketConnection(
                        endpoint, handler.loopContext,
                        isSubprotocolSpoken: endpoint.speaksSubprotocol(head),
                        token: request.headers.bearerToken, requestID: request.id,
                        client: handler.client(of: request)),
                    headers, exchange)
            case .failure:
                handler.finish(
                    HTTPProblem.badRequest("The WebSocket handshake is malformed.").response(),
                    exchange)
            }
        }
    }

    /// Answers 101, and leaves the channel to the socket.
    private func become(
        _ socket: WebSocketConnection, _ headers: HTTPHeaders, _ exchange: Exchange
    ) {
        guard let context, case .upgrading = phase else { return }
        exchange.log(HTTPResponse(.switchingProtocols), to: loopContext.logger)
        loopContext.metrics.count(exchange, status: .switchingProtocols)
        var head = ByteBuffer(string: "HTTP/1.1 101 Switching Protocols\r\n")
        for (name, value) in headers { head.write(name, value) }
        head.writeStaticString("\r\n")
        send(head)
        // Sending may have found the connection broken.
        guard case .upgrading = phase else { return }
        let channel = context.channel
        let early = unread
        unread = ByteBuffer()
        do {
            try context.pipeline.syncOperations.addWebSocket(socket)
            // What the client has sent beyond its request.
            if early.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(early)) }
            context.pipeline.syncOperations.removeHandler(self, promise: nil)
            // Through the handlers that are there now, which may hold it back in their turn.
            if isReadHeld { channel.read() }
        } catch {
            // The channel was closed meanwhile.
            context.close(promise: nil)
        }
    }
}
