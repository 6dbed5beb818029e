import NIOCore

/// A response body that is sent in parts while the client reads it. Used on one event loop only.
package final class BodyStream {
    /// The reason why a stream ends before its producer has finished.
    package enum EndReason: Sendable, Equatable {
        case disconnected
        /// The server is shutting down.
        case serverStopping
        /// The client does not read the responses.
        case tooSlow
        /// The session has ended, or the token has expired.
        case sessionEnded
        /// The response is not complete in time.
        case timedOut
        /// A part exceeds the remaining memory for unread responses.
        case refused(UnreadRefusal)
    }

    /// Whether the body contains the events of a subscription. It ends when the server shuts down, but other bodies are completed.
    let hasEvents: Bool
    /// The reason for an early end; nil while the producer may continue.
    package private(set) var endReason: EndReason?
    /// Sent when nothing else was sent for `heartbeatInterval`, so that proxies do not close the connection. Nothing is sent
    /// if it is empty.
    var heartbeat = ByteBuffer()
    /// When the client's token expires.
    var expiresAt = NIODeadline.distantFuture
    /// When the response must be complete.
    private var timesOutAt = NIODeadline.distantFuture

    let gate = WriteGate()
    private let reserve: (Int) -> UnreadRefusal?
    /// Counts memory that the producer occupies until it calls `releaseMemory`.
    let countMemory: (Int) -> Void
    let releaseMemory: (Int) -> Void
    private let send: (ByteBuffer) -> Void
    private let cancel: () -> Void
    private let limits: HTTPLimits
    private var heartbeatAt: NIODeadline
    private var slowAt = NIODeadline.distantFuture

    /// - Parameters:
    ///   - hasEvents: See the property.
    ///   - reserve: Counts the bytes of a part before it is written, or returns the reason to refuse it.
    ///   - countMemory: See the property.
    ///   - releaseMemory: Subtracts what `countMemory` has counted.
    ///   - send: Writes a part to the connection.
    ///   - cancel: Cancels the producer's task.
    init(
        _ limits: HTTPLimits, hasEvents: Bool, reserve: @escaping (Int) -> UnreadRefusal?,
        countMemory: @escaping (Int) -> Void, releaseMemory: @escaping (Int) -> Void,
        send: @escaping (ByteBuffer) -> Void, cancel: @escaping () -> Void
    ) {
        self.limits = limits
        self.hasEvents = hasEvents
        self.reserve = reserve
        self.countMemory = countMemory
        self.releaseMemory = releaseMemory
        self.send = send
        self.cancel = cancel
        heartbeatAt = .now() + limits.heartbeatInterval
    }

    /// Ends the stream if it is not complete within the time for a response.
    func limitTime() { timesOutAt = .now() + limits.responseTimeout }

    /// Whether the time for the response has passed.
    var hasTimedOut: Bool { timesOutAt <= .now() }

    /// Waits until the client has read the previous parts.
    ///
    /// - Returns: false if the stream has ended.
    func waitUntilWritable() async -> Bool { await gate.waitUntilWritable() && endReason == nil }

    /// Sends a part after the client has read the previous parts.
    package func write(_ part: ByteBuffer) async {
        guard await waitUntilWritable() else { return }
        if let refusal = reserve(part.readableBytes) { return end(.refused(refusal)) }
        writeNow(part)
    }

    /// Sends a part without waiting for the client, after the time for the response has passed.
    ///
    /// - Returns: the reason to refuse the part; nil if it was sent.
    func writeLate(_ part: ByteBuffer) -> UnreadRefusal? {
        if let refusal = reserve(part.readableBytes) { return refusal }
        writeNow(part)
        return nil
    }

    /// Sends a part without waiting, as the final message does.
    package func writeNow(_ part: ByteBuffer) {
        heartbeatAt = .now() + limits.heartbeatInterval
        send(part)
    }

    /// Ends the stream early. The producer's task is cancelled and may still send a final message.
    package func end(_ reason: EndReason) {
        if self.endReason != nil { return }
        self.endReason = reason
        gate.close()
        cancel()
    }

    func set(isWritable: Bool) {
        gate.set(isWritable: isWritable)
        slowAt = isWritable ? .distantFuture : .now() + limits.slowReaderTimeout
    }

    var deadline: NIODeadline { min(heartbeatAt, slowAt, expiresAt, timesOutAt) }

    func deadlinePassed() {
        let now = NIODeadline.now()
        if slowAt <= now {
            end(.tooSlow)
        } else if expiresAt <= now {
            end(.sessionEnded)
        } else if hasTimedOut {
            // The producer sends the rest without waiting.
            timesOutAt = .distantFuture
            end(.timedOut)
        } else if slowAt == .distantFuture, heartbeat.readableBytes > 0 {
            writeNow(heartbeat)
        } else {
            heartbeatAt = now + limits.heartbeatInterval
        }
    }
}
