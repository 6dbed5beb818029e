/// Orders cards by their scores under the rules of the feed.
///
/// **Rules**, most important first. If no remaining card satisfies them all, the card is taken whose most important
/// broken rule is the least important one; among equals, the card with the highest score.
///
/// 1. `sameOrigin`: Neighbours have different authors and different series.
/// 2. `sameGenre`: Neighbours have different first genres.
/// 3. `frequentOrigin`: Ten consecutive cards contain at most two books of an author, and one volume of a series. The
///    maximum is three if the reader liked a book of the author, or an earlier volume.
/// 4. `notPreferred`: At least every second card has a preferred genre among its first three, beginning with the first.
/// 5. `fewGenres`: Ten consecutive cards have at least `genresMin` different first genres.
///
/// A sixth rule is never broken: a volume of a series comes after the earlier volumes (`SeriesOrder`).
///
/// **Example.** The scores in order are A 5 (genre 1), B 4 (genre 1), C 3 (genre 2). The result is A, C, B: after
/// A, book B is skipped because it has the same genre, and after C it is allowed.
struct CardOrder {
    /// The rules as bits, so that a more important rule is the greater number.
    private enum Rule {
        static let fewGenres = 1
        static let notPreferred = 2
        static let frequentOrigin = 4
        static let sameGenre = 8
        static let sameOrigin = 16
    }

    /// The properties of a card that the rules compare.
    private struct Card {
        let author: Int32
        let series: Int32
        let genre: Int16
        let isPreferred: Bool
        /// The maximum number of books of its author among ten cards.
        let booksMax: Int
        /// The maximum number of volumes of its series among ten cards.
        let volumesMax: Int

        init(_ book: BookTraits, preferred: Set<Int16>, liked: LikedOrigins) {
            author = book.author
            series = book.series
            genre = book.firstGenre
            isPreferred = book.hasLeadingGenre(in: preferred)
            booksMax =
                liked.containsAuthor(of: book)
                ? CardOrder.likedOriginMax : CardOrder.booksOfAuthorMax
            volumesMax =
                liked.containsEarlierVolume(of: book)
                ? CardOrder.likedOriginMax : CardOrder.volumesOfSeriesMax
        }
    }

    private static let booksOfAuthorMax = 2
    private static let volumesOfSeriesMax = 1
    /// A higher maximum increases the recall of readers' next ratings, but fills half of the cards with sequels.
    private static let likedOriginMax = 3

    private let genresMin: Int
    private let hasPreferred: Bool
    /// The last cards, at most `spread - 1`.
    private var recent: [Card]
    /// The number of different genres in `recent`.
    private var recentGenres = 0
    private let cards: [Card]
    private let series: SeriesOrder

    init(
        _ books: [BookTraits], signals: [ReaderSignal], preferred: Set<Int16>, genresMin: Int,
        after recent: [BookTraits]
    ) {
        series = SeriesOrder(books, signals)
        self.genresMin = genresMin
        hasPreferred = !preferred.isEmpty
        let liked = LikedOrigins(signals)
        cards = books.map { Card($0, preferred: preferred, liked: liked) }
        self.recent = recent.suffix(FeedRanking.spread - 1).map {
            Card($0, preferred: preferred, liked: liked)
        }
        recentGenres = Set(self.recent.map(\.genre)).count
    }

    /// Returns at most `count` elements of `order`, which contains the indices of the books, best first.
    mutating func select(from order: [Int], count: Int) -> [Int] {
        var rest = order
        var chosen: [Int] = []
        var isChosen = [Bool](repeating: false, count: cards.count)
        while chosen.count < count, let position = best(of: rest, isChosen) {
            let index = rest.remove(at: position)
            chosen.append(index)
            isChosen[index] = true
            if recent.count == FeedRanking.spread - 1 { recent.removeFirst() }
            recent.append(cards[index])
            recentGenres = Set(recent.map(\.genre)).count
        }
        return chosen
    }

    private func best(of rest: [Int], _ isChosen: [Bool]) -> Int? {
        var best: (position: Int, broken: Int)?
        for (position, index) in rest.enumerated() {
            if let earlier = series.predecessor(of: index), !isChosen[earlier] { continue }
            let broken = rulesBroken(by: cards[index])
            if broken == 0 { return position }
            if broken < best?.broken ?? .max { best = (position, broken) }
        }
        return best?.position
    }

    /// Returns the bits of the rules that the card would break as the next one.
    private func rulesBroken(by card: Card) -> Int {
        var broken = 0
        var books = 0
        var volumes = 0
        var isNewGenre = true
        for other in recent {
            if card.author != 0 && other.author == card.author { books += 1 }
            if card.series != 0 && other.series == card.series { volumes += 1 }
            if other.genre == card.genre { isNewGenre = false }
        }
        if books >= card.booksMax || volumes >= card.volumesMax { broken |= Rule.frequentOrigin }
        let genres = recentGenres + (isNewGenre ? 1 : 0)
        if recent.count + 1 - genres > FeedRanking.spread - genresMin { broken |= Rule.fewGenres }
        if hasPreferred && !card.isPreferred && recent.last?.isPreferred != true {
            broken |= Rule.notPreferred
        }
        if let last = recent.last {
            if last.genre == card.genre { broken |= Rule.sameGenre }
            if card.author != 0 && last.author == card.author
                || card.series != 0 && last.series == card.series
            {
                broken |= Rule.sameOrigin
            }
        }
        return broken
    }
}

/// The authors and series of the books that a reader likes.
private struct LikedOrigins {
    private var authors: Set<Int32> = []
    /// The first liked volume of each series; 0 for a book without a number.
    private var volumes: [Int32: Float] = [:]

    init(_ signals: [ReaderSignal]) {
        for signal in signals where signal.weight > 0 {
            let book = signal.traits
            let volume = book.seriesPosition ?? 0
            authors.insert(book.author)
            volumes[book.series] = min(volumes[book.series] ?? volume, volume)
        }
        authors.remove(0)
        volumes[0] = nil
    }

    func containsAuthor(of book: BookTraits) -> Bool { authors.contains(book.author) }

    /// Returns true for a book without a number if any volume of its series is liked.
    func containsEarlierVolume(of book: BookTraits) -> Bool {
        guard let first = volumes[book.series] else { return false }
        return first <= book.seriesPosition ?? first
    }
}
