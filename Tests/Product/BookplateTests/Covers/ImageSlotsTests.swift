import Postgres
import Testing

@testable import Bookplate
@testable import Requests

/// Images that readers download are held in memory, so only some may be downloaded at a time.
@Suite struct ImageSlotsTests {
    /// Runs `count` downloads of each user at the same time, and returns the number of those that were refused.
    private func refusedCount(_ slots: ImageSlots<UUID>, users: [UUID?], each count: Int) async
        -> Int
    {
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
        let slots = ImageSlots.downloads()
        let users = (0..<10).map { _ in UUID.version7() }
        #expect(
            await refusedCount(slots, users: [users[0]], each: slots.ofKeyMax + 2) == 2)
        let fitting = slots.totalMax / slots.ofKeyMax
        #expect(
            await refusedCount(
                slots, users: Array(users.prefix(fitting)), each: slots.ofKeyMax) == 0)
        #expect(
            await refusedCount(slots, users: users, each: slots.ofKeyMax)
                == users.count * slots.ofKeyMax - slots.totalMax)
        // Without a key, only the total is limited.
        #expect(await refusedCount(slots, users: [nil], each: slots.totalMax + 1) == 1)
        // The slots of downloads that have ended are free again.
        #expect(await refusedCount(slots, users: [users[0]], each: 1) == 0)
    }
}
