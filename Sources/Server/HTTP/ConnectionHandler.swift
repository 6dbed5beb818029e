import Logging
import NIOCore
import NIOHTTP1
import Telemetry

/// One connection: puts requests together, has them answered one after another, and keeps their times.
///
/// In front of it, `HTTPServerPipelineHandler` holds back what is pipelined until the answer before it is written.
final class ConnectionHandler: ChannelInboundHandler, RemovableChannelHandler, TimedConnection {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private enum Phase {
        /// Between requests.
        case idle
        /// The head is known, the body is arriving.
        case receiving(RequestReader)
        /// The request is whole; it runs when the client has read what it asked for before.
        case blocked(RequestReader)
        case answering(Task<Void, Never>, Exchange)
        /// The head is written, the body comes in parts.
        case streaming(BodyStream, Exchange)
        /// The next bytes are those of another protocol.
        case upgrading
        /// The last answer is written; whatever still arrives is dropped.
        case closing
    }

    let loopContext: LoopContext
    private(set) var context: ChannelHandlerContext?
    private var phase = Phase.idle
    private var peer: ClientAddress?
    private var isFinishing = false
    private var nextAnswer: (HTTPResponse, Exchange)?
    /// What waited to be read by the client when a deadline last passed.
    private var unreadBytes = Int.max
    /// When `deadlinePassed` is due; what it means depends on the phase.
    private var phaseDeadline: NIODeadline

    var deadline: NIODeadline {
        if case .streaming(let body, _) = phase { body.deadline } else { phaseDeadline }
    }

    init(_ loopContext: LoopContext) {
        self.loopContext = loopContext
        phaseDeadline = .now() + loopContext.limits.firstHeadTimeout
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        peer = ClientAddress(context.remoteAddress)
        loopContext.add(self)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        loopContext.remove(self)
    }

    func channelInactive(context: ChannelHandlerContext) {
        switch phase {
        case .answering(let task, _): task.cancel()
        case .streaming(let body, _): body.end(.clientGone)
        case .idle, .receiving, .blocked, .upgrading, .closing: break
        }
        phase = .closing
        context.fireChannelInactive()
    }

