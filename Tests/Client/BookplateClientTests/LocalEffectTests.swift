import Foundation
import TestBasics
import Testing

@testable import BookplateClient
@testable import ClientSimulation

@Suite struct LocalEffectTests {
    /// A device shows at once what the server has after the change was sent.
    @Test(arguments: 0..<6 as Range<UInt64>)
    func effectsAreThoseOfTheServer(_ seed: UInt64) throws {
        let simulation = try Simulation(deviceCount: 1, feed: FeedPrefetch(cards: 10))
        let device = simulation.devices[0]
        try simulation.settle()
        var numbers = SeededGenerator(seed)
        for _ in 0..<60 {
            let number = numbers.next()
            simulation.clock.now += 1
            try device.edit { try Edit(number: number).apply(to: $0) }
            let shown = try device.snapshot()
            try simulation.settle()
            guard try device.dismissProblems() == 0 else { continue }
            let served = try simulation.server.snapshot
            let differences = Set(shown.withoutServerFacts).symmetricDifference(
                served.withoutServerFacts)
            #expect(differences.sorted() == [], "edit \(number)")
        }
    }

    @Test(arguments: [ReadingStatus.wantToRead, .reading, .read, .paused, .didNotFinish])
    func booksOfAnyStatusCanBeReviewed(_ status: ReadingStatus) throws {
        let simulation = try Simulation(deviceCount: 1)
        let device = simulation.devices[0]
        let book = try device.library.books.add(.init(title: "Emma", status: status))
        try device.library.books.review(book, stars: 4)
        #expect(try device.snapshot().books.map(\.review?.stars) == [4])
        try simulation.settle()
        #expect(try simulation.server.snapshot.books.map(\.review?.stars) == [4])
    }

    /// docs/reading.md: 50 % of 100 pages is page 50, and of 200 pages page 100.
    @Test func positionsFollowTheNumberOfPages() throws {
        let device = try Simulation(deviceCount: 1).devices[0]
        let library = device.library
        let book = try library.books.add(.init(title: "Emma", pageCount: 100))
        let read = try library.reads.start(book)
        try library.reads.log(.percent(50), in: read)
        try library.notes.create(book, text: "A note", at: .page(50))
        #expect(try device.snapshot().books.map(\.currentPage) == [50])
        try library.books.update(book) { $0.pageCount = 200 }
        let snapshot = try device.snapshot()
        #expect(snapshot.books.map(\.currentPage) == [100])
        #expect(snapshot.entries.map(\.page) == [100])
        #expect(snapshot.notes.map(\.percent) == [25])
        try library.books.update(book) { $0.pageCount = nil }
        #expect(try device.snapshot().books.map(\.currentPage) == [nil])
    }
}
