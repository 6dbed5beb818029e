import Glibc

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
    /// Its first genre; 0 is none.
    package var genre: Int16
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

/// How a feed is ranked.
package enum FeedRanking {
    /// The weight of popularity for a reader without signals. With half of it, new readers find less than by popularity
    /// alone in some splits of docs/benchmarks.md; with 1.5 times as much, known readers find less than by EASE.
    private static let popularityWeight: Float = 0.19
    /// After so many signals popularity counts half as much, for what the reader says adds up.
    private static let evidenceHalf: Float = 8
    /// Among so many cards that follow one another the rules of authors and of genres hold.
    package static let spread = 10

    /// Of so many different genres they are, at the least. Six of ten: it costs less of what readers find than weighing
    /// each card's likeness to the others does, and holds for every reader and not on average. Fewer for who has said
    /// little, as many as the most popular books are of: what varies beyond that is what nothing speaks for.
    static func genresMin(signalCount: Int) -> Int { min(6, 4 + max(0, signalCount) / 4) }

    /// The best items for a reader first, blended by evidence; among any `spread` of them are `genresMin` first
    /// genres or more, and no two neighbours are of one.
    ///
    /// - Parameters:
    ///   - signalCount: how many books the reader has spoken for.
    ///   - count: at most so many.
    /// - Returns: indices of `items`; where too few genres are left a rule is broken, that of the neighbours last.
    package static func rank(_ items: [FeedItem], signalCount: Int, count: Int) -> [Int] {
        let weight = popularityWeight * exp2(-Float(max(0, signalCount)) / evidenceHalf)
        let scores = items.map { $0.affinity + weight * $0.popularity }
        let genresMin = genresMin(signalCount: signalCount)
        let best = items.indices.sorted { (scores[$1], $0) < (scores[$0], $1) }
        return deal(best, of: items, count: count) { item, recent in
            let genres = Set(recent.map(\.genre)).union([item.genre])
            return recent.count + 1 - genres.count <= spread - genresMin
        }
    }

    /// The feed of somebody who has said nothing yet: each card is the most popular that may stand there, of
    /// another first genre than the card before it, and of no author and no series that was there lately.
    ///
    /// - Parameter items: the most popular first.
    /// - Returns: indices of `items`, at most `count`; where nothing else is left a rule is broken, that of
    ///   the authors first.
    package static func opening(_ items: [FeedItem], count: Int) -> [Int] {
        deal(Array(items.indices), of: items, count: count) { item, recent in
            !recent.contains { $0.origin.isLike(item.origin) }
        }
    }

    /// After so many newer ones a signal has lost half of what it is louder for being new.
    package static let loudnessHalf = 10

    /// How loud a reader's signal speaks: what they liked of late tells more of what they want next.
    ///
    /// - Parameter newer: how many signals of theirs that speak for a book are newer.
    /// - Returns: from 2 down to 1.
    package static func loudness(newer: Int) -> Float {
        1 + exp2(-Float(newer) / Float(loudnessHalf))
    }

    /// Each time the first that may stand behind the cards so far: of another first genre than the last, and as `rule`
    /// says of the `spread - 1` before it; or else of another genre only; or else the first.
    private static func deal(
        _ order: [Int], of items: [FeedItem], count: Int,
        where rule: (FeedItem, ArraySlice<FeedItem>) -> Bool
    ) -> [Int] {
        var rest = order
        var chosen: [Int] = []
        var cards: [FeedItem] = []
        while chosen.count < count, !rest.isEmpty {
            let recent = cards.suffix(spread - 1)
            let last = cards.last?.genre
            let place =
                rest.firstIndex { items[$0].genre != last && rule(items[$0], recent) }
                ?? rest.firstIndex { items[$0].genre != last } ?? 0
            let item = rest.remove(at: place)
            chosen.append(item)
            cards.append(items[item])
        }
        return chosen
    }
}
