import NIOCore

extension ChannelPipeline.SynchronousOperations {
    /// Adds the handlers of a WebSocket to a channel, after the HTTP handler.
    ///
    /// - Throws: An error if the channel has been closed.
    func addWebSocket(_ socket: WebSocketConnection) throws {
        try addHandlers([
            // Stops reading while the client does not read.
            BackPressureHandler(),
            socket,
        ])
    }
}
