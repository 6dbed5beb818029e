import NIOCore

/// Tells a client that there are too many, without reading what it wants.
final class OverloadHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// For the client to read the answer.
    private static let lastWordTimeout = TimeAmount.seconds(1)

    func channelActive(context: ChannelHandlerContext) {
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
        context.eventLoop.scheduleTask(in: Self.lastWordTimeout) {
            bound.value.close(promise: nil)
        }
    }

    /// Drops the request: reading it keeps the answer from being lost in a reset.
    func channelRead(context: ChannelHandlerContext, data: NIOAny) {}
}
