import Testing

@testable import Postgres

@Suite struct PreparedStatementsTests {
    private func key(_ statement: UInt128) -> PreparedStatements.Key {
        PreparedStatements.Key(statement: statement, signature: 0)
    }

    @Test func nameIsNewOnceAndThenReused() {
        var prepared = PreparedStatements(capacity: 3)
        let first = prepared.use(key(1))
        #expect(first.isNew)
        #expect(prepared.use(key(1)) == (first.name, false))
        #expect(prepared.use(PreparedStatements.Key(statement: 1, signature: 9)).isNew)
    }

    @Test func evictsTheLeastRecentlyUsed() {
        var prepared = PreparedStatements(capacity: 3)
        let names = (1...3).map { prepared.use(key($0)).name }
        #expect(prepared.evict() == nil)
        _ = prepared.use(key(1))
        _ = prepared.use(key(4))
        #expect(prepared.evict() == names[1])
        #expect(prepared.evict() == nil)
        #expect(prepared.use(key(2)).isNew)
        #expect(prepared.evict() == names[2])
        #expect(prepared.count == 3)
    }

    @Test func forgottenStatementIsNewAgain() {
        var prepared = PreparedStatements(capacity: 2)
        let name = prepared.use(key(1)).name
        #expect(prepared.forget(key(1)) == name)
        #expect(prepared.forget(key(1)) == nil)
        #expect(prepared.use(key(1)) == (name, true))
    }

    /// A pooler may give several clients the same session.
    @Test func namesFollowFromTheTextAndTheTypesOfTheParameters() {
        func name(_ text: String, _ parameters: Parameters = Parameters()) -> String {
            let step = Pipeline.Step(statement: Statement(text), parameters: parameters)
            return PreparedStatements.Key(step).name
        }
        #expect(name("SELECT 1") == name("SELECT 1"))
        #expect(name("SELECT 1") != name("SELECT 2"))
        var (number, text) = (Parameters(), Parameters())
        number.append(int32: 1)
        text.append(text: "1")
        #expect(name("SELECT $1", number) != name("SELECT $1", text))
        #expect(name("SELECT 1").utf8.count <= 50)
    }

    @Test func behavesLikeAListOrderedByUse() {
        var random = SplitMix(seed: 7)
        var prepared = PreparedStatements(capacity: 10)
        var model: [(key: UInt128, name: String)] = []
        for _ in 0..<5000 {
            let statement = UInt128(random.next() % 30)
            if random.next() % 10 == 0 {
                let name = model.firstIndex { $0.key == statement }.map {
                    model.remove(at: $0).name
                }
                #expect(prepared.forget(key(statement)) == name)
                continue
            }
            let known = model.firstIndex { $0.key == statement }.map { model.remove(at: $0).name }
            let use = prepared.use(key(statement))
            #expect(use.isNew == (known == nil))
            #expect(known == nil || known == use.name)
            model.append((statement, use.name))
            let evicted = model.count > 10 ? model.removeFirst().name : nil
            #expect(prepared.evict() == evicted)
        }
    }
}

/// A random number generator that yields the same numbers for the same seed.
struct SplitMix: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
        return mixed ^ mixed >> 31
    }
}

@Suite struct PipelineStateTests {
    /// A state with one pipeline in flight for each number of commands.
    private func pipelines(_ counts: Int...) -> PipelineState<String> {
        var state = PipelineState<String>()
        for (index, count) in counts.enumerated() {
            state.append(.pipeline("pipeline \(index)"), commandCount: count)
        }
        return state
    }

    private func describe(_ action: PipelineState<String>.Action) -> String {
        switch action {
        case .deliver(let owner, let index): "\(owner): \(index)"
        case .finish(let owner): "\(owner) finished"
        case .preparationFailed(let key): "cannot prepare \(key.statement)"
        case .ignore: "-"
        case .violation: "violation"
        }
    }

