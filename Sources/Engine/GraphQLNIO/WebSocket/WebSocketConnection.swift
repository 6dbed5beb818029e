import EventLoops
import GraphQL
import GraphQLServing
import NIOCore

/// A WebSocket connection. It reads frames, performs the actions of `GraphQLTransportWS`, runs the operations, and
/// enforces the deadlines of `SocketTimers`.
///
/// Each operation runs in its own task on the connection's event loop. Its responses pass `gate`, which stops all tasks
/// while the client does not read. The socket closes in two steps: the server sends a close frame (`isClosing`), then
/// waits for the client's close frame, for at most `lingeringCloseTimeout`. While it waits, input is still read, but
/// only a close frame has an effect. After a protocol error nothing more is read (`isInputOver`).
///
/// A large message is parsed on another thread (`isParsing`). Messages after it wait until it has been handled, so that messages
/// have an effect in their order, and nothing more is read in the meantime.
final class WebSocketConnection: ChannelDuplexHandler, TimedConnection {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let loopContext: LoopContext
    private let service: any GraphQLService
    /// How to close the connection at once; nil if it is accepted.
    private let refusal: CloseFrame?
    /// Whether the server began to shut down during the handshake.
    private let isDraining: Bool
    private let requestID: String
    /// The client's address, for rate limits and memory limits.
    private let client: ClientAddress?
    /// The app that the headers of the handshake name. A message can name it instead.
    private let app: ClientApp
    /// The header `Accept-Language` of the handshake.
    private let acceptLanguage: String?
    /// Reads the headers of the handshake; nil if they were not kept.
    private let headerReader: (@Sendable (String) -> String?)?
    private var context: ChannelHandlerContext?
    private var state: GraphQLTransportWS
    /// The current access token: that of the handshake until the client sends one in a message.
    private var token: String?
    private var authenticated: AuthenticatedConnection?
    private var authenticating: Task<Void, Never>?
    private var operations: [Int: Task<Void, Never>] = [:]
    /// The number of responses in several parts that are not complete.
    private var incrementalCount = 0
    private let gate = WriteGate()
    let unreadCounter: UnreadCounter
    /// The channel's socket descriptor while the channel is active.
    private var socket: NIOBSDSocket.Handle?
    private var reader: MessageReader
    /// Whether the server has sent a close frame, or the connection is closed.
    private var isClosing = false
    /// Whether input is ignored: after a protocol error, the client's close frame, or the end of the connection.
    private var isInputOver = false
    /// Whether a large message is being parsed on another thread.
    private var isParsing = false
    /// Whether the channel has requested a read while a message was being parsed.
    private var hasDeferredRead = false
    private var timers: SocketTimers

    init(
        _ endpoint: WebSocketEndpoint, _ loopContext: LoopContext, refusal: CloseFrame?,
        isDraining: Bool = false, token: String?, requestID: String, client: ClientAddress?,
        app: ClientApp, acceptLanguage: String?,
        headerReader: (@Sendable (String) -> String?)? = nil
    ) {
        self.loopContext = loopContext
        self.client = client
        self.app = app
        self.acceptLanguage = acceptLanguage
        self.headerReader = headerReader
        unreadCounter = UnreadCounter(loopContext.unread, client: client)
        service = endpoint.service
        self.refusal = refusal
        self.isDraining = isDraining
        self.token = token
        self.requestID = requestID
        state = GraphQLTransportWS(operationsMax: loopContext.limits.operationsPerSocketMax)
        reader = MessageReader(messageBytesMax: endpoint.messageBytesMax)
        timers = SocketTimers(loopContext.limits, now: .now())
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        socket = try? context.pipeline.syncOperations.withUnsafeTransportIfAvailable { $0 }
        loopContext.add(self)
        loopContext.gauges.socketOpened()
        if let refusal {
            perform(state.close(refusal))
        } else if isDraining {
            drain()
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        release()
        unreadCounter.close()
        self.context = nil
        loopContext.remove(self)
        loopContext.gauges.socketClosed()
    }

    func channelInactive(context: ChannelHandlerContext) {
        isClosing = true
        isInputOver = true
        socket = nil
        release()
        unreadCounter.close()
        context.fireChannelInactive()
    }

    /// Cancels all tasks of this socket.
    private func release() {
        gate.close()
        authenticating?.cancel()
        authenticated = nil
        for task in operations.values { task.cancel() }
    }

    // MARK: Input

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if isInputOver { return }
        reader.append(unwrapInboundIn(data))
        loopContext.executor.measure { receiveMessages() }
    }

