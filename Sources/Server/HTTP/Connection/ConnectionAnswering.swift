import Glibc
import NIOCore
import NIOHTTP1
import Telemetry

/// From requests to answers, and from answers to bytes.
extension ConnectionHandler {
    /// A body up to this size is sent in one buffer with its head; a larger one is not worth a copy.
    private static let copiedBytesMax = 4 << 10

    /// Answers at once where the route can, or else runs it in one task on this loop.
    func start(_ reader: RequestReader, _ route: Route) {
        let exchange = Exchange(reader)
        if let response = route.respondAtOnce?(reader.request) { return finish(response, exchange) }
        reader.request.client = client(of: reader.request)
        account.attribute(to: reader.request.client)
        reader.request.timeout = ResponseTimeout()
        let call = NIOLoopBound((reader, route, self), eventLoop: loopContext.loop)
        phaseDeadline = .now() + loopContext.limits.answerTimeout
        let task = Task(executorPreference: loopContext.executor) {
            let (reader, route, connection) = call.value
            // A value of the task costs a request something, and few belong to a trace.
            guard let trace = reader.request.headers.traceParent.flatMap(TraceParent.init) else {
                return await connection.answer(reader, by: route)
            }
            await TraceParent.$current.withValue(trace) {
                await connection.answer(reader, by: route)
            }
        }
        phase = .answering(task, exchange)
    }

    func client(of request: HTTPRequest) -> ClientAddress? {
        loopContext.proxies.client(of: peer, forwardedFor: request.headers.forwardedFor)
    }

    private func answer(_ reader: RequestReader, by route: Route) async {
        let response = await route.respond(reader.request)
        if let produce = response.stream, let body = beginStream(response, reader) {
            await produce(body)
            endStream(body)
        } else if case .answering(_, let exchange) = phase {
            finish(response, exchange)
        }
    }

    /// Writes an answer whose request has been read to its end, and goes on with the next request.
    func finish(_ response: HTTPResponse, _ exchange: Exchange) {
        var exchange = exchange
        if loopContext.isDraining || isLastAnswer { exchange.isKeepAlive = false }
        let response = admitted(response, exchange)
        exchange.log(response, to: loopContext.logger)
        loopContext.metrics.count(exchange, status: response.status)
        write(response, exchange)
        end(exchange)
    }

    /// The response, or in its place an error if it is too large for what is left of the memory for unread responses.
    private func admitted(_ response: HTTPResponse, _ exchange: Exchange) -> HTTPResponse {
        let byteCount = response.body.readableBytes
        guard byteCount > UnreadAccount.freeBytesMax, exchange.method != .HEAD,
            let refusal = account.take(byteCount)
        else { return response }
        return refusal.response()
    }

    /// Counts a request that ends without a response, because the connection is closed: by the client, or by the server
    /// when a cancelled request does not end.
    func abandon(_ exchange: Exchange) {
        let status: HTTPResponseStatus =
            exchange.hasTimedOut ? .internalServerError : .clientClosedRequest
        exchange.log(HTTPResponse(status), to: loopContext.logger)
        loopContext.metrics.count(exchange, status: status)
    }

    /// Ends an answer that is written, and goes on with the next request.
    func end(_ exchange: Exchange) {
        // The connection broke while the answer was written.
        if case .closing = phase { return }
        phaseDeadline = .now() + loopContext.limits.keepAliveTimeout
        unreadByClient = .max
        if exchange.isKeepAlive, !loopContext.isDraining, !isLastAnswer {
            phase = .idle
        } else if unread.readableBytes > 0 || isReadHeld {
            closeOutputWhenSent()
        } else {
            closeWhenSent(.all)
        }
        advance()
    }