    private func play(
        _ state: inout PipelineState<String>, _ replies: [PipelineState<String>.Reply]
    ) -> [String] {
        replies.map { describe(state.receive($0)) }
    }

    @Test func matchesEachReplyToItsPipeline() {
        var state = pipelines(2, 1)
        #expect(
            play(&state, [.result, .result, .sync, .result, .sync]) == [
                "pipeline 0: 0", "pipeline 0: 1", "pipeline 0 finished", "pipeline 1: 0",
                "pipeline 1 finished",
            ])
        #expect(state.count == 0)
        #expect(state.finishedCount == 2)
    }

    @Test func errorSkipsTheRestOfItsPipelineOnly() {
        var state = pipelines(3, 1)
        #expect(
            play(&state, [.result, .failure, .skipped, .sync, .result]) == [
                "pipeline 0: 0", "pipeline 0: 1", "-", "pipeline 0 finished", "pipeline 1: 0",
            ])
    }

    @Test func commitMayFailAfterAllCommandsSucceeded() {
        var state = pipelines(1)
        #expect(
            play(&state, [.result, .failure, .sync]) == [
                "pipeline 0: 0", "pipeline 0: 1", "pipeline 0 finished",
            ])
    }

    @Test func preparationIsAUnitOfItsOwn() {
        var state = PipelineState<String>()
        let key = PreparedStatements.Key(statement: 5, signature: 0)
        state.append(.prepare(key), commandCount: 1)
        state.append(.pipeline("reader"), commandCount: 1)
        state.append(.housekeeping, commandCount: 1)
        #expect(state.first == "reader")
        #expect(
            play(&state, [.failure, .sync, .failure, .sync, .failure, .sync]) == [
                "cannot prepare 5", "-", "reader: 0", "reader finished", "-", "-",
            ])
    }

    @Test(arguments: [
        [PipelineState<String>.Reply.sync], [.result, .result], [.result, .skipped],
        [.result, .sync, .sync],
    ])
    func unexpectedReplyIsAViolation(replies: [PipelineState<String>.Reply]) {
        var state = pipelines(1)
        #expect(play(&state, replies).last == "violation")
    }

    @Test func removeAllReturnsThePipelinesInFlightInOrder() {
        var state = pipelines(1, 1, 1)
        _ = play(&state, [.result, .sync])
        #expect(state.removeAll() == ["pipeline 1", "pipeline 2"])
        #expect(state.count == 0)
    }
}

@Suite struct PoolStateTests {
    private func state(_ loads: [Int]) -> PoolState {
        var state = PoolState(memberCount: loads.count, inFlightMax: 4)
        for (index, load) in loads.enumerated() {
            state.members[index].isReady = true
            state.members[index].inFlightCount = load
        }
        return state
    }

    @Test(arguments: [
        ([0, 0], 0), ([1, 0], 1), ([3, 2, 2], 1), ([4, 4], nil), ([4, 3], 1),
    ])
    func selectsTheLeastLoaded(loads: [Int], expected: Int?) {
        #expect(state(loads).memberForPipeline() == expected)
    }

    @Test func sendsNothingBehindASlowPipeline() {
        var state = state([0, 3])
        state.members[0].isSlow = true
        #expect(state.memberForPipeline() == 1)
        state.members[1].inFlightCount = 4
        #expect(state.memberForPipeline() == nil)
    }

    @Test func neverSelectsAConnectionThatAnAbandonedWriteBlocks() {
        var state = state([1, 4])
        state.members[0].isBlocked = true
        #expect(state.memberForPipeline() == nil)
        state.members[1].inFlightCount = 3
        #expect(state.memberForPipeline() == 1)
    }

    @Test func neverSelectsAConnectionThatIsNotReady() {
        var state = state([0, 1])
        state.members[0].isReady = false
        #expect(state.memberForPipeline() == 1)
        state.members[1].isReady = false
        #expect(state.memberForPipeline() == nil)
    }

    // MARK: Fair shares

