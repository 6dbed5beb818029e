import Testing

@testable import Ranking

@Suite struct FeedRankingTests {
    private func item(_ affinity: Float, _ popularity: Float, _ genre: Int16) -> FeedItem {
        FeedItem(affinity: affinity, popularity: popularity, genre: genre)
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

    /// However much the signals speak for one genre, and of readers of one genre most of all.
    @Test(arguments: 0..<20)
    func tenCardsAreOfSixGenresAndNeighboursOfTwo(seed: Int) {
        // Most books are of few genres, and these are the best.
        let genres = (0..<200).map { number in
            let drawn = ((number + 200 * seed) &* 2_654_435_761) >> 12 & 0xFFFF
            return Int16(1 + drawn % (number < 120 ? 3 : 12))
        }
        let items = genres.enumerated().map { item(1 - Float($0) / 200, 0, $1) }
        let order = FeedRanking.rank(items, signalCount: 20, count: 60)
        #expect(order.count == 60)
        #expect(Set(order).count == 60)
        let shown = order.map { genres[$0] }
        #expect(zip(shown, shown.dropFirst()).allSatisfy { $0 != $1 })
        for end in 10...60 { #expect(Set(shown[(end - 10)..<end]).count >= 6, "\(shown)") }
        // Nothing gives way but to a rule: the best that may stand here is here.
        #expect(order[0] == 0)
        #expect(order[1] == genres.firstIndex { $0 != genres[0] })
    }

    /// Three genres are the best ones, so that no card is of another unless it must be.
    @Test(arguments: [(0, 4), (3, 4), (4, 5), (7, 5), (8, 6), (300, 6)])
    func genresAskedForGrowWithWhatIsKnown(signalCount: Int, genresMin: Int) {
        let items = (0..<90).map { item(1 - Float($0) / 100, 0, Int16($0 < 60 ? $0 % 3 : $0)) }
        let shown = FeedRanking.rank(items, signalCount: signalCount, count: 40).map {
            items[$0].genre
        }
        let counts = (10...40).map { Set(shown[($0 - 10)..<$0]).count }
        #expect(counts.allSatisfy { $0 == genresMin }, "\(counts)")
    }

    @Test func whereGenresAreFewNeighboursDifferStill() {
        let items = (0..<40).map { item(1 - Float($0) / 100, 0, $0 < 25 ? 1 : 2 + Int16($0 % 3)) }
        let order = FeedRanking.rank(items, signalCount: 20, count: 30)
        #expect(Set(order).count == 30)
        #expect(zip(order, order.dropFirst()).allSatisfy { items[$0].genre != items[$1].genre })
        let alone = FeedRanking.rank(Array(items.prefix(5)), signalCount: 20, count: 5)
        #expect(alone == [0, 1, 2, 3, 4])
    }

    @Test func newSignalsAreLouder() {
        #expect(FeedRanking.loudness(newer: 0) == 2)
        #expect(FeedRanking.loudness(newer: FeedRanking.loudnessHalf) == 1.5)
        #expect((1...300).allSatisfy { (1..<2).contains(FeedRanking.loudness(newer: $0)) })
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
        return FeedItem(affinity: 0, popularity: 0, genre: Int16(genre), origin: origin)
    }

    @Test func openingIsThePopularWithNoAuthorOrSeriesTwiceInTen() {
        let order = FeedRanking.opening(Self.popular, count: 50)
        #expect(order.first == 0)
        #expect(Set(order).count == 50)
        for (place, item) in order.enumerated() {
            let recent = order[..<place].suffix(9).map { Self.popular[$0] }
            let card = Self.popular[item]
            #expect(!recent.contains { $0.origin.isLike(card.origin) })
            #expect(recent.last?.genre != card.genre)
            // Whatever is more popular and came later could not stand here.
            for other in 0..<item where !order[..<place].contains(other) {
                let other = Self.popular[other]
                #expect(
                    recent.last?.genre == other.genre
                        || recent.contains { $0.origin.isLike(other.origin) })
            }
        }
    }

    @Test func openingTakesWhatThereIs() {
        let one = (0..<3).map { _ in
            FeedItem(
                affinity: 0, popularity: 0, genre: 1, origin: Origin(author: 5, series: 0))
        }
        #expect(FeedRanking.opening(one, count: 10) == [0, 1, 2])
        #expect(FeedRanking.opening([], count: 10) == [])
        // Better an author again than a genre.
        let two =
            one + [
                FeedItem(
                    affinity: 0, popularity: 0, genre: 2, origin: Origin(author: 5, series: 0))
            ]
        #expect(FeedRanking.opening(two, count: 2) == [0, 3])
    }
}
