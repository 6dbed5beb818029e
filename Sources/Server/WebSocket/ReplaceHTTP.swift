import NIOCore
import NIOHTTP1
import NIOWebSocket

extension ChannelPipeline.SynchronousOperations {
    /// Takes HTTP's handlers out of the channel, and puts in those of a socket.
    ///
    /// - Parameter connection: the last of HTTP's handlers.
    /// - Throws: where the channel was closed meanwhile.
    func replaceHTTP(
        of connection: any RemovableChannelHandler, with socket: WebSocketConnection,
        messageBytesMax: Int
    ) throws {
        let decoder = try handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
        removeHandler(try handler(type: HTTPServerPipelineHandler.self), promise: nil)
        removeHandler(try handler(type: HTTPResponseEncoder.self), promise: nil)
        removeHandler(connection, promise: nil)
        try addHandlers([
            WebSocketFrameEncoder(),
            ByteToMessageHandler(WebSocketFrameDecoder(maxFrameSize: messageBytesMax)),
            MaskCheck(),
            NIOWebSocketFrameAggregator(
                minNonFinalFragmentSize: 0, maxAccumulatedFrameCount: 1024,
                maxAccumulatedFrameSize: messageBytesMax),
            socket,
        ])
        // Last: it hands on what it has read beyond the request.
        removeHandler(decoder, promise: nil)
    }
}