    private func receiveMessages() {
        do throws(CloseFrame) {
            while !isInputOver, !isParsing, let message = try reader.next() { receive(message) }
        } catch {
            fail(error)
        }
    }

    /// Defers reading while a message is being parsed, so that a client cannot fill the memory by sending more.
    func read(context: ChannelHandlerContext) {
        if isParsing { hasDeferredRead = true } else { context.read() }
    }

    private func receive(_ message: MessageReader.Message) {
        timers.received(now: .now())
        switch message {
        case .close(let code): closedByClient(code)
        case _ where isClosing: break
        case .text(let text) where text.count <= RequestJSON.shortBytesMax:
            perform(state.receive(text))
        case .text(let text): parse(text)
        case .ping(let payload): write(.pong, ByteBuffer(bytes: payload))
        case .pong: break
        }
    }

    /// Parses a large message on another thread, and then handles it and those that have arrived after it.
    private func parse(_ text: [UInt8]) {
        isParsing = true
        let bound = NIOLoopBound(self, eventLoop: loopContext.loop)
        Task(executorPreference: loopContext.executor) { [client] in
            let message = await RequestJSON.read(isShort: false, from: client) {
                Result { () throws(CloseFrame) in try ClientMessage(text) }
            }
            bound.value.parsed(message ?? .failure(.tooManyLargeMessages))
        }
    }

    private func parsed(_ message: Result<ClientMessage, CloseFrame>) {
        isParsing = false
        if !isInputOver {
            perform(state.receive(message))
            receiveMessages()
        }
        guard hasDeferredRead, !isParsing else { return }
        hasDeferredRead = false
        context?.read()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is ChannelShouldQuiesceEvent { drain() }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // The connection is broken, so no message can reach the client.
        loopContext.logger.debug("socket lost: \(error)")
        close()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        let isWritable = context.channel.isWritable
        gate.set(isWritable: isWritable)
        timers.set(isWritable: isWritable, now: .now())
        settleUnread()
        context.fireChannelWritabilityChanged()
    }

    // MARK: Actions

    private func perform(_ action: GraphQLTransportWS.Action) {
        switch action {
        case .nothing: break
        case .authenticate(let token): authenticate(token)
        case .acknowledge:
            timers.connected(now: .now())
            send(ServerMessage.acknowledgement())
        case .pong(let payload): send(ServerMessage.pong(payload: payload))
        case .start(let id, let number, let operation): start(id, number, operation)
        case .stop(let number): operations[number]?.cancel()
        case .rejectOperation(let id, let error): send(ServerMessage.error(id, [error]))
        case .close(let frame): close(frame)
        }
    }

    private func authenticate(_ given: String?) {
        guard let token = given ?? token else { return perform(state.authenticated()) }
        let bound = NIOLoopBound(self, eventLoop: loopContext.loop)
        authenticating = Task(executorPreference: loopContext.executor) {
            await bound.value.authenticate(with: token)
        }
    }

    private func authenticate(with token: String) async {
        let result: AuthenticatedConnection
        do throws(ConnectionAuthenticationError) {
            result = try await service.authenticateConnection(
                token, for: .socket(from: client), on: loopContext.loop
            ) { [weak self] in self?.sessionEnded() }
        } catch {
            switch error {
            case .unauthenticated:
                perform(state.closeForbidden("The access token is invalid. Refresh it or sign in."))
            case .rateLimited(let seconds):
                perform(state.rateLimited(retryAfterSeconds: seconds))
            case .unavailable:
                perform(
                    state.close(
                        CloseFrame(.tryAgainLater, "The service is not available. Try again soon."))
                )
            }
            return
        }
        if isClosing { return }
        if let authenticated, authenticated.session != result.session {
            return perform(state.closeForbidden("The new token belongs to another session."))
        }
        self.token = token
        authenticated = result
        timers.tokenExpiresAt = result.expiresAt
        perform(state.authenticated())
    }

    private func sessionEnded() {
        perform(state.closeForbidden("The session has ended. Sign in again."))
    }

