import GraphQLServing
import NIOCore
import NIOHTTP1

/// An HTTP/1.1 connection. It reads requests, runs them one after another, and enforces timeouts.
///
/// Everything happens on one event loop. `phase` is the state of a machine with these transitions:
///
/// - `idle` to `receiving`: `headReader` has read the head of a request.
/// - `receiving` to `responding`: `bodyReader` has read the end of the body, and the route runs in a task. A route with
///   `respondSynchronously` needs no task: its response is written immediately, and the phase becomes `idle`.
/// - `receiving` to `blocked`: the request is complete, but the client has not read earlier responses, so the channel
///   is not writable, or the body is still being written to its file. The request runs when the channel is writable again and
///   the body is in its file. A client therefore cannot make the server produce responses that it does not read.
/// - `responding` to `idle`: the response is written.
/// - `responding` to `streaming`: the head of a response is written whose body is sent in parts. At the end of the body
///   the phase becomes `idle`.
/// - `receiving` to `upgrading`: the request is a WebSocket handshake. A `WebSocketConnection` replaces this handler.
/// - Any phase to `closing`: the last response is written (after `connection: close`, a malformed request, or during
///   shutdown), or the connection is lost. Further input is dropped.
///
/// At most one request is in progress, so responses have the order of the requests. Pipelined requests wait in `input`.
/// While bytes wait there, `read` is deferred, so a client cannot fill the memory by sending more.
///
/// Example: a client sends `POST /graphql` and `GET /health/live` in one segment. `channelRead` appends both to `input`
/// and calls `advance`. The first step reads the head of the POST (`receiving`), the next ones read its body and start
/// the route's task (`responding`). There `advance` stops; the GET remains in `input`. When the task ends, `finish`
/// writes its response, sets the phase to `idle`, and calls `advance`, which now reads the GET.
///
/// The code is spread over several files: `ConnectionReading` parses requests, `ConnectionResponding` runs them and
/// writes responses, `ConnectionStreaming` and `ConnectionUpgrading` handle streams and WebSockets, and
/// `ConnectionTimeouts` handles deadlines and shutdown.
final class ConnectionHandler: ChannelDuplexHandler, RemovableChannelHandler, TimedConnection {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    enum Phase {
        /// Waiting for a request, or for the rest of a head.
        case idle
        /// The head is complete, and the body is arriving.
        case receiving(RequestReader)
        /// The request is complete, and waits until the client has read earlier responses.
        case blocked(RequestReader)
        case responding(Task<Void, Never>, Exchange)
        /// The head is written, and the body is sent in parts.
        case streaming(BodyStream, Exchange)
        /// The next bytes belong to another protocol.
        case upgrading
        /// The last response is written, and further input is dropped.
        case closing
    }

    let loopContext: LoopContext
    var context: ChannelHandlerContext?
    var phase = Phase.idle
    var peer: ClientAddress?
    /// Bytes that have arrived and are not parsed yet: an incomplete request, or requests that wait for an earlier
    /// response.
    var input = ByteBuffer()
    var headReader = HeadReader()
    var bodyReader = BodyReader(.length(0))
    /// Whether `advance` is running. A nested call returns at once, because the running one sees the new phase.
    var isAdvancing = false
    /// Whether written bytes have not been flushed.
    var needsFlush = false
    /// Whether the channel is writable: the client has read most of the earlier responses.
    var isWritable = true
    /// Whether the channel requested a read that was deferred.
    var hasDeferredRead = false
    /// Whether the server or the channel is shutting down: the current response is the last one, and subscriptions end.
    var isDraining = false
    /// The channel's socket descriptor while the channel is active.
    var socket: NIOBSDSocket.Handle?
    /// The number of unsent bytes when the last deadline passed.
    var unsentBytesAtLastDeadline = Int.max
    let unreadCounter: UnreadCounter
    /// The bytes of the current request's body that `loopContext.bodies` counts, and the client for which it does.
    var bodyBytes = (count: 0, client: ClientAddress?.none)
    /// Whether a task uses the body, although the connection may be closed already.
    var isBodyInUse = false
    /// When to call `deadlinePassed`. Its effect depends on the phase.
    var phaseDeadline: NIODeadline

    var deadline: NIODeadline {
        if case .streaming(let body, _) = phase { body.deadline } else { phaseDeadline }
    }

    init(_ loopContext: LoopContext) {
        self.loopContext = loopContext
        unreadCounter = UnreadCounter(loopContext.unread)
        phaseDeadline = .now() + loopContext.limits.firstHeadTimeout
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        peer = ClientAddress(context.remoteAddress)
        unreadCounter.attribute(to: peer)
        isWritable = context.channel.isWritable
        socket = try? context.pipeline.syncOperations.withUnsafeTransportIfAvailable { $0 }
        loopContext.add(self)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        unreadCounter.close()
        releaseBody()
        loopContext.remove(self)
    }

    func channelInactive(context: ChannelHandlerContext) {
        socket = nil
        unreadCounter.close()
        releaseBody()
        switch phase {
        case .responding(let task, let exchange):
            task.cancel()
            abandon(exchange)
        case .streaming(let body, _): body.end(.disconnected)
        case .idle, .receiving, .blocked, .upgrading, .closing: break
        }
        phase = .closing
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .closing = phase { return }
        var bytes = unwrapInboundIn(data)
        if input.readableBytes == 0 {
            input = bytes
        } else {
            input.discardReadBytes()
            input.writeBuffer(&bytes)
        }
        loopContext.executor.measure { advance() }
    }

    /// Defers reading while the client does not read its responses, or while its requests already wait.
    func read(context: ChannelHandlerContext) {
        if mayRead { context.read() } else { hasDeferredRead = true }
    }

    private var mayRead: Bool {
        switch phase {
        case .closing: true
        case .idle: isWritable
        case .receiving(let reader): isWritable && reader.bodyFile?.isBehind != true
        case .blocked, .responding, .streaming, .upgrading: isWritable && input.readableBytes == 0
        }
    }

    /// Performs a deferred read if reading is allowed again.
    func resumeReading() {
        guard hasDeferredRead, mayRead else { return }
        hasDeferredRead = false
        context?.read()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        isWritable = context.channel.isWritable
        if case .streaming(let body, _) = phase { body.set(isWritable: isWritable) }
        if isWritable { advance() }
        context.fireChannelWritabilityChanged()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is ChannelShouldQuiesceEvent { drain() }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // The connection is broken, so no response can reach the client.
        loopContext.logger.debug("connection lost: \(error)")
        context.close(promise: nil)
    }

    func close() { context?.close(promise: nil) }

    func measureUnread(now: NIODeadline) {
        unreadCounter.measure(
            channelBytes: context?.unsentBytes ?? 0, kernelBytes: unacknowledgedBytes(socket),
            bytesReadMin: loopContext.limits.bytesReadMin, now: now)
    }

    /// Updates the number of bytes that the channel could not send.
    func settleUnread() {
        guard let context, unreadCounter.bytes > 0 || !isWritable else { return }
        unreadCounter.settle(context.unsentBytes)
    }
}
