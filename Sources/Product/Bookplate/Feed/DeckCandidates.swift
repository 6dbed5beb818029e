import Postgres
import Ranking

/// The selection of candidates for a deck: similar books, other books of liked authors and series, and the most popular books
/// of the genres.
struct DeckCandidates {
    /// The reader; nil for the cold-start deck.
    let reader: UUID?
    /// The genres of the feed; empty for all.
    let filter: [Int16]
    /// The chain whose cards are left out.
    let chain: Int64?
    let signals: [ReaderSignals.Signal]
    /// The genres that the reader prefers.
    let preferred: [Int16]
    /// The followed authors.
    var followedAuthors: [Int32] = []
    /// All genres, those with the most readers first.
    let genres: [Int16]
    /// The languages in the order in which a record of a work is chosen.
    let preferredLanguages: [String]
    /// The languages of the candidates.
    var languages: [String]
    /// Whether to add books of all genres and of all tiers, because the usual candidates do not fill a deck.
    var isComplete = false

    /// The number of popular books of a genre if the reader has no opinion on it.
    private static let cardsOfGenre = 8
    /// The number of popular books of a genre that the reader likes or prefers.
    private static let cardsOfLikedGenre = 40
    /// The maximum number of genres that count as liked.
    private static let likedGenresMax = 8
    /// The number of genres with the most readers that are read if there is no filter.
    private static let genresMax = 40
    /// The minimum number of popular books of all genres together.
    private static let popularMin = 300
    /// The number of languages of which each has the full number of popular books. More languages share these numbers.
    private static let fullLanguagesMax = 3
    /// The maximum number of liked authors, and of liked series.
    private static let likedAuthorsMax = 20

    /// The number of popular books to read of each genre in each language.
    var shares: [(genre: Int16, count: Int)] {
        let favorites = favoriteGenres
        // Genre 0 contains the books without a genre. In other languages than the main one, these are most of the books.
        let all = isComplete ? genres + [0] : favorites + genres.prefix(Self.genresMax) + [0]
        var listed: Set<Int16> = []
        let chosen = (filter.isEmpty ? all : filter).filter { listed.insert($0).inserted }
        let least = max(Self.cardsOfGenre, Self.popularMin / max(chosen.count, 1))
        let languageCount = max(Self.fullLanguagesMax, languages.count)
        return chosen.map { genre in
            let isFavorite = genre == 0 || favorites.contains(genre)
            let usual = isFavorite ? max(least, Self.cardsOfLikedGenre) : least
            let full = isComplete ? DeckBuilder.cardsMax + 10 : usual
            return (genre, max(1, full * Self.fullLanguagesMax / languageCount))
        }
    }

    /// The genres that the reader prefers, and those of the liked books.
    var favoriteGenres: [Int16] { preferred + likedGenres }

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
    private func liked<Key: FixedWidthInteger>(_ key: (BookTraits) -> Key) -> [Key] {
        var listed: Set<Key> = [0]
        var keys: [Key] = []
        for signal in signals where signal.signal.weight > 0 {
            let key = key(signal.signal.traits)
            if listed.insert(key).inserted { keys.append(key) }
            if keys.count == Self.likedAuthorsMax { break }
        }
        return keys
    }

    var parameters: Parameters {
        var parameters = Parameters()
        parameters.append(uuid: reader)
        parameters.append(int32s: filter.map(Int32.init))
        parameters.append(int64: chain)
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
        parameters.append(int32s: followedAuthors + liked(\.author))
        parameters.append(int64s: liked(\.series))
        parameters.append(bool: isComplete)
        parameters.append(texts: languages)
        parameters.append(texts: preferredLanguages)
        parameters.append(int64s: Set(signals.map(\.signal.traits.series)))
        parameters.append(int32s: reader == nil ? [] : favoriteGenres.map(Int32.init))
        return parameters
    }

    // MARK: - Statements

    /// All genres, those with the most readers first.
    static let genres = TypedStatement<Int32>("SELECT id FROM genres ORDER BY readers DESC, id")

    struct Candidate: RowDecodable {
        let id: UUID
        /// As in `edition_genres`.
        let language: String
        /// Lower tiers are shown first: 0 for most books, 1 for skipped books after their cool-down, and 2 for books in the catalog's
        /// main language without a description or a genre.
        let tier: Int32
        /// The index of the signal to which the book is most similar; nil if it is similar to none.
        let strongestSignal: Int?
        var item: FeedItem

        init?(_ row: inout RowReader) {
            guard let id = row.uuid() else { return nil }
            self.id = id
            language = row.text() ?? ""
            tier = row.int32() ?? 0
            strongestSignal = row.int32().map { Int($0) - 1 }
            item = FeedItem(
                affinity: Float(row.float8() ?? 0), popularity: Float(row.float8() ?? 0),
                traits: BookTraits(&row))
        }
    }

    /// The columns of an edition `e` that are read once for each candidate.
    private static let columns =
        "e.id, e.number, e.popularity, e.first_author_hash, e.series_key, e.series_number, e.series_position"

