import NIOCore

/// Responds with status 503 to a connection above the limit, without reading its request.
final class OverloadHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// The time that the client has to read the response.
    private static let lingeringCloseTimeout = TimeAmount.seconds(1)

    /// A channel that negotiates a protocol is active before it gets its handlers.
    func handlerAdded(context: ChannelHandlerContext) {
        if context.channel.isActive { respond(context) }
    }

    func channelActive(context: ChannelHandlerContext) {
        respond(context)
        context.fireChannelActive()
    }

    private func respond(_ context: ChannelHandlerContext) {
        let response = HTTPProblem.overloaded.response()
        var bytes = ByteBuffer(string: "HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\n")
        bytes.writeString("content-length: \(response.body.readableBytes)\r\n")
        bytes.writeString("content-type: \(response.contentType ?? "")\r\n")
        for (name, value) in response.headers { bytes.writeString("\(name): \(value)\r\n") }
        bytes.writeString("\r\n")
        bytes.writeImmutableBuffer(response.body)

        let bound = context.loopBound
        context.writeAndFlush(wrapOutboundOut(bytes)).whenComplete { _ in
            bound.value.close(mode: .output, promise: nil)
        }
        context.eventLoop.scheduleTask(in: Self.lingeringCloseTimeout) {
            bound.value.close(promise: nil)
        }
    }

    /// Drops the request. Unread input would reset the connection, and the client might lose the response.
    func channelRead(context: ChannelHandlerContext, data: NIOAny) {}
}
