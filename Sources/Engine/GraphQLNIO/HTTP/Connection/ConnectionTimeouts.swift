import NIOCore

/// Deadlines and shutdown of a connection.
extension ConnectionHandler {
    func deadlinePassed() {
        switch phase {
        case .receiving:
            refuse(.requestTimeout)
        case .responding(let task, let exchange) where !task.isCancelled:
            exchange.timeOut()
            task.cancel()
            loopContext.logger.warning(
                "request cancelled because its response took too long",
                metadata: ["request_id": "\(exchange.id)"])
            phaseDeadline = .now() + loopContext.limits.lingeringCloseTimeout
        case .idle, .blocked, .closing:
            if isClientReading() {
                phaseDeadline = .now() + loopContext.limits.keepAliveTimeout
            } else {
                close()
            }
        case .streaming(let body, let exchange):
            if body.hasTimedOut { exchange.timeOut() }
            body.deadlinePassed()
        case .responding, .upgrading:
            close()
        }
    }

    /// Returns whether the client has read at least `bytesReadMin` pending bytes since the last deadline.
    ///
    /// A large response over a slow network gets more time. A client that reads a few bytes at a time does not.
    private func isClientReading() -> Bool {
        let before = unsentBytesAtLastDeadline
        unsentBytesAtLastDeadline =
            (try? context?.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
        return unsentBytesAtLastDeadline > 0
            && unsentBytesAtLastDeadline <= before - loopContext.limits.bytesReadMin
    }

    /// Ends an idle connection or the events of a subscription when the server has stopped listening. A client that reconnects
    /// at once then reaches another server.
    ///
    /// A request that is in progress gets its response, also if that is a stream. It is the last one; see `end`. If it opens a
    /// subscription, `beginStream` ends that, and if it is a WebSocket handshake, the WebSocket ends.
    func drain() {
        isDraining = true
        switch phase {
        case .idle where context?.unsentBytes == 0:
            // Also a connection whose TLS handshake is not complete. Its handler would keep an empty write until then.
            phase = .closing
            input = ByteBuffer()
            close()
        case .idle:
            phaseDeadline = .now() + loopContext.limits.keepAliveTimeout
            closeWhenSent(.all)
        case .streaming(let body, _) where body.hasEvents: body.end(.serverStopping)
        case .receiving, .blocked, .responding, .streaming, .upgrading, .closing: break
        }
    }
}
