import Glibc

/// The genres, authors, and series that a reader likes or dislikes, from the reader's signals (content similarity).
///
/// **Genres.** A book's genres are a vector of length 1 (`GenreVectors`). The reader's taste is the sum of the vectors
/// of the signals' books, each multiplied by the signal's weight and recency boost, divided by the sum of the absolute
/// weights plus `genreShrinkage`. Disliked books count negatively. The similarity of a book is the scalar product of
/// its vector and the taste.
///
/// **Authors and series.** If `s` is the sum of the weights of the signals on an author's books, the opinion of that
/// author is `s / (|s| + originShrinkage)`. The same holds for series. This is a sum and not a mean, because a liked
/// author matters as much among 20 likes as alone.
///
/// **Example.** A reader likes a book of the genre Fantasy, the weight is 1, and the boost is 5. The taste is 5 / (5 + 20)
/// in the direction of Fantasy. A book that has only this genre has a similarity of 0.2.
struct Taste {
    /// Added to the sum of the weights, so that the genres of the first likes do not displace popular books.
    private static let genreShrinkage: Float = 20
    private static let originShrinkage: Float = 1

    private let vectors: GenreVectors
    /// The taste, by genre id.
    private var genres: [Float]
    private var authors: [Int32: Float] = [:]
    private var series: [Int64: Float] = [:]
    /// How much is known of the reader, from 0 to 1: `s / (s + 2)` if `s` is the sum of the absolute weights of the signals.
    let knowledge: Float
    /// The share of the most frequent first genre in the reader's likes, multiplied by `knowledge`.
    let concentration: Float

    /// - Parameter catalog: The books from which the rarity of genres is computed.
    init(_ signals: [ReaderSignal], catalog: [BookTraits]) {
        let sum = signals.reduce(0) { $0 + abs($1.weight) }
        knowledge = sum / (sum + 2)
        concentration = (signals.shareOfLikes(by: \.firstGenre).values.max() ?? 0) * knowledge
        vectors = GenreVectors(catalog)
        genres = [Float](repeating: 0, count: vectors.genresEnd)
        var total = Self.genreShrinkage
        for signal in signals {
            let weight = signal.weight * FeedRanking.recencyBoost(newer: signal.newer)
            total += abs(weight)
            let length = vectors.length(of: signal.traits.genres)
            if length > 0 {
                vectors.forEach(of: signal.traits.genres) { genres[$0] += weight * $1 / length }
            }
            authors[signal.traits.author, default: 0] += weight
            series[signal.traits.series, default: 0] += weight
        }
        for genre in genres.indices { genres[genre] /= total }
        authors[0] = nil
        series[0] = nil
    }

    /// Returns how similar the genres of a book are to those of the reader's books, from -1 to 1.
    func similarityOfGenres(of book: BookTraits) -> Float {
        let length = vectors.length(of: book.genres)
        guard length > 0 else { return 0 }
        var product: Float = 0
        vectors.forEach(of: book.genres) { product += $1 * genres[$0] }
        return product / length
    }

    /// Returns the sum of the opinions of the author and of the series of a book.
    func opinionOfOrigin(of book: BookTraits) -> Float {
        Self.opinion(authors[book.author] ?? 0) + Self.opinion(series[book.series] ?? 0)
    }

    private static func opinion(_ sum: Float) -> Float { sum / (abs(sum) + originShrinkage) }
}

/// The genres of books as vectors.
///
/// The component of a genre is its rarity, the logarithm of the number of books divided by the number of those
/// with the genre. Sharing a rare genre says more. It is divided by the square root of the genre's position in the list,
/// because the first genres describe the book best.
struct GenreVectors {
    /// The number of a book's genres that count.
    private static let genresMax = 8
    private static let decay = (1...genresMax).map { 1 / Float($0).squareRoot() }

    /// The rarities, by genre id.
    private var rarities: [Float] = []
    /// The highest genre id plus 1.
    var genresEnd: Int { rarities.count }

    init(_ books: [BookTraits]) {
        for book in books {
            for genre in book.genres where genre > 0 {
                while rarities.count <= Int(genre) { rarities.append(0) }
                rarities[Int(genre)] += 1
            }
        }
        for genre in rarities.indices {
            rarities[genre] = log(Float(1 + books.count) / max(1, rarities[genre]))
        }
    }

    /// Passes each genre and its component, not divided by the length. Skips genres that no book of the catalog has.
    func forEach(of genres: [Int16], _ body: (Int, Float) -> Void) {
        for (position, genre) in genres.prefix(Self.genresMax).enumerated()
        where rarities.indices.contains(Int(genre)) {
            body(Int(genre), rarities[Int(genre)] * Self.decay[position])
        }
    }

    func length(of genres: [Int16]) -> Float {
        var square: Float = 0
        forEach(of: genres) { square += $1 * $1 }
        return square.squareRoot()
    }
}
