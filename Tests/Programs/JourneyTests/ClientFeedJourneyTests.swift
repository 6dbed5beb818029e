import BookplateClient
import Foundation
import TestSupport
import Testing

@testable import ClientSimulation

/// The feed, covers, scans, imports, and exports of the Swift client with a real server.
@Suite(
    .enabled(
        if: ProcessInfo.processInfo.environment["BOOKPLATE_TEST_CLIENT_REQUESTS"] != nil,
        "On Linux, URLSession ends the process if a request is cancelled just as it completes."))
struct ClientFeedJourneyTests {
    private static let prefetch = FeedPrefetch(cards: 10, images: 2)

    /// A library with the first cards of the feed.
    private static func library(_ subject: String) async throws -> Library {
        let library = try await ClientJourneyTests.library(subject)
        try await library.syncFeed(prefetch)
        return library
    }

    private static func cards(_ library: Library) async throws -> [FeedCard] {
        for try await cards in library.feed.cards(limit: 100) { return cards }
        return []
    }

    @Test func cardsAreSwipedOffline() async throws {
        let library = try await Self.library("swipes offline")
        let cards = try await Self.cards(library)
        #expect(cards.count >= 5)
        try library.feed.swipe(cards[0], .like)
        try library.feed.swipe(cards[1], .skip)
        try library.feed.swipe(
            cards[2], .buy, bookstore: cards[2].purchaseLinks.first?.bookstore.id)
        try library.feed.swipe(cards[3], .like)
        try library.feed.undo()
        let shown = try await library.snapshot()
        #expect(Set(shown.books.map(\.title)) == [cards[0].title, cards[2].title])
        try await library.sync(feed: Self.prefetch)
        #expect(try await library.takeProblems() == [])
        let served = try await library.snapshot()
        #expect(
            Set(shown.withoutServerFacts).symmetricDifference(served.withoutServerFacts) == [])
        #expect(served.books.map(\.id) == shown.books.map(\.id))
        #expect(Set(served.books.map(\.image?.url)) == Set(shown.books.map(\.image?.url)))

        struct History: Decodable {
            struct Me: Decodable { let swipes: Swipes }
            struct Swipes: Decodable { let nodes: [Swipe] }
            struct Swipe: Decodable { let action: SwipeAction }
            let me: Me
        }
        let history: History = try await library.query(
            "{ me { swipes(inEffect: true) { nodes { action } } } }")
        #expect(history.me.swipes.nodes.map(\.action) == [.buy, .skip, .like])
        // The card of the undone swipe is the first one again.
        #expect(try await Self.cards(library).first == cards[3])
    }

    @Test func imagesAreOnTheDevice() async throws {
        let library = try await Self.library("looks at covers")
        let image = try #require(try await Self.cards(library).first?.image)
        let data = try await library.covers.data(of: image, size: .thumbnail)
        #expect(library.covers.cachedData(of: image, size: .thumbnail) == data)
        #expect(image.placeholder()?.count == 32 * 48 * 4)
    }

    @Test func coverIsSent() async throws {
        let library = try await Self.library("sets a cover")
        let book = try library.books.add(.init(title: "Emma"))
        let card = try #require(try await Self.cards(library).first?.image)
        let file = try await library.covers.data(of: card, size: .large)
        try library.covers.set(file, of: book)
        try await library.sync()
        #expect(try await library.takeProblems() == [])
        let image = try #require(try await library.snapshot().books.first?.image)
        #expect(image.kind == "HIGH_RESOLUTION")
        #expect(try await !library.covers.data(of: image).isEmpty)
        try library.covers.remove(of: book)
        try await library.sync()
        #expect(try await library.snapshot().books.first?.image?.kind == "TITLE_CARD")
    }

    @Test func scannedBooksAreCompletedLater() async throws {
        let library = try await Self.library("scans")
        let known = try library.books.scan(TestCatalog.isbn(20), status: .reading).book
        let unknown = try library.books.scan("9780306406157").book
        #expect(try library.books.scan(TestCatalog.isbn(20)) == .inLibrary(known))
        try await library.sync()
        let books = try await library.snapshot().books
        #expect(books.first { $0.id == known }?.title == "Card 20")
        #expect(books.first { $0.id == unknown }?.title == "9780306406157")
        let problems = try await library.takeProblems()
        #expect(problems.map(\.reason) == [.unknownISBN])
        try await library.sync()
        #expect(try library.books.scan("9780306406157") == .inLibrary(unknown))
    }

    @Test func libraryIsExportedAndImported() async throws {
        let library = try await Self.library("exports")
        try library.books.add(.init(title: "Emma", status: .read))
        try library.books.add(.init(title: "Solaris"))
        try await library.sync()
        let file = URL(fileURLWithPath: try Program.makeFolder())
            .appendingPathComponent("library.zip")
        try await library.export(to: file)

        let other = try await Self.library("imports")
        let id = try await other.imports.start(try Data(contentsOf: file))
        var last: ImportProgress?
        for try await progress in other.imports.progress(of: id) { last = progress }
        #expect(last?.state == "DONE")
        #expect(last?.created == 2)
        #expect(last?.fraction == 1)
        try await other.run { try LibrarySnapshot($0).books.count == 2 }
        #expect(Set(try await other.snapshot().books.map(\.title)) == ["Emma", "Solaris"])
    }
}
