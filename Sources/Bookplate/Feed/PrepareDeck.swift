import JobQueue
import Postgres
import Ranking

/// Prepares the first cards of a reader's feed from the reader's swipes, books, and ratings (`feed_decks`).
struct PrepareDeck: JobHandler {
    static let kind = "feed.deck"
    static let settings = JobSettings(attemptsMax: 3)

    /// The number of cards of a deck. It suffices for an hour of swiping, and the arrays fit into a row without TOAST.
    private static let cardsMax = 100

    func run(_ payload: NoPayload, in job: JobContext) async throws(JobError) {
        let reader = try job.user()
        let candidates: [Candidate] = try await job.read { pipeline in
            pipeline.append(Self.candidates, .of(reader))
        }
        let deck = Self.deck(candidates)
        try await job.write { pipeline in
            var parameters = Parameters.of(reader)
            parameters.append(uuids: deck.map(\.id))
            parameters.append(int32s: deck.map { Int32($0.item.genre) })
            pipeline.append(Self.insert, parameters)
            pipeline.append(Self.prune, .of(reader))
            pipeline.append(Self.advance, .of(reader))
        }
    }

    /// The condition that a refresh has invalidated the caller's frontiers. The job computes new ones.
    static let areFrontiersOutdated = """
        EXISTS (
            SELECT
            FROM feed_frontiers f
            WHERE f.user_id = app_user_id()
                AND f.seen_at <= (SELECT frontiers_valid_since FROM feed_state)
        )
        """

    private static func deck(_ candidates: [Candidate]) -> [Candidate] {
        FeedRanking.rank(
            candidates.map(\.item), signalCount: candidates.first?.signalCount ?? 0,
            count: cardsMax
        ).map { candidates[$0] }
    }

    private struct Candidate: RowDecodable {
        let id: UUID
        let item: FeedItem
        /// The number of the reader's positive signals; the same for all candidates.
        let signalCount: Int

        init?(_ row: inout RowReader) {
            guard let id = row.uuid() else { return nil }
            self.id = id
            let affinity = Float(row.float8() ?? 0)
            let popularity = Float(row.float8() ?? 0)
            signalCount = Int(row.int64() ?? 0)
            item = FeedItem(
                affinity: affinity, popularity: popularity,
                genre: Int16(truncatingIfNeeded: row.int32() ?? 0))
        }
    }

