/// Whom a book is of, and which series: as hashes; 0 is none.
package struct Origin: Sendable, Equatable {
    package var author: Int32
    package var series: Int32

    package init(author: Int32, series: Int32) {
        self.author = author
        self.series = series
    }

    package func isLike(_ other: Origin) -> Bool {
        author != 0 && author == other.author || series != 0 && series == other.series
    }
}

/// A book that a reader's feed may show.
package struct FeedItem: Sendable, Equatable {
    /// How much the reader's own signals speak for it: weights of links from what they liked.
    package var affinity: Float
    /// Its readers, as a share of the most popular book's.
    package var popularity: Float
    /// Its genres, the first one first.
    package var genres: [Int16]
    package var origin: Origin

    package init(
        affinity: Float, popularity: Float, genres: [Int16],
        origin: Origin = Origin(author: 0, series: 0)
    ) {
        self.affinity = affinity
        self.popularity = popularity
        self.genres = genres
        self.origin = origin
    }
}

/// How a feed is ranked.
package enum FeedRanking {
    /// How much popularity counts for somebody of whom nothing is known; of books liked by many, a link weighs
    /// about as much.
    private static let popularityWeight: Float = 0.1
    /// With so many signals, a reader's own count as much as popularity.
    private static let evidenceHalf: Float = 15
    /// The share of relevance against variety.
    private static let relevance: Float = 0.78
    /// Items that are weighed against one another.
    private static let window = 60
    /// In so many cards of the opening an author or a series stands once.
    package static let spread = 10

    /// The best items for a reader first, blended by evidence and then varied.
    ///
    /// - Parameters:
    ///   - signalCount: how many books the reader has spoken for.
    ///   - count: at most so many.
    /// - Returns: indices of `items`; neighbours share a first genre only where the window has no other.
    package static func rank(_ items: [FeedItem], signalCount: Int, count: Int) -> [Int] {
        let ignorance = evidenceHalf / (evidenceHalf + Float(max(0, signalCount)))
        let scores = items.map {
            $0.affinity + popularityWeight * ignorance * ignorance * ignorance * $0.popularity
        }
        var rest = items.indices.sorted { (scores[$1], $0) < (scores[$0], $1) }[...]
        guard let best = rest.first, let last = rest.prefix(window).last else { return [] }
        let range = max(scores[best] - scores[last], .leastNormalMagnitude)
        var window = Array(rest.prefix(window))
        rest = rest.dropFirst(window.count)
        // By item of the window: how like it is to the most like of those chosen lately.
        var likeness = [Int: Float]()
        var chosen: [Int] = []
        while chosen.count < count, !window.isEmpty {
            let previous = chosen.last.flatMap { items[$0].genres.first }
            func value(_ item: Int) -> Float {
                relevance * (scores[item] - scores[last]) / range
                    - (1 - relevance) * (likeness[item] ?? 0)
            }
            var place: Int?
            for index in window.indices {
                if let previous, items[window[index]].genres.first == previous { continue }
                if place.map({ value(window[index]) > value(window[$0]) }) ?? true { place = index }
            }
            let item = window.remove(at: place ?? 0)
            chosen.append(item)
            if let next = rest.popFirst() { window.append(next) }
            for other in window {
                let recent = chosen.suffix(spread - 1)
                likeness[other] = recent.reduce(0) {
                    max($0, jaccard(items[$1].genres, items[other].genres))
                }
            }
        }
        return chosen
    }

    /// The feed of somebody who has said nothing yet: each card is the most popular that may stand there, of
    /// another first genre than the card before it, and of no author and no series that was there lately.
    ///
    /// - Parameter items: the most popular first.
    /// - Returns: indices of `items`, at most `count`; where nothing else is left a rule is broken, that of
    ///   the authors first.
    package static func opening(_ items: [FeedItem], count: Int) -> [Int] {
        var rest = Array(items.indices)
        var chosen: [Int] = []
        while chosen.count < count, !rest.isEmpty {
            let recent = chosen.suffix(spread - 1).map { items[$0] }
            func isOther(_ item: Int) -> Bool {
                recent.last.map { $0.genres.first != items[item].genres.first } ?? true
            }
            let place =
                rest.firstIndex { item in
                    isOther(item) && !recent.contains { $0.origin.isLike(items[item].origin) }
                } ?? rest.firstIndex(where: isOther) ?? 0
            chosen.append(rest.remove(at: place))
        }
        return chosen
    }

    /// How many of both items' genres they share.
    private static func jaccard(_ one: [Int16], _ other: [Int16]) -> Float {
        let shared = one.count { other.contains($0) }
        let all = one.count + other.count - shared
        return all == 0 ? 0 : Float(shared) / Float(all)
    }
}
