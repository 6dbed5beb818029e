import Glibc
import GraphQLServing
import NIOCore

/// Counts the response bytes of one connection that its client has not read. Used on the connection's event loop only.
///
/// It also measures whether the client makes progress; see `isSlow`.
final class UnreadCounter {
    /// Responses up to this size are always sent. A channel accepts this much before it stops being writable.
    static let freeBytesMax = 64 << 10

    private let unread: UnreadBytes
    /// The client whose limit applies.
    private(set) var client: ClientAddress?
    /// The bytes of this connection that `unread` counts.
    private(set) var bytes = 0
    /// The part of `bytes` that belongs to complete responses that have not been written yet.
    private var waitingBytes = 0
    private var isClosed = false
    /// The number of bytes that the client still had to receive when it last made progress.
    private var remainingBytes = Int.max
    private var progressAt = NIODeadline.distantPast

    init(_ unread: UnreadBytes, client: ClientAddress? = nil) {
        self.unread = unread
        self.client = client
    }

    deinit { close() }

    /// Attributes the bytes to another client. A proxy's connection carries requests of several clients.
    func attribute(to client: ClientAddress?) {
        if client == self.client { return }
        let bytes = bytes
        set(0)
        self.client = client
        set(bytes)
    }

    /// The reason to refuse a new request; nil if it may run.
    var refusal: UnreadRefusal? { unread.refusal(for: client) }

    /// Counts a response that is about to be written, unless it exceeds a limit. `settle` corrects the number after the
    /// kernel has accepted as much as it can.
    ///
    /// - Returns: The reason to refuse the response; nil if it may be written.
    func reserve(_ responseBytes: Int) -> UnreadRefusal? {
        if isClosed { return nil }
        if let refusal = unread.reserve(responseBytes, for: client) { return refusal }
        bytes += responseBytes
        return nil
    }

    /// Counts a complete response that cannot be written yet. Call `release` when it is written or dropped.
    func hold(_ responseBytes: Int) -> UnreadRefusal? {
        if let refusal = reserve(responseBytes) { return refusal }
        waitingBytes += responseBytes
        return nil
    }

    /// Counts memory that is in use already, so that further requests are refused if it exceeds a limit. A negative number
    /// subtracts. Call `release` when the memory is free.
    func count(_ usedBytes: Int) {
        waitingBytes += usedBytes
        set(bytes + usedBytes)
    }

    func release(_ responseBytes: Int) {
        waitingBytes -= responseBytes
        set(bytes - responseBytes)
    }

    /// Sets the number of bytes that the channel still has to send: 0 while it is writable.
    func settle(_ channelBytes: Int) {
        if channelBytes == 0 { remainingBytes = .max }
        set(channelBytes + waitingBytes)
    }

    /// Stops counting, because the connection and its buffers are gone.
    func close() {
        set(0)
        isClosed = true
    }

    private func set(_ bytes: Int) {
        if isClosed || bytes == self.bytes { return }
        unread.add(bytes - self.bytes, for: client)
        self.bytes = bytes
    }

    // MARK: Progress

    /// Records progress if the client has received at least `bytesReadMin` bytes since it last made progress.
    ///
    /// - Parameter kernelBytes: The bytes that the kernel has accepted and the client has not received. Without this
    ///   number, a slow client would seem to make no progress, because the kernel accepts large blocks.
    func measure(channelBytes: Int, kernelBytes: Int, bytesReadMin: Int, now: NIODeadline) {
        settle(channelBytes)
        guard channelBytes > 0 else { return }
        let remaining = channelBytes + kernelBytes
        if remainingBytes == .max || remaining <= remainingBytes - bytesReadMin {
            remainingBytes = remaining
            progressAt = now
        }
    }

    /// Whether more than half of a limit that applies to this client is used.
    var isMemoryShort: Bool { unread.usedShare(for: client) > 0.5 }

    /// Whether memory is short and the client has made no progress for too long: for longer than `patience` times the
    /// unused share of the limits.
    func isSlow(patience: TimeAmount, now: NIODeadline) -> Bool {
        let usedShare = unread.usedShare(for: client)
        guard usedShare > 0.5, remainingBytes < .max, now > progressAt else { return false }
        let allowed = Double(patience.nanoseconds) * max(0, 1 - usedShare)
        return Double((now - progressAt).nanoseconds) >= allowed
    }
}

/// Returns the bytes of a connection that the kernel has not sent, or that the client's system has not acknowledged.
func unacknowledgedBytes(_ socket: NIOBSDSocket.Handle?) -> Int {
    guard let socket else { return 0 }
    var count: CInt = 0
    return ioctl(socket, UInt(TIOCOUTQ), &count) == 0 ? Int(count) : 0
}

extension ChannelHandlerContext {
    /// The bytes that were written to the channel and that the kernel has not accepted; 0 while the channel is
    /// writable.
    var unsentBytes: Int {
        if channel.isWritable { return 0 }
        return (try? channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
    }
}
