import Testing

@testable import Ranking

@Suite struct FeedRankingTests {
    private func item(_ affinity: Float, _ popularity: Float, _ genres: Int16...) -> FeedItem {
        FeedItem(affinity: affinity, popularity: popularity, genres: genres)
    }

    @Test func nothingGivesNothing() {
        #expect(FeedRanking.rank([], signalCount: 3, count: 10) == [])
        #expect(FeedRanking.rank([item(1, 1, 1)], signalCount: 0, count: 0) == [])
    }

    @Test func popularityLeadsUntilAReaderHasSpoken() {
        let items = [item(0.02, 0.1, 1), item(0, 1, 2), item(0, 0.5, 3)]
        #expect(FeedRanking.rank(items, signalCount: 0, count: 3).first == 1)
        #expect(FeedRanking.rank(items, signalCount: 60, count: 3).first == 0)
    }

    @Test func neighboursDifferInGenreWhereOthersAreLeft() {
        let items = (0..<40).map { number in
            let genre: Int16 = number < 25 ? 1 : Int16(2 + number % 3)
            return item(1 - Float(number) / 100, 0, genre)
        }
        let order = FeedRanking.rank(items, signalCount: 20, count: 30)
        #expect(Set(order).count == 30)
        #expect(zip(order, order.dropFirst()).allSatisfy { items[$0].genres != items[$1].genres })
        let alone = FeedRanking.rank(Array(items.prefix(5)), signalCount: 20, count: 5)
        #expect(alone == [0, 1, 2, 3, 4])
    }

    /// Of equals, what is less like the last cards is next.
    @Test func varietyIsPreferred() {
        let items = [
            item(1, 0, 1, 5, 6), item(0.9, 0, 2, 5, 6), item(0.89, 0, 3, 7), item(0, 0, 4),
        ]
        #expect(FeedRanking.rank(items, signalCount: 20, count: 2) == [0, 2])
    }

    @Test func whatSpeaksAgainstABookPutsItLast() {
        let items = [item(-1, 1, 1), item(0, 0.1, 2), item(0.2, 0, 3)]
        #expect(FeedRanking.rank(items, signalCount: 15, count: 3) == [2, 1, 0])
    }
}
