import Testing

@testable import Ranking

/// A book of one genre, by an author of its own unless given.
private func book(
    _ genres: Int16..., author: Int32 = 0, series: Int32 = 0, volume: Float? = nil
) -> BookTraits {
    BookTraits(genres: genres, author: author, series: series, seriesPosition: volume)
}

private func item(
    _ affinity: Float, _ popularity: Float, _ traits: BookTraits
) -> FeedItem {
    FeedItem(affinity: affinity, popularity: popularity, traits: traits)
}

/// Ranks without preferred genres and previous cards.
private func rank(_ items: [FeedItem], _ signals: [ReaderSignal], count: Int) -> [Int] {
    FeedRanking.rank(items, signals: signals, preferred: [], count: count, after: [])
}

/// Likes of books that have nothing in common with the candidates.
private func likes(_ count: Int) -> [ReaderSignal] {
    (0..<count).map { ReaderSignal(weight: 1, newer: Float($0), traits: book()) }
}

@Suite struct FeedRankingTests {
    @Test func emptyInputYieldsAnEmptyResult() {
        #expect(rank([], likes(3), count: 10) == [])
        #expect(rank([item(1, 1, book(1))], [], count: 0) == [])
    }

    @Test func popularityDominatesUntilThereAreSignals() {
        let items = [item(0.02, 0.1, book(1)), item(0, 1, book(2)), item(0, 0.5, book(3))]
        #expect(rank(items, [], count: 3).first == 1)
        #expect(rank(items, likes(60), count: 3).first == 0)
    }

    @Test func newSignalsAreBoosted() {
        #expect(FeedRanking.recencyBoost(newer: 0) == 2)
        #expect(FeedRanking.recencyBoost(newer: Float(FeedRanking.recencyHalfLife)) == 1.5)
        #expect(
            (1...300).allSatisfy { (1..<2).contains(FeedRanking.recencyBoost(newer: Float($0))) })
    }

    @Test func booksWithNegativeAffinityComeLast() {
        let items = [item(-1, 1, book(1)), item(0, 0.1, book(2)), item(0.2, 0, book(3))]
        #expect(rank(items, likes(15), count: 3) == [2, 1, 0])
    }

    // MARK: Content

    /// 240 books of twelve genres by different authors. The popularity of each is a little lower than that of the one
    /// before. Every fourth book has a second genre.
    private static let catalog: [FeedItem] = (0..<240).map { (number: Int) -> FeedItem in
        let first = Int16(1 + number % 12)
        let genres = number % 4 == 0 ? [first, Int16(1 + number / 12 % 12)] : [first]
        let traits = BookTraits(
            genres: genres, author: Int32(100 + number), series: 0, seriesPosition: nil)
        return FeedItem(affinity: 0, popularity: 1 / Float(1 + number / 12), traits: traits)
    }

    private static func share(of genre: Int16, in order: [Int]) -> Int {
        order.count { catalog[$0].traits.genres.contains(genre) }
    }

    /// Without links between books, the genres of the liked books decide.
    @Test func likesOfOneGenreBringMoreOfIt() {
        let before = rank(Self.catalog, [], count: 20)
        let signals = (0..<5).map { ReaderSignal(weight: 1, newer: Float($0), traits: book(7)) }
        let after = rank(Self.catalog, signals, count: 20)
        #expect(Self.share(of: 7, in: before) <= 4)
        #expect(Self.share(of: 7, in: after) >= 6, "\(after)")
        #expect(Self.catalog[after[0]].traits.firstGenre == 7)
    }

    /// Ten books of other genres have links from the liked books, so that genres count by half.
    @Test func likedGenresCountBesideLinks() {
        let items = Self.catalog.enumerated().map { number, item in
            var item = item
            if number % 12 != 6 && number < 11 { item.affinity = 0.1 }
            return item
        }
        let signals = (0..<5).map { ReaderSignal(weight: 1, newer: Float($0), traits: book(7)) }
        let order = rank(items, signals, count: 20)
        #expect(Self.share(of: 7, in: order) >= 6, "\(order)")
    }

    @Test func dislikesOfOneGenreMakeItRecede() {
        let signals = (0..<5).map { _ in ReaderSignal(weight: -0.3, newer: 0, traits: book(7)) }
        let after = rank(Self.catalog, signals, count: 20)
        #expect(Self.share(of: 7, in: after) == 0, "\(after)")
        #expect(after.count == 20)
    }

    /// Genre 1 is that of most books, and genre 9 is rare.
    @Test func rareGenresSayMore() {
        var items = (0..<50).map { _ in item(0, 0.1, book(1)) }
        items += [item(0, 0.5, book(1, 2)), item(0, 0.5, book(9, 2))]
        let order = rank(items, [ReaderSignal(weight: 1, newer: 0, traits: book(1, 9))], count: 2)
        #expect(order.first == 51)
    }

    @Test func authorsOfLikedBooksComeFirst() {
        let items = [
            item(0, 0.5, book(1, author: 1)), item(0, 0.5, book(1, author: 2)),
            item(0, 0.5, book(1, author: 3)),
        ]
        let signals = [
            ReaderSignal(weight: 1, newer: 0, traits: book(4, author: 3)),
            ReaderSignal(weight: -0.3, newer: 0, traits: book(4, author: 1)),
        ]
        #expect(rank(items, signals, count: 3) == [2, 1, 0])
    }

    // MARK: Preferred genres

    @Test(arguments: [0, 1, 30])
    func preferredGenresHoldHoweverManySignalsThereAre(signalCount: Int) {
        let signals = (0..<signalCount).map {
            ReaderSignal(weight: 1, newer: Float($0), traits: book(7))
        }
        let order = FeedRanking.rank(
            Self.catalog, signals: signals, preferred: [3], count: 20, after: [])
        let isPreferred = order.map { Self.catalog[$0].traits.genres.contains(3) }
        #expect(isPreferred[0])
        #expect(zip(isPreferred, isPreferred.dropFirst()).allSatisfy { $0 || $1 })
    }

    @Test func unknownPreferredGenresAreIgnored() {
        let order = FeedRanking.rank(
            Self.catalog, signals: [], preferred: [99], count: 20, after: [])
        #expect(order == FeedRanking.coldStartDeck(Self.catalog, count: 20))
    }
}

