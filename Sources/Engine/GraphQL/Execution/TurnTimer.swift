/// Measures the work of a task that gives way to other tasks of its executor.
package final class TurnTimer {
    private var earlierTurns = Duration.zero
    private var turnStart = ContinuousClock.now

    package init() {}

    /// The elapsed time, without the time of other tasks.
    package var elapsed: Duration { earlierTurns + (.now - turnStart) }

    /// Lets other tasks of the executor run.
    package func giveWay() async {
        earlierTurns = elapsed
        await Task.yield()
        turnStart = .now
    }
}
