import GraphQLPostgres
import Postgres

/// The statements of a feed. They return the next unseen books of several genres' queues after a position in each.
///
/// The parameters are:
/// - `$1`: the caller.
/// - `$2`: the time until which swipes and books count; NULL for now.
/// - `$3`: the genres.
/// - `$4`: the position in each queue after which the books begin.
/// - `$5`: the maximum number of rows of each genre.
/// - `$6`: a filter of genres, or NULL.
/// - `$7`: the marks of the cards that were shown from decks (`FeedPosition.shown`).
/// - `$8`: the position at which the first tier ends. Only in the statements of the first tier.
///
/// The rows are ordered by genre and then by position.
struct FeedStatements {
    /// The time for which a skipped book is not shown.
    static let skipCoolDown = "30 days"

    /// Books with complete descriptions that the reader has not seen.
    let firstTier: Statement
    /// All books that can be shown. The first tier of each genre is followed by books that were skipped longer ago than
    /// `skipCoolDown`, then by books with incomplete descriptions, then by those in other languages.
    let relaxed: Statement

    /// The same two statements in the order of an earlier refresh, whose version is `$9` of the first tier and `$8` of all.
    /// Frontiers do not apply to that order, so these statements walk over seen books.
    let firstTierBefore: Statement
    let relaxedBefore: Statement

    /// The versions of the order of the queues. Each refresh creates a new version.
    struct OrderVersions: RowDecodable {
        let current: Int32
        /// The oldest version whose positions are all stored.
        let oldest: Int32

        init?(_ row: inout RowReader) {
            guard let current = row.int32() else { return nil }
            self.current = current
            oldest = row.int32() ?? current
        }
    }

    static let order = TypedStatement<OrderVersions>(
        "SELECT order_version, order_kept_since FROM feed_state")

    /// The first `$2` cards of the reader's newest deck. There are no rows if there is no deck, or if one of its cards was
    /// seen since the deck was created. Decks are created from unseen books, so the cards need not be checked again.
    let top: Statement
    /// The first `$5` cards of deck version `$3`, or of the newest deck if `$3` is null, that the reader has not seen and
    /// whose marks are not in `$4`. Cards of the genres `$6` up to the positions `$7` were shown from the queues. The
    /// versions of cold-start decks are negative.
    let deck: Statement

    private let genreIndex: Int
    private let placeIndex: Int
    private let authorIndex: Int
    private let seriesIndex: Int
    private let nowIndex: Int
    private let preferredIndex: Int
    private let deckPlaceIndex: Int
    private let deckVersionIndex: Int
    private let newestDeckIndex: Int
    private let orderIndex: Int
    private let markIndex: Int

    /// - Parameter columns: The columns of the cards.
    init(_ columns: ColumnSet) {
        var columns = columns
        genreIndex = columns.index(of: Column("o.id", .integer))
        placeIndex = columns.index(of: Column("o.position", .integer))
        authorIndex = columns.index(of: Column("e.author_key", .integer))
        seriesIndex = columns.index(of: Column("e.series_key", .integer))
        nowIndex = columns.index(of: Column("now()", .timestamp))
        preferredIndex = columns.index(of: Column("o.preferred", .texts))
        deckPlaceIndex = columns.index(of: Column("o.deck_place", .integer))
        deckVersionIndex = columns.index(of: Column("o.deck_version", .integer))
        newestDeckIndex = columns.index(of: Column("o.newest_deck", .integer))
        orderIndex = columns.index(of: Column("o.order_version", .integer))
        markIndex = columns.index(of: Column(Self.mark("o.edition_id"), .integer))
        top = Statement(Self.topText(columns))
        deck = Statement(Self.deckText(columns))
        firstTier = Self.statement(columns, before: " AND o.position < $8", and: "")
        relaxed = Self.statement(columns, before: "", and: "UNION \(Self.cooledDown)")
        firstTierBefore = Self.statement(
            columns, ofOrder: "$9", before: " AND o.position < $8", and: "")
        relaxedBefore = Self.statement(
            columns, ofOrder: "$8", before: "", and: "UNION \(Self.cooledDown)")
    }