    private let reader = PipelineOwner.user(UUID(high: 0, low: 1))
    private let other = PipelineOwner.user(UUID(high: 0, low: 2))
    private let third = PipelineOwner.user(UUID(high: 0, low: 3))

    /// Sends as many pipelines of an owner as it can have in flight, and returns their connections.
    private func fill(
        _ state: inout PoolState, of owner: PipelineOwner, isWrite: Bool = false
    ) -> [Int] {
        let lane = PipelineLane(owner, isWrite: isWrite)
        var indexes: [Int] = []
        while let index = state.memberForPipeline(in: lane) {
            _ = state.sent(on: index, in: lane)
            indexes.append(index)
        }
        return indexes
    }

    @Test(arguments: [(1, 1), (2, 1), (3, 1), (5, 1), (6, 2), (16, 5)])
    func readsOfAnOwnerUseAThirdOfTheConnections(memberCount: Int, share: Int) {
        var state = state(Array(repeating: 0, count: memberCount))
        let indexes = fill(&state, of: reader)
        #expect(Set(indexes).count == share)
        #expect(indexes.count == share * 4)
        #expect(
            (state.memberForPipeline(in: PipelineLane(other, isWrite: false)) != nil)
                == (memberCount > 1))
        // The share moves on when its connections have nothing of the owner any more.
        for index in indexes {
            state.removed(
                from: index, in: PipelineLane(reader, isWrite: false), isCostly: false)
        }
        #expect(state.members.allSatisfy { $0.inFlightCount == 0 })
        #expect(fill(&state, of: reader).count == share * 4)
    }

    @Test func writesOfAUserFollowEachOtherOnOneConnection() {
        var state = state(Array(repeating: 0, count: 6))
        let writes = fill(&state, of: reader, isWrite: true)
        #expect(Set(writes).count == 1)
        #expect(writes.count == 4)
        for index in writes {
            state.removed(from: index, in: PipelineLane(reader, isWrite: true), isCostly: false)
        }
        state.members[writes[0]].inFlightCount = 3
        #expect(state.memberForPipeline(in: PipelineLane(reader, isWrite: true)) != writes[0])
    }

    /// A write may wait for a lock, or for a standby that is missing.
    @Test func writeThatWaitsDoesNotHoldUpTheReadsOfItsOwner() {
        var state = state([0, 0, 0])
        let write = fill(&state, of: reader, isWrite: true)[0]
        state.members[write].isSlow = true
        let reads = fill(&state, of: reader)
        #expect(Set(reads).count == 1 && !reads.contains(write))
    }

    /// Unrelated people may share an address.
    @Test(arguments: [PipelineOwner.address(UUID(high: 0, low: 1)), .job(UUID(high: 0, low: 1))])
    func otherOwnersHaveNoLaneForWrites(owner: PipelineOwner) {
        var state = state(Array(repeating: 0, count: 6))
        #expect(Set(fill(&state, of: owner, isWrite: true)).count == 2)
    }

    @Test func nothingIsSentBehindACostlyPipeline() {
        var state = state([0, 0, 0])
        state.took(PoolState.costlyNanoseconds, of: reader)
        let lane = PipelineLane(reader, isWrite: false)
        let index = state.memberForPipeline(in: lane) ?? -1
        let isCostly = state.sent(on: index, in: lane)
        #expect(isCostly)
        #expect(state.memberForPipeline(in: lane) == nil)
        #expect(!fill(&state, of: other).contains(index))
        #expect(!fill(&state, of: third).contains(index))
        #expect(state.memberForPipeline() == nil)
        state.removed(from: index, in: lane, isCostly: isCostly)
        #expect(state.memberForPipeline() == index)
    }

    @Test func ownerIsCostlyWhileItsPipelinesTakeLongOnAverage() {
        var state = state([0])
        state.took(PoolState.costlyNanoseconds - 1, of: reader)
        #expect(!state.isCostly(reader))
        state.took(PoolState.costlyNanoseconds * 2, of: reader)
        state.took(0, of: reader)
        #expect(state.isCostly(reader))
        for _ in 0..<3 { state.took(0, of: reader) }
        #expect(!state.isCostly(reader))
    }

    @Test func numberOfCostlyOwnersIsLimited() {
        var state = state([0])
        let owners = (0...UInt64(PoolState.costlyOwnersMax)).map {
            PipelineOwner.user(UUID(high: 1, low: $0))
        }
        for owner in owners { state.took(.max / 8, of: owner) }
        #expect(owners.count(where: state.isCostly) == 1)
        #expect(owners.last.map(state.isCostly) == true)
    }
}

