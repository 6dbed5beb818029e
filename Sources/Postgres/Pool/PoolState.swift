/// Selects the connection for the next pipeline and limits the queue; no I/O.
struct PoolState {
    /// The pool's view of one connection.
    struct Member {
        var isReady = false
        /// Whether its current pipeline has been running for long and delays those sent after it.
        var isSlow = false
        /// Whether an abandoned write keeps the connection busy, possibly for as long as a standby is missing. Pipelines wait for
        /// another connection instead.
        var isBlocked = false
        var inFlightCount = 0
    }

    var members: [Member]
    /// The maximum number of pipelines in flight on one connection.
    let inFlightMax: Int
    /// The maximum number of pipelines in the queue.
    let queuedMax: Int

    init(memberCount: Int, inFlightMax: Int, queuedMax: Int) {
        members = Array(repeating: Member(), count: max(1, memberCount))
        self.inFlightMax = max(1, inFlightMax)
        self.queuedMax = max(0, queuedMax)
    }

    /// Returns the index of the connection for the next pipeline, or nil if all are full, blocked, or not ready.
    ///
    /// Connections that are not slow come first, then those with the fewest pipelines in flight.
    func memberForPipeline() -> Int? {
        var best: Int?
        for (index, member) in members.enumerated()
        where member.isReady && !member.isBlocked && member.inFlightCount < inFlightMax {
            guard let current = best else {
                best = index
                continue
            }
            if (member.isSlow ? 1 : 0, member.inFlightCount)
                < (members[current].isSlow ? 1 : 0, members[current].inFlightCount)
            {
                best = index
            }
        }
        return best
    }

    /// Whether the queue, which holds `queuedCount` pipelines, has room for one more.
    func mayQueue(queuedCount: Int) -> Bool {
        queuedCount < queuedMax
    }
}