    func candidates(_ rows: Rows) -> [FeedCandidate] {
        (0..<rows.count).map { row in
            FeedCandidate(
                row: Int32(row), genre: Int16(truncatingIfNeeded: rows.int32(row, genreIndex) ?? 0),
                place: rows.int64(row, placeIndex) ?? 0,
                origin: .init(
                    author: rows.int32(row, authorIndex) ?? 0,
                    series: rows.int32(row, seriesIndex) ?? 0),
                deckPlace: rows.int32(row, deckPlaceIndex),
                mark: rows.int32(row, markIndex) ?? 0)
        }
    }

    /// Returns the cards of a deck in its order.
    func dealt(_ rows: Rows) -> [FeedCandidate] {
        candidates(rows).sorted { ($0.deckPlace ?? 0) < ($1.deckPlace ?? 0) }
    }

    /// Returns the time at which the rows were read, in microseconds of Unix time; nil if there are none.
    func now(_ rows: Rows) -> Int64? { rows.timestamptz(0, nowIndex) }

    func preferredGenres(_ rows: Rows) -> [String] { rows.texts(0, preferredIndex) ?? [] }

    /// Returns the version of the deck that contains the rows.
    func deckVersion(_ rows: Rows) -> Int32? { rows.int32(0, deckVersionIndex) }

    /// Returns the newest version of the deck; nil if there is none.
    func newestDeck(_ rows: Rows) -> Int32? { rows.int32(0, newestDeckIndex) }

    /// Returns the version of the order at the time at which rows of a deck were read.
    func order(_ rows: Rows) -> Int32? { rows.int32(0, orderIndex) }

    private static let preferred = "(SELECT u.preferred_genres FROM users u WHERE u.id = $1)"

    /// The version of the reader's deck. Without one it is that of the cold-start deck, unless the reader prefers genres,
    /// which the queues take into account.
    private static let newestDeck = """
        coalesce(
            (SELECT max(d.version) FROM feed_decks d WHERE d.user_id = $1),
            (SELECT -max(d.version) FROM feed_openings d WHERE \(preferred) = '{}')
        )
        """

    /// A join with the deck of a version, as `d`.
    private static func deck(of version: String) -> String {
        """
        CROSS JOIN LATERAL (
            SELECT d.version, d.editions, d.genres
            FROM feed_decks d
            WHERE d.user_id = $1 AND d.version = \(version)
            UNION ALL
            SELECT -d.version, d.editions, d.genres
            FROM feed_openings d
            WHERE d.version = -\(version)
        ) d
        """
    }

    /// The expression of `FeedCandidate.mark`.
    private static func mark(_ edition: String) -> String { "uuid_hash(\(edition))" }

    private static let cards = "unnest(d.editions, d.genres) WITH ORDINALITY c (id, genre, place)"
    private static let card = """
        c.id AS edition_id,
        c.genre AS id,
        0::int8 AS position,
        c.place::int4 AS deck_place,
        d.version AS deck_version,
        NULL::text[] AS preferred,
        (SELECT order_version FROM feed_state) AS order_version
        """

    private static func topText(_ columns: ColumnSet) -> String {
        """
        SELECT \(columns.sql)
        FROM (
            SELECT \(card), d.version AS newest_deck
            FROM (
                SELECT version, touched_at, editions[1:$2] AS editions, genres[1:$2] AS genres
                FROM feed_decks
                WHERE user_id = $1
                ORDER BY version DESC
                LIMIT 1
            ) d
            CROSS JOIN LATERAL \(cards)
            WHERE d.touched_at IS NULL
        ) o
        CROSS JOIN LATERAL (SELECT * FROM editions e WHERE e.id = o.edition_id OFFSET 0) e
        """
    }