@Suite struct FairQueueTests {
    private func removeAll(
        _ queue: inout FairQueue<String, Int>, where isReady: (Int) -> Bool = { _ in true }
    ) -> [Int] {
        var elements: [Int] = []
        while let (element, _) = queue.removeFirst(where: { isReady($0) ? true : nil }) {
            elements.append(element)
        }
        return elements
    }

    @Test func lanesTakeTurns() {
        var queue = FairQueue<String, Int>(urgentLane: "server")
        for element in 1...4 { queue.append(element, to: "a") }
        queue.append(10, to: "b")
        queue.append(20, to: "c")
        queue.append(21, to: "c")
        #expect(queue.count == 7)
        #expect(queue.count(in: "a") == 4)
        #expect(removeAll(&queue) == [1, 10, 20, 2, 21, 3, 4])
        #expect(queue.isEmpty)
    }

    @Test func laneThatMustWaitKeepsItsTurnAndDoesNotHoldUpOthers() {
        var queue = FairQueue<String, Int>(urgentLane: "server")
        for element in [1, 2] { queue.append(element, to: "a") }
        for element in [10, 20] { queue.append(element, to: "b") }
        #expect(removeAll(&queue) { $0 >= 10 } == [10, 20])
        queue.append(30, to: "c")
        #expect(removeAll(&queue) == [1, 30, 2])
    }

    @Test func urgentLaneIsAlwaysNext() {
        var queue = FairQueue<String, Int>(urgentLane: "server")
        for element in [1, 2] { queue.append(element, to: "a") }
        for element in [100, 101] { queue.append(element, to: "server") }
        #expect(removeAll(&queue) == [100, 101, 1, 2])
    }

    @Test func newestElementOfTheLongestLaneIsRefused() {
        var queue = FairQueue<String, Int>(urgentLane: "server")
        for element in [1, 2, 3] { queue.append(element, to: "a") }
        queue.append(10, to: "b")
        #expect(queue.removeLastOfLongest() == 3)
        #expect(queue.removeLastOfLongest() == 2)
        queue.append(11, to: "b")
        #expect(queue.removeLastOfLongest() == 11)
        #expect(queue.count == 2)
        #expect(removeAll(&queue).sorted() == [1, 10])
        #expect(queue.removeLastOfLongest() == nil)
    }

    @Test func elementThatIsPutBackIsNext() {
        var queue = FairQueue<String, Int>(urgentLane: "server")
        for element in [1, 2] { queue.append(element, to: "a") }
        queue.append(10, to: "b")
        queue.prepend(9, to: "b")
        queue.prepend(0, to: "c")
        #expect(removeAll(&queue) == [0, 9, 1, 10, 2])
    }

    @Test func removedElementsAreNotCounted() {
        var queue = FairQueue<String, Int>(urgentLane: "server")
        for element in 1...4 { queue.append(element, to: "a") }
        queue.append(2, to: "b")
        queue.removeAll { $0.isMultiple(of: 2) }
        #expect(queue.count == 2)
        #expect(queue.count(in: "b") == 0)
        queue.append(4, to: "b")
        #expect(removeAll(&queue) == [1, 4, 3])
        queue.append(1, to: "a")
        queue.removeAll()
        #expect(queue.isEmpty && removeAll(&queue) == [])
    }
}
