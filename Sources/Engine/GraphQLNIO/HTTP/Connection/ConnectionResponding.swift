import Glibc
import GraphQLServing
import NIOCore
import NIOHTTP1
import Telemetry

/// Runs the routes of requests and writes their responses.
extension ConnectionHandler {
    /// The maximum size of a body that is copied into the buffer of its head. Copying a larger body costs more than a
    /// second buffer.
    private static let copiedBytesMax = 4 << 10

    /// Responds synchronously if the route can, or else runs the route in a task on this loop.
    func start(_ reader: RequestReader, _ route: Route) {
        let exchange = Exchange(reader)
        if let response = route.respondSynchronously?(reader.request) {
            return finish(response, exchange)
        }
        reader.request.client = client(of: reader.request)
        unreadCounter.attribute(to: reader.request.client)
        reader.request.timeout = ResponseTimeout()
        let call = NIOLoopBound((reader, route, self), eventLoop: loopContext.loop)
        phaseDeadline = .now() + loopContext.limits.responseTimeout
        isBodyInUse = true
        let task = Task(executorPreference: loopContext.executor) {
            let (reader, route, connection) = call.value
            // Setting a task-local value takes time, and few requests belong to a trace.
            let header = reader.request.headers.traceParent
            let tracer = connection.loopContext.tracer
            guard
                let trace = tracer.map({
                    $0.trace(of: header, isTrusted: connection.isPeerTrusted)
                }) ?? header.flatMap(TraceParent.init)
            else {
                await connection.respond(to: reader, with: route)
                return
            }
            let status = await TraceParent.$current.withValue(trace) {
                await connection.respond(to: reader, with: route)
            }
            if trace.isRecorded { tracer?.record(connection.span(trace, reader, route, status)) }
        }
        phase = .responding(task, exchange)
    }

    private var isPeerTrusted: Bool { peer.map(loopContext.proxies.isTrusted) ?? false }

    func client(of request: HTTPRequest) -> ClientAddress? {
        loopContext.proxies.client(of: peer, forwardedFor: request.headers.forwardedFor)
    }

    /// Returns the span of a request that has ended. It contains the path of the route, because the query and the rest of the path
    /// may contain secrets.
    ///
    /// Spec: https://opentelemetry.io/docs/specs/semconv/http/http-spans/#http-server
    private func span(
        _ trace: TraceParent, _ reader: RequestReader, _ route: Route, _ status: HTTPResponseStatus
    ) -> TraceSpan {
        let method = reader.request.method.rawValue
        let time = NIODeadline.now() - reader.start
        return TraceSpan(
            trace, name: "\(method) \(route.path)", duration: .nanoseconds(time.nanoseconds),
            attributes: [
                ("http.request.method", .text(method)), ("http.route", .text(route.path)),
                ("url.scheme", .text("http")),
                ("http.response.status_code", .number(Int(status.code))),
                ("bookplate.request_id", .text(reader.request.id)),
            ], hasFailed: status.code >= 500)
    }

    @discardableResult
    private func respond(to reader: RequestReader, with route: Route) async -> HTTPResponseStatus {
        loopContext.executor.note("began \(Exchange(reader).summary)")
        let response = await route.respond(reader.request)
        if let produce = response.stream, let body = beginStream(response, reader) {
            await produce(body)
            endStream(body)
        } else if case .responding(_, let exchange) = phase {
            finish(response, exchange)
        }
        if case .closing = phase {
            isBodyInUse = false
            releaseBody()
        }
        return response.status
    }

    /// Writes the response to a request that has been read completely, and continues with the next request.
    func finish(_ response: HTTPResponse, _ exchange: Exchange) {
        var exchange = exchange
        if isLastResponse { exchange.isKeepAlive = false }
        let response = withinMemoryLimit(response, exchange)
        loopContext.log(response, exchange)
        loopContext.metrics.count(exchange, status: response.status)
        write(response, exchange)
        loopContext.executor.note("ended \(exchange.summary)")
        end(exchange)
    }

    /// Whether the connection closes after the current response because the server is shutting down.
    var isLastResponse: Bool { loopContext.endsConnections || isDraining }

    /// Returns the response, or an error response if it exceeds the remaining memory for unread responses.
    private func withinMemoryLimit(_ response: HTTPResponse, _ exchange: Exchange) -> HTTPResponse {
        let byteCount = response.body.readableBytes
        guard byteCount > UnreadCounter.freeBytesMax, exchange.method != .HEAD,
            let refusal = unreadCounter.reserve(byteCount)
        else { return response }
        return refusal.response()
    }

