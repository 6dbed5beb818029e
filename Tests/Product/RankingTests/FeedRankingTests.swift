import Testing

@testable import Ranking

/// A book of one genre, by an author of its own unless given.
private func book(
    _ genres: Int16..., author: Int32 = 0, series: Int64 = 0, volume: Float? = nil
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
        let items = [item(0.1, 0.1, book(1)), item(0, 1, book(2)), item(0, 0.5, book(3))]
        #expect(rank(items, [], count: 3).first == 1)
        #expect(rank(items, likes(60), count: 3).first == 0)
    }

    @Test func newSignalsAreBoosted() {
        #expect(FeedRanking.recencyBoost(newer: 0) == 5)
        #expect(FeedRanking.recencyBoost(newer: Float(FeedRanking.recencyHalfLife)) == 3)
        #expect(
            (1...300).allSatisfy { (1..<5).contains(FeedRanking.recencyBoost(newer: Float($0))) })
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
        order.count { $0 < catalog.count && catalog[$0].traits.genres.contains(genre) }
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

    /// Books of a small genre have few readers, and other readers' likes lead elsewhere.
    /// The likes also have genre 8, which more books have than genre 12, and genre 13, which too few have.
    @Test(arguments: [(3, 0, true), (3, 3, true), (5, 0, true), (2, 0, false), (3, 4, false)])
    func everyThirdCardHasTheGenreOfMostLikes(likes: Int, others: Int, isShown: Bool) {
        let items = Self.catalog.enumerated().map { number, item in
            FeedItem(
                affinity: item.traits.genres == [12] ? 0 : 0.5, popularity: item.popularity,
                traits: item.traits)
        }
        // One book has genre 13.
        let all = items + [FeedItem(affinity: 0.5, popularity: 0.5, traits: book(13))]
        let signals = (0..<likes + others).map { number in
            ReaderSignal(
                weight: 1, newer: Float(number),
                traits: number < likes ? book(8, 12, 13) : book(Int16(20 + number)))
        }
        let order = rank(all, signals, count: 20)
        #expect((Self.share(of: 12, in: order) >= 6) == isShown, "\(order)")
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

    /// One book says little about genres, so that the first like displaces few popular books.
    @Test func genresCountMoreWithEachLike() {
        let shares = [0, 1, 3, 8].map { likes in
            let signals = (0..<likes).map {
                ReaderSignal(weight: 1, newer: Float($0), traits: book(7, Int16(20 + $0)))
            }
            return Self.share(of: 7, in: rank(Self.catalog, signals, count: 30))
        }
        #expect(shares == shares.sorted() && shares[1] < shares[3], "\(shares)")
    }

    /// On a new installation, five likes of one genre weigh more than 900 times the popularity.
    @Test func fiveLikesOfOneGenreCountFully() {
        let items = [item(0, 1, book(8)), item(0, 0.0011, book(7))]
        let signals = (0..<5).map { ReaderSignal(weight: 1, newer: Float($0), traits: book(7)) }
        #expect(rank(items, signals, count: 1) == [1])
        #expect(rank(items, Array(signals.prefix(1)), count: 1) == [0])
    }

    /// Unlike a like, a dislike counts fully from the first one.
    @Test func oneDislikeCountsFully() {
        let items = [item(0, 1, book(7)), item(0, 0.7, book(8))]
        let dislike = ReaderSignal(weight: -0.3, newer: 0, traits: book(7))
        #expect(rank(items, [dislike], count: 1) == [1])
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
        #expect(order == rank(Self.catalog, [], count: 20))
    }
}

@Suite struct CardOrderTests {
    /// The price of a genre is 0.1 without signals: the second book of the genre is worth 0.95 - 0.1 * 0.95 = 0.855.
    @Test func similarCardsPayAShareOfTheScore() {
        func order(_ other: Float) -> [Int] {
            rank(
                [item(0, 1, book(1)), item(0, 0.95, book(1)), item(0, other, book(2))], [], count: 3
            )
        }
        #expect(order(0.86) == [0, 2, 1])
        #expect(order(0.85) == [0, 1, 2])
    }

    /// After a card of another genre, the second book of the genre pays only half of the price: 0.95 - 0.05 * 0.95 = 0.9025.
    @Test func pricesFallWithTheDistance() {
        let items = [
            item(0, 1, book(1)), item(0, 0.95, book(1)), item(0, 0.94, book(2)),
            item(0, 0.9, book(3)),
        ]
        #expect(rank(items, [], count: 4) == [0, 2, 1, 3])
    }

