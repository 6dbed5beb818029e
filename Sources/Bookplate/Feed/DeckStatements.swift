import Postgres
import Ranking

/// The statements that build a deck. `$1` is the reader.
enum DeckStatements {
    // MARK: - The reader

    struct Signal: RowDecodable {
        let id: UUID
        let signal: ReaderSignal

        init?(_ row: inout RowReader) {
            guard let id = row.uuid() else { return nil }
            self.id = id
            let weight = Float(row.float8() ?? 0)
            let newer = Float(row.float8() ?? 0)
            signal = ReaderSignal(weight: weight, newer: newer, traits: BookTraits(&row))
        }
    }

    /// The reader's last 300 signals, newest first. `newer` is the number of positive signals that are newer, counting those of
    /// the same time by half.
    static let signals = TypedStatement<Signal>(
        """
        SELECT s.edition_id, s.voice::float8, s.newer, \(traits(of: "e"))
        FROM (
            SELECT
                edition_id,
                voice,
                at,
                greatest(
                    0,
                    (
                        count(*) FILTER (WHERE voice > 0) OVER until_then
                        + count(*) FILTER (WHERE voice > 0) OVER later
                        - 1
                    ) / 2.0
                )::float8 AS newer
            FROM (
                SELECT edition_id, voice, at
                FROM reader_signals
                WHERE user_id = $1
                ORDER BY at DESC
                LIMIT 300
            ) latest
            WINDOW
                until_then AS (ORDER BY at DESC),
                later AS (ORDER BY at DESC RANGE UNBOUNDED PRECEDING EXCLUDE GROUP)
        ) s
        CROSS JOIN LATERAL (SELECT * FROM editions e WHERE e.id = s.edition_id OFFSET 0) e
        ORDER BY s.at DESC
        """)

    struct Genre: RowDecodable {
        let id: Int16

        init?(_ row: inout RowReader) {
            guard let id = row.int32() else { return nil }
            self.id = Int16(truncatingIfNeeded: id)
        }
    }

    static let preferredGenres = TypedStatement<Genre>(
        """
        SELECT unnest(genre_ids(preferred_genres))
        FROM users
        WHERE id = $1
        """)

    static let genres = TypedStatement<Genre>("SELECT id FROM genres ORDER BY readers DESC, id")

    // MARK: - The preceding deck

    struct Previous: RowDecodable {
        let depth: Int32
        let filter: [Int16]

        init?(_ row: inout RowReader) {
            guard let depth = row.int32() else { return nil }
            self.depth = depth
            filter = (row.texts() ?? []).compactMap { Int16($0) }
        }
    }

    static let previous = TypedStatement<Previous>(
        """
        SELECT depth, filter::text[]
        FROM feed_decks
        WHERE user_id = $1 AND number = $2
        UNION ALL
        SELECT 0, '{}'
        FROM cold_start_decks
        WHERE number = $2
        """)

    struct Card: RowDecodable {
        let traits: BookTraits

        init?(_ row: inout RowReader) { traits = BookTraits(&row) }
    }

    /// The last cards of the preceding deck, in order.
    static let lastCards = TypedStatement<Card>(
        """
        SELECT \(traits(of: "e"))
        FROM (
            SELECT editions[cardinality(editions) - \(FeedRanking.spread - 1) + 1:] AS ids
            FROM feed_decks
            WHERE user_id = $1 AND number = $2
            UNION ALL
            SELECT editions[cardinality(editions) - \(FeedRanking.spread - 1) + 1:]
            FROM cold_start_decks
            WHERE number = $2
        ) d
        CROSS JOIN LATERAL unnest(d.ids) WITH ORDINALITY c (id, ordinal)
        CROSS JOIN LATERAL (SELECT * FROM editions e WHERE e.id = c.id OFFSET 0) e
        ORDER BY c.ordinal
        """)

    // MARK: - Candidates

    struct Candidate: RowDecodable {
        let id: UUID
        /// Lower tiers are shown first.
        let tier: Int32
        let item: FeedItem

        init?(_ row: inout RowReader) {
            guard let id = row.uuid() else { return nil }
            self.id = id
            tier = row.int32() ?? 0
            let affinity = Float(row.float8() ?? 0)
            let popularity = Float(row.float8() ?? 0)
            item = FeedItem(
                affinity: affinity, popularity: popularity, traits: BookTraits(&row))
        }
    }