    /// Logs and counts a request that ends without a response because the connection was closed: by the client, or by
    /// the server if a cancelled task does not end.
    func abandon(_ exchange: Exchange) {
        let status: HTTPResponseStatus =
            exchange.hasTimedOut ? .internalServerError : .clientClosedRequest
        loopContext.log(HTTPResponse(status), exchange)
        loopContext.metrics.count(exchange, status: status)
    }

    /// Completes a response that has been written, and continues with the next request.
    func end(_ exchange: Exchange) {
        isBodyInUse = false
        releaseBody()
        // The connection was lost while the response was written.
        if case .closing = phase { return }
        phaseDeadline = .now() + loopContext.limits.keepAliveTimeout
        unsentBytesAtLastDeadline = .max
        if exchange.isKeepAlive, !isLastResponse {
            phase = .idle
        } else if input.readableBytes > 0 || hasDeferredRead {
            closeOutputWhenSent()
        } else {
            closeWhenSent(.all)
        }
        advance()
    }

    /// Responds with an error before the request has been read completely, and ends the connection.
    func refuse(_ problem: HTTPProblem, _ reader: RequestReader? = nil) {
        var reader = reader
        switch phase {
        case .receiving(let current), .blocked(let current): reader = current
        case .idle: break
        case .responding, .streaming, .upgrading, .closing: return
        }
        var exchange = reader.map(Exchange.init) ?? Exchange(id: loopContext.requestIDs.next())
        exchange.isKeepAlive = false
        let response = problem.response()
        loopContext.log(response, exchange)
        loopContext.metrics.count(exchange, status: response.status)
        write(response, exchange)
        unsentBytesAtLastDeadline = 0
        closeOutputWhenSent()
        advance()
    }

    /// Ends a connection whose client is still sending: a lingering close.
    ///
    /// Closing the socket at once with unread input would reset the connection, and the client might lose the response.
    /// Therefore only the output is closed. Further input is dropped until the client closes the connection or the
    /// deadline passes.
    private func closeOutputWhenSent() {
        phaseDeadline = .now() + loopContext.limits.lingeringCloseTimeout
        closeWhenSent(.output)
    }

    /// Closes the connection after all pending writes have been sent.
    func closeWhenSent(_ mode: CloseMode) {
        phase = .closing
        releaseBody()
        input = ByteBuffer()
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

    /// Writes the head and the body, if any. `advance` flushes them.
    func write(_ response: HTTPResponse, _ exchange: Exchange) {
        needsFlush = true
        let date = loopContext.date.now()
        loopContext.clearHead()
        exchange.writeHead(of: response, date: date, to: &loopContext.head)
        guard response.bodyByteCount > 0, exchange.method != .HEAD,
            response.status.mayHaveResponseBody
        else { return writeHead() }
        if let (file, range) = response.file {
            write(file, range)
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

    /// Writes a copy of the head. The copy has no unused capacity, so the memory of pending writes is what is counted,
    /// and the buffer of the loop is reused.
    private func writeHead() {
        var copy = ByteBuffer()
        copy.reserveCapacity(loopContext.head.readableBytes)
        copy.writeImmutableBuffer(loopContext.head)
        write(copy)
    }

    private func write(_ bytes: ByteBuffer) {
        context?.write(wrapOutboundOut(.byteBuffer(bytes)), promise: nil)
    }

    /// Writes the head and sends a part of a file after it.
    private func write(_ file: OpenFile, _ range: Range<Int>) {
        guard let context else { return }
        // The file stays open until all of it has been sent.
        let isSent = context.eventLoop.makePromise(of: Void.self)
        isSent.futureResult.assumeIsolated().whenComplete { _ in withExtendedLifetime(file) {} }
        // With TCP_CORK the kernel sends the head and the first bytes of the file in one packet.
        setCork(1)
        writeHead()
        context.writeAndFlush(wrapOutboundOut(.fileRegion(file.region(range))), promise: isSent)
        setCork(0)
    }

    private func setCork(_ value: CInt) {
        // The descriptor of a closed channel may already belong to another file.
        guard let socket, let context, context.channel.isActive else { return }
        var value = value
        setsockopt(
            socket, CInt(IPPROTO_TCP), TCP_CORK, &value, socklen_t(MemoryLayout<CInt>.size))
    }
}

extension HTTPResponseStatus {
    /// The status that nginx uses for a client that closed the connection before it received a response. It is logged
    /// and counted, but never sent.
    static let clientClosedRequest = HTTPResponseStatus.custom(
        code: 499, reasonPhrase: "Client Closed Request")
}
