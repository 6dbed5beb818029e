import Foundation
import GRDB
import Testing

@testable import BookplateClient
@testable import ClientSimulation

@Suite struct FeedTests {
    private let simulation: Simulation
    private let device: SimulatedDevice
    private var library: Library { device.library }
    private var server: ModelServer { simulation.server }

    init() throws {
        simulation = try Simulation(deviceCount: 1, feed: FeedPrefetch(cards: 10))
        device = simulation.devices[0]
        try simulation.settle()
    }

    private var cards: [FeedCard] {
        get throws { try library.reader.read { try Deck(db: $0).cards(limit: 100) } }
    }

    private var titles: [String] { get throws { try device.snapshot().books.map(\.title) } }

    private func problems() throws -> [Problem] {
        try library.reader.read { try Problem.fetchAll($0) }
    }

    @Test func likedBookIsInTheLibraryAtOnce() throws {
        let first = try #require(try cards.first)
        try library.feed.swipe(first, .like)
        #expect(try titles == [first.title])
        #expect(try cards.first?.id == "card-1")
        let shown = try device.snapshot().books.map(\.id)
        try simulation.settle()
        #expect(try device.snapshot() == server.snapshot)
        #expect(try server.snapshot.books.map(\.id) == shown)
    }

    @Test(arguments: [false, true]) func undoTakesTheBookBack(_ isSent: Bool) throws {
        let first = try #require(try cards.first)
        try library.feed.swipe(first, .like)
        if isSent { try simulation.settle() }
        #expect(try library.feed.undo() == first)
        #expect(try titles == [])
        #expect(try cards.first == first)
        try simulation.settle()
        #expect(try server.snapshot.books == [])
        #expect(try cards.first == first)
        #expect(try library.feed.undo() == nil)
    }

    @Test func undoKeepsABookThatWasChanged() throws {
        try library.feed.swipe(try #require(try cards.first), .buy, bookstore: "bookshop.org")
        let book = try #require(try device.snapshot().books.first)
        try library.notes.create(book.id, text: "A present for Ada")
        try library.feed.undo()
        #expect(try titles == [book.title])
        try simulation.settle()
        #expect(try server.snapshot.books.map(\.title) == [book.title])
    }

    @Test func swipedCardsStayAwayAfterARestart() throws {
        let seen = try cards.prefix(3)
        for card in seen { try library.feed.swipe(card, .skip) }
        try device.restart()
        // The server makes a page before it gets the swipes.
        simulation.clock.now += 2 * 86_400
        let page = SyncRequest(
            purpose: .feed, document: SyncDocuments.feed,
            variables: try library.reader.read {
                try Deck(db: $0).request(
                    FeedPrefetch(cards: 10), now: Timestamp(simulation.clock.now))
            })
        try device.received(.response(server.respond(to: page)), for: page, accessToken: "")
        #expect(try cards.map(\.id) == ["card-3", "card-4"])
        #expect(try Set(cards.map(\.id)).isDisjoint(with: seen.map(\.id)))
        try simulation.settle()
        #expect(try Set(cards.map(\.id)).isDisjoint(with: seen.map(\.id)))
        // Skipped books may come back.
        for _ in 0..<3 {
            simulation.clock.now += 20 * 86_400
            try simulation.settle()
        }
        #expect(try !Set(cards.map(\.id)).isDisjoint(with: seen.map(\.id)))
    }

    @Test func refusedLikeIsUndoneAndItsCardShownAgain() throws {
        let first = try #require(try cards.first)
        server.feed.error = ServerError("The library is full", code: .quotaExceeded)
        try library.feed.swipe(first, .like)
        let book = try #require(try device.snapshot().books.first).id
        try library.books.review(book, stars: 5)
        try simulation.settle()
        #expect(try titles == [])
        #expect(try cards.first == first)
        #expect(try problems().map(\.code) == [.quotaExceeded])
        #expect(try problems().first?.undone.map(\.operation) == ["recordSwipes", "reviewBook"])
    }

    @Test func cardThatTheCatalogLacksIsNotShownAgain() throws {
        let cards = try cards
        server.feed.removed = ["card-0", "card-1"]
        try library.feed.swipe(cards[0], .skip)
        try library.feed.undo()
        try library.feed.swipe(cards[0], .skip)
        try simulation.settle()
        #expect(try problems() == [])
        try library.feed.swipe(cards[1], .like)
        try simulation.settle()
        #expect(try problems().map(\.code) == [.notFound])
        #expect(try titles == [])
        #expect(try self.cards.first?.id == "card-2")
    }

    /// Another device has another edition of the book.
    @Test func laterChangesOfALikedBookGoToTheOneThatTheLibraryHas() throws {
        let card = try #require(try cards.first { $0.id == "card-8" })
        _ = server.recordSwipe([
            "cardId": "card-9", "action": "LIKE", "swipedAt": "2026-01-01T00:00:00.000Z",
            "bookId": "other",
        ])
        try library.feed.swipe(card, .like)
        let book = try #require(try device.snapshot().books.first).id
        try library.books.update(book) { $0.genre = "Classics" }
        try simulation.settle()
        #expect(try problems() == [])
        #expect(server.books["other"]?.genre == "Classics")
        #expect(try device.snapshot() == server.snapshot)
        try library.feed.undo()
        try simulation.settle()
        #expect(server.books["other"] != nil)
    }

    @Test func dislikedAuthorsAreHiddenAtOnce() throws {
        try library.feed.swipe(try #require(try cards.first), .dislike, scope: .author)
        try simulation.settle()
        #expect(try !cards.isEmpty)
        #expect(try cards.allSatisfy { $0.author != "Author 0" })
    }

    @Test func emptyFeedIsQuiet() throws {
        for _ in 0..<60 {
            guard let card = try cards.first else { break }
            try library.feed.swipe(card, .dislike)
            try simulation.settle()
        }
        #expect(try cards == [])
        let count = simulation.requestCount
        try simulation.settle()
        // Only the change log is read.
        #expect(simulation.requestCount == count + 3)
    }

    @Test func bookThatIsAddedFromACardHasItsFacts() throws {
        let card = try #require(try cards.first)
        try library.books.add(.init(cardID: card.id, status: .reading))
        #expect(try titles == [card.title])
        #expect(try cards.first?.id == "card-1")
    }
}