    /// The end of the first tier in `edition_genres`.
    private static let firstTierEnd = "1::int8 << 61"

    /// Unseen books that may come into the deck. The parameters are those of `DeckCandidates`: `$2` filter, `$3` preceding deck,
    /// `$4` and `$5` the books of the signals with their weights, `$6` and `$7` genres with the numbers of popular books, `$8`
    /// authors, `$9` series, `$10` whether to include the later tiers.
    ///
    /// Relies on this plan: the editions that the reader has seen are read once and hashed. Each genre is then read in the order
    /// of its index, where seen editions are skipped by the hash table and the others are looked up in `work_records`, until
    /// there are enough.
    static let candidates = TypedStatement<Candidate>(
        """
        WITH RECURSIVE chain AS (
            SELECT number, previous, editions
            FROM feed_decks
            WHERE user_id = $1 AND number = $3
            UNION ALL
            SELECT d.number, d.previous, d.editions
            FROM chain c
            JOIN feed_decks d ON d.user_id = $1 AND d.number = c.previous
        ),
        seen AS MATERIALIZED (
            SELECT edition_id
            FROM swipes
            WHERE user_id = $1
                AND undone_at IS NULL
                AND (NOT $10 OR action <> 'SKIP' OR least(swiped_at, recorded_at) > \(coolDown))
            UNION ALL
            SELECT edition_id
            FROM books
            WHERE user_id = $1 AND edition_id IS NOT NULL
            UNION ALL
            SELECT unnest(editions)
            FROM chain
            UNION ALL
            SELECT unnest(editions)
            FROM cold_start_decks
            WHERE number = $3 OR number IN (SELECT previous FROM chain)
        ),
        -- After the cool-down, the skipped record itself is shown again, whatever its rank.
        skipped AS MATERIALIZED (
            SELECT DISTINCT edition_id
            FROM swipes
            WHERE user_id = $1 AND $10 AND undone_at IS NULL AND action = 'SKIP'
        ),
        suggested AS (
            SELECT s.similar_id AS id, sum(m.weight * s.score) AS affinity
            FROM unnest($4::uuid[], $5::float8[]) m (edition_id, weight)
            CROSS JOIN LATERAL (
                SELECT *
                FROM edition_similar s
                WHERE s.edition_id = m.edition_id
                OFFSET 0
            ) s
            GROUP BY s.similar_id
            ORDER BY affinity DESC
            LIMIT 400
        ),
        related AS (
            SELECT e.id
            FROM unnest($8::int4[]) k (author)
            CROSS JOIN LATERAL (
                SELECT id
                FROM editions e
                WHERE e.first_author_hash = k.author
                ORDER BY e.popularity DESC
                LIMIT 10
            ) e
            UNION ALL
            SELECT e.id
            FROM unnest($9::int4[]) k (series)
            CROSS JOIN LATERAL (
                SELECT id
                FROM editions e
                WHERE e.series_hash = k.series AND e.series_hash <> 0
                ORDER BY e.popularity DESC
                LIMIT 20
            ) e
        ),
        popular AS (
            SELECT f.edition_id AS id
            FROM unnest($6::int2[], $7::int4[]) g (genre_id, count)
            CROSS JOIN LATERAL (
                SELECT f.edition_id
                FROM edition_genres f
                WHERE f.genre_id = g.genre_id
                    AND ($10 OR f.position < \(firstTierEnd))
                    AND f.edition_id NOT IN (SELECT edition_id FROM seen)
                    AND NOT ($10 AND f.edition_id IN (SELECT edition_id FROM skipped))
                    AND \(WorkRecords.isRecordToShow("f.edition_id"))
                ORDER BY f.position
                LIMIT g.count
            ) f
        ),
        candidates AS (
            SELECT coalesce(first.edition_id, s.id) AS id, s.affinity
            FROM suggested s
            LEFT JOIN LATERAL \(WorkRecords.firstRecord(of: "s.id")) first ON true
            UNION ALL
            SELECT coalesce(first.edition_id, r.id), 0
            FROM related r
            LEFT JOIN LATERAL \(WorkRecords.firstRecord(of: "r.id")) first ON true
            UNION ALL
            SELECT id, 0 FROM popular
            UNION ALL
            SELECT edition_id, 0 FROM skipped
        )
        SELECT
            c.id,
            CASE
                WHEN g.position < \(firstTierEnd) AND c.id IN (SELECT edition_id FROM skipped) THEN 1
                ELSE g.position >> 61
            END::int4,
            c.affinity,
            e.popularity / (SELECT greatest(max(popularity), 1) FROM editions),
            \(traits(of: "e"))
        FROM (
            SELECT id, max(affinity)::float8 AS affinity
            FROM candidates
            WHERE id NOT IN (SELECT edition_id FROM seen)
            GROUP BY id
        ) c
        CROSS JOIN LATERAL (SELECT * FROM editions e WHERE e.id = c.id OFFSET 0) e
        CROSS JOIN LATERAL (
            SELECT min(f.position) AS position, array_agg(f.genre_id) AS genres
            FROM edition_genres f
            WHERE f.edition_id = c.id
        ) g
        WHERE ($10 OR g.position < \(firstTierEnd))
            AND ($2::int2[] = '{}' OR g.genres && $2::int2[])
            AND CASE
                WHEN c.id IN (SELECT edition_id FROM skipped)
                    THEN \(WorkRecords.isOtherRecordUnseen("c.id", skippedAfter: coolDown))
                ELSE \(WorkRecords.isRecordToShow("c.id"))
            END
        """)

