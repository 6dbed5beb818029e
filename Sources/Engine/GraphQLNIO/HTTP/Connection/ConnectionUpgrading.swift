import GraphQLServing
import NIOCore
import NIOHTTP1

/// Replaces HTTP by the WebSocket protocol on a connection.
extension ConnectionHandler {
    func upgrade(
        _ request: HTTPRequest, _ head: HTTPRequestHead, _ endpoint: WebSocketEndpoint,
        _ exchange: Exchange
    ) {
        guard let context else { return }
        if let problem = endpoint.problem(with: head) {
            return finish(problem.response(), exchange)
        }
        phase = .upgrading
        let connection = NIOLoopBound((self, endpoint, exchange), eventLoop: loopContext.loop)
        endpoint.upgradeHeaders(for: head, on: context.channel).whenComplete { result in
            let (handler, endpoint, exchange) = connection.value
            switch result {
            case .success(let headers):
                handler.replace(
                    with:
                        WebSocketConnection(
                            endpoint, handler.loopContext,
                            refusal: endpoint.refusal(of: head), isDraining: handler.isDraining,
                            token: request.headers.bearerToken, requestID: request.id,
                            client: handler.client(of: request),
                            app: ClientApp(request.headers),
                            acceptLanguage: request.headers.acceptLanguage,
                            headerReader: handler.loopContext.keepsHeads
                                ? request.headerReader : nil),
                    headers, exchange)
            case .failure:
                handler.finish(
                    HTTPProblem.badRequest("The WebSocket handshake is malformed.").response(),
                    exchange)
            }
        }
    }

    /// Responds with status 101, and replaces this handler by the WebSocket's.
    private func replace(
        with socket: WebSocketConnection, _ headers: HTTPHeaders, _ exchange: Exchange
    ) {
        guard let context, case .upgrading = phase else { return }
        loopContext.log(HTTPResponse(.switchingProtocols), exchange)
        loopContext.metrics.count(exchange, status: .switchingProtocols)
        var head = ByteBuffer(string: "HTTP/1.1 101 Switching Protocols\r\n")
        for (name, value) in headers { head.write(name, value) }
        head.writeStaticString("\r\n")
        send(head)
        // Sending may have closed a broken connection.
        guard case .upgrading = phase else { return }
        let channel = context.channel
        let early = input
        input = ByteBuffer()
        do {
            try context.pipeline.syncOperations.addWebSocket(socket)
            // The client has sent bytes after its handshake.
            if early.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(early)) }
            context.pipeline.syncOperations.removeHandler(self, promise: nil)
            // The new handlers receive the deferred read, and may defer it as well.
            if hasDeferredRead { channel.read() }
        } catch {
            // The channel was closed in the meantime.
            context.close(promise: nil)
        }
    }
}
