import Testing

@testable import BookplateClient
@testable import ClientSimulation

@Suite struct ObservedTests {
    @MainActor @Test func valueFollowsTheLibrary() async throws {
        let library = try Simulation(deviceCount: 1).devices[0].library
        let titles = Observed(library.values { try Book.fetchAll($0).map(\.title) })
        let task = Task { await titles.follow() }
        try library.books.add(.init(title: "Emma"))
        while titles.value != ["Emma"] { await Task.yield() }
        task.cancel()
        await task.value
        #expect(titles.error == nil)
    }
}
