import NIOCore

/// From bytes to requests.
extension ConnectionHandler {
    /// Reads and answers as far as it goes: until bytes are missing, or an answer is awaited.
    ///
    /// Requests that are answered at once are answered in this loop, and not in calls inside of one another, however
    /// many are pipelined; all that is written is sent at its end.
    func advance() {
        if isAdvancing { return }
        isAdvancing = true
        takeSteps()
        while needsFlush {
            needsFlush = false
            context?.flush()
            // The client may have read enough for one that was held back.
            takeSteps()
        }
        isAdvancing = false
        settleUnread()
        // What is read to its end is given back: the channel reads into it again.
        if unread.readableBytes == 0 { unread = ByteBuffer() }
        resumeReading()
    }

    private func takeSteps() {
        do throws(HTTPProblem) {
            while try step() {}
        } catch {
            refuse(error)
        }
    }

    /// - Returns: whether there may be more to do.
    private func step() throws(HTTPProblem) -> Bool {
        switch phase {
        case .idle:
            guard unread.readableBytes > 0,
                let head = try headReader.read(&unread, loopContext.limits)
            else { return false }
            bodyReader = BodyReader(head.framing)
            let reader = RequestReader(head, routes: loopContext.routes) {
                loopContext.requestIDs.next()
            }
            phaseDeadline = reader.start + loopContext.limits.bodyTimeout + reader.bodyAllowance
            phase = .receiving(reader)
            perform(reader.headAction(), reader)
        case .receiving(let reader):
            switch try bodyReader.read(&unread, loopContext.limits) {
            case .part(var part): perform(reader.bodyAction(&part), reader)
            case .wait: return false
            case .end where isWritable: perform(reader.endAction(), reader)
            case .end:
                phase = .blocked(reader)
                phaseDeadline = .now() + loopContext.limits.keepAliveTimeout
            }
        case .blocked(let reader):
            guard isWritable else { return false }
            phase = .receiving(reader)
            perform(reader.endAction(), reader)
        case .answering, .streaming, .upgrading, .closing:
            return false
        }
        return true
    }

    private func perform(_ action: RequestReader.Action, _ reader: RequestReader) {
        switch action {
        case .wait: break
        case .sendContinue: send(.continueHead)
        case .refuse(let problem): refuse(problem, reader)
        case .answer(let route): start(reader, route)
        case .upgrade(let head, let endpoint):
            upgrade(reader.request, head, endpoint, Exchange(reader))
        case .answerProblem(let problem): finish(problem.response(), Exchange(reader))
        case .answerOptions(let status, let allow):
            let exchange = Exchange(reader)
            let preflight = exchange.isCrossOrigin ? exchange.preflightHeaders(allow: allow) : []
            finish(HTTPResponse(status, headers: [("allow", allow)] + preflight), exchange)
        }
    }
}