    // MARK: In

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch (unwrapInboundIn(data), phase) {
        case (.head(let head), .idle):
            let reader = RequestReader(head, routes: loopContext.routes) {
                loopContext.requestIDs.next()
            }
            phaseDeadline = .now() + loopContext.limits.bodyTimeout + reader.bodyAllowance
            phase = .receiving(reader)
            perform(reader.headAction(version: head.version), reader)
        case (.body(var part), .receiving(let reader)):
            perform(reader.bodyAction(&part), reader)
        case (.end, .receiving(let reader)):
            if context.channel.isWritable {
                perform(reader.endAction(), reader)
            } else {
                phase = .blocked(reader)
                phaseDeadline = .now() + loopContext.limits.keepAliveTimeout
            }
        default:
            break  // the rest of a request that was refused
        }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if case .streaming(let body, _) = phase {
            body.set(isWritable: context.channel.isWritable)
        }
        if context.channel.isWritable {
            if case .blocked(let reader) = phase {
                phase = .receiving(reader)
                perform(reader.endAction(), reader)
            }
        }
        context.fireChannelWritabilityChanged()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if let error = error as? HTTPParserError {
            refuse(
                error == .headerOverflow
                    ? .headersTooLarge : .badRequest("The request is not well-formed HTTP."))
        } else {
            // A broken connection: nobody is left to be told.
            loopContext.logger.debug("connection lost: \(error)")
            context.close(promise: nil)
        }
    }

    private func perform(_ action: RequestReader.Action, _ reader: RequestReader) {
        switch action {
        case .wait: break
        case .sendContinue: sendContinue()
        case .refuse(let problem): refuse(problem, reader)
        case .answer(let request, by: let route): start(request, route, Exchange(reader))
        case .upgrade(let request, let head, let endpoint):
            upgrade(request, head, endpoint, Exchange(reader))
        case .answerProblem(let problem): finish(problem.response(), Exchange(reader))
        case .answerOptions(let allow):
            finish(HTTPResponse(.noContent, headers: [("allow", allow)]), Exchange(reader))
        }
    }

    // MARK: Answering

    /// Answers at once where the route can, or else runs it in one task on this loop.
    private func start(_ request: HTTPRequest, _ route: Route, _ exchange: Exchange) {
        if let response = route.respondAtOnce?(request) { return finish(response, exchange) }
        var request = request
        request.client = client(of: request)
        let call = NIOLoopBound((route, self), eventLoop: loopContext.loop)
        phaseDeadline = exchange.start + loopContext.limits.answerTimeout
        let task = Task(executorPreference: loopContext.executor) { [request] in
            let (route, connection) = call.value
            // A value of the task costs a request something, and few belong to a trace.
            guard let trace = request.headers.traceParent.flatMap(TraceParent.init) else {
                return await connection.answer(request, by: route)
            }
            await TraceParent.$current.withValue(trace) {
                await connection.answer(request, by: route)
            }
        }
        phase = .answering(task, exchange)
    }

    private func client(of request: HTTPRequest) -> ClientAddress? {
        loopContext.proxies.client(of: peer, forwardedFor: request.headers.forwardedFor)
    }

    private func answer(_ request: HTTPRequest, by route: Route) async {
        let response = await route.respond(request)
        guard let produce = response.stream, let body = beginStream(response) else {
            return answered(response)
        }
        await produce(body)
        endStream(body)
    }

    private func answered(_ response: HTTPResponse) {
        guard case .answering(_, let exchange) = phase else { return }
        finish(response, exchange)
    }

    /// Writes an answer whose request has been read to its end.
    ///
    /// The next request may begin inside of this call, and may be answered at once: its answer waits for the loop here.
    /// Otherwise as many of them as are pipelined would be as many calls inside of one another.
    private func finish(_ response: HTTPResponse, _ exchange: Exchange) {
        nextAnswer = (response, exchange)
        if isFinishing { return }
        isFinishing = true
        while let (response, exchange) = nextAnswer.take() {
            exchange.log(response, to: loopContext.logger)
            loopContext.metrics.count(exchange, status: response.status)
            write(response, exchange)
            end(exchange)
        }
        isFinishing = false
    }

    /// Ends an answer of which all else is written.
    private func end(_ exchange: Exchange) {
        if exchange.isKeepAlive {
            phase = .idle
            phaseDeadline = .now() + loopContext.limits.keepAliveTimeout
            unreadBytes = .max
            writeEnd(promise: nil)
        } else {
            phase = .closing
            phaseDeadline = .now() + loopContext.limits.keepAliveTimeout
            guard let context else { return }
            let promise = context.eventLoop.makePromise(of: Void.self)
            let bound = context.loopBound
            promise.futureResult.whenComplete { _ in bound.value.close(promise: nil) }
            writeEnd(promise: promise)
        }
    }

    /// Answers before the request has been read to its end, and ends the connection.
    private func refuse(_ problem: HTTPProblem, _ reader: RequestReader? = nil) {
        switch phase {
        case .answering(let task, _): task.cancel()
        case .streaming(let body, _): return body.end(.clientGone)
        case .closing, .upgrading: return
        case .idle, .receiving, .blocked: break
        }
        guard let context else { return }
        var exchange = reader.map(Exchange.init) ?? Exchange(id: loopContext.requestIDs.next())
        exchange.isKeepAlive = false
        let response = problem.response()
        exchange.log(response, to: loopContext.logger)
        loopContext.metrics.count(exchange, status: response.status)
        write(response, exchange)
        phase = .closing
        phaseDeadline = .now() + loopContext.limits.lastWordTimeout
        // Closing at once with unread bytes would reset the connection and take the answer from the client: only the
        // output is closed, and what still comes is dropped until the client closes or the deadline passes.
        let promise = context.eventLoop.makePromise(of: Void.self)
        let bound = context.loopBound
        promise.futureResult.whenComplete { _ in
            bound.value.close(mode: .output, promise: nil)
        }
        writeEnd(promise: promise)
    }

    // MARK: Out

    private func sendContinue() {
        guard let context else { return }
        let head = HTTPResponseHead(version: .http1_1, status: .continue)
        context.writeAndFlush(wrapOutboundOut(.head(head)), promise: nil)
    }

    /// Writes all but the end.
    private func write(_ response: HTTPResponse, _ exchange: Exchange) {
        guard let context else { return }
        let head = exchange.head(of: response, date: loopContext.date.now())
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        guard response.bodyByteCount > 0, exchange.method != .HEAD,
            response.status.mayHaveResponseBody
        else { return }
        if let (file, range) = response.file {
            // In the same write as the head.
            if let bytes = file.bytes(range) {
                return context.write(wrapOutboundOut(.body(.byteBuffer(bytes))), promise: nil)
            }
            // The file stays open until all of it is sent.
            let isSent = context.eventLoop.makePromise(of: Void.self)
            isSent.futureResult.assumeIsolated().whenComplete { _ in withExtendedLifetime(file) {} }
            context.write(wrapOutboundOut(.body(.fileRegion(file.region(range)))), promise: isSent)
        } else {
            context.write(wrapOutboundOut(.body(.byteBuffer(response.body))), promise: nil)
        }
    }

    /// Ends the answer and sends it; the next request may begin inside of this call.
    private func writeEnd(promise: EventLoopPromise<Void>?) {
        guard let context else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: promise)
    }

    // MARK: Streams

    /// Sends the head of an answer whose body comes in parts; nil where nobody is there to read it.
    private func beginStream(_ response: HTTPResponse) -> BodyStream? {
        guard let context, case .answering(let task, let exchange) = phase,
            exchange.method != .HEAD
        else { return nil }
        let body = BodyStream(
            loopContext.limits,
            send: { [weak self] part in
                guard let self, let context = self.context else { return }
                context.writeAndFlush(
                    self.wrapOutboundOut(.body(.byteBuffer(part))), promise: nil)
            }, cancel: { task.cancel() })
        exchange.log(response, to: loopContext.logger)
        loopContext.metrics.count(exchange, status: response.status)
        loopContext.gauges.streamOpened()
        phase = .streaming(body, exchange)
        body.set(isWritable: context.channel.isWritable)
        write(response, exchange)
        context.flush()
        if loopContext.isDraining { body.end(.stopping) }
        return body
    }

    private func endStream(_ body: BodyStream) {
        loopContext.gauges.streamClosed()
        guard case .streaming(_, let exchange) = phase else { return }
        switch body.ending {
        case nil, .sessionEnded:
            end(exchange)
        case .clientGone, .stopping, .tooSlow:
            // Without the end of its body, a client knows that this was not all.
            phase = .closing
            phaseDeadline = .now() + loopContext.limits.lastWordTimeout
            if body.ending != .tooSlow { close() }
        }
    }

    func drain() {
        if case .streaming(let body, _) = phase { body.end(.stopping) }
    }

    // MARK: Upgrades

    private func upgrade(
        _ request: HTTPRequest, _ head: HTTPRequestHead, _ endpoint: WebSocketEndpoint,
        _ exchange: Exchange
    ) {
        guard let context else { return }
        if let problem = endpoint.problem(of: head) {
            return finish(problem.response(), exchange)
        }
        phase = .upgrading
        let connection = NIOLoopBound((self, endpoint, exchange), eventLoop: loopContext.loop)
        endpoint.acceptance(of: head, on: context.channel).whenComplete { result in
            let (handler, endpoint, exchange) = connection.value
            switch result {
            case .success(let headers):
                handler.become(
                    WebSocketConnection(
                        endpoint, handler.loopContext,
                        isSubprotocolSpoken: endpoint.speaksSubprotocol(head),
                        token: request.headers.bearerToken, requestID: request.id,
                        client: handler.client(of: request)),
                    messageBytesMax: endpoint.messageBytesMax, headers, exchange)
            case .failure:
                handler.finish(
                    HTTPProblem.badRequest("The WebSocket handshake is malformed.").response(),
                    exchange)
            }
        }
    }

    /// Answers 101, and leaves the channel to the socket.
    private func become(
        _ socket: WebSocketConnection, messageBytesMax: Int, _ headers: HTTPHeaders,
        _ exchange: Exchange
    ) {
        guard let context else { return }
        exchange.log(HTTPResponse(.switchingProtocols), to: loopContext.logger)
        let head = HTTPResponseHead(
            version: .http1_1, status: .switchingProtocols, headers: headers)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        do {
            try context.pipeline.syncOperations.replaceHTTP(
                of: self, with: socket, messageBytesMax: messageBytesMax)
        } catch {
            // The channel was closed meanwhile.
            context.close(promise: nil)
        }
    }

    // MARK: Time

    func deadlinePassed() {
        switch phase {
        case .receiving(let reader):
            refuse(.requestTimeout, reader)
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
        let before = unreadBytes
        unreadBytes = (try? context?.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
        return unreadBytes > 0 && unreadBytes <= before - loopContext.limits.bytesReadMin
    }

    func close() { context?.close(promise: nil) }
}
