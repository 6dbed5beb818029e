import Glibc

/// Ranks a reader's feed: scores the candidates, then orders them by score under the rules of `CardOrder`.
///
/// **Score.** The score of a book is `affinity + w * prior`. The affinity is what other readers' signals say, and the
/// prior is what is known without them: popularity, genres, author, and series.
///
/// - `w = 0.12 * 2^(-signals / 16)`, where `signals` is the number of positive signals. The affinity grows with each
///   signal, and the prior fades. On a new installation all affinities are 0, so the prior alone decides, whatever
///   its weight.
/// - The prior of a book is `popularity * e^(c * genres + origin)`, three times that in a preferred genre.
///   `genres` is the similarity of its genres to those of the reader's books, from -1 to 1, and `origin` is what the
///   reader's signals say about its author and its series (`Taste`). All priors are then multiplied by the same factor,
///   so that their sum is that of the popularities. Without signals and preferred genres, the prior is the popularity.
/// - `c = 5 * 0.1 / (0.1 + evidence)`, where `evidence` is the mean of the ten highest affinities. Genres count
///   fully as long as there are no links from the reader's books, and by half when the evidence is 0.1.
///
/// docs/benchmarks.md describes the measurements from which the constants were chosen.
package enum FeedRanking {
    /// The weight of the prior for a reader without signals.
    ///
    /// The recall changes little between 0.1 and 0.3.
    private static let priorWeight: Float = 0.12
    /// The number of signals after which the weight of the prior has halved.
    private static let priorHalfLife: Float = 16
    /// The exponent of the factor for a book that has exactly the genres that the reader likes.
    private static let genresWeight: Float = 5
    /// The evidence at which the weight of genres has halved.
    private static let evidenceHalf: Float = 0.1
    /// The number of affinities whose mean is the evidence.
    private static let evidenceCount = 10
    /// The factor for the prior of books in preferred genres.
    private static let preferredFactor: Float = 3
    /// The number of consecutive cards to which the rules on authors, series, and genres apply.
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
    ///   - items: The candidates: books that the reader has not seen. If they contain a later volume of a series, they
    ///     must also contain the earlier unseen ones, which come first.
    ///   - signals: The reader's opinions, in any order.
    ///   - preferred: The genres that the reader has chosen.
    ///   - count: The maximum number of results.
    ///   - recent: The last cards of the previous deck, in their order. The last nine suffice for the rules to hold
    ///     across decks.
    /// - Returns: Indices of `items`.
    package static func rank(
        _ items: [FeedItem], signals: [ReaderSignal], preferred: [Int16], count: Int,
        after recent: [BookTraits]
    ) -> [Int] {
        let preferred = Set(preferred)
        let books = items.map(\.traits)
        let signalCount = signals.count { $0.weight > 0 }
        let weight = priorWeight * exp2(-Float(signalCount) / priorHalfLife)
        let scores = zip(items, priors(of: items, signals, preferred)).map { item, prior in
            item.affinity + weight * prior
        }
        let best = items.indices.sorted { (scores[$1], $0) < (scores[$0], $1) }
        var order = CardOrder(
            books, signals: signals, preferred: preferred,
            genresMin: genresMin(signalCount: signalCount), after: recent)
        return order.select(from: best, count: count)
    }

    /// Selects the cards for readers without any signals or preferred genres, by popularity.
    ///
    /// - Parameter items: The candidates. Of equally popular ones, the first comes first.
    /// - Returns: At most `count` indices of `items`.
    package static func coldStartDeck(_ items: [FeedItem], count: Int) -> [Int] {
        rank(items, signals: [], preferred: [], count: count, after: [])
    }

    private static func priors(
        of items: [FeedItem], _ signals: [ReaderSignal], _ preferred: Set<Int16>
    ) -> [Float] {
        let taste = Taste(signals, catalog: items.map(\.traits))
        let genresWeight = genresWeight * evidenceHalf / (evidenceHalf + evidence(items))
        let priors = items.map { item in
            let exponent =
                genresWeight * taste.similarityOfGenres(of: item.traits)
                + taste.opinionOfOrigin(of: item.traits)
            return item.popularity * exp(exponent)
                * (item.traits.hasLeadingGenre(in: preferred) ? preferredFactor : 1)
        }
        let sum = priors.reduce(0, +)
        guard sum > 0 else { return priors }
        let factor = items.reduce(0) { $0 + $1.popularity } / sum
        return priors.map { $0 * factor }
    }

    /// How much other readers say about what this reader likes: the mean of the highest affinities.
    private static func evidence(_ items: [FeedItem]) -> Float {
        let best = items.map(\.affinity).sorted(by: >).prefix(evidenceCount)
        return max(0, best.reduce(0, +) / Float(evidenceCount))
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
