import NIOCore
import NIOHTTP1

/// One connection: reads requests, has them answered one after another, and keeps their times.
///
/// A request's way: bytes arrive here, `ConnectionReading` makes requests of them, `ConnectionAnswering` runs and
/// writes them. `ConnectionStreaming` and `ConnectionUpgrading` are for what lasts, `ConnectionTimes` for what takes too long.
final class ConnectionHandler: ChannelDuplexHandler, RemovableChannelHandler, TimedConnection {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    enum Phase {
        /// Between requests, or in the middle of a head.
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
    var context: ChannelHandlerContext?
    var phase = Phase.idle
    var peer: ClientAddress?
    /// What has arrived and was not read yet: a piece of a request, or those that wait for an answer before theirs.
    var unread = ByteBuffer()
    var headReader = HeadReader()
    var bodyReader = BodyReader(.length(0))
    /// Whether `advance` is under way, which sees what happens inside of it.
    var isAdvancing = false
    /// Whether something is written that was not sent.
    var needsFlush = false
    /// Whether the client has read most of what was sent.
    var isWritable = true
    /// Whether the channel asked to read when nothing more was to be taken.
    var isReadHeld = false
    /// Whether the connection ends with the answer that is under way.
    var isLastAnswer = false
    /// The channel's socket, while it is active.
    var socket: NIOBSDSocket.Handle?
    /// What waited to be read by the client when a deadline last passed.
    var unreadByClient = Int.max
    let account: UnreadAccount
    /// When `deadlinePassed` is due; what it means depends on the phase.
    var phaseDeadline: NIODeadline

    var deadline: NIODeadline {
        if case .streaming(let body, _) = phase { body.deadline } else { phaseDeadline }
    }

    init(_ loopContext: LoopContext) {
        self.loopContext = loopContext
        account = UnreadAccount(loopContext.unread)
        phaseDeadline = .now() + loopContext.limits.firstHeadTimeout
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        peer = ClientAddress(context.remoteAddress)
        account.attribute(to: peer)
        socket = try? context.pipeline.syncOperations.withUnsafeTransportIfAvailable { $0 }
        loopContext.add(self)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        account.close()
        loopContext.remove(self)
    }

    func channelInactive(context: ChannelHandlerContext) {
        socket = nil
        account.close()
        switch phase {
        case .answering(let task, let exchange):
            task.cancel()
            abandon(exchange)
        case .streaming(let body, _): body.end(.clientGone)
        case .idle, .receiving, .blocked, .upgrading, .closing: break
        }
        phase = .closing
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .closing = phase { return }
        var bytes = unwrapInboundIn(data)
        if unread.readableBytes == 0 {
            unread = bytes
        } else {
            unread.discardReadBytes()
            unread.writeBuffer(&bytes)
        }
        advance()
    }

    /// Nothing more is read from a client that does not read, or whose requests wait already.
    func read(context: ChannelHandlerContext) {
        if mayRead { context.read() } else { isReadHeld = true }
    }

    private var mayRead: Bool {
        switch phase {
        case .closing: true
        case .idle, .receiving: isWritable
        case .blocked, .answering, .streaming, .upgrading: isWritable && unread.readableBytes == 0
        }
    }

    /// Goes on reading where it may again.
    func resumeReading() {
        guard isReadHeld, mayRead else { return }
        isReadHeld = false
        context?.read()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        isWritable = context.channel.isWritable
        if case .streaming(let body, _) = phase { body.set(isWritable: isWritable) }
        if isWritable { advance() }
        context.fireChannelWritabilityChanged()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is ChannelShouldQuiesceEvent { listeningEnded() }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // A broken connection: nobody is left to be told.
        loopContext.logger.debug("connection lost: \(error)")
        context.close(promise: nil)
    }

    func close() { context?.close(promise: nil) }

    func measureUnread(now: NIODeadline) {
        account.measure(
            channelBytes: context?.unsentBytes ?? 0, kernelBytes: unacknowledgedBytes(socket),
            bytesReadMin: loopContext.limits.bytesReadMin, now: now)
    }

    /// Counts what the channel could not send just now.
    func settleUnread() {
        guard let context, account.bytes > 0 || !isWritable else { return }
        account.settle(context.unsentBytes)
    }
}
