import NIOCore

/// Answers whose bodies come in parts.
extension ConnectionHandler {
    /// Sends the head of an answer whose body comes in parts; nil where nobody is there to read it.
    func beginStream(_ response: HTTPResponse, _ reader: RequestReader) -> BodyStream? {
        guard context != nil, case .answering(let task, let exchange) = phase,
            exchange.method != .HEAD
        else { return nil }
        // A stream lasts, and what was asked is known.
        reader.request.body = ByteBuffer()
        let takesChunks = exchange.takesChunks
        let body = BodyStream(
            loopContext.limits,
            admit: { [account] byteCount in
                byteCount > UnreadAccount.freeBytesMax ? account.take(byteCount) : nil
            },
            send: { [weak self] part in self?.send(takesChunks ? part.chunk : part) },
            cancel: { task.cancel() })
        exchange.log(response, to: loopContext.logger)
        loopContext.metrics.count(exchange, status: response.status)
        loopContext.gauges.streamOpened()
        phase = .streaming(body, exchange)
        body.set(isWritable: isWritable)
        write(response, exchange)
        needsFlush = false
        context?.flush()
        settleUnread()
        if loopContext.isDraining { body.end(.stopping) }
        return body
    }

    func endStream(_ body: BodyStream) {
        loopContext.gauges.streamClosed()
        guard case .streaming(_, let exchange) = phase else { return }
        switch body.ending {
        case nil, .sessionEnded, .refused:
            if exchange.takesChunks { send(.lastChunk) }
            end(exchange)
        case .clientGone, .stopping, .tooSlow:
            // Without the end of its body, a client knows that this was not all.
            phase = .closing
            unread = ByteBuffer()
            phaseDeadline = .now() + loopContext.limits.lastWordTimeout
            unreadByClient = 0
            if body.ending != .tooSlow { close() }
            advance()
        }
    }
}
