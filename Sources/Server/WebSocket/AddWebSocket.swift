import NIOCore

extension ChannelPipeline.SynchronousOperations {
    /// Adds the handlers of a socket to a channel, after those of HTTP.
    ///
    /// - Throws: if the channel was closed meanwhile.
    func addWebSocket(_ socket: WebSocketConnection) throws {
        try addHandlers([
            // Nothing more is read from a client that does not read.
            BackPressureHandler(),
            socket,
        ])
    }
}
