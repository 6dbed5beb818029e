import TestSupport
import Testing

@testable import Bookplate

@Suite struct FeedPositionTests {
    private func card(_ genre: Int16, _ place: Int64, author: Int32 = 0, series: Int32 = 0)
        -> FeedCandidate
    {
        FeedCandidate(
            row: 0, genre: genre, place: place, origin: .init(author: author, series: series))
    }

    @Test func cursorIsDecodedToThePosition() throws {
        var random = SeededGenerator(9)
        for _ in 0..<500 {
            var position = FeedPosition(
                asOf: Int64.random(in: 0..<253_402_300_800_000_000, using: &random))
            position.prefer(
                (0..<Int.random(in: 0...5, using: &random)).map { _ in
                    Int16.random(in: 0...Int16.max, using: &random)
                })
            for _ in 0..<Int.random(in: 0...40, using: &random) {
                position.take(
                    card(
                        Int16.random(in: 0...Int16.max, using: &random),
                        Int64.random(in: 1...Int64.max, using: &random),
                        author: Int32.random(in: Int32.min...Int32.max, using: &random),
                        series: Int32.random(in: 0...3, using: &random)))
            }
            for mark in 0..<Int32.random(in: 0...600, using: &random) {
                var card = card(1, 0)
                card.deckPlace = 1
                card.mark = mark
                position.take(card)
            }
            if Bool.random(using: &random) { position.enterDeck(-3) }
            if Bool.random(using: &random) { position.relax() }
            if Bool.random(using: &random) { position.read(inOrder: 7) }
            if Bool.random(using: &random) { position.filter([4, 2]) }
            #expect(FeedPosition(cursor: position.cursor) == position)
        }
    }

    @Test func leastRecentlyUsedGenreIsNext() {
        var position = FeedPosition(asOf: 1)
        #expect(position.lastGenre == nil)
        #expect(position.turns(of: [3, 1, 2]) == [3, 1, 2])
        position.take(card(1, 5))
        #expect(position.lastGenre == 1)
        #expect(position.turns(of: [3, 1, 2]) == [3, 2, 1])
        position.take(card(3, 5))
        #expect(position.turns(of: [3, 1, 2]) == [2, 1, 3])
        // Genres that are not in the filter do not count.
        #expect(position.turns(of: [3, 1]) == [1, 3])
        #expect(position.turns(of: []) == [])
    }

    @Test func laterPagesContinueFromEarlierOnes() {
        var first = FeedPosition(asOf: 1)
        first.take(card(1, 4, author: 7))
        first.pass(2, to: FeedPosition.firstTierEnd)
        first.prefer([2])
        first.relax()
        let second = FeedPosition(asOf: 2, continuing: first)
        #expect(second.asOf == 2)
        #expect(second.place(in: 1) == 4)
        #expect(second.place(in: 2) == FeedPosition.firstTierEnd)
        #expect(second.place(in: 3) == 0)
        #expect(second.lastGenre == 1)
        #expect(second.recent == [.init(author: 7, series: 0)])
        #expect(second.preferred == [2])
        #expect(second.isRelaxed)
    }

    @Test func changingTheFilterRestartsOnlyAFilteredFeed() {
        var all = FeedPosition(asOf: 1)
        all.take(card(1, 4))
        var some = all
        some.filter([1, 2])
        #expect(some.count == 1)
        some.take(card(2, 5))
        let same = some
        for genres in [[1, 2], [2, 1]] as [[Int16]] {
            some.filter(genres)
            #expect(some == same)
        }
        for genres in [nil, [1]] as [[Int16]?] {
            var other = same
            other.filter(genres)
            #expect(other.count == 0)
            #expect(other.preferred == genres ?? [])
            #expect(other.isFiltered == (genres != nil))
        }
    }

    /// PostgreSQL cannot represent these times, or cannot subtract 30 days from them.
    @Test(arguments: [Int64.min, -1, 253_402_300_800_000_000, .max])
    func timesOutOfRangeAreRejected(asOf: Int64) {
        #expect(FeedPosition(cursor: FeedPosition(asOf: asOf).cursor) == nil)
    }

    @Test func malformedCursorsAreRejected() {
        var random = SeededGenerator(4)
        for text in ["", "x", "!!!!", "AAAA", String(repeating: "A", count: 100_000), "\u{0}"] {
            #expect(FeedPosition(cursor: text) == nil)
        }
        let good = FeedPosition(asOf: 1_700_000_000_000_000).cursor
        for _ in 0..<500 {
            let cut = Int.random(in: 0..<good.count, using: &random)
            #expect(FeedPosition(cursor: String(good.prefix(cut))) == nil)
        }
    }
}