    /// Cards are checked one after the other in the order of `unnest` until there are enough. An ORDER BY in the inner
    /// query would check the whole deck.
    private static func deckText(_ columns: ColumnSet) -> String {
        """
        WITH pick AS MATERIALIZED (
            SELECT newest, coalesce($3::int4, newest) AS version
            FROM (SELECT \(newestDeck) AS newest OFFSET 0) n
        )
        SELECT \(columns.sql)
        FROM (
            SELECT o.*
            FROM (
                SELECT \(card), p.newest AS newest_deck
                FROM pick p
                \(deck(of: "p.version"))
                CROSS JOIN LATERAL \(cards)
            ) o
            WHERE \(isNotShown(in: "$4")) AND \(isUnseen) AND \(isAhead)
            LIMIT $5
        ) o
        CROSS JOIN LATERAL (SELECT * FROM editions e WHERE e.id = o.edition_id OFFSET 0) e
        """
    }

    /// The condition that a card of a deck was not shown from a queue. Decks follow queues only if there was no deck when
    /// the feed began.
    private static let isAhead = """
        (
            cardinality($6::int2[]) = 0
            OR NOT EXISTS (
                SELECT
                FROM (
                    SELECT f.primary_id, f.position
                    FROM feed_order f
                    WHERE f.edition_id = o.edition_id AND f.genre_id = f.primary_id
                    OFFSET 0
                ) f
                JOIN unnest($6::int2[], $7::int8[]) q (id, place)
                    ON q.id = f.primary_id AND q.place >= f.position
            )
        )
        """

    /// PostgreSQL hashes the marks once per page.
    private static func isNotShown(in marks: String) -> String {
        "\(mark("o.edition_id")) NOT IN (SELECT unnest(\(marks)::int4[]))"
    }

    /// OFFSET 0 forces one index lookup per book. A join would read the whole library for a few lookups.
    private static let isUnseen = """
        NOT EXISTS (
            SELECT
            FROM swipes s
            WHERE s.user_id = $1 AND s.edition_id = o.edition_id AND s.seen_at <= coalesce($2, now())
            OFFSET 0
        )
        AND \(isNotOwned)
        AND \(WorkRecords.isRecordToShow("o.edition_id", until: "coalesce($2, now())"))
        """
    private static let isNotOwned = """
        NOT EXISTS (
            SELECT
            FROM books b
            WHERE b.user_id = $1 AND b.edition_id = o.edition_id AND b.added_at <= coalesce($2, now())
            OFFSET 0
        )
        """
    private static let isNotShown = isNotShown(in: "$7")
    /// The genres in whose index entries a queue's books are searched. All books of a queue have entries for its own genre.
    private static let rangesOfQueue = """
        CASE WHEN q.id = ANY($6::int2[]) THEN ARRAY[q.id] ELSE coalesce($6::int2[], ARRAY[q.id]) END
        """
    /// The condition that a book has a genre of the filter. A book is in the queue of its first genre, with one row in
    /// `feed_order` for each of its genres.
    private static let matchesFilter = """
        EXISTS (
            SELECT
            FROM feed_order f
            WHERE f.edition_id = o.edition_id AND f.genre_id = ANY(q.genres)
        )
        """