    private func start(_ id: String, _ number: Int, _ operation: ClientMessage.Operation) {
        var request = GraphQLRequest(
            query: operation.query, documentID: operation.documentID,
            operationName: operation.operationName, variables: operation.variables,
            extensions: operation.extensions, bearerToken: token,
            requestID: "\(requestID)-\(number)")
        request.client = client
        if let headerReader { request.header = headerReader }
        request.app = state.app ?? app
        request.acceptLanguage = acceptLanguage
        request.onError = operation.onError
        request.bodyByteCount = operation.byteCount
        request.incrementalFormat = .draft
        let timeout = ResponseTimeout()
        request.hasTimedOut = { timeout.hasPassed }
        let bound = NIOLoopBound(self, eventLoop: loopContext.loop)
        loopContext.gauges.operationStarted()
        operations[number] = Task(executorPreference: loopContext.executor) { [request] in
            let socket = bound.value
            await socket.run(request, id, number, timeout)
            socket.state.operationEnded(id, number: number)
            socket.operations[number] = nil
            socket.loopContext.gauges.operationEnded()
        }
    }

    private func run(
        _ request: GraphQLRequest, _ id: String, _ number: Int, _ timeout: ResponseTimeout
    ) async {
        // The operation runs only after the client has read the previous responses.
        guard await gate.waitUntilWritable(), state.isActive(id, number: number) else { return }
        if let refusal = unreadCounter.refusal {
            return send(ServerMessage.error(id, [refusal.error]))
        }
        // A subscription may take longer.
        let timer = loopContext.loop.scheduleTask(in: loopContext.limits.responseTimeout) {
            [task = NIOLoopBound(operations[number], eventLoop: loopContext.loop)] in
            timeout.pass()
            task.value?.cancel()
        }
        defer { timer.cancel() }
        // A response in parts keeps the objects that it has not delivered in memory. Further ones have a single part.
        var request = request
        var hasParts = incrementalCount < loopContext.limits.incrementalOperationsPerSocketMax
        if hasParts { incrementalCount += 1 } else { request.incrementalFormat = nil }
        func endParts() {
            if hasParts { incrementalCount -= 1 }
            hasParts = false
        }
        defer { endParts() }
        switch await service.execute(request) {
        case .response(let response):
            endParts()
            if response.isRequestError {
                let limits = JSONLimits(bytesMax: response.body.count)
                let body = try? parseJSON(response.body, limits: limits)
                guard await gate.waitUntilWritable(), state.isActive(id, number: number) else {
                    return
                }
                send(ServerMessage.error(id, body?["errors"] ?? .list([])))
            } else if await send(response.body, of: id, number) {
                send(ServerMessage.complete(id))
            }
        case .incremental(let first, let rest):
            var heldBytes = 0
            func countRetained() {
                let byteCount = first.retainedByteCount()
                unreadCounter.count(byteCount - heldBytes)
                heldBytes = byteCount
            }
            countRetained()
            defer { unreadCounter.release(heldBytes) }
            guard await send(first.body, of: id, number) else { return }
            await send(rest, of: id, number, afterEach: countRetained)
        case .responses(let responses):
            timer.cancel()
            endParts()
            // The task was cancelled between the start of the subscription and this line, so its stream would end at once.
            if timeout.hasPassed {
                if state.isActive(id, number: number) { send(ServerMessage.error(id, [.timedOut])) }
                return
            }
            await send(responses, of: id, number)
        }
    }

    /// Sends the responses of an operation until it ends.
    ///
    /// - Parameter afterEach: Called when a response is complete, before it is sent.
    private func send(
        _ responses: ResponseStream, of id: String, _ number: Int, afterEach: () -> Void = {}
    ) async {
        do throws(RequestErrors) {
            while await gate.waitUntilWritable(), let response = try await responses.next() {
                afterEach()
                guard await send(response.body, of: id, number) else { return }
            }
            if state.isActive(id, number: number) { send(ServerMessage.complete(id)) }
        } catch {
            guard state.isActive(id, number: number) else { return }
            send(ServerMessage.error(id, error.errors))
        }
    }

    /// Sends a response of an operation after the client has read the previous responses.
    ///
    /// - Returns: false if the operation has ended: it was cancelled, or its response was refused because the client
    ///   has too much unread data.
    private func send(
        _ response: some Collection<UInt8>, of id: String, _ number: Int
    ) async -> Bool {
        // If other operations have filled the channel, the response waits. It is counted until it is written.
        let heldBytes =
            !isWritable || response.count > UnreadCounter.freeBytesMax ? response.count : 0
        if heldBytes > 0, let refusal = unreadCounter.hold(heldBytes) {
            if state.isActive(id, number: number) {
                send(ServerMessage.error(id, [refusal.error]))
            }
            return false
        }
        defer { unreadCounter.release(heldBytes) }
        guard await gate.waitUntilWritable(), state.isActive(id, number: number) else {
            return false
        }
        send(ServerMessage.next(id, response))
        return true
    }

