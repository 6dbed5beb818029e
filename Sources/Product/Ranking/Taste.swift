import Glibc

/// The genres, authors, and series that a reader likes or dislikes, from the reader's signals (content similarity).
///
/// **Genres.** A book's genres are a vector of length 1 (`GenreVectors`). The reader's taste is the sum of the vectors
/// of the signals' books, each multiplied by the signal's weight and recency boost, divided by the sum of the absolute
/// weights plus `genreShrinkage`. Liked books are also multiplied by the knowledge, because a like or two say little about genres.
/// Disliked books count negatively. The similarity of a book is the scalar product of its vector and the taste.
///
/// **Knowledge.** If `s` is the sum of the weights of the likes, the knowledge is `s² / (s² + 2)`: 0.33 after one like, 0.67 after two,
/// and 0.93 after five. Dislikes count fully from the first one.
///
/// **Authors and series.** If `s` is the sum of the weights of the signals on an author's books, the opinion of that
/// author is `s / (|s| + originShrinkage)`. The same holds for series. This is a sum and not a mean, because a liked
/// author matters as much among 20 likes as alone.
///
/// **Example.** A reader likes a book of the genre Fantasy, the weight is 1, the boost is 5, and the knowledge is 0.33. The taste is
/// 0.33 * 5 / (5 + 20) in the direction of Fantasy. A book that has only this genre has a similarity of 0.07.
struct Taste {
    /// Added to the sum of the weights, so that the genres of the first likes do not displace popular books.
    private static let genreShrinkage: Float = 20
    private static let originShrinkage: Float = 1

    private let vectors: GenreVectors
    /// The taste, by genre id.
    private var genres: [Float]
    private var authors: [Int32: Float] = [:]
    private var series: [Int64: Float] = [:]
    /// The share of the most frequent first genre in the reader's likes, multiplied by the knowledge.
    let concentration: Float

    /// - Parameter catalog: The books from which the rarity of genres is computed.
    init(_ signals: [ReaderSignal], catalog: [BookTraits]) {
        let liked = signals.reduce(0) { $0 + max(0, $1.weight) }
        let knowledge = liked * liked / (liked * liked + 2)
        concentration = (signals.shareOfLikes(by: \.firstGenre).values.max() ?? 0) * knowledge
        vectors = GenreVectors(catalog)
        genres = [Float](repeating: 0, count: vectors.genresEnd)
        var total = Self.genreShrinkage
        for signal in signals {
            let weight = signal.weight * FeedRanking.recencyBoost(newer: signal.newer)
            total += abs(weight)
            let share = weight > 0 ? weight * knowledge : weight
            vectors.forEach(of: signal.traits.genres) { genres[$0] += share * $1 }
            authors[signal.traits.author, default: 0] += weight
            series[signal.traits.series, default: 0] += weight
        }
        for genre in genres.indices { genres[genre] /= total }
        authors[0] = nil
        series[0] = nil
    }

    /// Returns how similar the genres of a book are to those of the reader's books, from -1 to 1.
    func similarityOfGenres(of book: BookTraits) -> Float {
        var product: Float = 0
        vectors.forEach(of: book.genres) { product += $1 * genres[$0] }
        return product
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

    /// Passes each genre and its component of the vector of length 1. Skips genres that no book of the catalog has.
    func forEach(of genres: [Int16], _ body: (Int, Float) -> Void) {
        let known = genres.prefix(Self.genresMax).enumerated().lazy
            .filter { rarities.indices.contains(Int($1)) }
            .map { (Int($1), rarities[Int($1)] * Self.decay[$0]) }
        let length = known.reduce(0) { $0 + $1.1 * $1.1 }.squareRoot()
        guard length > 0 else { return }
        for (genre, component) in known { body(genre, component / length) }
    }
}
