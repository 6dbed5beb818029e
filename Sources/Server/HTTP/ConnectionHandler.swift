import Logging
import NIOCore
import NIOHTTP1

/// One connection: puts requests together, has them answered one after another, and keeps their times.
///
/// In front of it, `HTTPServerPipelineHandler` holds back what is pipelined until the answer before it is written.
final class ConnectionHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private enum Phase {
        /// Between requests.
        case idle
        /// The head is known, the body is arriving.
        case receiving(RequestReader)
        /// The request is whole; it runs when the client has read what it asked for before.
        case blocked(RequestReader)
        case answering(Task<Void, Never>, Exchange)
        /// The last answer is written; whatever still arrives is dropped.
        case closing
    }

    private let loopContext: LoopContext
    private var context: ChannelHandlerContext?
    private var phase = Phase.idle
    private var isReadPending = false
    /// What waited to be read by the client when a deadline last passed.
    private var unreadBytes = Int.max
    /// When `deadlinePassed` is due; what it means depends on the phase.
    private(set) var deadline: NIODeadline

    init(_ loopContext: LoopContext) {
        self.loopContext = loopContext
        deadline = .now() + loopContext.limits.firstHeadTimeout
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        loopContext.add(self)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        loopContext.remove(self)
    }

    func channelInactive(context: ChannelHandlerContext) {
        if case .answering(let task, _) = phase { task.cancel() }
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
            deadline = .now() + loopContext.limits.bodyTimeout + reader.bodyAllowance
            phase = .receiving(reader)
            perform(reader.headAction(version: head.version), reader)
        case (.body(var part), .receiving(var reader)):
            // The phase gives up its copy first: otherwise appending would copy all that has arrived.
            phase = .idle
            let action = reader.bodyAction(&part)
            phase = .receiving(reader)
            perform(action, reader)
        case (.end, .receiving(let reader)):
            if context.channel.isWritable {
                perform(reader.endAction(), reader)
            } else {
                phase = .blocked(reader)
                deadline = .now() + loopContext.limits.keepAliveTimeout
            }
        default:
            break  // the rest of a request that was refused
        }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable {
            if case .blocked(let reader) = phase { perform(reader.endAction(), reader) }
            if isReadPending {
                isReadPending = false
                context.read()
            }
        }
        context.fireChannelWritabilityChanged()
    }

    /// Nothing more is read from a client that does not read.
    func read(context: ChannelHandlerContext) {
        if context.channel.isWritable {
            context.read()
        } else {
            isReadPending = true
        }
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
        case .answerProblem(let problem): finish(problem.response(), Exchange(reader))
        case .answerOptions(let allow):
            finish(HTTPResponse(.noContent, headers: [("allow", allow)]), Exchange(reader))
        }
    }

    // MARK: Answering

    /// Runs the route in one task on this loop.
    private func start(_ request: HTTPRequest, _ route: Route, _ exchange: Exchange) {
        let call = NIOLoopBound((route, self), eventLoop: loopContext.loop)
        deadline = exchange.start + loopContext.limits.answerTimeout
        let task = Task(executorPreference: loopContext.executor) {
            let (route, connection) = call.value
            let response = await route.respond(request)
            connection.answered(response)
        }
        phase = .answering(task, exchange)
    }

    private func answered(_ response: HTTPResponse) {
        guard case .answering(_, let exchange) = phase else { return }
        finish(response, exchange)
    }

    /// Writes an answer whose request has been read to its end.
    private func finish(_ response: HTTPResponse, _ exchange: Exchange) {
        exchange.log(response, to: loopContext.logger)
        write(response, exchange)
        if exchange.isKeepAlive {
            phase = .idle
            deadline = .now() + loopContext.limits.keepAliveTimeout
            unreadBytes = .max
            writeEnd(promise: nil)
        } else {
            phase = .closing
            deadline = .now() + loopContext.limits.keepAliveTimeout
            guard let context else { return }
            let promise = context.eventLoop.makePromise(of: Void.self)
            let bound = context.loopBound
            promise.futureResult.whenComplete { _ in bound.value.close(promise: nil) }
            writeEnd(promise: promise)
        }
    }

    /// Answers before the request has been read to its end, and ends the connection.
    private func refuse(_ problem: HTTPProblem, _ reader: RequestReader? = nil) {
        if case .answering(let task, _) = phase { task.cancel() }
        if case .closing = phase { return }
        guard let context else { return }
        var exchange = reader.map(Exchange.init) ?? Exchange(id: loopContext.requestIDs.next())
        exchange.isKeepAlive = false
        let response = problem.response()
        exchange.log(response, to: loopContext.logger)
        write(response, exchange)
        phase = .closing
        deadline = .now() + loopContext.limits.lastWordTimeout
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

    // MARK: Time

    func deadlinePassed() {
        switch phase {
        case .receiving(let reader):
            refuse(.requestTimeout, reader)
        case .answering(let task, _) where !task.isCancelled:
            task.cancel()
            deadline = .now() + loopContext.limits.lastWordTimeout
        case .idle, .blocked, .closing:
            if isBeingRead() {
                deadline = .now() + loopContext.limits.keepAliveTimeout
            } else {
                close()
            }
        case .answering:
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
