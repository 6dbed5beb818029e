import Glibc

/// Ranks a reader's feed.
///
/// **Score.** The score of a book is `affinity + w * popularity * e^(c * similarity)`, where `w = 0.19 * 2^(-signals / 8)`.
/// The second part is a prior: what is known without other readers.
package enum FeedRanking {
    /// The weight of popularity for a reader without signals.
    ///
    /// The value is a compromise between the data splits in docs/benchmarks.md. At half this value, new readers
    /// in some splits find less than by popularity alone. At 1.5 times this value, readers with a history find less than
    /// with EASE.
    private static let popularityWeight: Float = 0.19
    /// The number of signals after which the weight of popularity has halved.
    private static let popularityHalfLife: Float = 8
    private static let contentWeight: Float = 3
    private static let preferredFactor: Float = 3
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
    ///   - items: The candidates: books that the reader has not seen.
    ///   - signals: The reader's opinions, in any order.
    ///   - preferred: The genres that the reader has chosen.
    ///   - count: The maximum number of results.
    ///   - recent: The last cards of the previous deck, at least nine if it has as many. The rules of the order hold
    ///     across decks.
    /// - Returns: Indices of `items`.
    package static func rank(
        _ items: [FeedItem], signals: [ReaderSignal], preferred: [Int16], count: Int,
        after recent: [BookTraits]
    ) -> [Int] {
        let preferred = Set(preferred)
        let books = items.map(\.traits)
        let signalCount = signals.count { $0.weight > 0 }
        let weight = popularityWeight * exp2(-Float(signalCount) / popularityHalfLife)
        let taste = Taste(signals, rarities: GenreRarities(books))
        let similarityWeight = contentWeight * evidenceHalf / (evidenceHalf + evidence(items))
        var priors = items.map { item in
            let isPreferred = item.traits.genres.prefix(3).contains { preferred.contains($0) }
            return item.popularity * exp(similarityWeight * taste.similarity(of: item.traits) + taste.origin(of: item.traits))
                * (isPreferred ? preferredFactor : 1)
        }
        let all = priors.reduce(0, +)
        let scale = all > 0 ? weight * items.reduce(0) { $0 + $1.popularity } / all : 0
        for i in priors.indices { priors[i] *= scale }
        var scores = zip(items, priors).map { $0.affinity + $1 }
        let series = SeriesOrder(books, signals)
        series.raise(&scores)
        let best = items.indices.sorted { (scores[$1], $0) < (scores[$0], $1) }
        var order = CardOrder(
            books, series: series, preferred: preferred,
            genresMin: genresMin(signalCount: signalCount), after: recent)
        return order.select(from: best, count: count)
    }

    private static let evidenceHalf: Float = 0.1
    static func evidence(_ items: [FeedItem]) -> Float {
        let best = items.map(\.affinity).sorted(by: >).prefix(10)
        return max(0, best.reduce(0, +) / 10)
    }

    /// Selects the cards for readers without any signals or preferred genres, by popularity.
    ///
    /// - Parameter items: The candidates.
    /// - Returns: At most `count` indices of `items`.
    package static func coldStartDeck(_ items: [FeedItem], count: Int) -> [Int] {
        rank(items, signals: [], preferred: [], count: count, after: [])
    }

    /// The number of newer signals after which a signal has lost half of its recency boost.
    package static let recencyHalfLife = 10

    /// Returns the factor for the weight of a signal, because recent likes predict the next ones better.
    ///
    /// - Parameter newer: The number of the reader's positive signals that are newer.
    /// - Returns: 2 for the newest signal, 1.5 after 10 newer ones, and approaching 1.
    package static func recencyBoost(newer: Float) -> Float {
        1 + exp2(-newer / Float(recencyHalfLife))
    }
}
