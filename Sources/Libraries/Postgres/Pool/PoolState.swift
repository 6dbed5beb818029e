/// Selects the connection for the next pipeline; no I/O.
///
/// **Fair shares.** The reads of one owner are on at most `sharedConnectionCount` connections at a time, a third of all. The writes of a
/// user are on a single one, where they follow each other: on different connections they would wait for each other's locks. Pools
/// take turns with them (`WriteTurns`). The owners of pipelines that take long are *costly*: nothing is sent on the connection of a
/// costly pipeline until it has finished, so that pipelines of other owners take the first free connection. Pipelines without an
/// owner are the server's own, and only have to find a connection with capacity.
///
/// **Example.** Of 3 connections, A's queries take 300 ms each. A keeps one connection busy with one pipeline after another. B's query,
/// which takes 1 ms, finds one of the other two.
struct PoolState {
    /// The pool's view of one connection.
    struct Member {
        var isReady = false
        /// Whether its current pipeline has been running for long. Nothing is sent after it on its connection.
        var isSlow = false
        /// Whether an abandoned write keeps the connection busy, possibly for as long as a standby is missing.
        var isBlocked = false
        var inFlightCount = 0
        /// The number of pipelines in flight of costly owners.
        var costlyCount = 0
    }

    /// The pipelines of one lane that are in flight.
    fileprivate struct Load {
        /// The number of its pipelines in flight by connection.
        var inFlightCounts: [Int]
        var inFlightCount = 0
        /// The number of connections with its pipelines.
        var memberCount = 0
    }

    var members: [Member]
    /// The maximum number of pipelines in flight on one connection.
    let inFlightMax: Int
    /// The maximum number of connections with reads of one owner.
    let sharedConnectionCount: Int
    /// The lanes with pipelines in flight.
    private var loads: [PipelineLane: Load] = [:]
    /// The average time of recent pipelines, in nanoseconds, of owners whose average is at least `costlyNanoseconds`.
    private var costs: [PipelineOwner: Int64] = [:]

    /// A pipeline that takes longer on average makes its owner costly. Most requests of apps take a tenth of this.
    static let costlyNanoseconds: Int64 = 5_000_000
    /// The maximum number of owners that are known to be costly. All are forgotten then; those that still are costly become known again
    /// with their next pipeline.
    static let costlyOwnersMax = 4096

    init(memberCount: Int, inFlightMax: Int) {
        members = Array(repeating: Member(), count: max(1, memberCount))
        self.inFlightMax = max(1, inFlightMax)
        sharedConnectionCount = max(1, memberCount / 3)
    }

    func isCostly(_ owner: PipelineOwner) -> Bool { costs[owner] != nil }

    /// Whether a connection could take a pipeline of an owner without any in flight.
    var hasCapacity: Bool { members.contains(where: hasCapacity) }

    private func hasCapacity(_ member: Member) -> Bool {
        member.isReady && !member.isBlocked && !member.isSlow
            && member.inFlightCount < inFlightMax && member.costlyCount == 0
    }

    /// Returns the index of the connection for the next pipeline of a lane, or nil if it must wait. It is the one with the fewest
    /// pipelines in flight.
    func memberForPipeline(in lane: PipelineLane = .server) -> Int? {
        let load = lane.owner == nil ? nil : loads[lane]
        let connectionsMax = lane.isWriting ? 1 : sharedConnectionCount
        let staysOnItsConnections = (load?.memberCount ?? 0) >= connectionsMax
        var best: Int?
        for (index, member) in members.enumerated() where hasCapacity(member) {
            if staysOnItsConnections, load?.inFlightCounts[index] == 0 { continue }
            if let current = best, members[current].inFlightCount <= member.inFlightCount {
                continue
            }
            best = index
        }
        return best
    }

    func isInFlight(_ lane: PipelineLane) -> Bool { loads[lane] != nil }

    /// Records that a pipeline was sent.
    ///
    /// - Returns: Whether its owner is costly. Pass it to `removed`.
    mutating func sent(on index: Int, in lane: PipelineLane) -> Bool {
        members[index].inFlightCount += 1
        guard let owner = lane.owner else { return false }
        let isCostly = isCostly(owner)
        if isCostly { members[index].costlyCount += 1 }
        loads[
            lane, default: Load(inFlightCounts: Array(repeating: 0, count: members.count))
        ].add(to: index)
        return isCostly
    }

    /// Records that a pipeline has finished, or was lost with its connection.
    mutating func removed(from index: Int, in lane: PipelineLane, isCostly: Bool) {
        members[index].inFlightCount -= 1
        if isCostly { members[index].costlyCount -= 1 }
        if loads[lane]?.remove(from: index) == true { loads[lane] = nil }
    }

    /// Records how long the server has executed a pipeline.
    mutating func took(_ nanoseconds: Int64, of owner: PipelineOwner) {
        let known = costs[owner]
        let average = known.map { ($0 * 3 + nanoseconds) / 4 } ?? nanoseconds
        if average < Self.costlyNanoseconds {
            if known != nil { costs[owner] = nil }
            return
        }
        if known == nil, costs.count >= Self.costlyOwnersMax { costs.removeAll() }
        costs[owner] = average
    }
}

extension PoolState.Load {
    mutating func add(to index: Int) {
        if inFlightCounts[index] == 0 { memberCount += 1 }
        inFlightCounts[index] += 1
        inFlightCount += 1
    }

    /// - Returns: Whether nothing is in flight any more.
    mutating func remove(from index: Int) -> Bool {
        inFlightCounts[index] -= 1
        inFlightCount -= 1
        if inFlightCounts[index] == 0 { memberCount -= 1 }
        return inFlightCount == 0
    }
}