    /// Reads the queues from the reader's frontiers (`feed_frontiers`) on, rather than from their start. Unseen books before
    /// a frontier are found separately: those that the frontier lists, those that were moved there since, those that were
    /// returned to the feed, and those that were seen only after `$2`.
    private static func statement(
        _ columns: ColumnSet, before tierEnd: String, and more: String
    ) -> Statement {
        Statement(
            """
            WITH q AS MATERIALIZED (
                SELECT
                    q.id, q.after, q.most, q.n, \(rangesOfQueue) AS genres,
                    f.unseen, f.reach, f.seen_at
                FROM unnest($3::int2[], $4::int8[], $5::int4[]) WITH ORDINALITY q (id, after, most, n)
                LEFT JOIN feed_frontiers f
                    ON f.user_id = $1
                    AND f.genre_id = q.id
                    AND f.seen_at > (SELECT frontiers_valid_since FROM feed_state)
            ),
            seen_record AS (
                SELECT s.edition_id FROM swipes s WHERE s.user_id = $1 AND s.seen_at > $2
                UNION
                SELECT b.edition_id FROM books b WHERE b.user_id = $1 AND b.added_at > $2
                UNION
                SELECT r.edition_id FROM feed_returns r WHERE r.user_id = $1
            ),
            seen_later AS MATERIALIZED (
                SELECT s.edition_id
                FROM seen_record s
                UNION
                SELECT first.edition_id
                FROM seen_record s
                CROSS JOIN LATERAL \(WorkRecords.firstRecord(of: "s.edition_id")) first
            ),
            passed AS (
                SELECT o.primary_id, o.position, o.edition_id
                FROM feed_order o
                WHERE o.genre_id = o.primary_id
                    AND o.placed_at > (
                        SELECT greatest(
                            min(q.seen_at) - interval '1 hour',
                            (SELECT frontiers_valid_since FROM feed_state)
                        )
                        FROM q
                        HAVING count(q.seen_at) > 0
                    )
                UNION ALL
                SELECT o.primary_id, o.position, o.edition_id
                FROM seen_later l
                CROSS JOIN LATERAL (
                    SELECT *
                    FROM feed_order o
                    WHERE o.edition_id = l.edition_id AND o.genre_id = o.primary_id
                    OFFSET 0
                ) o
            ),
            found AS (
                -- Unseen books before the frontier.
                SELECT q.n, q.id, q.most, o.position, o.edition_id
                FROM q
                CROSS JOIN LATERAL (
                    SELECT o.position, o.edition_id
                    FROM unnest(q.unseen) u (position)
                    CROSS JOIN LATERAL (
                        SELECT o.position, o.edition_id
                        FROM feed_order o
                        WHERE o.genre_id = q.id
                            AND o.primary_id = q.id
                            AND o.position = u.position\(tierEnd)
                            AND (q.genres = ARRAY[q.id] OR \(matchesFilter))
                            AND \(isNotShown)
                            AND \(isUnseen)
                        OFFSET 0
                    ) o
                    WHERE u.position > q.after
                    LIMIT q.most
                ) o
                UNION
                -- Books after the frontier.
                SELECT q.n, q.id, q.most, o.position, o.edition_id
                FROM q
                CROSS JOIN unnest(q.genres) g (id)
                CROSS JOIN LATERAL (
                    SELECT o.position, o.edition_id
                    FROM feed_order o
                    WHERE o.genre_id = g.id
                        AND o.primary_id = q.id
                        AND o.position > greatest(q.after, q.reach)\(tierEnd)
                        AND \(isNotShown)
                        AND \(isUnseen)
                    ORDER BY o.position
                    LIMIT q.most
                ) o
                UNION
                -- Books that the frontier does not know.
                SELECT o.n, o.id, o.most, o.position, o.edition_id
                FROM (
                    SELECT q.n, q.id, q.most, q.genres, o.position, o.edition_id
                    FROM q
                    JOIN passed o
                        ON o.primary_id = q.id
                        AND o.position > q.after
                        AND o.position <= q.reach\(tierEnd)
                    OFFSET 0
                ) o
                WHERE EXISTS (
                        SELECT
                        FROM feed_order f
                        WHERE f.edition_id = o.edition_id AND f.genre_id = ANY(o.genres)
                    )
                    AND \(isNotShown)
                    AND \(isUnseen)
                \(more)
            )
            \(selection(columns))
            """)
    }

