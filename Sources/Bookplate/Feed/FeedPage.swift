import GraphQLPostgres
import Postgres

/// The statements that read a page of the feed.
///
/// Both start at the deck of a cursor, or at the deck that starts a new scroll, and follow the chain of decks.
///
/// The parameters are:
/// - `$1`: the caller.
/// - `$2`: the number of the cursor's deck; NULL for a new scroll.
/// - `$3`: the number of cards of that deck that precede the page.
/// - `$4`: the ids of the genres of a filtered feed in ascending order, or an empty array.
/// - `$5`: the time until which swipes and books count, if the deck of the cursor exists; otherwise they count until now.
/// - `$6`: the maximum number of cards. Only of `page`.
struct FeedPage {
    /// The time for which a skipped book is not shown.
    static let skipCoolDown = "30 days"
    /// The time for which a deck starts new scrolls. It is shorter than the two days for which decks are kept, so a cursor is
    /// valid for at least a day.
    private static let startLifetime = "1 day"

    let page: Statement

    private let deckIndex: Int
    private let cardIndex: Int
    private let isMiddleIndex: Int
    private let nowIndex: Int

    /// - Parameter columns: The columns of the cards.
    init(_ columns: ColumnSet) {
        var columns = columns
        deckIndex = columns.index(of: Column("o.deck", .integer))
        cardIndex = columns.index(of: Column("o.index", .integer))
        isMiddleIndex = columns.index(of: Column("o.is_middle", .boolean))
        nowIndex = columns.index(of: Column("now()", .timestamp))
        page = Statement(Self.pageText(columns))
    }

    /// Returns the cursor after a row.
    func cursor(_ rows: Rows, _ row: Int) -> FeedCursor {
        FeedCursor(
            deck: rows.int64(row, deckIndex) ?? 0, index: rows.int32(row, cardIndex) ?? 0,
            asOf: rows.timestamptz(row, nowIndex) ?? 0)
    }

    /// Returns whether the row is the card in the middle of a deck that has no successor.
    func isMiddleOfLastDeck(_ rows: Rows, _ row: Int) -> Bool {
        rows.bool(row, isMiddleIndex) == true
    }

    /// The condition that a deck may start a scroll.
    static let isCurrent = """
        NOT d.is_outdated
        AND d.created_at > greatest(
            (SELECT decks_valid_since FROM feed_state),
            now() - interval '\(startLifetime)'
        )
        """

    /// The deck at which to start: that of the cursor if it exists and has the same filter; otherwise the newest start of a
    /// chain; otherwise the cold-start deck, for readers without signals and preferred genres.
    private static let chain = """
        requested AS MATERIALIZED (
            SELECT d.number, d.editions, $3::int4 AS skipped, $5::timestamptz AS as_of
            FROM feed_decks d
            WHERE d.user_id = $1 AND d.number = $2 AND d.filter = $4::int2[]
            UNION ALL
            SELECT d.number, d.editions, $3::int4, $5::timestamptz
            FROM cold_start_decks d
            WHERE d.number = $2 AND $4::int2[] = '{}'
        ),
        newest AS (
            SELECT d.number, d.editions
            FROM (
                SELECT *
                FROM feed_decks d
                WHERE d.user_id = $1
                    AND d.filter = $4::int2[]
                    AND d.previous IS NULL
                    AND NOT d.is_outdated
                ORDER BY d.number DESC
                LIMIT 1
            ) d
            WHERE \(isCurrent)
        ),
        cold_start AS (
            SELECT d.number, d.editions
            FROM cold_start_decks d
            WHERE $4::int2[] = '{}'
                AND (SELECT preferred_genres FROM users WHERE id = $1) = '{}'
                AND NOT EXISTS (SELECT FROM swipes s WHERE s.user_id = $1 AND s.undone_at IS NULL)
                AND NOT EXISTS (SELECT FROM books b WHERE b.user_id = $1 AND b.edition_id IS NOT NULL)
            ORDER BY d.number
            LIMIT 1
        ),
        chain AS (
            (
                SELECT number, editions, skipped, as_of, 0 AS depth
                FROM requested
                UNION ALL
                SELECT number, editions, 0, now(), 0
                FROM (
                    SELECT * FROM newest
                    UNION ALL
                    SELECT * FROM cold_start
                ) s
                WHERE NOT EXISTS (SELECT FROM requested)
                LIMIT 1
            )
            UNION ALL
            SELECT d.number, d.editions, 0, c.as_of, c.depth + 1
            FROM chain c
            JOIN feed_decks d ON d.user_id = $1 AND d.previous = c.number
        )
        """

    /// Relies on this plan: the deck by its key, then for each of its cards in order a lookup of the swipes, the book, and the
    /// work, until there are enough cards; then the editions by key. PostgreSQL evaluates the recursion only as far as LIMIT
    /// needs it, so the next deck is read only at the end of one. OFFSET 0 forces one lookup for each card. A join would read
    /// the whole library.
    private static func pageText(_ columns: ColumnSet) -> String {
        """
        WITH RECURSIVE \(chain)
        SELECT \(columns.sql)
        FROM (
            SELECT
                c.number AS deck,
                c.depth,
                (c.skipped + k.ordinal)::int4 AS index,
                k.edition_id,
                c.skipped + k.ordinal = (cardinality(c.editions) + 1) / 2
                    AND NOT EXISTS (
                        SELECT FROM feed_decks d WHERE d.user_id = $1 AND d.previous = c.number
                    ) AS is_middle
            FROM chain c
            CROSS JOIN LATERAL unnest(c.editions[c.skipped + 1:]) WITH ORDINALITY k (edition_id, ordinal)
            WHERE \(isUnseen("k.edition_id", at: "c.as_of"))
            LIMIT $6
        ) o
        CROSS JOIN LATERAL (SELECT * FROM editions e WHERE e.id = o.edition_id OFFSET 0) e
        ORDER BY o.depth, o.index
        """
    }

    /// Returns the condition that the reader had neither swiped nor owned any record of the work at a time. Skips count until
    /// the end of their cool-down.
    private static func isUnseen(_ edition: String, at time: String) -> String {
        """
        NOT EXISTS (
            SELECT
            FROM swipes s
            WHERE s.user_id = $1
                AND s.edition_id = \(edition)
                AND s.recorded_at <= \(time)
                AND (s.undone_at IS NULL OR s.undone_at > \(time))
                AND (
                    s.action <> 'SKIP'
                    OR least(s.swiped_at, s.recorded_at) > \(time) - interval '\(skipCoolDown)'
                )
            OFFSET 0
        )
        AND NOT EXISTS (
            SELECT
            FROM books b
            WHERE b.user_id = $1 AND b.edition_id = \(edition) AND b.added_at <= \(time)
            OFFSET 0
        )
        AND NOT EXISTS (
            SELECT
            FROM work_records w
            WHERE w.edition_id = \(edition)
                AND was_other_record_seen($1, w.edition_id, \(time), \(time) - interval '\(skipCoolDown)')
            OFFSET 0
        )
        """
    }

    /// The last deck of a chain.
    struct LastDeck: RowDecodable {
        let number: Int64
        /// Whether the feed ends with this deck.
        let isEnd: Bool

        init?(_ row: inout RowReader) {
            guard let number = row.int64() else { return nil }
            self.number = number
            isEnd = row.bool() == true
        }
    }

    /// Returns the last deck of the chain, or no row if there is no deck at which to start.
    static let lastDeck = TypedStatement<LastDeck>(
        """
        WITH RECURSIVE \(chain)
        SELECT number, editions = '{}'
        FROM chain
        ORDER BY depth DESC
        LIMIT 1
        """)
}
