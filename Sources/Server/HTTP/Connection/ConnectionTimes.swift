import NIOCore

/// What takes too long, and the server's end.
extension ConnectionHandler {
    func deadlinePassed() {
        switch phase {
        case .receiving:
            refuse(.requestTimeout)
        case .answering(let task, _) where !task.isCancelled:
            task.cancel()
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

    /// Requests that have begun are answered, and their answers are the last.
    func drain() {
        switch phase {
        case .idle:
            phaseDeadline = .now() + loopContext.limits.keepAliveTimeout
            closeWhenSent(.all)
        case .streaming(let body, _): body.end(.stopping)
        case .receiving, .blocked, .answering, .upgrading, .closing: break
        }
    }
}
