/// The properties of a book that content similarity and the rules of the order compare.
package struct BookTraits: Sendable, Equatable {
    /// The ids of the genres, most important first. Empty if the genres are unknown.
    package var genres: [Int16]
    /// A hash of the first author's name; 0 means none.
    package var author: Int32
    /// A hash of the series and of the first author; 0 means none. Authors have series of the same name.
    package var series: Int64
    /// The number of the volume in the series. nil if it is unknown, and for a box set of several volumes.
    package var seriesPosition: Float?

    package init(genres: [Int16], author: Int32, series: Int64, seriesPosition: Float?) {
        self.genres = genres
        self.author = author
        self.series = series
        self.seriesPosition = seriesPosition
    }

    /// The most important genre; 0 if the genres are unknown.
    var firstGenre: Int16 { genres.first ?? 0 }

    /// The number of a volume that comes in the order of its series: a whole number from 1 on. Short stories and prequels, such as volume
    /// 1.5 and volume 0, have none.
    package var volume: Float? {
        seriesPosition.flatMap { series != 0 && $0 >= 1 && $0 == $0.rounded() ? $0 : nil }
    }

    /// Returns whether two books have the same known author.
    func hasAuthor(of other: BookTraits) -> Bool { author != 0 && author == other.author }

    /// Returns whether two books belong to the same series.
    func hasSeries(of other: BookTraits) -> Bool { series != 0 && series == other.series }

    /// The first three genres. Later ones say little about a book.
    var leadingGenres: ArraySlice<Int16> { genres.prefix(3) }

    /// Returns whether one of the first three genres is in a set.
    func hasLeadingGenre(in set: Set<Int16>) -> Bool {
        !set.isEmpty && leadingGenres.contains { set.contains($0) }
    }
}

extension [BookTraits] {
    /// The numbers of books that have each genre among their first three.
    var countsOfLeadingGenres: [Int16: Int] {
        reduce(into: [:]) { counts, book in
            for genre in book.leadingGenres { counts[genre, default: 0] += 1 }
        }
    }
}

/// A candidate for a reader's feed.
package struct FeedItem: Sendable, Equatable {
    /// The sum of the weights of the links from the books of the reader's signals to this one. A link's weight is
    /// multiplied by that of the signal and by `FeedRanking.recencyBoost`.
    package var affinity: Float
    /// An addition to the score, such as that for a followed author. Unlike the affinity, it does not depend on other readers.
    package var bonus: Float = 0
    /// The number of its readers divided by that of the most popular book.
    package var popularity: Float
    package var traits: BookTraits

    package init(affinity: Float, popularity: Float, traits: BookTraits) {
        self.affinity = affinity
        self.popularity = popularity
        self.traits = traits
    }
}

extension [ReaderSignal] {
    /// Returns the share of the liked books that have a key, for each key.
    func shareOfLikes<Key: Hashable>(by key: (BookTraits) -> Key) -> [Key: Float] {
        let likes = filter { $0.weight > 0 }
        return Dictionary(grouping: likes) { key($0.traits) }
            .mapValues { Float($0.count) / Float(likes.count) }
    }
}

/// A reader's opinion of a book.
package struct ReaderSignal: Sendable, Equatable {
    /// How much the reader likes the book, about 1 for a like. Negative for a dislike.
    package var weight: Float
    /// The number of the reader's positive signals that are newer.
    package var newer: Float
    package var traits: BookTraits

    package init(weight: Float, newer: Float, traits: BookTraits) {
        self.weight = weight
        self.newer = newer
        self.traits = traits
    }
}
