import Glibc

/// Ranks a reader's feed: scores the candidates, then orders them by score, with prices and rules for variety (`CardOrder`).
///
/// **Score.** The score of a book is `affinity + o * origin + w * prior`. The affinity is what other readers' signals say,
/// `origin` is what the reader's signals say about the author and the series (`Taste`), and the prior is what is known
/// without other readers.
///
/// - `o = 0.06 * (1 + 1 / likes)`, because after one like its author says more than other readers do.
/// - `w = 0.02 + 0.25 * f`, where `f = 2^(-signals / 12)` and `signals` is the number of positive signals. The affinity grows
///   with each signal, and the prior fades. It never fades completely, so that a new installation, where all affinities are
///   0, shows more than books of liked authors.
/// - The prior of a book is `popularity * e^(c * genres)`, three times that in a preferred genre. `genres` is the similarity
///   of its genres to those of the reader's books, from -1 to 1 (`Taste`). All priors are then multiplied by the same factor,
///   so that their sum is that of the popularities. Without signals and preferred genres, the prior is the popularity.
/// - `c = 10 * (0.9 + concentration) * 0.1 / (0.1 + evidence)`. `concentration` is how much the reader's likes are of one genre: a reader who likes
///   only books of science gets them, although novels are many times as popular. `evidence` is the mean of the ten highest affinities.
///   Genres count fully as long as there are no links from the reader's books, and by half when the evidence is 0.1.
///
/// docs/decisions/benchmarks.md describes the measurements from which the constants were chosen.
package enum FeedRanking {
    /// The parts of the order (`CardOrder`) that measurements can leave out: the prices of genres, the limits for series and authors, and the
    /// rule on neighbours.
    package enum Rule: String { case genres, limits, neighbours }

    /// The weight of what the reader's signals say about an author and a series.
    private static let originWeight: Float = 0.06
    /// The weight of the prior for a reader with many signals, and what is added to it for a reader without signals.
    private static let priorWeight: (least: Float, new: Float) = (0.02, 0.25)
    /// The number of signals after which the addition to the weight of the prior has halved.
    private static let priorHalfLife: Float = 12
    /// The exponent of the factor for a book that has exactly the genres that the reader likes, before it is multiplied by 0.9 plus the concentration.
    private static let genresWeight: Float = 10
    /// The evidence at which the weight of genres has halved.
    private static let evidenceHalf: Float = 0.1
    /// The number of affinities whose mean is the evidence.
    private static let evidenceCount = 10
    /// The factor for the prior of books in preferred genres.
    private static let preferredFactor: Float = 3
    /// The number of consecutive cards that are compared with each other.
    package static let spread = 20

    /// Ranks the items for a reader, best first.
    ///
    /// - Parameters:
    ///   - items: The candidates: books that the reader has not seen. If they contain a later volume of a series, they
    ///     must also contain the earlier unseen ones, which come first.
    ///   - signals: The reader's opinions, in any order.
    ///   - preferred: The genres that the reader has chosen.
    ///   - count: The maximum number of results.
    ///   - recent: The last cards of the previous deck, in their order. The last `spread - 1` suffice for the order to
    ///     continue across decks.
    /// - Returns: Indices of `items`.
    package static func rank(
        _ items: [FeedItem], signals: [ReaderSignal], preferred: [Int16], count: Int,
        after recent: [BookTraits], without omitted: Set<Rule> = []
    ) -> [Int] {
        let preferred = Set(preferred)
        let books = items.map(\.traits)
        let signalCount = signals.count { $0.weight > 0 }
        let taste = Taste(signals, catalog: books)
        let originWeight = originWeight * (1 + 1 / Float(max(1, signalCount)))
        let weight = priorWeight.least + priorWeight.new * fade(signalCount)
        let scores = zip(items, priors(of: items, taste, preferred)).map { item, prior in
            item.affinity + item.bonus + originWeight * taste.opinionOfOrigin(of: item.traits)
                + weight * prior
        }
        var order = CardOrder(
            books, signals: signals, preferred: preferred,
            // 0.1 for a new reader, because nothing supports more variety, and rises to 0.8.
            genrePrice: 0.1 + 0.7 * (1 - fade(signalCount)), without: omitted, after: recent)
        return order.select(scores, count: count)
    }

    private static func priors(
        of items: [FeedItem], _ taste: Taste, _ preferred: Set<Int16>
    ) -> [Float] {
        let genresWeight =
            genresWeight * (0.9 + taste.concentration) * evidenceHalf
            / (evidenceHalf + evidence(items))
        let priors = items.map { item in
            item.popularity * exp(genresWeight * taste.similarityOfGenres(of: item.traits))
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

    /// Returns how little is known of a reader: 1 without positive signals, 0.5 with 12, and approaching 0.
    private static func fade(_ signalCount: Int) -> Float {
        exp2(-Float(signalCount) / priorHalfLife)
    }

    /// The number of newer signals after which a signal has lost half of its recency boost.
    package static let recencyHalfLife = 3

    /// Returns the factor for the weight of a signal, because recent likes predict the next ones better.
    ///
    /// - Parameter newer: The number of the reader's positive signals that are newer.
    /// - Returns: 5 for the newest signal, 3 after 3 newer ones, and approaching 1.
    package static func recencyBoost(newer: Float) -> Float {
        1 + 4 * exp2(-newer / Float(recencyHalfLife))
    }
}
