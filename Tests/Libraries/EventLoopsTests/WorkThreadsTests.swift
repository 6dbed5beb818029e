import EventLoops
import Glibc
import Synchronization
import TestBasics
import Testing

/// The threads for computations that are too long for event loops.
@Suite struct WorkThreadsTests {
    /// The order in which computations began, and a gate at which one waits.
    private final class Journal: Sendable {
        private let entries = Mutex<[String]>([])
        private let runningOfA = Atomic(0)
        private let mostOfA = Atomic(0)
        private let isOpen = Atomic(false)

        var names: [String] { entries.withLock { $0 } }
        var mostRunningOfA: Int { mostOfA.load(ordering: .relaxed) }

        func begin(_ name: String) { entries.withLock { $0.append(name) } }
        func open() { isOpen.store(true, ordering: .releasing) }
        func waitAtGate() throws {
            try waitUntilBlocking("the gate opens") { isOpen.load(ordering: .acquiring) }
        }
        func runA() {
            let count = runningOfA.add(1, ordering: .relaxed).newValue
            mostOfA.max(count, ordering: .relaxed)
            sched_yield()
            runningOfA.subtract(1, ordering: .relaxed)
        }
    }

    @Test func oneComputationOfAKeyRunsAtATime() async {
        let threads = WorkThreads<String>(threadCount: 4, waitingOfKeyMax: 100, waitingMax: 100)
        let journal = Journal()
        await withTaskGroup(of: Int?.self) { group in
            for number in 0..<50 {
                group.addTask {
                    await threads.run(for: "a") {
                        journal.runA()
                        return number
                    }
                }
            }
            var results: Set<Int> = []
            for await result in group { if let result { results.insert(result) } }
            #expect(results == Set(0..<50))
        }
        #expect(journal.mostRunningOfA == 1)
    }

    /// A key with many waiting computations delays another key by one.
    @Test func keysTakeTurns() async throws {
        let threads = WorkThreads<String>(threadCount: 1, waitingOfKeyMax: 3, waitingMax: 4)
        let journal = Journal()
        try await withThrowingTaskGroup(of: Void.self) { group in
            func add(_ key: String, _ name: String, waits: Bool = false) async throws {
                let waiting = threads.waitingCount
                group.addTask {
                    let result = await threads.run(for: key) {
                        Result {
                            journal.begin(name)
                            if waits { try journal.waitAtGate() }
                        }
                    }
                    try result?.get()
                }
                try await waitUntil("\(name) is known") {
                    waits ? journal.names == [name] : threads.waitingCount == waiting + 1
                }
            }
            try await add("a", "a1", waits: true)
            for name in ["a2", "a3", "a4"] { try await add("a", name) }
            // The key has too many waiting computations.
            #expect(await threads.run(for: "a") {} == nil)
            try await add("b", "b1")
            // There are too many in total.
            #expect(await threads.run(for: "c") {} == nil)
            journal.open()
            try await group.waitForAll()
        }
        #expect(journal.names == ["a1", "b1", "a2", "a3", "a4"])
        #expect(await threads.run(for: "a") { true } == true)
    }
}
