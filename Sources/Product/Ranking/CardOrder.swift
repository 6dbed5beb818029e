/// Orders cards by their scores, minus a price for the genre of the cards before them (maximal marginal relevance).
///
/// A card pays a share of the best remaining score for each of the last nine cards that has the same first genre. The share is divided
/// by the distance: the card before counts fully, and the one `d` cards before counts `1 / d`. Because the price is relative, it means
/// the same for all readers and at the end of a deck. It is less the more of the reader's likes have the genre, for readers of one
/// genre.
///
/// Four rules come before scores. If no remaining card satisfies all, the first ones are more important:
///
/// 1. Of 20 consecutive cards, at most three belong to one series, and at most four are by one author. If all likes have the same series or
///    author, the limit is two more, and one more for half of the likes.
/// 2. Neighbours have different authors and different series.
/// 3. At least every second card has a preferred genre among its first three, beginning with the first.
/// 4. If at least half of the reader's likes, and at least three, have the same genre among their first three, at least every third card
///    has it, too. Of several such genres, the one that the fewest candidates have counts. Books of small genres are read too rarely to
///    come by their scores.
///
/// Another rule is never broken: a volume of a series comes after the earlier volumes (`SeriesOrder`), and a volume that no longer can is
/// left out (`LastVolumes`).
///
/// **Example.** The price of a genre is 0.4, and the scores are A 5 (genre 1), B 4 (genre 1), and C 3 (genre 2). A comes first.
/// The best remaining score is 4, so B pays 0.4 * 4 and is worth 2.4 next to A. C is worth 3 and comes second.
struct CardOrder {
    /// The number of cards, including the next one, whose genres have prices.
    private static let pricedCards = 10
    /// The minimum number of books of the favorite genre, if another one has as many.
    private static let favoriteBooksMin = 7
    /// The maximum number of books of a series, and of an author, among `FeedRanking.spread` consecutive cards.
    private static let limits = (series: 3, author: 4)

    private let omitted: Set<FeedRanking.Rule>
    private let books: [BookTraits]
    private let series: SeriesOrder
    /// The price of a genre that none of the reader's likes has.
    private let genrePrice: Float
    /// The shares of first genres, series, and authors in the reader's likes.
    private let shares: (genre: [Int16: Float], series: [Int64: Float], author: [Int32: Float])
    /// The genres of the third and of the fourth rule: of each `period` consecutive cards, one has such a genre. `missing` is the number of
    /// the last cards without one.
    private var quotas: [(genres: Set<Int16>, period: Int, missing: Int)]
    /// The last cards, newest first, at most `spread - 1`.
    private var recent: [BookTraits]
    private var lastVolumes = LastVolumes()

    /// - Parameter genrePrice: The price of a genre that none of the reader's likes has.
    init(
        _ books: [BookTraits], signals: [ReaderSignal], preferred: Set<Int16>, genrePrice: Float,
        without omitted: Set<FeedRanking.Rule>, after recent: [BookTraits]
    ) {
        self.omitted = omitted
        self.books = books
        self.genrePrice = omitted.contains(.genres) ? 0 : genrePrice
        series = SeriesOrder(books, signals)
        shares = (
            signals.shareOfLikes(by: \.firstGenre), signals.shareOfLikes(by: \.series),
            signals.shareOfLikes(by: \.author)
        )
        let recent = Array(recent.suffix(FeedRanking.spread - 1).reversed())
        self.recent = recent
        let liked = signals.filter { $0.weight > 0 }.map(\.traits)
        let (inLikes, inBooks) = (liked.countsOfLeadingGenres, books.countsOfLeadingGenres)
        let least = max(3, (liked.count + 1) / 2)
        let qualified = inBooks.filter { (inLikes[$0.key] ?? 0) >= least }
        // A genre with fewer books cannot have every third card of a page.
        let ample = qualified.filter { $0.value >= Self.favoriteBooksMin }
        let favorite =
            (ample.min { ($0.value, $0.key) < ($1.value, $1.key) }
            ?? qualified.max { ($0.value, $1.key) < ($1.value, $0.key) })?.key
        quotas = [(preferred, 2, 1), (favorite.map { [$0] } ?? [], 3, 0)]
            .filter { !$0.0.isEmpty }
            .map { genres, period, start in
                let missing = recent.prefix { !$0.hasLeadingGenre(in: genres) }.count
                return (genres, period, recent.isEmpty ? start : missing)
            }
    }

    /// Returns the indices of at most `count` books.
    mutating func select(_ scores: [Float], count: Int) -> [Int] {
        let scores = series.averaged(scores)
        var rest = scores.indices.sorted { (scores[$1], $0) < (scores[$0], $1) }
        var chosen: [Int] = []
        var isChosen = [Bool](repeating: false, count: books.count)
        while chosen.count < count, let position = best(of: rest, scores, isChosen) {
            let index = rest.remove(at: position)
            chosen.append(index)
            isChosen[index] = true
            lastVolumes.append(books[index])
            for quota in quotas.indices {
                let has = books[index].hasLeadingGenre(in: quotas[quota].genres)
                quotas[quota].missing = has ? 0 : quotas[quota].missing + 1
            }
            recent.insert(books[index], at: 0)
            if recent.count == FeedRanking.spread { recent.removeLast() }
        }
        return chosen
    }

    /// Returns the position of the next card in `rest`, which is sorted by score.
    private func best(of rest: [Int], _ scores: [Float], _ isChosen: [Bool]) -> Int? {
        guard let unit = rest.first.map({ abs(scores[$0]) }) else { return nil }
        var best: (position: Int, broken: Int, worth: Float)?
        for (position, index) in rest.enumerated() {
            // A price is never negative, so the following cards are worth at most their scores.
            if let best, best.broken == 0, scores[index] <= best.worth { break }
            if let earlier = series.predecessor(of: index), !isChosen[earlier],
                !lastVolumes.passed(books[earlier])
            {
                continue
            }
            if lastVolumes.passed(books[index]) { continue }
            let broken = rulesBroken(by: index)
            let worth = scores[index] - unit * price(of: books[index])
            if let best, (broken, -worth) >= (best.broken, -best.worth) { continue }
            best = (position, broken, worth)
        }
        return best?.position
    }

    /// Returns 0 if the card may be the next one; otherwise a number that is greater for a more important rule.
    private func rulesBroken(by index: Int) -> Int {
        let book = books[index]
        var broken = 0
        if !omitted.contains(.limits),
            recent.count(where: { $0.hasSeries(of: book) })
                >= Self.limits.series + Int(2 * (shares.series[book.series] ?? 0))
                || recent.count(where: { $0.hasAuthor(of: book) })
                    >= Self.limits.author + Int(2 * (shares.author[book.author] ?? 0))
        {
            broken += 8
        }
        if !omitted.contains(.neighbours), let last = recent.first,
            last.hasAuthor(of: book) || last.hasSeries(of: book)
        {
            broken += 4
        }
        for quota in quotas
        where quota.missing >= quota.period - 1 && !book.hasLeadingGenre(in: quota.genres) {
            broken += quota.period == 2 ? 2 : 1
        }
        return broken
    }

    private func price(of book: BookTraits) -> Float {
        var sum: Float = 0
        for (offset, other) in recent.prefix(Self.pricedCards - 1).enumerated()
        where other.firstGenre == book.firstGenre {
            sum += 1 / Float(offset + 1)
        }
        return sum * genrePrice * (1 - (shares.genre[book.firstGenre] ?? 0))
    }
}
