import Glibc
import NIOCore

/// Counts the response bytes of one connection that its client has not read. Belongs to the connection's event loop.
///
/// It also measures whether the client makes progress: see `isSlow`.
final class UnreadAccount {
    /// Responses up to this size are always sent. A channel takes as much before it stops being writable.
    static let freeBytesMax = 64 << 10

    private let unread: UnreadBytes
    /// The client whose limit holds.
    private(set) var client: ClientAddress?
    /// The bytes of this connection that are counted.
    private(set) var bytes = 0
    /// Of these, the bytes of responses that are complete and wait until they may be written.
    private var waitingBytes = 0
    private var isClosed = false
    /// The fewest bytes that the client had still to receive, when it last made progress.
    private var remainingBytes = Int.max
    private var progressAt = NIODeadline.distantPast

    init(_ unread: UnreadBytes, client: ClientAddress? = nil) {
        self.unread = unread
        self.client = client
    }

    deinit { close() }

    /// Counts the bytes for another client: a proxy's connection carries requests of several.
    func attribute(to client: ClientAddress?) {
        if client == self.client { return }
        let bytes = bytes
        set(0)
        self.client = client
        set(bytes)
    }

    /// Why a new request is not run; nil if it may run.
    var refusal: UnreadRefusal? { unread.refusal(for: client) }

    /// Counts a response that is about to be written, unless it would exceed a limit. `settle` corrects the number once the
    /// kernel has taken what it can.
    ///
    /// - Returns: why it must not be written; nil if it may.
    func take(_ responseBytes: Int) -> UnreadRefusal? {
        if isClosed { return nil }
        if let refusal = unread.take(responseBytes, for: client) { return refusal }
        bytes += responseBytes
        return nil
    }

    /// Counts a response that waits until it may be written; `release` ends that.
    func hold(_ responseBytes: Int) -> UnreadRefusal? {
        if let refusal = take(responseBytes) { return refusal }
        waitingBytes += responseBytes
        return nil
    }

    func release(_ responseBytes: Int) {
        waitingBytes -= responseBytes
        set(bytes - responseBytes)
    }

    /// Takes over the number of bytes that the channel still has to send: 0 while it is writable.
    func settle(_ channelBytes: Int) {
        if channelBytes == 0 { remainingBytes = .max }
        set(channelBytes + waitingBytes)
    }

    /// The connection is gone, and its buffers with it.
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

    /// Notes whether the client has received at least `bytesReadMin` bytes since it last had.
    ///
    /// - Parameter kernelBytes: what the kernel has taken and the client has not received yet. Without it a client that
    ///   reads slowly would seem to stand still: the kernel takes large pieces.
    func measure(channelBytes: Int, kernelBytes: Int, bytesReadMin: Int, now: NIODeadline) {
        settle(channelBytes)
        guard channelBytes > 0 else { return }
        let remaining = channelBytes + kernelBytes
        if remainingBytes == .max || remaining <= remainingBytes - bytesReadMin {
            remainingBytes = remaining
            progressAt = now
        }
    }

    /// Whether more than half of a limit is used that holds for this client.
    var isMemoryShort: Bool { unread.usedShare(for: client) > 0.5 }

    /// Whether memory is short, and the client has made no progress for too long: `patience` times the share of the limits
    /// that is free.
    func isSlow(patience: TimeAmount, now: NIODeadline) -> Bool {
        let usedShare = unread.usedShare(for: client)
        guard usedShare > 0.5, remainingBytes < .max, now > progressAt else { return false }
        let allowed = Double(patience.nanoseconds) * max(0, 1 - usedShare)
        return Double((now - progressAt).nanoseconds) >= allowed
    }
}

/// The bytes that the kernel still has of a connection: not sent, or not acknowledged by the client's system.
func unacknowledgedBytes(_ socket: NIOBSDSocket.Handle?) -> Int {
    guard let socket else { return 0 }
    var count: CInt = 0
    return ioctl(socket, UInt(TIOCOUTQ), &count) == 0 ? Int(count) : 0
}

extension ChannelHandlerContext {
    /// The bytes that were written to the channel and that the kernel has not taken; 0 while the channel is writable.
    var unsentBytes: Int {
        if channel.isWritable { return 0 }
        return (try? channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
    }
}
