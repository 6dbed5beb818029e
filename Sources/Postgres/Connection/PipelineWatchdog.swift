/// Watches what a connection works on, in ticks: whether it holds up the rest, and what to do when nobody wants it.
///
/// A cancel request costs a connection and a process at the server, and may hit the next statement, so it
/// is made only for what has been at work for some ticks already.
struct PipelineWatchdog {
    enum Action: Equatable {
        case nothing
        /// Ask the server to cancel what it is doing.
        case cancel
        /// Cancelling did not help: close the connection.
        case giveUp
    }

    /// Ticks after which a segment counts as slow, and is cancelled if nobody wants it.
    private static let slowTicks = 2
    /// Ticks from one cancel request to the next, for a request may come too early or be lost.
    private static let cancelEveryTicks = 20
    /// Ticks from the first cancel request to closing the connection.
    private static let giveUpTicks = 100

    private var segment: Int?
    private var tickCount = 0
    private var ticksSinceCancel: Int?

    /// Whether the segment at work has been so for long.
    var isSlow: Bool { segment != nil && tickCount >= PipelineWatchdog.slowTicks }

    /// One tick has passed.
    ///
    /// - Parameters:
    ///   - segment: the running number of the segment at work, nil when there is none.
    ///   - isAbandoned: whether nobody waits for it any more.
    mutating func tick(segment: Int?, isAbandoned: Bool) -> Action {
        guard segment == self.segment else {
            self = PipelineWatchdog()
            self.segment = segment
            return .nothing
        }
        tickCount += 1
        guard isAbandoned, isSlow else { return .nothing }
        guard let ticks = ticksSinceCancel else {
            ticksSinceCancel = 0
            return .cancel
        }
        ticksSinceCancel = ticks + 1
        if ticks + 1 >= PipelineWatchdog.giveUpTicks { return .giveUp }
        return (ticks + 1) % PipelineWatchdog.cancelEveryTicks == 0 ? .cancel : .nothing
    }
}