@Suite struct CardOrderTests {
    /// The rules hold although most candidates, and the best ones, belong to three genres.
    @Test(arguments: 0..<20)
    func tenConsecutiveCardsHaveSixGenresAndNeighboursDiffer(seed: Int) {
        // The first 120 items, which have the highest scores, belong to three genres.
        let genres = (0..<200).map { number in
            let hash = ((number + 200 * seed) &* 2_654_435_761) >> 12 & 0xFFFF
            return Int16(1 + hash % (number < 120 ? 3 : 12))
        }
        let items = genres.enumerated().map { item(1 - Float($0) / 200, 0, book($1)) }
        let order = rank(items, likes(20), count: 60)
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
        let items = (0..<90).map { (number: Int) -> FeedItem in
            let genre = number < 60 ? number % 3 : number
            return item(1 - Float(number) / 100, 0, book(Int16(1 + genre)))
        }
        let shown = rank(items, likes(signalCount), count: 40).map {
            items[$0].traits.firstGenre
        }
        let counts = (10...40).map { Set(shown[($0 - 10)..<$0]).count }
        #expect(counts.allSatisfy { $0 == genresMin }, "\(counts)")
    }

    @Test func neighboursDifferEvenIfThereAreFewGenres() {
        let items = (0..<40).map { (number: Int) -> FeedItem in
            let genre = number < 25 ? 1 : 2 + number % 3
            return item(1 - Float(number) / 100, 0, book(Int16(genre)))
        }
        let order = rank(items, likes(20), count: 30)
        #expect(Set(order).count == 30)
        #expect(
            zip(order, order.dropFirst()).allSatisfy {
                items[$0].traits.firstGenre != items[$1].traits.firstGenre
            })
        #expect(rank(Array(items.prefix(5)), likes(20), count: 5) == [0, 1, 2, 3, 4])
    }

    /// Popular books of five genres, with three prolific authors and a series of several authors.
    private static let popular: [FeedItem] = (0..<120).map { (number: Int) -> FeedItem in
        let genre = number < 40 ? 1 + number % 2 : 1 + number % 5
        let author = number < 30 ? 1 + number % 3 : 10 + number
        let traits = BookTraits(
            genres: [Int16(genre)], author: Int32(author), series: number % 7 == 0 ? 1 : 0,
            seriesPosition: nil)
        return FeedItem(affinity: 0, popularity: 1 - Float(number) / 200, traits: traits)
    }

    /// Also checks that the rules hold from one deck to the next.
    @Test func authorsAndSeriesAreRareInTenCards() {
        let first = FeedRanking.coldStartDeck(Self.popular, count: 15)
        let rest = Self.popular.indices.filter { !first.contains($0) }
        let second = FeedRanking.rank(
            rest.map { Self.popular[$0] }, signals: [], preferred: [], count: 30,
            after: first.suffix(9).map { Self.popular[$0].traits }
        ).map { rest[$0] }
        let order = first + second
        #expect(first.first == 0)
        #expect(Set(order).count == 45)
        let cards = order.map { Self.popular[$0].traits }
        for (card, next) in zip(cards, cards.dropFirst()) {
            #expect(card.author != next.author && card.firstGenre != next.firstGenre)
        }
        for end in 10...45 {
            let ten = cards[(end - 10)..<end]
            #expect(Dictionary(grouping: ten, by: \.author).values.allSatisfy { $0.count <= 2 })
            #expect(ten.count { $0.series == 1 } <= 1)
        }
    }

    @Test func likedAuthorsAppearAtMostThreeTimesInTenCards() {
        let items = Self.popular.filter { $0.traits.series == 0 }
        let liked = ReaderSignal(weight: 1, newer: 0, traits: book(9, author: 2))
        let disliked = ReaderSignal(weight: -0.3, newer: 0, traits: book(9, author: 3))
        let authors = rank(items, [liked, disliked], count: 40).map { items[$0].traits.author }
        #expect(authors.prefix(10).count { $0 == 2 } == 3, "\(authors)")
        #expect(zip(authors, authors.dropFirst()).allSatisfy { $0 != $1 })
        for end in 10...40 {
            let ten = authors[(end - 10)..<end]
            #expect(ten.count { $0 == 2 } <= 3, "\(authors)")
            #expect(ten.count { $0 == 1 } <= 2 && ten.count { $0 == 3 } <= 2, "\(authors)")
        }
    }

    @Test func rulesAreRelaxedInOrder() {
        let one = item(0, 0, book(1, author: 5))
        #expect(FeedRanking.coldStartDeck([one, one, one], count: 10) == [0, 1, 2])
        // A neighbour of the same genre is better than one of the same author.
        let genre = item(0, 0, book(1, author: 6))
        let author = item(0, 0.5, book(2, author: 5))
        #expect(
            FeedRanking.coldStartDeck([item(0, 1, book(1, author: 5)), author, genre], count: 3)
                == [0, 2, 1])
        // The third book of an author is better than neighbours of the same genre.
        let books = [
            book(1, author: 5), book(2, author: 1), book(1, author: 5), book(2, author: 2),
            book(1, author: 5), book(2, author: 3),
        ]
        let items = books.enumerated().map { item(0, 1 - Float($0) / 10, $1) }
        #expect(FeedRanking.coldStartDeck(items, count: 6) == [0, 1, 2, 3, 4, 5])
    }
}

