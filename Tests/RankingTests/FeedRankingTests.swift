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

    /// Of five genres, authors who write a lot in one, and series of several authors.
    private static let popular: [FeedItem] = (0..<120).map { (number: Int) -> FeedItem in
        let genre = number < 40 ? 1 : 1 + number % 5
        let author = number < 30 ? 1 + number % 3 : 10 + number
        let origin = Origin(author: Int32(author), series: number % 7 == 0 ? 1 : 0)
        return FeedItem(affinity: 0, popularity: 0, genres: [Int16(genre)], origin: origin)
    }

    @Test func openingIsThePopularWithNoAuthorOrSeriesTwiceInTen() {
        let order = FeedRanking.opening(Self.popular, count: 50)
        #expect(order.first == 0)
        #expect(Set(order).count == 50)
        for (place, item) in order.enumerated() {
            let recent = order[..<place].suffix(9).map { Self.popular[$0] }
            let card = Self.popular[item]
            #expect(!recent.contains { $0.origin.isLike(card.origin) })
            #expect(recent.last?.genres != card.genres)
            // Whatever is more popular and came later could not stand here.
            for other in 0..<item where !order[..<place].contains(other) {
                let other = Self.popular[other]
                #expect(
                    recent.last?.genres == other.genres
                        || recent.contains { $0.origin.isLike(other.origin) })
            }
        }
    }

    @Test func openingTakesWhatThereIs() {
        let one = (0..<3).map { _ in
            FeedItem(
                affinity: 0, popularity: 0, genres: [1], origin: Origin(author: 5, series: 0))
        }
        #expect(FeedRanking.opening(one, count: 10) == [0, 1, 2])
        #expect(FeedRanking.opening([], count: 10) == [])
        // Better an author again than a genre.
        let two =
            one + [
                FeedItem(
                    affinity: 0, popularity: 0, genres: [2], origin: Origin(author: 5, series: 0))
            ]
        #expect(FeedRanking.opening(two, count: 2) == [0, 3])
    }
}
