import NIOCore
import NIOWebSocket

extension ChannelPipeline.SynchronousOperations {
    /// Puts the handlers of a socket into a channel, behind those of HTTP.
    ///
    /// - Throws: where the channel was closed meanwhile.
    func addWebSocket(_ socket: WebSocketConnection, messageBytesMax: Int) throws {
        try addHandlers([
            // Nothing more is read from a client that does not read.
            BackPressureHandler(),
            WebSocketFrameEncoder(),
            ByteToMessageHandler(WebSocketFrameDecoder(maxFrameSize: messageBytesMax)),
            MaskCheck(),
            NIOWebSocketFrameAggregator(
                minNonFinalFragmentSize: 0, maxAccumulatedFrameCount: 1024,
                maxAccumulatedFrameSize: messageBytesMax),
            socket,
        ])
    }
}