    /// The prices are shares, so that the order does not depend on the scale of the scores.
    @Test func orderDoesNotDependOnTheScaleOfScores() {
        func order(scale: Float) -> [Int] {
            let items = (0..<60).map { (number: Int) -> FeedItem in
                let traits = book(Int16(1 + number % 4), author: Int32(1 + number % 7))
                return item(scale / Float(1 + number), 0, traits)
            }
            return rank(items, likes(20), count: 40)
        }
        #expect(order(scale: 1024) == order(scale: 1))
        #expect(order(scale: 1 / 1024) == order(scale: 1))
    }

    /// 60 books of three genres have higher scores than the others, which all have different genres.
    @Test func readersWithManySignalsGetMoreGenres() {
        let items = (0..<90).map { (number: Int) -> FeedItem in
            let genre = number < 60 ? number % 3 : number
            return item(1 - Float(number) / 300, 0, book(Int16(1 + genre)))
        }
        let counts = [0, 4, 60].map { signalCount in
            Set(rank(items, likes(signalCount), count: 10).map { items[$0].traits.firstGenre })
                .count
        }
        #expect(counts == counts.sorted() && counts[0] < counts[2], "\(counts)")
    }

    @Test func neighboursDifferInGenreIfScoresAreSimilar() {
        let items = (0..<40).map { (number: Int) -> FeedItem in
            item(1 - Float(number) / 400, 0, book(Int16(number < 25 ? 1 : 2 + number % 3)))
        }
        let order = rank(items, likes(20), count: 15)
        #expect(Set(order).count == 15)
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

    /// Also checks that the order continues from one deck to the next.
    @Test func neighboursDifferInAuthorAndSeries() {
        let first = rank(Self.popular, [], count: 15)
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
            #expect(card.author != next.author && (card.series == 0 || next.series == 0))
        }
    }

    @Test func likedAuthorsComeMoreOftenThanDislikedOnes() {
        let items = Self.popular.filter { $0.traits.series == 0 }
        let liked = ReaderSignal(weight: 1, newer: 0, traits: book(9, author: 2))
        let disliked = ReaderSignal(weight: -0.3, newer: 0, traits: book(9, author: 3))
        let authors = rank(items, [liked, disliked], count: 20).map { items[$0].traits.author }
        #expect(authors.first == 2)
        #expect(authors.count { $0 == 2 } > authors.count { $0 == 3 }, "\(authors)")
        #expect(zip(authors, authors.dropFirst()).allSatisfy { $0 != $1 })
    }

    /// Every second book is by one author, and every fourth of one series. All of them have the highest scores.
    @Test(arguments: [0, 5, 60])
    func seriesAndAuthorsAreLimited(signalCount: Int) {
        let items = (0..<120).map { (number: Int) -> FeedItem in
            let origin = number < 60 ? number % 4 : 10 + number
            return item(
                Float(120 - number), 0,
                book(
                    Int16(number % 7), author: Int32(origin == 2 ? 0 : 1 + origin),
                    series: origin == 0 ? 1 : 0))
        }
        let order = rank(items, likes(signalCount), count: 80).map { items[$0].traits }
        for start in 0...60 {
            let cards = order[start..<start + 20]
            #expect(cards.count { $0.series == 1 } <= 3)
            let authors = Dictionary(grouping: cards.filter { $0.author != 0 }, by: \.author)
            #expect(authors.values.allSatisfy { $0.count <= 4 })
        }
        #expect(order.prefix(20).count { $0.series == 1 } == 3)
    }

    /// A series that has all of the reader's likes may have five cards, and four if it has half of them.
    @Test(arguments: [(1, 0, 5), (1, 1, 4), (2, 1, 4), (1, 2, 3)])
    func likedSeriesHaveMoreCards(likes: Int, others: Int, expected: Int) {
        let items = (0..<120).map { (number: Int) in
            item(
                Float(120 - number), 0,
                book(
                    Int16(number % 7), author: number % 2 == 0 ? 1 : Int32(10 + number),
                    series: number % 2 == 0 ? 1 : 0))
        }
        let signals = (0..<likes + others).map { number in
            ReaderSignal(
                weight: 1, newer: Float(number),
                traits: number < likes ? book(9, author: 1, series: 1) : book(8))
        }
        let order = rank(items, signals, count: 40).map { items[$0].traits }
        for start in 0...20 {
            #expect(order[start..<start + 20].count { $0.series == 1 } <= expected)
        }
        #expect(order.prefix(20).count { $0.series == 1 } == expected)
    }

