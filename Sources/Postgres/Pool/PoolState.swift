/// Which connection takes the next segment, and whether there is room to wait for one.
struct PoolState {
    /// A connection as the pool sees it.
    struct Member {
        var isReady = false
        /// What it does now takes long, and would hold up what is sent after it.
        var isSlow = false
        var inFlightCount = 0
    }

    var members: [Member]
    let inFlightMax: Int
    let queuedMax: Int

    init(memberCount: Int, inFlightMax: Int, queuedMax: Int) {
        members = Array(repeating: Member(), count: max(1, memberCount))
        self.inFlightMax = max(1, inFlightMax)
        self.queuedMax = max(0, queuedMax)
    }

    /// The connection for a segment: one that is not held up, then the least loaded; nil to wait.
    func memberForSegment() -> Int? {
        var best: Int?
        for (index, member) in members.enumerated()
        where member.isReady && member.inFlightCount < inFlightMax {
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

    /// Whether one more may wait.
    func mayQueue(queuedCount: Int) -> Bool {
        queuedCount < queuedMax
    }
}