    /// The most popular books of the first tier in each genre, for the cold-start deck.
    static let mostPopular = TypedStatement<Candidate>(
        """
        SELECT
            e.id,
            0,
            0::float8,
            e.popularity / (SELECT greatest(max(popularity), 1) FROM editions),
            \(traits(of: "e"))
        FROM (
            SELECT DISTINCT f.edition_id
            FROM genres g
            CROSS JOIN LATERAL (
                SELECT f.edition_id
                FROM edition_genres f
                WHERE f.genre_id = g.id
                    AND f.ordinal = 1
                    AND f.position < \(firstTierEnd)
                    AND NOT EXISTS (
                        SELECT
                        FROM work_records w
                        WHERE w.edition_id = f.edition_id AND w.rank > 1
                        OFFSET 0
                    )
                ORDER BY f.position
                LIMIT 100
            ) f
        ) f
        JOIN editions e ON e.id = f.edition_id
        ORDER BY e.popularity DESC, e.number
        LIMIT 1000
        """)

    private static let coolDown = "now() - interval '\(FeedPage.skipCoolDown)'"

    /// The columns of `BookTraits` of an edition. Only a plain number counts as a position in a series.
    private static func traits(of edition: String) -> String {
        """
        ARRAY(
            SELECT f.genre_id::text
            FROM edition_genres f
            WHERE f.edition_id = \(edition).id AND f.genre_id <> 0
            ORDER BY f.ordinal
        ),
        \(edition).first_author_hash,
        \(edition).series_hash,
        substring(\(edition).series_position FROM '^\\s*([0-9]{1,6}(?:\\.[0-9]{1,3})?)\\s*$')::float8
        """
    }

    // MARK: - The deck

    /// A deck has one successor: of two that are built at the same time, the second is not stored.
    static let insert = Statement(
        """
        INSERT INTO feed_decks (user_id, filter, previous, depth, editions)
        VALUES ($1, $2::int2[], $3, $4, $5)
        ON CONFLICT (user_id, previous) WHERE previous IS NOT NULL DO NOTHING
        """)

    /// Deletes the oldest decks beyond 50 that have neither a predecessor nor a successor. Each group of swipes leads to a new
    /// start, and most of these are never read. Decks of chains are kept until `feed.refresh` deletes them.
    static let deleteUnused = Statement(
        """
        DELETE FROM feed_decks
        WHERE user_id = $1
            AND number IN (
                SELECT d.number
                FROM feed_decks d
                WHERE d.user_id = $1
                    AND d.previous IS NULL
                    AND NOT EXISTS (
                        SELECT FROM feed_decks n WHERE n.user_id = $1 AND n.previous = d.number
                    )
                ORDER BY d.number DESC
                OFFSET 50
            )
        """)
}

extension BookTraits {
    /// Reads the columns of `DeckStatements.traits`.
    fileprivate init(_ row: inout RowReader) {
        let genres = (row.texts() ?? []).compactMap { Int16($0) }
        let author = row.int32() ?? 0
        let series = row.int32() ?? 0
        self.init(
            genres: genres, author: author, series: series,
            seriesPosition: row.float8().map { Float($0) })
    }
}
