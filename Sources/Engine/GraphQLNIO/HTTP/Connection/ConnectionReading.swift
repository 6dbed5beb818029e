import NIOCore

/// Parses requests and advances the connection's phase.
extension ConnectionHandler {
    /// Parses `input` and runs requests until bytes are missing or a response is pending.
    ///
    /// The loop replaces recursion. A request that is answered synchronously calls `finish`, which calls `advance`
    /// again; that nested call returns at once because of `isAdvancing`, and the outer loop continues with the new
    /// phase. The stack therefore does not grow with the number of pipelined requests, and their responses are flushed
    /// together at the end.
    func advance() {
        if isAdvancing { return }
        isAdvancing = true
        takeSteps()
        while needsFlush {
            needsFlush = false
            context?.flush()
            // Flushing may make the channel writable again, so that a blocked request can run.
            takeSteps()
        }
        isAdvancing = false
        settleUnread()
        // Releases an empty buffer, so that the channel can reuse its memory for reading.
        if input.readableBytes == 0 { input = ByteBuffer() }
        resumeReading()
    }

    private func takeSteps() {
        do throws(HTTPProblem) {
            while try step() {}
        } catch {
            refuse(error)
        }
    }

    /// Performs one transition of the phase.
    ///
    /// - Returns: Whether another step may be possible.
    private func step() throws(HTTPProblem) -> Bool {
        switch phase {
        case .idle:
            guard input.readableBytes > 0,
                let head = try headReader.read(
                    &input, loopContext.limits, keepsHead: loopContext.keepsHeads)
            else { return false }
            bodyReader = BodyReader(head.framing)
            let reader = RequestReader(head, routes: loopContext.routes) {
                loopContext.requestIDs.next()
            }
            phaseDeadline = reader.start + loopContext.limits.bodyTimeout + reader.bodyAllowance
            phase = .receiving(reader)
            perform(reader.headAction(), reader)
        case .receiving(let reader):
            try requireStored(reader)
            switch try bodyReader.read(&input, loopContext.limits) {
            case .part(var part):
                let action = reader.bodyAction(&part) {
                    BodyFile(on: loopContext.loop) { [weak self] in self?.advance() }
                }
                perform(action, reader)
                if case .receiving = phase { try countBody(of: reader) }
            case .wait: return false
            case .end where mayEnd(reader): try end(reader)
            case .end:
                phase = .blocked(reader)
                phaseDeadline = .now() + loopContext.limits.keepAliveTimeout
            }
        case .blocked(let reader):
            try requireStored(reader)
            guard mayEnd(reader) else { return false }
            phase = .receiving(reader)
            try end(reader)
        case .responding, .streaming, .upgrading, .closing:
            return false
        }
        return true
    }

    /// Whether a request that is complete may run: the client has read earlier responses, and the body is in its file.
    private func mayEnd(_ reader: RequestReader) -> Bool {
        isWritable && reader.bodyFile?.isWriting != true
    }

    /// - Throws: a problem if the body cannot be written to its file.
    private func requireStored(_ reader: RequestReader) throws(HTTPProblem) {
        guard let failure = reader.bodyFile?.failure else { return }
        loopContext.logger.error(
            "a request's body cannot be stored",
            metadata: ["request_id": "\(reader.request.id)", "error": "\(failure)"])
        throw .applicationError(
            .serviceUnavailable, code: "SERVICE_UNAVAILABLE",
            "The server cannot store the request's body at the moment. Try again later.",
            retryAfterSeconds: 60)
    }

    /// Handles a request that is complete.
    private func end(_ reader: RequestReader) throws(HTTPProblem) {
        let action = reader.endAction()
        // The contents of a compressed body are larger than what has arrived.
        try countBody(of: reader)
        perform(action, reader)
    }

    /// Counts the part of a body that has arrived.
    ///
    /// - Throws: the reason to refuse it.
    private func countBody(of reader: RequestReader) throws(HTTPProblem) {
        let count = reader.bodyByteCount
        guard count > BodyBytes.freeBytesMax else { return }
        if bodyBytes.count == 0 {
            if loopContext.unread.isMemoryShort { throw .memoryShort }
            bodyBytes.client = client(of: reader.request)
        }
        if let problem = loopContext.bodies.add(count - bodyBytes.count, for: bodyBytes.client) {
            throw problem
        }
        bodyBytes.count = count
    }

    /// Stops counting the body of a request that has ended, unless its task still uses it.
    func releaseBody() {
        guard bodyBytes.count > 0, !isBodyInUse else { return }
        loopContext.bodies.remove(bodyBytes.count, for: bodyBytes.client)
        bodyBytes = (0, nil)
    }

    private func perform(_ action: RequestReader.Action, _ reader: RequestReader) {
        switch action {
        case .wait: break
        case .sendContinue: send(.continueHead)
        case .refuse(let problem): refuse(problem, reader)
        case .respond(let route): start(reader, route)
        case .upgrade(let head, let endpoint):
            upgrade(reader.request, head, endpoint, Exchange(reader))
        case .respondWithProblem(let problem): finish(problem.response(), Exchange(reader))
        case .respondToOptions(let status, let allow):
            let exchange = Exchange(reader)
            let preflight = exchange.isCrossOrigin ? exchange.preflightHeaders(allow: allow) : []
            finish(HTTPResponse(status, headers: [("Allow", allow)] + preflight), exchange)
        }
    }
}