    /// Answers before the request has been read to its end, and ends the connection.
    func refuse(_ problem: HTTPProblem, _ reader: RequestReader? = nil) {
        var reader = reader
        switch phase {
        case .receiving(let current): reader = current
        case .idle, .blocked: break
        case .answering, .streaming, .upgrading, .closing: return
        }
        var exchange = reader.map(Exchange.init) ?? Exchange(id: loopContext.requestIDs.next())
        exchange.isKeepAlive = false
        let response = problem.response()
        exchange.log(response, to: loopContext.logger)
        loopContext.metrics.count(exchange, status: response.status)
        write(response, exchange)
        unreadByClient = 0
        closeOutputWhenSent()
        advance()
    }

    /// Ends a connection whose client is sending still.
    ///
    /// Closing at once with unread bytes would reset the connection and take the answer from the client: only the
    /// output is closed, and what still comes is dropped until the client closes or the deadline passes.
    private func closeOutputWhenSent() {
        phaseDeadline = .now() + loopContext.limits.lastWordTimeout
        closeWhenSent(.output)
    }

    /// Ends the connection when the client has got all that is written.
    func closeWhenSent(_ mode: CloseMode) {
        phase = .closing
        unread = ByteBuffer()
        guard let context else { return }
        let promise = context.eventLoop.makePromise(of: Void.self)
        let bound = context.loopBound
        promise.futureResult.whenComplete { _ in bound.value.close(mode: mode, promise: nil) }
        context.writeAndFlush(wrapOutboundOut(.byteBuffer(ByteBuffer())), promise: promise)
    }

    // MARK: Writing

    func send(_ bytes: ByteBuffer) {
        bytes.forEachPiece(write)
        context?.flush()
        settleUnread()
    }

    /// Writes the head, and a body that is there; `advance` sends it.
    func write(_ response: HTTPResponse, _ exchange: Exchange) {
        needsFlush = true
        let date = loopContext.date.now()
        loopContext.clearHead()
        exchange.writeHead(of: response, date: date, to: &loopContext.head)
        guard response.bodyByteCount > 0, exchange.method != .HEAD,
            response.status.mayHaveResponseBody
        else { return writeHead() }
        if let (file, range) = response.file {
            guard let bytes = file.bytes(range) else { return write(file, range) }
            writeHead(and: bytes)
        } else {
            writeHead(and: response.body)
        }
    }

    private func writeHead(and body: ByteBuffer) {
        if body.readableBytes <= Self.copiedBytesMax {
            loopContext.head.writeImmutableBuffer(body)
            writeHead()
        } else {
            writeHead()
            body.forEachPiece(write)
        }
    }

    /// Writes a copy: what waits for a slow client is as large as it is counted, and the head's memory is used again.
    private func writeHead() {
        var copy = ByteBuffer()
        copy.reserveCapacity(loopContext.head.readableBytes)
        copy.writeImmutableBuffer(loopContext.head)
        write(copy)
    }

    private func write(_ bytes: ByteBuffer) {
        context?.write(wrapOutboundOut(.byteBuffer(bytes)), promise: nil)
    }

    /// Sends a part of a file behind the head that is made.
    private func write(_ file: ServedFile, _ range: Range<Int>) {
        guard let context else { return }
        // The file stays open until all of it is sent.
        let isSent = context.eventLoop.makePromise(of: Void.self)
        isSent.futureResult.assumeIsolated().whenComplete { _ in withExtendedLifetime(file) {} }
        // The kernel waits for the file's first bytes before it sends the head: a packet less.
        setCork(1)
        writeHead()
        context.writeAndFlush(wrapOutboundOut(.fileRegion(file.region(range))), promise: isSent)
        setCork(0)
    }

    private func setCork(_ value: CInt) {
        // The descriptor of a closed channel may be another's by now.
        guard let socket, let context, context.channel.isActive else { return }
        var value = value
        setsockopt(
            socket, CInt(IPPROTO_TCP), TCP_CORK, &value, socklen_t(MemoryLayout<CInt>.size))
    }
}

extension HTTPResponseStatus {
    /// nginx's status for a client that closed the connection before it had a response. It is counted, and never sent.
    static let clientClosedRequest = HTTPResponseStatus.custom(
        code: 499, reasonPhrase: "Client Closed Request")
}
