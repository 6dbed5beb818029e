import EventLoops
import GraphQL
import NIOCore

/// One WebSocket: does what `GraphQLTransportWS` says, runs the operations, and keeps the socket's times.
final class WebSocketConnection: ChannelInboundHandler, TimedConnection {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let loopContext: LoopContext
    private let service: any GraphQLService
    private let isSubprotocolSpoken: Bool
    private let requestID: String
    /// Where the socket comes from, for what is limited by it.
    private let client: ClientAddress?
    private var context: ChannelHandlerContext?
    private var state: GraphQLTransportWS
    /// The token of the upgrade, until the client sends one in the socket.
    private var token: String?
    private var admission: AdmittedCaller?
    private var admitting: Task<Void, Never>?
    private var operations: [Int: Task<Void, Never>] = [:]
    private let gate = WriteGate()
    let account: UnreadAccount
    /// The channel's socket, while it is active.
    private var socket: NIOBSDSocket.Handle?
    private var reader: MessageReader
    /// Whether the socket's end has begun: the server has sent a close frame, or the connection is closed.
    private var isClosing = false
    /// Whether nothing more is read: after a fault, the client's close frame, or the connection's end.
    private var isInputOver = false
    private var clock: SocketClock

    init(
        _ endpoint: WebSocketEndpoint, _ loopContext: LoopContext, isSubprotocolSpoken: Bool,
        token: String?, requestID: String, client: ClientAddress?
    ) {
        self.loopContext = loopContext
        self.client = client
        account = UnreadAccount(loopContext.unread, client: client)
        service = endpoint.service
        self.isSubprotocolSpoken = isSubprotocolSpoken
        self.token = token
        self.requestID = requestID
        state = GraphQLTransportWS(operationsMax: loopContext.limits.operationsPerSocketMax)
        reader = MessageReader(messageBytesMax: endpoint.messageBytesMax)
        clock = SocketClock(loopContext.limits, now: .now())
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        socket = try? context.pipeline.syncOperations.withUnsafeTransportIfAvailable { $0 }
        loopContext.add(self)
        loopContext.gauges.socketOpened()
        if !isSubprotocolSpoken {
            perform(state.close(Closing(.subprotocolNotAcceptable, "Subprotocol not acceptable")))
        } else if loopContext.isDraining {
            drain()
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        release()
        account.close()
        self.context = nil
        loopContext.remove(self)
        loopContext.gauges.socketClosed()
    }

    func channelInactive(context: ChannelHandlerContext) {
        isClosing = true
        isInputOver = true
        socket = nil
        release()
        account.close()
        context.fireChannelInactive()
    }

    /// Ends everything that runs for this socket.
    private func release() {
        gate.close()
        admitting?.cancel()
        admission = nil
        for task in operations.values { task.cancel() }
    }

    // MARK: In

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if isInputOver { return }
        reader.append(unwrapInboundIn(data))
        do throws(Closing) {
            while !isInputOver, let message = try reader.next() { receive(message) }
        } catch {
            fail(error)
        }
    }

