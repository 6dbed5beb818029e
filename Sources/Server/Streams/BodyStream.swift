import NIOCore

/// The body of an answer that is sent in parts while the client reads it; belongs to its event loop.
package final class BodyStream {
    /// Why it ends before its producer is done.
    package enum Ending: Sendable, Equatable {
        case clientGone
        /// The server stops.
        case stopping
        /// The client does not read.
        case tooSlow
        /// Its caller has signed out, or the token has run out.
        case sessionEnded
        /// A part is too large for what is left of the memory for unread responses.
        case refused(UnreadRefusal)
    }

    /// nil while the producer may go on.
    package private(set) var ending: Ending?
    /// Sent when there was nothing else to send for a while; what keeps intermediaries from giving up.
    var heartbeat = ByteBuffer()
    /// When the caller's token runs out.
    var expiresAt = NIODeadline.distantFuture

    let gate = WriteGate()
    private let admit: (Int) -> UnreadRefusal?
    private let send: (ByteBuffer) -> Void
    private let cancel: () -> Void
    private let limits: HTTPLimits
    private var heartbeatAt: NIODeadline
    private var slowAt = NIODeadline.distantFuture

    /// - Parameters:
    ///   - admit: counts the bytes of a part before it is written, or returns why it must not be written.
    ///   - send: writes a part to the connection.
    ///   - cancel: cancels the producer's task.
    init(
        _ limits: HTTPLimits, admit: @escaping (Int) -> UnreadRefusal?,
        send: @escaping (ByteBuffer) -> Void, cancel: @escaping () -> Void
    ) {
        self.limits = limits
        self.admit = admit
        self.send = send
        self.cancel = cancel
        heartbeatAt = .now() + limits.heartbeatInterval
    }

    /// Waits until the client has read what was sent before.
    ///
    /// - Returns: false if the stream has ended.
    func mayWrite() async -> Bool { await gate.pass() && ending == nil }

    /// Sends a part when the client has read what was sent before.
    package func write(_ part: ByteBuffer) async {
        guard await mayWrite() else { return }
        if let refusal = admit(part.readableBytes) { return end(.refused(refusal)) }
        writeNow(part)
    }

    /// Sends a part whatever waits: the last word.
    package func writeNow(_ part: ByteBuffer) {
        heartbeatAt = .now() + limits.heartbeatInterval
        send(part)
    }

    /// Ends it early: the producer's task is cancelled, and may say a last word.
    package func end(_ ending: Ending) {
        if self.ending != nil { return }
        self.ending = ending
        gate.close()
        cancel()
    }

    func set(isWritable: Bool) {
        gate.set(isWritable: isWritable)
        slowAt = isWritable ? .distantFuture : .now() + limits.slowReaderTimeout
    }

    var deadline: NIODeadline { min(heartbeatAt, slowAt, expiresAt) }

    func deadlinePassed() {
        let now = NIODeadline.now()
        if slowAt <= now {
            end(.tooSlow)
        } else if expiresAt <= now {
            end(.sessionEnded)
        } else if slowAt == .distantFuture {
            writeNow(heartbeat)
        } else {
            heartbeatAt = now + limits.heartbeatInterval
        }
    }
}
