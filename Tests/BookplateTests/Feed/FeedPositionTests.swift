import TestSupport
import Testing

@testable import Bookplate

@Suite struct FeedPositionTests {
    @Test func cursorHoldsThePosition() throws {
        var random = Seeded(9)
        for _ in 0..<500 {
            var position = FeedPosition(asOf: Int64.random(in: 0...Int64.max, using: &random))
            for _ in 0..<Int.random(in: 0...40, using: &random) {
                position.take(
                    genre: Int16.random(in: 0...Int16.max, using: &random),
                    rank: Int32.random(in: 1...Int32.max, using: &random))
            }
            #expect(FeedPosition(cursor: position.cursor) == position)
        }
    }

    @Test func turnsBeginBehindTheLastGenre() {
        var position = FeedPosition(asOf: 1)
        #expect(position.turns(of: [3, 1, 2]) == [3, 1, 2])
        position.take(genre: 1, rank: 5)
        #expect(position.turns(of: [3, 1, 2]) == [2, 3, 1])
        position.take(genre: 2, rank: 5)
        #expect(position.turns(of: [3, 1, 2]) == [3, 1, 2])
        // A genre that the filter has not.
        #expect(position.turns(of: [3, 1]) == [3, 1])
        #expect(position.turns(of: []) == [])
    }

    @Test func laterPagesContinueFromEarlierOnes() {
        var first = FeedPosition(asOf: 1)
        first.take(genre: 1, rank: 4)
        first.exhaust(2)
        let second = FeedPosition(asOf: 2, continuing: first)
        #expect(second.asOf == 2)
        #expect(second.ranks == [1: 4, 2: FeedPosition.exhausted])
        #expect(second.lastGenre == 1)
    }

    @Test func whatIsNoCursorIsRefused() {
        var random = Seeded(4)
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
