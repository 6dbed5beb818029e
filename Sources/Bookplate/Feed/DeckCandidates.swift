import Postgres
import Ranking

/// The selection of candidates for a deck: similar books, other books of liked authors and series, and the most popular books
/// of the genres.
struct DeckCandidates {
    let reader: UUID
    let filter: [Int16]
    let previous: Int64?
    let signals: [DeckStatements.Signal]
    let preferred: [Int16]
    /// All genres, those with the most readers first.
    let genres: [Int16]
    /// Whether to add books of all genres and of all tiers, because the usual candidates do not fill a deck.
    var isComplete = false

    /// The number of popular books of a genre if the reader has no opinion on it.
    private static let cardsOfGenre = 8
    /// The number of popular books of a genre that the reader likes or prefers.
    private static let cardsOfLikedGenre = 40
    private static let likedGenresMax = 8
    private static let genresMax = 40
    /// The minimum number of popular books of all genres together.
    private static let popularMin = 300
    private static let likedAuthorsMax = 20

    /// The number of popular books to read of each genre.
    var shares: [(genre: Int16, count: Int)] {
        // Genre 0 contains the books without a genre.
        if isComplete {
            return (filter.isEmpty ? genres + [0] : filter).map { ($0, DeckBuilder.cardsMax + 10) }
        }
        let liked = likedGenres
        let isFavorite = Set(preferred + liked)
        var listed: Set<Int16> = []
        let all =
            filter.isEmpty
            ? preferred + liked + genres.prefix(Self.genresMax) : filter
        let chosen = all.filter { listed.insert($0).inserted }
        let least = max(Self.cardsOfGenre, Self.popularMin / max(chosen.count, 1))
        return chosen.map { genre in
            (genre, isFavorite.contains(genre) ? max(least, Self.cardsOfLikedGenre) : least)
        }
    }

    /// The genres of the books that the reader likes, the most frequent first.
    private var likedGenres: [Int16] {
        var weights: [Int16: Float] = [:]
        for signal in signals {
            for genre in signal.signal.traits.genres {
                weights[genre, default: 0] += signal.signal.weight
            }
        }
        return weights.filter { $0.value > 0 }
            .sorted { ($1.value, $0.key) < ($0.value, $1.key) }
            .prefix(Self.likedGenresMax).map(\.key)
    }

    /// The latest authors, or series, of the books that the reader likes.
    private func liked(_ key: (BookTraits) -> Int32) -> [Int32] {
        var listed: Set<Int32> = [0]
        var keys: [Int32] = []
        for signal in signals where signal.signal.weight > 0 {
            let key = key(signal.signal.traits)
            if listed.insert(key).inserted { keys.append(key) }
            if keys.count == Self.likedAuthorsMax { break }
        }
        return keys
    }

    var parameters: Parameters {
        var parameters = Parameters.of(reader)
        parameters.append(int32s: filter.map(Int32.init))
        parameters.append(int64: previous)
        parameters.append(uuids: signals.map(\.id))
        parameters.appendArray(of: .float8) { weights in
            for signal in signals {
                let boost = FeedRanking.recencyBoost(newer: signal.signal.newer)
                weights.append(float8: Double(signal.signal.weight * boost))
            }
        }
        let shares = shares
        parameters.append(int32s: shares.map { Int32($0.genre) })
        parameters.append(int32s: shares.map { Int32($0.count) })
        parameters.append(int32s: liked(\.author))
        parameters.append(int32s: liked(\.series))
        parameters.append(bool: isComplete)
        return parameters
    }
}