    // MARK: Output

    private func send(_ message: ByteBuffer) { write(.text, message) }

    private func write(
        _ opcode: FrameOpcode, _ payload: ByteBuffer, promise: EventLoopPromise<Void>? = nil
    ) {
        guard let context else { return }
        var frame = ByteBuffer()
        frame.writeFrameHeader(opcode, payloadBytes: payload.readableBytes)
        if payload.readableBytes <= ByteBuffer.pieceBytesMax {
            frame.writeImmutableBuffer(payload)
            context.write(wrapOutboundOut(frame), promise: promise)
        } else {
            context.write(wrapOutboundOut(frame), promise: nil)
            payload.forEachPiece { context.write(wrapOutboundOut($0), promise: nil) }
            // The promise of the last write is fulfilled when the whole frame has been sent.
            if let promise { context.write(wrapOutboundOut(ByteBuffer()), promise: promise) }
        }
        context.flush()
        settleUnread()
    }

    private var isWritable: Bool { context?.channel.isWritable ?? false }

    /// Updates the number of bytes that the channel could not send.
    private func settleUnread() {
        guard let context, unreadCounter.bytes > 0 || !isWritable else { return }
        unreadCounter.settle(context.unsentBytes)
    }

    func measureUnread(now: NIODeadline) {
        unreadCounter.measure(
            channelBytes: context?.unsentBytes ?? 0, kernelBytes: unacknowledgedBytes(socket),
            bytesReadMin: loopContext.limits.bytesReadMin, now: now)
    }

    /// Sends a close frame, and waits for the client's.
    private func close(_ frame: CloseFrame) {
        if isClosing { return }
        sendClose(frame, then: nil)
    }

    /// Ends a connection whose client violated the protocol. Nothing more is read, not even a close frame.
    ///
    /// Only the output is closed at first. Closing the socket with unread input would reset the connection, and the
    /// client might lose the close frame.
    private func fail(_ frame: CloseFrame) {
        isInputOver = true
        if isClosing { return }
        _ = state.close(frame)
        sendClose(frame, then: .output)
    }

    private func sendClose(_ frame: CloseFrame, then mode: CloseMode?) {
        loopContext.logger.debug(
            "socket closed: \(frame.code.rawValue)", metadata: ["request_id": "\(requestID)"])
        var data = ByteBuffer()
        data.writeInteger(frame.code.rawValue)
        data.writeString(frame.reason)
        sendClose(data, then: mode)
    }

    /// Sends the close frame, and then closes what `mode` says.
    private func sendClose(_ data: ByteBuffer, then mode: CloseMode?) {
        isClosing = true
        release()
        timers.closeStarted(now: .now())
        guard let mode, let context else { return write(.close, data) }
        let bound = context.loopBound
        let promise = context.eventLoop.makePromise(of: Void.self)
        promise.futureResult.whenComplete { _ in bound.value.close(mode: mode, promise: nil) }
        write(.close, data, promise: promise)
    }

    private func closedByClient(_ code: UInt16?) {
        isInputOver = true
        if isClosing { return close() }
        _ = state.close(CloseFrame(.normal, ""))
        // The reply to a close frame has the same code, or none if the client sent none.
        sendClose(code.map { ByteBuffer(integer: $0) } ?? ByteBuffer(), then: .all)
    }

    func close() { context?.close(promise: nil) }

    func drain() {
        perform(
            state.close(
                CloseFrame(.goingAway, "The server is shutting down. Reconnect and resume.")))
    }

    // MARK: Deadlines

    var deadline: NIODeadline { timers.deadline }

    func deadlinePassed() {
        switch timers.action(now: .now()) {
        case .nothing: break
        case .ping: write(.ping, ByteBuffer())
        case .initialisationTimedOut: perform(state.initialisationTimedOut())
        case .tokenExpired:
            perform(state.closeForbidden("The access token has expired. Send a new one earlier."))
        case .tooSlow:
            perform(
                state.close(
                    CloseFrame(
                        .tryAgainLater,
                        "The responses were not read fast enough. Connect again, and subscribe again."
                    )))
        case .disconnect: close()
        }
    }
}

extension CloseFrame {
    fileprivate static let tooManyLargeMessages = CloseFrame(
        .tryAgainLater,
        "Too many large messages from your address are in progress. Try again soon.")
}
