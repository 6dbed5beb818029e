/// Decides, in ticks of the pool's timer, when a running pipeline is slow and when to cancel it.
///
/// A cancel request opens a connection of its own to the server, and it cancels whatever statement is
/// running when it arrives, possibly the next one. It is therefore sent only for a pipeline that has
/// been running for `slowTicks` and whose caller has stopped waiting. The request is repeated every
/// `cancelEveryTicks`, because one may be lost or arrive between two statements. After `giveUpTicks`
/// the connection is closed.
///
/// A pipeline that writes is never cancelled, because its commit may be waiting for a synchronous standby. PostgreSQL would end
/// that wait and keep the transaction, although no standby has it. Its statements are limited by `statement_timeout`, which
/// does not apply to the commit. After `giveUpTicks` the connection is closed, and the server continues the commit.
///
/// Example with 50 ms ticks: a caller times out while its statement runs. The watchdog requests a
/// cancellation at the next tick, again after 1 s, 2 s, 3 s, and 4 s, and closes the connection after 5 s.
struct PipelineWatchdog {
    enum Action: Equatable {
        case nothing
        /// Send a cancel request to the server.
        case cancel
        /// Cancelling did not work: close the connection.
        case giveUp
    }

    /// The number of ticks after which a pipeline counts as slow.
    private static let slowTicks = 2
    /// The number of ticks between two cancel requests.
    private static let cancelEveryTicks = 20
    /// The number of ticks from the first cancel request, or from the time when it would be sent, until the connection is
    /// closed.
    private static let giveUpTicks = 100

    private var pipeline: Int?
    private var tickCount = 0
    private var ticksSinceCancel: Int?

    /// Whether the current pipeline has been running for at least `slowTicks`.
    var isSlow: Bool { pipeline != nil && tickCount >= PipelineWatchdog.slowTicks }

    /// Advances the time by one tick and returns what to do.
    ///
    /// - Parameters:
    ///   - pipeline: A number that identifies the running pipeline; nil when the connection is idle.
    ///   - isAbandoned: Whether its caller has stopped waiting.
    ///   - isReadOnly: Whether it changes nothing, so that it may be cancelled.
    mutating func tick(pipeline: Int?, isAbandoned: Bool, isReadOnly: Bool) -> Action {
        guard pipeline == self.pipeline else {
            self = PipelineWatchdog()
            self.pipeline = pipeline
            return .nothing
        }
        tickCount += 1
        guard isAbandoned, isSlow else { return .nothing }
        guard let ticks = ticksSinceCancel else {
            ticksSinceCancel = 0
            return isReadOnly ? .cancel : .nothing
        }
        ticksSinceCancel = ticks + 1
        if ticks + 1 >= PipelineWatchdog.giveUpTicks { return .giveUp }
        let isCancelDue = isReadOnly && (ticks + 1) % PipelineWatchdog.cancelEveryTicks == 0
        return isCancelDue ? .cancel : .nothing
    }
}