@Suite struct SeriesOrderTests {
    /// 30 other books of different genres, all less popular than those of the series.
    private static let others = (0..<30).map { number in
        item(0, 0.1 - Float(number) / 1000, book(Int16(10 + number)))
    }

    private static func positions(_ order: [Int], _ items: [FeedItem]) -> [Float] {
        order.compactMap { items[$0].traits.seriesPosition }
    }

    @Test func volumesComeInOrderAndOneInTenCards() {
        let volumes = [4, 2, 1, 3].map { (volume: Float) in
            item(0, 0.5 + volume / 10, book(1, series: 1, volume: volume))
        }
        let items = volumes + Self.others
        let order = rank(items, [], count: 34)
        #expect(Self.positions(order, items) == [1, 2, 3, 4])
        #expect(order.enumerated().filter { $0.element < 4 }.map(\.offset) == [0, 10, 20, 30])
    }

    @Test func likedSeriesContinueWithTheNextVolume() {
        let volumes = [1, 2, 4, 5, 6].map { (volume: Float) in
            item(0, 0.5 + volume / 100, book(Int16(volume), series: 1, volume: volume))
        }
        let items = volumes + Self.others
        let liked = ReaderSignal(
            weight: 1, newer: 0, traits: book(3, series: 1, volume: 3))
        let order = rank(items, [liked], count: 35)
        let later = Self.positions(order, items).filter { $0 > 3 }
        #expect(later == [4, 5, 6])
        // Not as neighbours.
        let offsets = order.enumerated().filter { $0.element >= 2 && $0.element < 5 }.map(\.offset)
        #expect(offsets == [0, 2, 4])
        // Volume 1 comes before the liked one, so volumes 1 and 2 are not both among ten cards.
        let earlier = order.enumerated().filter { $0.element < 2 }.map(\.offset)
        #expect(earlier.count == 2 && earlier[1] - earlier[0] >= 10, "\(earlier)")
    }

    @Test func volumesThatTheReaderHasPassedAreNotWaitedFor() {
        let items = [
            item(0, 0.1, book(1, series: 1, volume: 1)), item(0, 1, book(2, series: 1, volume: 3)),
        ]
        let passed = ReaderSignal(weight: -0.05, newer: 0, traits: book(3, series: 1, volume: 2))
        #expect(rank(items, [], count: 2) == [0, 1])
        #expect(rank(items, [passed], count: 2) == [1, 0])
    }

    /// Volume 1.5 comes after volume 1, but volume 2 does not wait for it. Volume 0.5 and the book without a number wait
    /// for none and hold none back.
    @Test func shortStoriesAreNotWaitedFor() {
        let volumes: [(Float, Float)] = [(0.5, 0.02), (1, 0.5), (1.5, 0.03), (2, 1)]
        let series = volumes.map { volume, popularity in
            item(0, popularity, book(Int16(volume * 2), series: 1, volume: volume))
        }
        let unnumbered = item(0, 0.9, book(9, series: 1))
        let order = rank(series + [unnumbered] + Self.others, [], count: 35)
        #expect(order.filter { $0 < 5 } == [4, 1, 3, 2, 0])
    }
}