    /// Candidates for the reader's deck that the reader has not seen: books that the reader's last 300 signals
    /// suggest, and the most popular books of each large genre.
    ///
    /// A signal for any record of a work counts for the record that the feed shows. In genres that the reader prefers,
    /// three readers count as nine. New signals weigh more (`FeedRanking.recencyBoost`): `newer` is the number of positive
    /// signals that are newer, counting those of the same instant by half.
    private static let candidates = TypedStatement<Candidate>(
        """
        WITH preferred AS MATERIALIZED (
            SELECT preferred_genres AS genres
            FROM users
            WHERE id = $1
        ),
        own_signals AS MATERIALIZED (
            SELECT
                edition_id,
                voice AS weight,
                greatest(
                    0,
                    (
                        count(*) FILTER (WHERE voice > 0) OVER upto
                        + count(*) FILTER (WHERE voice > 0) OVER before
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
                upto AS (ORDER BY at DESC),
                before AS (ORDER BY at DESC RANGE UNBOUNDED PRECEDING EXCLUDE GROUP)
        ),
        suggested AS (
            SELECT
                s.similar_id AS id,
                sum(
                    m.weight * s.score
                    * (1 + power(2, -m.newer / \(FeedRanking.recencyHalfLife)))
                ) AS affinity
            FROM own_signals m
            CROSS JOIN LATERAL (
                SELECT *
                FROM edition_similar s
                WHERE s.edition_id = m.edition_id
                OFFSET 0
            ) s
            GROUP BY s.similar_id
        ),
        popular AS (
            SELECT o.edition_id AS id
            FROM (
                SELECT id
                FROM genres
                ORDER BY name = ANY((SELECT genres FROM preferred)::text[]) DESC, readers DESC, id
                LIMIT 30
            ) g
            LEFT JOIN feed_frontiers f
                ON f.user_id = $1
                AND f.genre_id = g.id
                AND f.seen_at > (SELECT frontiers_valid_since FROM feed_state)
            CROSS JOIN LATERAL (
                (
                    -- Unseen books before the reader's frontier.
                    SELECT o.edition_id
                    FROM unnest(f.unseen) u (position)
                    CROSS JOIN LATERAL (
                        SELECT o.edition_id
                        FROM feed_order o
                        WHERE o.genre_id = g.id
                            AND o.primary_id = g.id
                            AND o.position = u.position
                        OFFSET 0
                    ) o
                    LIMIT 8
                )
                UNION ALL
                (
                    -- Books after the reader's frontier.
                    SELECT o.edition_id
                    FROM feed_order o
                    WHERE o.genre_id = g.id
                        AND o.primary_id = g.id
                        AND o.position > coalesce(f.reach, -1)
                        AND NOT EXISTS (
                            SELECT
                            FROM swipes s
                            WHERE s.user_id = $1 AND s.edition_id = o.edition_id
                            OFFSET 0
                        )
                    ORDER BY o.position
                    LIMIT 8
                )
            ) o
        ),
        candidates AS (
            SELECT id, coalesce(affinity, 0) AS affinity
            FROM (
                SELECT coalesce(first.edition_id, v.id) AS id, max(v.affinity) AS affinity
                FROM (
                    SELECT id, affinity
                    FROM suggested
                    ORDER BY affinity DESC
                    LIMIT 400
                ) v
                LEFT JOIN LATERAL \(WorkRecords.firstRecord(of: "v.id")) first ON true
                GROUP BY 1
            ) v
            FULL JOIN (SELECT DISTINCT id FROM popular) p USING (id)
        )
        SELECT
            c.id,
            c.affinity::float8,
            e.popularity / (SELECT greatest(max(popularity), 1) FROM editions)
            * CASE WHEN e.genres && (SELECT genres FROM preferred) THEN 3 ELSE 1 END,
            (SELECT count(*) FROM own_signals WHERE weight > 0),
            coalesce((SELECT g.id FROM genres g WHERE g.name = e.genres[1]), 0)
        FROM candidates c
        CROSS JOIN LATERAL (SELECT * FROM editions e WHERE e.id = c.id OFFSET 0) e
        WHERE (SELECT count(*) FROM own_signals) > 0 AND \(isUnseen)
        """)
    private static let isUnseen = """
        NOT EXISTS (
            SELECT
            FROM swipes s
            WHERE s.user_id = $1 AND s.edition_id = c.id
            OFFSET 0
        )
        AND NOT EXISTS (
            SELECT
            FROM books b
            WHERE b.user_id = $1 AND b.edition_id = c.id
            OFFSET 0
        )
        AND \(WorkRecords.isRecordToShow("c.id", until: "now()"))
        """

    /// Leaves out books that were seen since `candidates` was read. Transactions of the same reader do not run
    /// concurrently, so all cards are unseen until a trigger sets `touched_at`.
    private static let insert = Statement(
        """
        INSERT INTO feed_decks (user_id, version, editions, genres)
        SELECT
            $1,
            1 + coalesce((SELECT max(version) FROM feed_decks WHERE user_id = $1), 0),
            coalesce(array_agg(c.id ORDER BY c.place), '{}'),
            coalesce(array_agg(c.genre ORDER BY c.place), '{}')
        FROM unnest($2::uuid[], $3::int2[]) WITH ORDINALITY c (id, genre, place)
        WHERE \(isUnseen)
        """)

    /// Moves the reader's frontiers past the seen books, so that the queues continue there after the end of the deck.
    private static let advance = Statement("SELECT advance_feed($1)")

    /// Old decks are kept for one day, because cursors refer to them. A cursor of a deleted deck continues with the queues.
    private static let prune = Statement(
        """
        DELETE FROM feed_decks
        WHERE user_id = $1
            AND version < (SELECT max(version) FROM feed_decks WHERE user_id = $1)
            AND (
                made_at < now() - interval '1 day'
                OR version < (SELECT max(version) FROM feed_decks WHERE user_id = $1) - 50
            )
        """)
}
