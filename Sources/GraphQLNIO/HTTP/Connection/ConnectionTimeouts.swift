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

    /// Ends a stream of events during shutdown. A request that is in progress gets its response, also if that has several
    /// parts. It is the last one; see `end`.
    func drain() {
        if case .streaming(let body, _) = phase, !body.isLimited { body.end(.serverStopping) }
    }

    /// Ends an idle connection when the server has stopped listening. A client that reconnects at once then reaches
    /// another server.
    func listeningEnded() {
        closesAfterResponse = true
        guard case .idle = phase else { return }
        phaseDeadline = .now() + loopContext.limits.keepAliveTimeout
        closeWhenSent(.all)
    }
}
