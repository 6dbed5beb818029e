import NIOCore

/// What takes too long, and the server's end.
extension ConnectionHandler {
    func deadlinePassed() {
        switch phase {
        case .receiving:
            refuse(.requestTimeout)
        case .answering(let task, let exchange) where !task.isCancelled:
            exchange.timeOut()
            task.cancel()
            loopContext.logger.warning(
                "request cancelled: its response took too long",
                metadata: ["request_id": "\(exchange.id)"])
            phaseDeadline = .now() + loopContext.limits.lastWordTimeout
        case .idle, .blocked, .closing:
            if isBeingRead() {
                phaseDeadline = .now() + loopContext.limits.keepAliveTimeout
            } else {
                close()
            }
        case .streaming(let body, _):
            body.deadlinePassed()
        case .answering, .upgrading:
            close()
        }
    }

    /// Whether the client has read a good part of what waits for it since the last time.
    ///
    /// A large answer over a slow line takes its time; a client that takes a byte now and then does not get it.
    private func isBeingRead() -> Bool {
        let before = unreadByClient
        unreadByClient = (try? context?.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
        return unreadByClient > 0
            && unreadByClient <= before - loopContext.limits.bytesReadMin
    }

    /// Requests that have begun are answered, and their answers are the last; see `end`.
    func drain() {
        if case .streaming(let body, _) = phase { body.end(.stopping) }
    }

    /// Ends a connection between two requests, once nobody can connect any more: a client that comes back at once then
    /// finds another server.
    func listeningEnded() {
        isLastAnswer = true
        guard case .idle = phase else { return }
        phaseDeadline = .now() + loopContext.limits.keepAliveTimeout
        closeWhenSent(.all)
    }
}
