import Testing

@testable import Postgres

@Suite struct PreparedStatementsTests {
    private func key(_ statement: UInt64) -> PreparedStatements.Key {
        PreparedStatements.Key(statement: statement, signature: 0)
    }

    @Test func aNameIsNewOnceAndKeptAfterwards() {
        var prepared = PreparedStatements(capacity: 3)
        let first = prepared.use(key(1))
        #expect(first.isNew)
        #expect(prepared.use(key(1)) == (first.name, false))
        #expect(prepared.use(PreparedStatements.Key(statement: 1, signature: 9)).isNew)
    }

    @Test func letsTheLeastRecentlyUsedGo() {
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

    @Test func aForgottenOneIsPreparedUnderAnotherName() {
        var prepared = PreparedStatements(capacity: 2)
        let name = prepared.use(key(1)).name
        #expect(prepared.forget(key(1)) == name)
        #expect(prepared.forget(key(1)) == nil)
        let again = prepared.use(key(1))
        #expect(again.isNew && again.name != name)
    }

    @Test func staysInStepWithAListInOrderOfUse() {
        var random = SplitMix(seed: 7)
        var prepared = PreparedStatements(capacity: 10)
        var model: [(key: UInt64, name: String)] = []
        for _ in 0..<5000 {
            let statement = random.next() % 30
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

/// The same numbers in each run.
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
    private func pipeline(_ counts: Int...) -> PipelineState<String> {
        var state = PipelineState<String>()
        for (index, count) in counts.enumerated() {
            state.append(.segment("segment \(index)"), commandCount: count)
        }
        return state
    }

    private func describe(_ action: PipelineState<String>.Action) -> String {
        switch action {
        case .deliver(let owner, let index): "\(owner): \(index)"
        case .finish(let owner): "\(owner) ends"
        case .preparationFailed(let key): "no \(key.statement)"
        case .ignore: "-"
        case .violation: "!"
        }
    }

    private func play(
        _ state: inout PipelineState<String>, _ replies: [PipelineState<String>.Reply]
    ) -> [String] {
        replies.map { describe(state.receive($0)) }
    }

    @Test func givesEachReplyToItsSegment() {
        var state = pipeline(2, 1)
        #expect(
            play(&state, [.result, .result, .sync, .result, .sync]) == [
                "segment 0: 0", "segment 0: 1", "segment 0 ends", "segment 1: 0", "segment 1 ends",
            ])
        #expect(state.count == 0)
        #expect(state.finishedCount == 2)
    }

    @Test func anErrorSkipsTheRestOfItsSegmentOnly() {
        var state = pipeline(3, 1)
        #expect(
            play(&state, [.result, .failure, .skipped, .sync, .result]) == [
                "segment 0: 0", "segment 0: 1", "-", "segment 0 ends", "segment 1: 0",
            ])
    }

    @Test func aCommitMayFailAfterAllCommandsWentWell() {
        var state = pipeline(1)
        #expect(
            play(&state, [.result, .failure, .sync]) == [
                "segment 0: 0", "segment 0: 1", "segment 0 ends",
            ])
    }

    @Test func preparingIsAUnitOfItsOwn() {
        var state = PipelineState<String>()
        let key = PreparedStatements.Key(statement: 5, signature: 0)
        state.append(.prepare(key), commandCount: 1)
        state.append(.segment("reader"), commandCount: 1)
        state.append(.housekeeping, commandCount: 1)
        #expect(state.first == "reader")
        #expect(
            play(&state, [.failure, .sync, .failure, .sync, .failure, .sync]) == [
                "no 5", "-", "reader: 0", "reader ends", "-", "-",
            ])
    }

    @Test(arguments: [
        [PipelineState<String>.Reply.sync], [.result, .result], [.result, .skipped],
        [.result, .sync, .sync],
    ])
    func aReplyThatNothingWasSentForIsAViolation(replies: [PipelineState<String>.Reply]) {
        var state = pipeline(1)
        #expect(play(&state, replies).last == "!")
    }

    @Test func givesBackWhatWasUnderWayInItsOrder() {
        var state = pipeline(1, 1, 1)
        _ = play(&state, [.result, .sync])
        #expect(state.removeAll() == ["segment 1", "segment 2"])
        #expect(state.count == 0)
    }
}

@Suite struct PoolStateTests {
    private func state(_ loads: [Int], queuedMax: Int = 2) -> PoolState {
        var state = PoolState(memberCount: loads.count, inFlightMax: 4, queuedMax: queuedMax)
        for (index, load) in loads.enumerated() {
            state.members[index].isReady = true
            state.members[index].inFlightCount = load
        }
        return state
    }

    @Test(arguments: [
        ([0, 0], 0), ([1, 0], 1), ([3, 2, 2], 1), ([4, 4], nil), ([4, 3], 1),
    ])
    func choosesTheLeastLoaded(loads: [Int], expected: Int?) {
        #expect(state(loads).memberForSegment() == expected)
    }

    @Test func avoidsWhatIsHeldUpWhileThereIsAnother() {
        var state = state([0, 3])
        state.members[0].isSlow = true
        #expect(state.memberForSegment() == 1)
        state.members[1].inFlightCount = 4
        #expect(state.memberForSegment() == 0)
    }

    @Test func neverChoosesWhatIsNotReady() {
        var state = state([0, 1])
        state.members[0].isReady = false
        #expect(state.memberForSegment() == 1)
        state.members[1].isReady = false
        #expect(state.memberForSegment() == nil)
    }

    @Test func hasABoundOnWhatWaits() {
        #expect(state([0]).mayQueue(queuedCount: 1))
        #expect(!state([0]).mayQueue(queuedCount: 2))
        #expect(!state([0], queuedMax: -1).mayQueue(queuedCount: 0))
    }
}

@Suite struct BackoffTests {
    @Test func doublesUpToFiveSecondsAndBeginsAnew() {
        var backoff = Backoff()
        let delays = (0..<10).map { _ in backoff.failed(random: 1) }
        #expect(
            delays.map(\.milliseconds) == [50, 100, 200, 400, 800, 1600, 3200, 5000, 5000, 5000])
        backoff.succeeded()
        #expect(backoff.failed(random: 0) == .milliseconds(25))
    }
}

@Suite struct PipelineWatchdogTests {
    @Test func cancelsWhatNobodyWantsOnlyWhenItHasBeenAtWorkForAWhile() {
        var watchdog = PipelineWatchdog()
        #expect(watchdog.tick(segment: 1, isAbandoned: true) == .nothing)
        #expect(watchdog.tick(segment: 1, isAbandoned: true) == .nothing)
        #expect(watchdog.tick(segment: 1, isAbandoned: true) == .cancel)
        #expect(watchdog.isSlow)
        #expect(watchdog.tick(segment: 2, isAbandoned: true) == .nothing)
        #expect(!watchdog.isSlow)
    }

    @Test func leavesAloneWhatSomebodyWaitsFor() {
        var watchdog = PipelineWatchdog()
        for _ in 0..<1000 { #expect(watchdog.tick(segment: 1, isAbandoned: false) == .nothing) }
        #expect(watchdog.tick(segment: 1, isAbandoned: true) == .cancel)
        #expect(watchdog.tick(segment: nil, isAbandoned: false) == .nothing)
        #expect(!watchdog.isSlow)
    }

    @Test func asksAgainAndGivesUpInTheEnd() {
        var watchdog = PipelineWatchdog()
        let actions = (0..<103).map { _ in watchdog.tick(segment: 1, isAbandoned: true) }
        #expect(actions.count { $0 == .cancel } == 5)
        #expect(actions.last == .giveUp)
    }
}
