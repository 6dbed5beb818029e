import Testing

@testable import Ranking

@Suite struct FeedRankingTests {
    private func item(_ affinity: Float, _ popularity: Float, _ genre: Int16) -> FeedItem {
        FeedItem(affinity: affinity, popularity: popularity, genre: genre)
    }

    @Test func emptyInputYieldsAnEmptyResult() {
        #expect(FeedRanking.rank([], signalCount: 3, count: 10) == [])
        #expect(FeedRanking.rank([item(1, 1, 1)], signalCount: 0, count: 0) == [])
    }

    @Test func popularityDominatesUntilThereAreSignals() {
        let items = [item(0.02, 0.1, 1), item(0, 1, 2), item(0, 0.5, 3)]
        #expect(FeedRanking.rank(items, signalCount: 0, count: 3).first == 1)
        #expect(FeedRanking.rank(items, signalCount: 60, count: 3).first == 0)
    }

    /// The rules hold although most candidates, and the best ones, belong to three genres.
    @Test(arguments: 0..<20)
    func tenConsecutiveCardsHaveSixGenresAndNeighboursDiffer(seed: Int) {
        // The first 120 items, which have the highest scores, belong to three genres.
        let genres = (0..<200).map { number in
            let hash = ((number + 200 * seed) &* 2_654_435_761) >> 12 & 0xFFFF
            return Int16(1 + hash % (number < 120 ? 3 : 12))
        }
        let items = genres.enumerated().map { item(1 - Float($0) / 200, 0, $1) }
        let order = FeedRanking.rank(items, signalCount: 20, count: 60)
        #expect(order.count == 60)
        #expect(Set(order).count == 60)
        let shown = order.map { genres[$0] }
        #expect(zip(shown, shown.dropFirst()).allSatisfy { $0 != $1 })
        for end in 10...60 { #expect(Set(shown[(end - 10)..<end]).count >= 6, "\(shown)") }
        // An item is skipped only because of a rule: the best permitted item comes first.
        #expect(order[0] == 0)
        #expect(order[1] == genres.firstIndex { $0 != genres[0] })
    }

    /// The best items belong to three genres, so that cards of other genres appear only as required.
    @Test(arguments: [(0, 4), (3, 4), (4, 5), (7, 5), (8, 6), (300, 6)])
    func minimumNumberOfGenresGrowsWithSignals(signalCount: Int, genresMin: Int) {
        let items = (0..<90).map { item(1 - Float($0) / 100, 0, Int16($0 < 60 ? $0 % 3 : $0)) }
        let shown = FeedRanking.rank(items, signalCount: signalCount, count: 40).map {
            items[$0].genre
        }
        let counts = (10...40).map { Set(shown[($0 - 10)..<$0]).count }
        #expect(counts.allSatisfy { $0 == genresMin }, "\(counts)")
    }

    @Test func neighboursDifferEvenIfThereAreFewGenres() {
        let items = (0..<40).map { item(1 - Float($0) / 100, 0, $0 < 25 ? 1 : 2 + Int16($0 % 3)) }
        let order = FeedRanking.rank(items, signalCount: 20, count: 30)
        #expect(Set(order).count == 30)
        #expect(zip(order, order.dropFirst()).allSatisfy { items[$0].genre != items[$1].genre })
        let alone = FeedRanking.rank(Array(items.prefix(5)), signalCount: 20, count: 5)
        #expect(alone == [0, 1, 2, 3, 4])
    }

    @Test func newSignalsAreBoosted() {
        #expect(FeedRanking.recencyBoost(newer: 0) == 2)
        #expect(FeedRanking.recencyBoost(newer: FeedRanking.recencyHalfLife) == 1.5)
        #expect((1...300).allSatisfy { (1..<2).contains(FeedRanking.recencyBoost(newer: $0)) })
    }

    @Test func booksWithNegativeAffinityComeLast() {
        let items = [item(-1, 1, 1), item(0, 0.1, 2), item(0.2, 0, 3)]
        #expect(FeedRanking.rank(items, signalCount: 15, count: 3) == [2, 1, 0])
    }

    /// Popular books of five genres, with three prolific authors and a series of several authors.
    private static let popular: [FeedItem] = (0..<120).map { (number: Int) -> FeedItem in
        let genre = number < 40 ? 1 : 1 + number % 5
        let author = number < 30 ? 1 + number % 3 : 10 + number
        let origin = Origin(author: Int32(author), series: number % 7 == 0 ? 1 : 0)
        return FeedItem(affinity: 0, popularity: 0, genre: Int16(genre), origin: origin)
    }

    @Test func coldStartDeckRepeatsNoAuthorOrSeriesWithinTenCards() {
        let order = FeedRanking.coldStartDeck(Self.popular, count: 50)
        #expect(order.first == 0)
        #expect(Set(order).count == 50)
        for (position, item) in order.enumerated() {
            let recent = order[..<position].suffix(9).map { Self.popular[$0] }
            let card = Self.popular[item]
            #expect(!recent.contains { $0.origin.sharesAuthorOrSeries(with: card.origin) })
            #expect(recent.last?.genre != card.genre)
            // Every more popular item that comes later is not permitted at this position.
            for other in 0..<item where !order[..<position].contains(other) {
                let other = Self.popular[other]
                #expect(
                    recent.last?.genre == other.genre
                        || recent.contains { $0.origin.sharesAuthorOrSeries(with: other.origin) })
            }
        }
    }

    @Test func coldStartDeckRelaxesTheRulesIfNecessary() {
        let one = (0..<3).map { _ in
            FeedItem(
                affinity: 0, popularity: 0, genre: 1, origin: Origin(author: 5, series: 0))
        }
        #expect(FeedRanking.coldStartDeck(one, count: 10) == [0, 1, 2])
        #expect(FeedRanking.coldStartDeck([], count: 10) == [])
        // The rule on authors is dropped before the rule on genres.
        let two =
            one + [
                FeedItem(
                    affinity: 0, popularity: 0, genre: 2, origin: Origin(author: 5, series: 0))
            ]
        #expect(FeedRanking.coldStartDeck(two, count: 2) == [0, 3])
    }
}