    private func receive(_ message: MessageReader.Message) {
        clock.heard(now: .now())
        switch message {
        case .close(let code): closedByClient(code)
        case _ where isClosing: break
        case .text(let text): perform(state.receive(text))
        case .ping(let payload): write(.pong, ByteBuffer(bytes: payload))
        case .pong: break
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // The connection broke: no message can reach the client.
        loopContext.logger.debug("socket lost: \(error)")
        close()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        let isWritable = context.channel.isWritable
        gate.set(isWritable: isWritable)
        clock.set(isWritable: isWritable, now: .now())
        settleUnread()
        context.fireChannelWritabilityChanged()
    }

    // MARK: Doing

    private func perform(_ action: GraphQLTransportWS.Action) {
        switch action {
        case .nothing: break
        case .authenticate(let token): authenticate(token)
        case .acknowledge:
            clock.connected(now: .now())
            send(ServerMessage.acknowledgement())
        case .pong(let payload): send(ServerMessage.pong(payload: payload))
        case .start(let id, let number, let operation): start(id, number, operation)
        case .stop(let number): operations[number]?.cancel()
        case .refuse(let id, let error): send(ServerMessage.error(id, [error]))
        case .close(let closing): close(closing)
        }
    }

    private func authenticate(_ given: String?) {
        guard let token = given ?? token else { return perform(state.authenticated()) }
        let bound = NIOLoopBound(self, eventLoop: loopContext.loop)
        admitting = Task(executorPreference: loopContext.executor) {
            await bound.value.admit(token)
        }
    }

    private func admit(_ token: String) async {
        let admitted: AdmittedCaller
        do throws(AdmissionError) {
            admitted = try await service.admit(
                token, to: .socket(from: client), on: loopContext.loop
            ) { [weak self] in self?.sessionEnded() }
        } catch {
            switch error {
            case .refused:
                perform(state.refused("The access token is not good: refresh it or sign in."))
            case .rateLimited(let seconds):
                perform(state.rateLimited(retryAfterSeconds: seconds))
            case .unavailable:
                perform(state.close(Closing(.tryAgainLater, "Not available now. Try again soon.")))
            }
            return
        }
        if isClosing { return }
        if let admission, admission.session != admitted.session {
            return perform(state.refused("The new token is of another session."))
        }
        self.token = token
        admission = admitted
        clock.tokenExpiresAt = admitted.expiresAt
        perform(state.authenticated())
    }

    private func sessionEnded() {
        perform(state.refused("The session has ended: sign in again."))
    }

    private func start(_ id: String, _ number: Int, _ operation: ClientMessage.Operation) {
        var request = GraphQLRequest(
            query: operation.query, documentID: operation.documentID,
            operationName: operation.operationName, variables: operation.variables,
            extensions: operation.extensions, bearerToken: token,
            requestID: "\(requestID)-\(number)")
        request.client = client
        let bound = NIOLoopBound(self, eventLoop: loopContext.loop)
        loopContext.gauges.operationStarted()
        operations[number] = Task(executorPreference: loopContext.executor) { [request] in
            let socket = bound.value
            await socket.run(request, id, number)
            socket.state.ended(id, number: number)
            socket.operations[number] = nil
            socket.loopContext.gauges.operationEnded()
        }
    }

    private func run(_ request: GraphQLRequest, _ id: String, _ number: Int) async {
        // Nothing is executed for a client that has not read the responses before.
        guard await gate.pass(), state.isActive(id, number: number) else { return }
        if let refusal = account.refusal {
            return send(ServerMessage.error(id, [refusal.error]))
        }
        switch await service.open(request, on: loopContext.loop) {
        case .answer(let answer):
            if answer.isRequestError {
                let body = try? parseJSON(Array(answer.body.readableBytesView))
                guard await gate.pass(), state.isActive(id, number: number) else { return }
                send(ServerMessage.error(id, body?["errors"] ?? .list([])))
            } else if await send(answer.body.readableBytesView, of: id, number) {
                send(ServerMessage.complete(id))
            }
        case .responses(let responses):
            do throws(RequestErrors) {
                while await gate.pass(), let response = try await responses.next() {
                    guard await send(response.body, of: id, number) else { return }
                }
                if state.isActive(id, number: number) { send(ServerMessage.complete(id)) }
            } catch {
                guard state.isActive(id, number: number) else { return }
                send(ServerMessage.error(id, error.errors))
            }
        }
    }

    /// Sends a response of an operation when the client has read what was sent before.
    ///
    /// - Returns: false if the operation is over: it was cancelled, or its response refused because the client has too much
    ///   to read already.
    private func send(
        _ response: some Collection<UInt8>, of id: String, _ number: Int
    ) async -> Bool {
        // If other operations have filled the channel meanwhile, the response waits. It counts until it is written.
        let heldBytes =
            !isWritable || response.count > UnreadAccount.freeBytesMax ? response.count : 0
        if heldBytes > 0, let refusal = account.hold(heldBytes) {
            if state.isActive(id, number: number) {
                send(ServerMessage.error(id, [refusal.error]))
            }
            return false
        }
        defer { account.release(heldBytes) }
        guard await gate.pass(), state.isActive(id, number: number) else { return false }
        send(ServerMessage.next(id, response))
        return true
    }

    // MARK: Out

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
            // The promise of the last write is that of the whole frame.
            if let promise { context.write(wrapOutboundOut(ByteBuffer()), promise: promise) }
        }
        context.flush()
        settleUnread()
    }

    private var isWritable: Bool { context?.channel.isWritable ?? false }

    /// Counts what the channel could not send just now.
    private func settleUnread() {
        guard let context, account.bytes > 0 || !isWritable else { return }
        account.settle(context.unsentBytes)
    }

    func measureUnread(now: NIODeadline) {
        account.measure(
            channelBytes: context?.unsentBytes ?? 0, kernelBytes: unacknowledgedBytes(socket),
            bytesReadMin: loopContext.limits.bytesReadMin, now: now)
    }

    /// Sends a close frame, and gives the client a moment to answer it with its own.
    private func close(_ closing: Closing) {
        if isClosing { return }
        sendClose(closing, then: nil)
    }

    /// Ends a connection whose client broke the protocol: nothing more is read, not even a close frame.
    ///
    /// Only the output is closed at first. Closing everything with unread bytes would reset the connection, and the client
    /// might lose the close frame.
    private func fail(_ fault: Closing) {
        isInputOver = true
        if isClosing { return }
        _ = state.close(fault)
        sendClose(fault, then: .output)
    }

    private func sendClose(_ closing: Closing, then mode: CloseMode?) {
        loopContext.logger.debug(
            "socket closed: \(closing.code.rawValue)", metadata: ["request_id": "\(requestID)"])
        var data = ByteBuffer()
        data.writeInteger(closing.code.rawValue)
        data.writeString(closing.reason)
        sendClose(data, then: mode)
    }

    /// Sends the last frame, and closes what `mode` says once it is sent.
    private func sendClose(_ data: ByteBuffer, then mode: CloseMode?) {
        isClosing = true
        release()
        clock.closing(now: .now())
        guard let mode, let context else { return write(.close, data) }
        let bound = context.loopBound
        let promise = context.eventLoop.makePromise(of: Void.self)
        promise.futureResult.whenComplete { _ in bound.value.close(mode: mode, promise: nil) }
        write(.close, data, promise: promise)
    }

    private func closedByClient(_ code: UInt16?) {
        isInputOver = true
        if isClosing { return close() }
        _ = state.close(Closing(.normal, ""))
        // The response to a close frame has the same code, or none.
        sendClose(code.map { ByteBuffer(integer: $0) } ?? ByteBuffer(), then: .all)
    }

    func close() { context?.close(promise: nil) }

    func drain() {
        perform(state.close(Closing(.goingAway, "The server stops. Come back and resume.")))
    }

    // MARK: Time

    var deadline: NIODeadline { clock.deadline }

    func deadlinePassed() {
        switch clock.action(now: .now()) {
        case .nothing: break
        case .ping: write(.ping, ByteBuffer())
        case .initialisationTimedOut: perform(state.initialisationTimedOut())
        case .tokenExpired:
            perform(state.refused("The access token has run out: send a new one earlier."))
        case .tooSlow:
            perform(
                state.close(
                    Closing(
                        .tryAgainLater, "Read too slowly. Come back and resume from your cursor.")))
        case .giveUp: close()
        }
    }
}