    @Test func rulesAreBrokenOnlyIfNothingElseIsLeft() {
        let one = item(0, 0, book(1, author: 5))
        #expect(rank([one, one, one], [], count: 10) == [0, 1, 2])
        // A neighbour of the same genre with a low score is better than one of the same author.
        let items = [
            item(0, 1, book(1, author: 5)), item(0, 0.9, book(2, author: 5)),
            item(0, 0, book(1, author: 6)),
        ]
        #expect(rank(items, [], count: 3) == [0, 2, 1])
        // Different neighbours are more important than preferred genres.
        #expect(
            FeedRanking.rank(items, signals: [], preferred: [2], count: 3, after: [])
                == [1, 2, 0])
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

    @Test func volumesComeInOrder() {
        let volumes = [4, 2, 1, 3].map { (volume: Float) in
            item(0, 0.5 + volume / 10, book(1, series: 1, volume: volume))
        }
        let items = volumes + Self.others
        let order = rank(items, [], count: 34)
        #expect(Self.positions(order, items) == [1, 2, 3, 4])
        let offsets = order.enumerated().filter { $0.element < 4 }.map(\.offset)
        #expect(zip(offsets, offsets.dropFirst()).allSatisfy { $1 - $0 > 1 }, "\(offsets)")
    }

    /// The liked volume 3 is also missing. The earlier volumes come in order if they are more popular, and otherwise not at all.
    @Test(arguments: [(0, [4, 5, 6]), (1, [1, 2, 4, 5, 6])] as [(Float, [Float])])
    func likedSeriesContinueWithTheNextVolume(popularity: Float, expected: [Float]) {
        let volumes = [2, 1, 4, 5, 6].map { (volume: Float) in
            item(0, volume < 3 ? popularity : 0.5, book(Int16(volume), series: 1, volume: volume))
        }
        let items = volumes + Self.others
        let liked = ReaderSignal(weight: 1, newer: 0, traits: book(3, series: 1, volume: 3))
        #expect(Self.positions(rank(items, [liked], count: 35), items) == expected)
    }

    @Test func noVolumeFollowsALaterOne() {
        let items = [
            item(0, 0.1, book(1, series: 1, volume: 1)), item(0, 1, book(2, series: 1, volume: 3)),
        ]
        let passed = ReaderSignal(weight: -0.05, newer: 0, traits: book(3, series: 1, volume: 2))
        #expect(rank(items, [], count: 2) == [0, 1])
        #expect(rank(items, [passed], count: 2) == [1])
    }

    /// Volume 1 is unknown, and volume 3 is the most popular book.
    @Test func theFirstVolumeStandsForItsSeries() {
        let items = [
            item(0, 0.01, book(1, series: 1, volume: 1)),
            item(0, 0.02, book(2, series: 1, volume: 2)),
            item(0, 1, book(3, series: 1, volume: 3)),
        ]
        #expect(rank(Self.others + items, [], count: 5).filter { $0 >= 30 } == [30, 31, 32])
        #expect(rank(Self.others + items, [], count: 1) == [30])
    }

    /// Volume 2 has the highest score of all. The volumes 1 and 2 have a mean of 0.6, and are not neighbours.
    @Test func volumesHaveTheMeanOfTheOnesThatWait() {
        let items = [
            item(0, 0.2, book(1, series: 1, volume: 1)), item(0, 1, book(2, series: 1, volume: 2)),
            item(0, 0.7, book(3)), item(0, 0.5, book(4)), item(0, 0.4, book(5)),
        ]
        #expect(rank(items, [], count: 5) == [2, 0, 3, 1, 4])
        // A later volume with a low score does not lower the earlier ones.
        let series = [0.6, 0.1, 0.05].enumerated().map { offset, popularity in
            item(0, Float(popularity), book(1, series: 1, volume: Float(offset + 1)))
        }
        let others = [item(0, 0.5, book(2)), item(0, 0.3, book(3))]
        #expect(rank(series + others, [], count: 3) == [0, 3, 4])
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