    /// The positions in `edition_genres` at which the first tier and the last one end.
    private static let firstTierEnd = "(1::int8 << 61)"
    private static let lastTierEnd = "(3::int8 << 61)"

    /// Unseen books that may come into the deck. The parameters are `$1` the reader, `$2` the filter, `$3` the chain, `$4` and
    /// `$5` the books of the signals with their weights, `$6` and `$7` genres with the numbers of popular books, `$8` authors,
    /// `$9` series, `$10` whether to include the later tiers, `$11` the languages, `$12` those by which a record is chosen, and
    /// `$13` the series of the signals. A position such as `1-3` in such a series is that of a collection of volumes, which is left out.
    /// `$14` has the genres that the reader likes or prefers. If they have too few books of the first tier, those of the last one fill them
    /// up, as if they were of the first one.
    ///
    /// Relies on this plan: the editions that the reader has seen are read once and hashed. Each genre of each language is then read in the
    /// order of its index, where seen editions are skipped by the hash table and the others are looked up in `work_records`, until
    /// there are enough. The other records of a work are one range of `work_records_work`, each of which is looked up in the hash tables.
    ///
    /// `volumes` has the earlier volumes of the candidates' series, which come first (`SeriesOrder`). A volume is left out if the reader
    /// has passed a later one in the feed.
    static let select = TypedStatement<Candidate>(
        """
        WITH swiped AS MATERIALIZED (
            SELECT edition_id, action = 'SKIP' AS is_skip, least(swiped_at, recorded_at) <= \(coolDown) AS is_old
            FROM swipes
            WHERE user_id = $1 AND undone_at IS NULL
        ),
        dealt AS MATERIALIZED (
            SELECT unnest(editions) AS edition_id
            FROM feed_decks
            WHERE user_id = $1 AND chain = $3
            UNION ALL
            SELECT unnest(editions)
            FROM cold_start_decks
            WHERE chain = $3
        ),
        -- After the cool-down, the skipped record itself is shown again, whatever its rank.
        skipped AS MATERIALIZED (
            SELECT DISTINCT edition_id
            FROM swiped
            WHERE $10 AND is_skip
        ),
        seen AS MATERIALIZED (
            SELECT edition_id
            FROM swiped
            WHERE NOT ($10 AND is_skip AND is_old)
            UNION ALL
            SELECT edition_id
            FROM dealt
            UNION ALL
            SELECT edition_id
            FROM books
            WHERE user_id = $1 AND edition_id IS NOT NULL
            UNION ALL
            SELECT e.id
            FROM (
                \(SwipeScope.hidden)
            ) h
            CROSS JOIN LATERAL (
                SELECT e.id FROM editions e WHERE e.first_author_hash = h.author
                UNION ALL
                SELECT e.id FROM editions e WHERE e.series_key = h.series
            ) e
        ),
        suggested AS (
            SELECT
                u.similar_id AS id,
                sum(m.weight * u.score) AS affinity,
                (max(ARRAY[m.weight * u.score, m.ordinal]))[2] AS strongest
            FROM unnest($4::uuid[], $5::float8[]) WITH ORDINALITY m (edition_id, weight, ordinal)
            CROSS JOIN LATERAL (
                SELECT *
                FROM edition_similar s
                WHERE s.edition_id = m.edition_id
                OFFSET 0
            ) s
            CROSS JOIN LATERAL unnest(s.similar_ids, s.scores) u (similar_id, score)
            GROUP BY u.similar_id
            ORDER BY affinity DESC
            LIMIT 400
        ),
        related AS (
            SELECT e.id
            FROM unnest($8::int4[]) k (author)
            CROSS JOIN LATERAL (
                SELECT e.id
                FROM (
                    SELECT id, popularity
                    FROM editions e
                    WHERE e.first_author_hash = k.author AND e.id NOT IN (SELECT edition_id FROM seen)
                    ORDER BY e.popularity DESC
                    LIMIT 50
                ) e
                CROSS JOIN LATERAL (
                    SELECT f.language
                    FROM edition_genres f
                    WHERE f.edition_id = e.id AND f.ordinal = 1
                    OFFSET 0
                ) f
                WHERE f.language = ANY($11)
                ORDER BY e.popularity DESC
                LIMIT 10
            ) e
            UNION ALL
            SELECT e.id
            FROM unnest($9::int8[]) k (series)
            CROSS JOIN LATERAL (
                SELECT id
                FROM editions e
                WHERE e.series_key = k.series
                ORDER BY e.popularity DESC
                LIMIT 20
            ) e
        ),
        popular AS (
            SELECT f.edition_id AS id
            FROM unnest($11::text[]) l (language)
            CROSS JOIN unnest($6::int2[], $7::int4[]) g (genre_id, count)
            CROSS JOIN LATERAL (
                SELECT f.edition_id
                FROM edition_genres f
                WHERE f.language = l.language
                    AND f.genre_id = g.genre_id
                    AND f.position < CASE WHEN $10 OR g.genre_id = ANY($14::int2[]) THEN \(lastTierEnd) ELSE \(firstTierEnd) END
                    AND f.edition_id NOT IN (SELECT edition_id FROM seen)
                    AND NOT ($10 AND f.edition_id IN (SELECT edition_id FROM skipped))
                    AND \(WorkRecords.isRecordToShow("f.edition_id", languages: "$12"))
                ORDER BY f.position
                LIMIT g.count
            ) f
        ),
        candidates AS (
            SELECT \(WorkRecords.joinedRecordToShow(of: "s.id", languages: "$12")) AS id, s.affinity, s.strongest
            FROM (
                SELECT id, affinity, strongest
                FROM suggested
                UNION ALL
                SELECT id, 0, NULL
                FROM related
            ) s
            LEFT JOIN work_records w ON w.edition_id = s.id
            UNION ALL
            SELECT id, 0, NULL FROM popular
            UNION ALL
            -- A deck has far fewer cards, and each candidate has lookups of its series.
            SELECT edition_id, 0, NULL
            FROM (SELECT edition_id FROM skipped WHERE edition_id NOT IN (SELECT edition_id FROM seen) LIMIT 500) s
        ),
        found AS MATERIALIZED (
            SELECT c.affinity, c.strongest, \(columns)
            FROM (
                SELECT id, max(affinity)::float8 AS affinity, max(strongest)::int4 AS strongest
                FROM candidates
                WHERE id NOT IN (SELECT edition_id FROM seen)
                GROUP BY id
            ) c
            CROSS JOIN LATERAL (SELECT * FROM editions e WHERE e.id = c.id OFFSET 0) e
        ),
        -- The volumes of the series of these books. `last` is the last one among the books, and `passed` the last one that the reader has
        -- swiped or that is in an earlier deck.
        volumes AS MATERIALIZED (
            SELECT
                v.id,
                v.volume,
                max(v.volume) FILTER (WHERE v.id IN (SELECT id FROM found)) OVER of_series AS last,
                max(v.volume) FILTER (
                    WHERE v.id IN (SELECT edition_id FROM swiped) OR v.id IN (SELECT edition_id FROM dealt)
                ) OVER of_series AS passed
            FROM (SELECT DISTINCT series_key AS series FROM found WHERE series_key IS NOT NULL) s
            CROSS JOIN LATERAL (
                SELECT e.id, e.series_number AS volume
                FROM editions e
                WHERE e.series_key = s.series
                ORDER BY e.popularity DESC
                LIMIT 100
            ) v
            WHERE v.volume >= 1 AND v.volume = floor(v.volume)
            WINDOW of_series AS (PARTITION BY s.series)
        ),
        earlier AS (
            SELECT DISTINCT \(WorkRecords.joinedRecordToShow(of: "v.id", languages: "$12")) AS id
            FROM volumes v
            LEFT JOIN work_records w ON w.edition_id = v.id
            WHERE v.volume < v.last
        )
        SELECT
            e.id,
            g.language,
            CASE
                WHEN NOT $10 THEN 0
                WHEN g.position < \(firstTierEnd) AND e.id IN (SELECT edition_id FROM skipped) THEN 1
                ELSE g.position >> 61
            END::int4,
            e.strongest,
            e.affinity,
            e.popularity / (SELECT greatest(max(popularity), 1) FROM editions),
            \(BookTraits.columns(of: "e", genres: "g.genres"))
        FROM (
            SELECT *
            FROM found
            UNION ALL
            SELECT 0, NULL, \(columns)
            FROM earlier r
            CROSS JOIN LATERAL (SELECT * FROM editions e WHERE e.id = r.id OFFSET 0) e
            WHERE r.id NOT IN (SELECT id FROM found) AND r.id NOT IN (SELECT edition_id FROM seen)
        ) e
        CROSS JOIN LATERAL (
            SELECT
                min(f.language) AS language,
                min(f.position) AS position,
                array_agg(f.genre_id::text ORDER BY f.ordinal) FILTER (WHERE f.genre_id <> 0) AS genres
            FROM edition_genres f
            WHERE f.edition_id = e.id
        ) g
        WHERE g.language = ANY($11)
            AND ($10 OR g.position < \(firstTierEnd) OR e.id IN (SELECT id FROM popular))
            AND ($2::int2[] = '{}' OR g.genres && $2::text[])
            -- Another record of the passed volume would be a twin.
            AND e.id NOT IN (
                SELECT v.id
                FROM volumes v
                WHERE v.volume < v.passed OR v.volume = v.passed AND v.id NOT IN (SELECT edition_id FROM skipped)
            )
            AND (
                e.series_number IS NULL
                AND e.series_key = ANY($13::int8[])
                AND e.series_position ~ '[0-9½¼¾⅓⅔][[:space:]]*[-−–&,][[:space:]]*[0-9]'
            ) IS NOT TRUE
            AND CASE
                WHEN e.id IN (SELECT edition_id FROM skipped) THEN \(WorkRecords.isOtherRecordUnseen("e.id"))
                ELSE \(WorkRecords.isRecordToShow("e.id", languages: "$12"))
            END
        ORDER BY e.number
        """)

    private static let coolDown = "now() - interval '\(FeedPage.skipCoolDown)'"
}