    /// Reads the queues in the order of a version.
    private static func statement(
        _ columns: ColumnSet, ofOrder version: String, before tierEnd: String, and more: String
    ) -> Statement {
        func scan(_ table: String, _ isOfOrder: String) -> String {
            """
            (
                SELECT o.position, o.edition_id
                FROM \(table) o
                WHERE o.genre_id = g.id
                    AND o.primary_id = q.id
                    AND o.position > q.after\(tierEnd)
                    AND \(isOfOrder)
                    AND \(isNotShown)
                    AND \(isUnseen)
                ORDER BY o.position
                LIMIT q.most
            )
            """
        }
        return Statement(
            """
            WITH q AS MATERIALIZED (
                SELECT q.id, q.after, q.most, q.n, \(rangesOfQueue) AS genres
                FROM unnest($3::int2[], $4::int8[], $5::int4[]) WITH ORDINALITY q (id, after, most, n)
            ),
            found AS (
                SELECT DISTINCT q.n, q.id, q.most, o.position, o.edition_id
                FROM q
                CROSS JOIN unnest(q.genres) g (id)
                CROSS JOIN LATERAL (
                    \(scan("feed_order", "o.placed_in <= \(version)"))
                    UNION ALL
                    \(scan("feed_order_before", "o.placed_in <= \(version) AND o.gone_in > \(version)"))
                ) o
                \(more)
            )
            \(selection(columns))
            """)
    }

    /// Selects the first books of each genre from `found`, with the columns of the cards.
    private static func selection(_ columns: ColumnSet) -> String {
        """
        SELECT \(columns.sql)
        FROM (
            SELECT
                *,
                row_number() OVER (PARTITION BY n ORDER BY position) AS round,
                NULL::int4 AS deck_place,
                NULL::int4 AS deck_version,
                NULL::int4 AS order_version,
                \(newestDeck) AS newest_deck,
                \(preferred) AS preferred
            FROM found
        ) o
        CROSS JOIN LATERAL (SELECT * FROM editions e WHERE e.id = o.edition_id OFFSET 0) e
        WHERE o.round <= o.most
        ORDER BY o.n, o.position
        """
    }

    /// Skipped books whose cool-down is over, at their positions in the second tier. This includes books that were swiped
    /// again after `$2`.
    private static let cooledDown = """
        SELECT q.n, q.id, q.most, o.position, o.edition_id
        FROM (
            SELECT
                o.primary_id,
                CASE
                    WHEN o.position < \(FeedPosition.firstTierEnd)
                    THEN o.position + \(FeedPosition.firstTierEnd)
                    ELSE o.position
                END AS position,
                o.edition_id
            FROM (
                SELECT s.edition_id, s.action, s.swiped_at
                FROM swipes s
                WHERE s.user_id = $1 AND s.action = 'SKIP' AND s.recorded_at <= coalesce($2, now())
                UNION ALL
                SELECT k.edition_id, k.action, k.swiped_at
                FROM swipes s
                CROSS JOIN LATERAL (
                    SELECT *
                    FROM earlier_swipes k
                    WHERE k.user_id = $1
                        AND k.edition_id = s.edition_id
                        AND k.recorded_at <= $2
                        AND NOT k.is_late
                        AND NOT k.is_taken_back
                    ORDER BY k.swiped_at DESC
                    LIMIT 1
                ) k
                WHERE s.user_id = $1 AND s.recorded_at > $2 AND s.recorded_at > s.seen_at
            ) s
            CROSS JOIN LATERAL (
                SELECT *
                FROM feed_order o
                WHERE o.edition_id = s.edition_id AND o.genre_id = o.primary_id
                OFFSET 0
            ) o
            WHERE s.action = 'SKIP' AND s.swiped_at <= \(coolDownStart)
        ) o
        JOIN q ON q.id = o.primary_id AND o.position > q.after
        WHERE \(matchesFilter)
            AND \(isNotShown)
            AND \(isNotOwned)
            AND \(
                WorkRecords.isOtherRecordUnseen(
                    "o.edition_id", until: "coalesce($2, now())", skippedAfter: coolDownStart))
        """
    private static let coolDownStart = "coalesce($2, now()) - interval '\(skipCoolDown)'"
}
