import Glibc

/// The author and the series of a book as hash values; 0 means none.
package struct Origin: Sendable, Equatable {
    package var author: Int32
    package var series: Int32

    package init(author: Int32, series: Int32) {
        self.author = author
        self.series = series
    }

    package func sharesAuthorOrSeries(with other: Origin) -> Bool {
        author != 0 && author == other.author || series != 0 && series == other.series
    }
}

/// A candidate for a reader's feed.
package struct FeedItem: Sendable, Equatable {
    /// The sum of the weights of the links from the books that the reader liked to this one.
    package var affinity: Float
    /// The number of its readers divided by that of the most popular book.
    package var popularity: Float
    /// The first genre; 0 means none.
    package var genre: Int16
    /// The author and the series.
    package var origin: Origin

    package init(
        affinity: Float, popularity: Float, genre: Int16,
        origin: Origin = Origin(author: 0, series: 0)
    ) {
        self.affinity = affinity
        self.popularity = popularity
        self.genre = genre
        self.origin = origin
    }
}

/// Ranks a reader's feed.
///
/// **Score.** The score of a book is `affinity + w * popularity`, where `w = 0.19 * 2^(-signals / 8)`. A new
/// reader's feed is ordered by popularity. With every 8 signals the weight of popularity halves, while the
/// affinity grows with each signal.
///
/// **Diversity.** The books are selected greedily in the order of their scores, under two rules. Two
/// neighbours never have the same first genre. Any `spread` (10) consecutive cards have at least `genresMin`
/// different first genres. If no remaining book satisfies both, only the first rule applies; if none
/// satisfies that, the book with the best score is taken.
///
/// **Example.** The scores in order are A 5 (genre 1), B 4 (genre 1), C 3 (genre 2). The result is A, C, B: after
/// A, book B is skipped because it has the same genre, and after C it is allowed.
///
/// docs/benchmarks.md describes the measurements from which the constants were chosen.
package enum FeedRanking {
    /// The weight of popularity for a reader without signals.
    ///
    /// The value is a compromise between the data splits in docs/benchmarks.md. At half this value, new readers
    /// in some splits find less than by popularity alone. At 1.5 times this value, readers with a history find less than
    /// with EASE.
    private static let popularityWeight: Float = 0.19
    /// The number of signals after which the weight of popularity has halved.
    private static let popularityHalfLife: Float = 8
    /// The number of consecutive cards to which the rules on authors and genres apply.
    package static let spread = 10

    /// The minimum number of different first genres among `spread` consecutive cards: 4 for a new reader, and
    /// one more for every 4 signals up to 6.
    ///
    /// Such a rule costs readers fewer relevant books than penalizing similarity card by card, and it holds
    /// for every reader rather than on average. New readers get fewer genres, about as many as the most popular
    /// books have, because nothing supports more variety for them.
    static func genresMin(signalCount: Int) -> Int { min(6, 4 + max(0, signalCount) / 4) }

    /// Ranks the items for a reader, best first.
    ///
    /// - Parameters:
    ///   - signalCount: The number of books that the reader has expressed a positive opinion on.
    ///   - count: The maximum number of results.
    /// - Returns: Indices of `items`. If too few genres are left, the rules are relaxed as described above.
    package static func rank(_ items: [FeedItem], signalCount: Int, count: Int) -> [Int] {
        let weight = popularityWeight * exp2(-Float(max(0, signalCount)) / popularityHalfLife)
        let scores = items.map { $0.affinity + weight * $0.popularity }
        let genresMin = genresMin(signalCount: signalCount)
        let best = items.indices.sorted { (scores[$1], $0) < (scores[$0], $1) }
        return select(from: best, of: items, count: count) { item, recent in
            let genres = Set(recent.map(\.genre)).union([item.genre])
            return recent.count + 1 - genres.count <= spread - genresMin
        }
    }

    /// Selects the cards for a reader without any signals, by popularity.
    ///
    /// Each card is the most popular one that has another first genre than the previous card, and that shares
    /// no author and no series with the previous `spread - 1` cards.
    ///
    /// - Parameter items: The candidates, most popular first.
    /// - Returns: At most `count` indices of `items`. If no card satisfies both rules, the rule on authors and
    ///   series is dropped first.
    package static func coldStartDeck(_ items: [FeedItem], count: Int) -> [Int] {
        select(from: Array(items.indices), of: items, count: count) { item, recent in
            !recent.contains { $0.origin.sharesAuthorOrSeries(with: item.origin) }
        }
    }

    /// The number of newer signals after which a signal has lost half of its recency boost.
    package static let recencyHalfLife = 10

    /// Returns the factor for the weight of a signal, because recent likes predict the next ones better.
    ///
    /// - Parameter newer: The number of the reader's positive signals that are newer.
    /// - Returns: 2 for the newest signal, 1.5 after 10 newer ones, and approaching 1.
    package static func recencyBoost(newer: Int) -> Float {
        1 + exp2(-Float(newer) / Float(recencyHalfLife))
    }

    /// Repeatedly selects the first remaining item that has another first genre than the last card and
    /// satisfies `rule` together with the last `spread - 1` cards. If there is none, it selects the first item
    /// of another genre, and otherwise the first item.
    private static func select(
        from order: [Int], of items: [FeedItem], count: Int,
        where rule: (FeedItem, ArraySlice<FeedItem>) -> Bool
    ) -> [Int] {
        var rest = order
        var chosen: [Int] = []
        var cards: [FeedItem] = []
        while chosen.count < count, !rest.isEmpty {
            let recent = cards.suffix(spread - 1)
            let last = cards.last?.genre
            let position =
                rest.firstIndex { items[$0].genre != last && rule(items[$0], recent) }
                ?? rest.firstIndex { items[$0].genre != last } ?? 0
            let item = rest.remove(at: position)
            chosen.append(item)
            cards.append(items[item])
        }
        return chosen
    }
}
