import JobQueue
import Postgres
import Ranking

/// Prepares a reader's own part of the feed from what they liked, skipped, own and rated (`feed_decks`).
struct PrepareDeck: JobHandler {
    static let kind = "feed.deck"
    static let settings = JobSettings(attemptsMax: 3)

    /// The cards of a deck: an hour's swiping between two of them would be long. So many fit into a row as it is.
    private static let cardsMax = 100

    func run(_ payload: NoPayload, in job: JobContext) async throws(JobError) {
        let reader = try job.user()
        let rows = try await job.read { segment in
            segment.append(Self.candidates, .of(reader))
        }[0]
        let deck = Self.deck(rows)
        _ = try await job.write { segment in
            var parameters = Parameters.of(reader)
            parameters.append(uuids: deck.map(\.id))
            parameters.append(int32s: deck.map { Int32($0.genre) })
            segment.append(Self.insert, parameters)
            segment.append(Self.prune, .of(reader))
            segment.append(Self.advance, .of(reader))
        }
    }

    /// Whether a refresh has outdated what is known of the caller's places: a new deck brings new ones.
    static let areFrontiersOutdated = """
        EXISTS (SELECT FROM feed_frontiers f WHERE f.user_id = app_user_id() \
        AND f.seen_at <= (SELECT frontiers_valid_since FROM feed_state))
        """

    private static func deck(_ rows: Rows) -> [(id: UUID, genre: Int16)] {
        var cards: [(id: UUID, genre: Int16)] = []
        var items: [FeedItem] = []
        for row in 0..<rows.count {
            guard let id = rows.uuid(row, 0) else { continue }
            let genre = Int16(truncatingIfNeeded: rows.int32(row, 4) ?? 0)
            cards.append((id, genre))
            items.append(
                FeedItem(
                    affinity: Float(rows.float8(row, 1) ?? 0),
                    popularity: Float(rows.float8(row, 2) ?? 0), genre: genre))
        }
        return FeedRanking.rank(
            items, signalCount: Int(rows.int64(0, 3) ?? 0), count: cardsMax
        ).map { cards[$0] }
    }

    /// Candidates for the reader's deck that the reader has not seen: books that the reader's last 300 signals
    /// suggest, and the most popular books of each large genre.
    ///
    /// A signal for any record of a work counts for the record that the feed shows. In genres that the reader prefers,
    /// three readers count as nine. New signals weigh more (`FeedRanking.recencyBoost`): `newer` is the number of signals
    /// for a book that came after a signal, counting those of the same instant by half.
    private static let candidates = Statement(
        """
        WITH preferred AS MATERIALIZED (SELECT preferred_genres AS genres FROM users WHERE id = $1), \
        mine AS MATERIALIZED (SELECT edition_id, voice, greatest(0, (count(*) FILTER (WHERE voice > 0) OVER upto \
        + count(*) FILTER (WHERE voice > 0) OVER before - 1) / 2.0)::float8 AS newer \
        FROM (SELECT edition_id, voice, at FROM reader_signals \
        WHERE user_id = $1 ORDER BY at DESC LIMIT 300) latest WINDOW upto AS (ORDER BY at DESC), \
        before AS (ORDER BY at DESC RANGE UNBOUNDED PRECEDING EXCLUDE GROUP)), \
        voiced AS (SELECT s.similar_id AS id, \
        sum(m.voice * s.score * (1 + power(2, -m.newer / \(FeedRanking.recencyHalfLife)))) AS affinity \
        FROM mine m CROSS JOIN LATERAL (SELECT * FROM edition_similar s \
        WHERE s.edition_id = m.edition_id OFFSET 0) s GROUP BY s.similar_id), \
        popular AS (SELECT o.edition_id AS id \
        FROM (SELECT id FROM genres ORDER BY name = ANY((SELECT genres FROM preferred)::text[]) DESC, \
        readers DESC, id LIMIT 30) g \
        LEFT JOIN feed_frontiers f ON f.user_id = $1 AND f.genre_id = g.id \
        AND f.seen_at > (SELECT frontiers_valid_since FROM feed_state) \
        CROSS JOIN LATERAL ((SELECT o.edition_id FROM unnest(f.unseen) u (position) \
        CROSS JOIN LATERAL (SELECT o.edition_id FROM feed_order o WHERE o.genre_id = g.id \
        AND o.primary_id = g.id AND o.position = u.position OFFSET 0) o LIMIT 8) UNION ALL \
        (SELECT o.edition_id FROM feed_order o WHERE o.genre_id = g.id AND o.primary_id = g.id \
        AND o.position > coalesce(f.reach, -1) \
        AND NOT EXISTS (SELECT FROM swipes s WHERE s.user_id = $1 \
        AND s.edition_id = o.edition_id OFFSET 0) ORDER BY o.position LIMIT 8)) o), \
        chosen AS (SELECT id, coalesce(affinity, 0) AS affinity FROM \
        (SELECT coalesce(first.edition_id, v.id) AS id, max(v.affinity) AS affinity \
        FROM (SELECT id, affinity FROM voiced ORDER BY affinity DESC LIMIT 400) v \
        LEFT JOIN LATERAL \(WorkRecords.firstRecord(of: "v.id")) first ON true GROUP BY 1) v \
        FULL JOIN (SELECT DISTINCT id FROM popular) p USING (id)) \
        SELECT c.id, c.affinity::float8, e.popularity / (SELECT greatest(max(popularity), 1) FROM editions) \
        * CASE WHEN e.genres && (SELECT genres FROM preferred) THEN 3 ELSE 1 END, \
        (SELECT count(*) FROM mine WHERE voice > 0), \
        coalesce((SELECT g.id FROM genres g WHERE g.name = e.genres[1]), 0) \
        FROM chosen c CROSS JOIN LATERAL (SELECT * FROM editions e WHERE e.id = c.id OFFSET 0) e \
        WHERE (SELECT count(*) FROM mine) > 0 AND \(isUnseen)
        """)
    private static let isUnseen = """
        NOT EXISTS (SELECT FROM swipes s WHERE s.user_id = $1 AND s.edition_id = c.id OFFSET 0) \
        AND NOT EXISTS (SELECT FROM books b WHERE b.user_id = $1 AND b.edition_id = c.id OFFSET 0) \
        AND \(WorkRecords.isRecordToShow("c.id", until: "now()"))
        """

    /// What was seen meanwhile is left out, for no other transaction of the reader writes while this one does: so nothing
    /// of a deck is seen until a trigger says so (`touched_at`).
    private static let insert = Statement(
        """
        INSERT INTO feed_decks (user_id, version, editions, genres) SELECT $1, \
        1 + coalesce((SELECT max(version) FROM feed_decks WHERE user_id = $1), 0), \
        coalesce(array_agg(c.id ORDER BY c.place), '{}'), coalesce(array_agg(c.genre ORDER BY c.place), '{}') \
        FROM unnest($2::uuid[], $3::int2[]) WITH ORDINALITY c (id, genre, place) \
        WHERE \(isUnseen)
        """)

    /// When the deck is over the queues begin behind what was seen; a refresh may have made that unknown.
    private static let advance = Statement("SELECT advance_feed($1)")

    /// A cursor may name a deck for a day; one that is gone is read on from the queues.
    private static let prune = Statement(
        """
        DELETE FROM feed_decks WHERE user_id = $1 AND version < \
        (SELECT max(version) FROM feed_decks WHERE user_id = $1) \
        AND (made_at < now() - interval '1 day' OR version < \
        (SELECT max(version) FROM feed_decks WHERE user_id = $1) - 50)
        """)
}
