/// Selects the connection for the next pipeline, and limits the queue; no I/O.
///
/// **Fair shares.** The pipelines of one owner, such as a reader, are on at most `sharedConnectionCount` connections at a time, a third of all.
/// Its writes are on a single one, where they follow each other: on different connections they would wait for each other's locks. The
/// owners of pipelines that take long are *costly*: nothing is sent behind a costly pipeline until it has finished, so that pipelines of other
/// owners take the first free connection instead of waiting behind one that they cannot know. Pipelines without an owner are the server's
/// own, and only have to find a connection with capacity.
///
/// **Example.** Of 3 connections, A's pipelines take 300 ms each. A keeps one connection busy with one pipeline after another. B's pipeline,
/// which takes 1 ms, finds one of the other two.
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
        /// The number of pipelines in flight of costly owners.
        var costlyCount = 0
    }

    /// What one owner has in flight.
    fileprivate struct Load {
        /// The number of its pipelines in flight by connection.
        var inFlightCounts: [Int]
        var inFlightCount = 0
        /// The number of connections with its pipelines.
        var memberCount = 0
        /// The number of its writes in flight, and their connection.
        var writeCount = 0
        var writeMember: Int?
    }

    var members: [Member]
    /// The maximum number of pipelines in flight on one connection.
    let inFlightMax: Int
    /// The maximum number of pipelines in the queue.
    let queuedMax: Int
    /// The maximum number of pipelines of one owner in the queue.
    let queuedOfOwnerMax: Int
    /// The maximum number of connections with pipelines of one owner.
    let sharedConnectionCount: Int
    /// The owners with pipelines in flight.
    private var loads: [UUID: Load] = [:]
    /// The average time of recent pipelines, in nanoseconds, of owners whose average is at least `costlyNanoseconds`.
    private var costs: [UUID: Int64] = [:]

    /// A pipeline that takes longer on average makes its owner costly. Most requests of apps take a tenth of this.
    static let costlyNanoseconds: Int64 = 5_000_000
    /// The maximum number of owners that are known to be costly.
    static let costlyOwnersMax = 4096

    init(memberCount: Int, inFlightMax: Int, queuedMax: Int, queuedOfOwnerMax: Int = .max) {
        members = Array(repeating: Member(), count: max(1, memberCount))
        self.inFlightMax = max(1, inFlightMax)
        self.queuedMax = max(0, queuedMax)
        self.queuedOfOwnerMax = max(0, queuedOfOwnerMax)
        sharedConnectionCount = max(1, memberCount / 3)
    }

    func isCostly(_ owner: UUID) -> Bool { costs[owner] != nil }

    /// Whether a connection could take a pipeline of an owner without any in flight.
    var hasCapacity: Bool { members.contains(where: hasCapacity) }

    private func hasCapacity(_ member: Member) -> Bool {
        member.isReady && !member.isBlocked && member.inFlightCount < inFlightMax
            && member.costlyCount == 0
    }

    /// Returns the index of the connection for the next pipeline of an owner, or nil if it must wait.
    ///
    /// Connections that are not slow come first, then those with the fewest pipelines in flight.
    func memberForPipeline(of owner: UUID? = nil, isWrite: Bool = false) -> Int? {
        let load = owner.flatMap { loads[$0] }
        if isWrite, let index = load?.writeMember {
            return hasCapacity(members[index]) ? index : nil
        }
        let staysOnItsConnections = (load?.memberCount ?? 0) >= sharedConnectionCount
        var best: Int?
        for (index, member) in members.enumerated() where hasCapacity(member) {
            if staysOnItsConnections, load?.inFlightCounts[index] == 0 { continue }
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

    /// Records that a pipeline was sent.
    ///
    /// - Returns: Whether its owner is costly. Pass it to `removed`.
    mutating func sent(on index: Int, of owner: UUID?, isWrite: Bool) -> Bool {
        members[index].inFlightCount += 1
        guard let owner else { return false }
        let isCostly = isCostly(owner)
        if isCostly { members[index].costlyCount += 1 }
        loads[
            owner, default: Load(inFlightCounts: Array(repeating: 0, count: members.count))
        ].add(to: index, isWrite: isWrite)
        return isCostly
    }

    /// Records that a pipeline has finished, or was lost with its connection.
    mutating func removed(from index: Int, of owner: UUID?, isWrite: Bool, isCostly: Bool) {
        members[index].inFlightCount -= 1
        if isCostly { members[index].costlyCount -= 1 }
        guard let owner, loads[owner] != nil else { return }
        if loads[owner]?.remove(from: index, isWrite: isWrite) == true { loads[owner] = nil }
    }

    /// Records how long the server has executed a pipeline.
    mutating func took(_ nanoseconds: Int64, of owner: UUID) {
        let known = costs[owner]
        let average = known.map { ($0 * 3 + nanoseconds) / 4 } ?? nanoseconds
        if average < Self.costlyNanoseconds {
            if known != nil { costs[owner] = nil }
        } else if known != nil || costs.count < Self.costlyOwnersMax {
            costs[owner] = average
        }
    }

    /// Whether a pipeline may wait in the queue, which contains `queuedCount` pipelines, of which `ownCount` have the same owner.
    func mayQueue(queuedCount: Int, ownCount: Int = 0) -> Bool {
        queuedCount < queuedMax && ownCount < queuedOfOwnerMax
    }
}

extension PoolState.Load {
    mutating func add(to index: Int, isWrite: Bool) {
        if inFlightCounts[index] == 0 { memberCount += 1 }
        inFlightCounts[index] += 1
        inFlightCount += 1
        guard isWrite else { return }
        writeCount += 1
        writeMember = index
    }

    /// - Returns: Whether nothing is in flight any more.
    mutating func remove(from index: Int, isWrite: Bool) -> Bool {
        inFlightCounts[index] -= 1
        inFlightCount -= 1
        if inFlightCounts[index] == 0 { memberCount -= 1 }
        if isWrite {
            writeCount -= 1
            if writeCount == 0 { writeMember = nil }
        }
        return inFlightCount == 0
    }
}
