import Glibc

/// What a reader's signals say about genres, authors, and series: content similarity.
///
/// A book's genres form a vector: each genre has its rarity, divided by the square root of its position in the list, and
/// the vector is divided by its length. The reader's taste is the weighted mean of the vectors of the
/// signals' books, so that disliked books count negatively. The similarity of a book is the scalar product of its vector and the
/// taste, plus what the signals say about its author and its series.
struct Taste {
    /// Added to the sum of the weights, so that one signal does not make a whole taste.
    private static let genreShrinkage: Float = 1
    private static let authorShrinkage: Float = 1
    private static let authorWeight: Float = 0.3
    private static let seriesWeight: Float = 0.3

    private let rarities: GenreRarities
    private var genres: [Float]
    private var authors: [Int32: Float] = [:]
    private var series: [Int32: Float] = [:]

    init(_ signals: [ReaderSignal], rarities: GenreRarities) {
        self.rarities = rarities
        genres = [Float](repeating: 0, count: rarities.genreCount)
        var total = Self.genreShrinkage
        for signal in signals {
            let weight = signal.weight * FeedRanking.recencyBoost(newer: signal.newer)
            total += abs(weight)
            let length = rarities.length(of: signal.traits.genres)
            rarities.forEach(of: signal.traits.genres) { genre, share in
                genres[genre] += weight * share / length
            }
            authors[signal.traits.author, default: 0] += weight
            series[signal.traits.series, default: 0] += weight
        }
        for genre in genres.indices { genres[genre] /= total }
        authors[0] = nil
        series[0] = nil
        authors = authors.mapValues { $0 / (abs($0) + Self.authorShrinkage) }
        series = series.mapValues { $0 / (abs($0) + Self.authorShrinkage) }
    }

    /// Returns how similar a book is to those that the reader likes, and how different from those that the reader
    /// dislikes.
    func similarity(of book: BookTraits) -> Float {
        var product: Float = 0
        var square: Float = 0
        rarities.forEach(of: book.genres) { genre, share in
            product += share * genres[genre]
            square += share * share
        }
        let sameGenres = square > 0 ? product / square.squareRoot() : 0
        return sameGenres
    }

    func origin(of book: BookTraits) -> Float {
        Self.authorWeight * (authors[book.author] ?? 0) + Self.seriesWeight * (series[book.series] ?? 0)
    }
}

/// How much it says that two books share a genre: the logarithm of the share of books without it.
struct GenreRarities {
    private var rarities: [Float]
    var genreCount: Int { rarities.count }

    init(_ books: some Sequence<BookTraits>) {
        rarities = []
        var total: Float = 1
        for book in books {
            total += 1
            for genre in book.genres where genre > 0 {
                while rarities.count <= Int(genre) { rarities.append(0) }
                rarities[Int(genre)] += 1
            }
        }
        for genre in rarities.indices {
            rarities[genre] = log(total / max(1, rarities[genre]))
        }
    }

    private static let positionDecay: Float = 0.5
    private static let decay = (1...8).map { pow(Float($0), -positionDecay) }

    func forEach(of genres: [Int16], _ body: (Int, Float) -> Void) {
        for (position, genre) in genres.prefix(8).enumerated()
        where rarities.indices.contains(Int(genre)) {
            body(Int(genre), rarities[Int(genre)] * Self.decay[position])
        }
    }

    func length(of genres: [Int16]) -> Float {
        var square: Float = 0
        forEach(of: genres) { square += $1 * $1 }
        return max(square.squareRoot(), 1e-6)
    }
}
