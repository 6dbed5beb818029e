import Postgres
import Testing

@testable import Bookplate

/// Images that readers download are held in memory, so only some may be downloaded at a time.
@Suite struct DownloadSlotsTests {
    /// Runs `count` downloads of each user at the same time, and returns the number of those that were refused.
    private func refusedCount(_ slots: DownloadSlots, users: [UUID], each count: Int) async -> Int {
        let total = users.count * count
        return await withTaskGroup(of: Bool.self) { tasks in
            let (started, start) = AsyncStream.makeStream(of: Void.self)
            for user in users {
                for _ in 0..<count {
                    tasks.addTask {
                        do throws(BookplateError) {
                            try await slots.run(for: user) { () async throws(BookplateError) in
                                start.yield()
                                try? await Task.sleep(for: .seconds(3600))
                            }
                            return false
                        } catch {
                            start.yield()
                            return true
                        }
                    }
                }
            }
            var starts = started.makeAsyncIterator()
            for _ in 0..<total { await starts.next() }
            tasks.cancelAll()
            return await tasks.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
    }

    @Test func readersAndTheProcessHaveLimits() async {
        let slots = DownloadSlots()
        let users = (0..<10).map { _ in UUID.version7() }
        #expect(
            await refusedCount(slots, users: [users[0]], each: DownloadSlots.ofUserMax + 2) == 2)
        let fitting = DownloadSlots.ofProcessMax / DownloadSlots.ofUserMax
        #expect(
            await refusedCount(
                slots, users: Array(users.prefix(fitting)), each: DownloadSlots.ofUserMax) == 0)
        #expect(
            await refusedCount(slots, users: users, each: DownloadSlots.ofUserMax)
                == users.count * DownloadSlots.ofUserMax - DownloadSlots.ofProcessMax)
        // The slots of downloads that have ended are free again.
        #expect(await refusedCount(slots, users: [users[0]], each: 1) == 0)
    }
}
