import NIOCore

/// Responses whose bodies are sent in parts.
extension ConnectionHandler {
    /// Sends the head of a response whose body is sent in parts. Returns nil if the connection is closed or the request
    /// was HEAD.
    func beginStream(_ response: HTTPResponse, _ reader: RequestReader) -> BodyStream? {
        guard context != nil, case .responding(let task, var exchange) = phase,
            exchange.method != .HEAD
        else { return nil }
        if isLastResponse { exchange.isKeepAlive = false }
        // Streams are long-lived, so the parsed request body is released.
        reader.request.body = ByteBuffer()
        isBodyInUse = false
        releaseBody()
        let takesChunks = exchange.takesChunks
        let body = BodyStream(
            loopContext.limits, hasEvents: response.hasEvents,
            reserve: { [unreadCounter] byteCount in
                byteCount > UnreadCounter.freeBytesMax ? unreadCounter.reserve(byteCount) : nil
            },
            countMemory: { [unreadCounter] in unreadCounter.count($0) },
            releaseMemory: { [unreadCounter] in unreadCounter.release($0) },
            send: { [weak self] part in self?.send(takesChunks ? part.chunk : part) },
            cancel: { task.cancel() })
        loopContext.log(response, exchange)
        loopContext.metrics.count(exchange, status: response.status)
        loopContext.gauges.streamOpened()
        phase = .streaming(body, exchange)
        body.set(isWritable: isWritable)
        write(response, exchange)
        needsFlush = false
        context?.flush()
        settleUnread()
        if isDraining, body.hasEvents { body.end(.serverStopping) }
        return body
    }

    func endStream(_ body: BodyStream) {
        loopContext.gauges.streamClosed()
        guard case .streaming(_, let exchange) = phase else { return }
        switch body.endReason {
        case nil, .sessionEnded, .timedOut, .refused:
            if exchange.takesChunks { send(.lastChunk) }
            end(exchange)
        case .disconnected, .serverStopping, .tooSlow:
            // The end of the body is not sent, so that the client notices that the stream is incomplete.
            phase = .closing
            input = ByteBuffer()
            phaseDeadline = .now() + loopContext.limits.lingeringCloseTimeout
            unsentBytesAtLastDeadline = 0
            if body.endReason != .tooSlow { close() }
            advance()
        }
    }
}
