import GraphQLPostgres
import Postgres

/// The statements that read a page of the feed.
///
/// `page` and `lastDeck` start at the deck of a cursor, or at the deck that starts a new scroll, and continue with the next decks of its chain.
///
/// The parameters are:
/// - `$1`: the caller.
/// - `$2`, `$3`: the chain of the cursor's deck, and its number; NULL for a new scroll.
/// - `$4`: the number of cards of that deck that precede the page.
/// - `$5`: the ids of the genres of a filtered feed in ascending order, or an empty array.
/// - `$6`: the time until which swipes and books count, or NULL for now. Ignored if the cursor's deck does not exist.
/// - `$7`: the maximum number of cards. Only of `page`.
struct FeedPage {
    /// The time for which a skipped book is not shown.
    static let skipCoolDown = "30 days"
    /// The time for which a deck starts new scrolls. It is shorter than the two days for which decks are kept, so a cursor is
    /// valid for at least a day.
    private static let startLifetime = "1 day"

    let page: Statement
    /// Reads the first page of a new scroll from the newest deck, if that is current and has enough cards; otherwise it returns
    /// fewer rows than `$3`, and `page` decides. The parameters are the caller, the ids of the genres, and the maximum number of
    /// cards.
    ///
    /// The version of the signals counts all swipes and changed books. The deck was built with the current version, so it has no
    /// book that the reader has seen, and its cards need no lookups, which take most of the time of `page`.
    let firstPage: Statement

    private let chainIndex: Int
    private let numberIndex: Int
    private let cardIndex: Int
    private let needsSuccessorIndex: Int
    private let nowIndex: Int

    /// - Parameter columns: The columns of the cards.
    init(_ columns: ColumnSet) {
        var columns = columns
        chainIndex = columns.index(of: Column("o.chain", .integer))
        numberIndex = columns.index(of: Column("o.number", .integer))
        cardIndex = columns.index(of: Column("o.index", .integer))
        needsSuccessorIndex = columns.index(of: Column("o.needs_successor", .boolean))
        nowIndex = columns.index(of: Column("now()", .timestamp))
        page = Statement(Self.pageText(columns))
        firstPage = Statement(Self.firstPageText(columns))
    }

    /// Returns the cursor after a row.
    func cursor(_ rows: Rows, _ row: Int) -> FeedCursor {
        FeedCursor(
            deck: DeckID(
                chain: rows.int64(row, chainIndex) ?? 0, number: rows.int32(row, numberIndex) ?? 0),
            index: rows.int32(row, cardIndex) ?? 0, asOf: rows.timestamptz(row, nowIndex) ?? 0)
    }

    /// Returns whether the row is in the second half of the last deck of its chain.
    func needsSuccessor(_ rows: Rows, _ row: Int) -> Bool {
        rows.bool(row, needsSuccessorIndex) == true
    }

    /// Returns the condition that the deck `d` of a reader may start a scroll.
    static func isCurrent(for reader: String) -> String {
        """
        d.signals_version = coalesce((SELECT f.signals_version FROM feed_readers f WHERE f.user_id = \(reader)), 0)
        AND d.created_at > greatest(
            (SELECT decks_valid_since FROM feed_state),
            now() - interval '\(startLifetime)'
        )
        """
    }

    /// Returns the condition that a reader has neither preferred genres, nor several languages, nor followed authors, nor signals, and so starts with the
    /// cold-start deck of a language, if there is one.
    static func isNew(_ reader: String) -> String {
        """
        (SELECT preferred_genres = '{}' AND cardinality(languages) <= 1 FROM users WHERE id = \(reader))
        AND NOT EXISTS (SELECT FROM swipes s WHERE s.user_id = \(reader) AND s.undone_at IS NULL)
        AND NOT EXISTS (SELECT FROM followed_authors f WHERE f.user_id = \(reader))
        AND NOT EXISTS (SELECT FROM books b WHERE b.user_id = \(reader) AND b.edition_id IS NOT NULL)
        """
    }

    /// The deck at which to start: that of the cursor if it exists and has the same filter; otherwise the newest start of a
    /// chain; otherwise the cold-start deck of the language, for new readers.
    private static let start = """
        start AS MATERIALIZED (
            SELECT $2::int8 AS chain, $3::int4 AS number, $4::int4 AS skipped, coalesce($6::timestamptz, now()) AS as_of
            WHERE EXISTS (
                SELECT
                FROM feed_decks d
                WHERE d.user_id = $1 AND d.chain = $2 AND d.number = $3 AND d.filter = $5::int2[]
            ) OR EXISTS (
                SELECT
                FROM cold_start_decks d
                WHERE d.chain = $2 AND $3 = 0 AND $5::int2[] = '{}'
            )
            UNION ALL
            SELECT d.chain, 0, 0, now()
            FROM (
                SELECT *
                FROM feed_decks d
                WHERE d.user_id = $1 AND d.filter = $5::int2[] AND d.number = 0
                ORDER BY d.chain DESC
                LIMIT 1
            ) d
            WHERE \(isCurrent(for: "$1"))
            UNION ALL
            (
                SELECT d.chain, 0, 0, now()
                FROM cold_start_decks d
                WHERE $5::int2[] = '{}'
                    AND \(isNew("$1"))
                    AND d.language = (
                        SELECT coalesce(u.languages[1], f.main_language, '')
                        FROM users u
                        CROSS JOIN feed_state f
                        WHERE u.id = $1
                    )
                ORDER BY d.chain
                LIMIT 1
            )
            LIMIT 1
        )
        """

    /// Relies on this plan: the deck by its key, then for each of its cards in order a lookup of the swipes, the book, and the
    /// work, until there are enough cards; then the editions by key. The next deck is read only at the end of one, because LIMIT
    /// stops the nested loops. OFFSET 0 forces one lookup for each card. A join would read the whole library.
    private static func pageText(_ columns: ColumnSet) -> String {
        """
        WITH \(start),
        hidden AS MATERIALIZED (
            SELECT array_agg(h.author) AS authors, array_agg(h.series) AS series, count(*) > 0 AS is_any
            FROM (
                \(SwipeScope.hidden)
            ) h
        )
        SELECT \(columns.sql)
        FROM (
            SELECT
                s.chain,
                d.number,
                c.index::int4 AS index,
                c.edition_id,
                c.index * 2 >= cardinality(d.editions) AND d.number >= (
                    SELECT coalesce(max(last.number), 0)
                    FROM feed_decks last
                    WHERE last.user_id = $1 AND last.chain = (SELECT chain FROM start)
                ) AS needs_successor
            FROM start s
            CROSS JOIN LATERAL (
                SELECT 0 AS number, d.editions
                FROM cold_start_decks d
                WHERE d.chain = s.chain AND s.number = 0
                UNION ALL
                (
                    SELECT d.number, d.editions
                    FROM feed_decks d
                    WHERE d.user_id = $1 AND d.chain = s.chain AND d.number >= s.number
                    ORDER BY d.number
                )
            ) d
            CROSS JOIN LATERAL unnest(d.editions) WITH ORDINALITY c (edition_id, index)
            WHERE (d.number, c.index) > (s.number, s.skipped)
                AND \(isUnseen("c.edition_id", at: "s.as_of"))
                AND NOT (
                    (SELECT is_any FROM hidden)
                    AND EXISTS (
                        SELECT
                        FROM editions e
                        CROSS JOIN hidden h
                        WHERE e.id = c.edition_id
                            AND (e.first_author_hash = ANY(h.authors) OR e.series_key = ANY(h.series))
                        OFFSET 0
                    )
                )
            LIMIT $7
        ) o
        CROSS JOIN LATERAL (SELECT * FROM editions e WHERE e.id = o.edition_id OFFSET 0) e
        ORDER BY o.number, o.index
        """
    }

    /// Relies on this plan: the deck by its key, then the editions by key.
    private static func firstPageText(_ columns: ColumnSet) -> String {
        """
        SELECT \(columns.sql)
        FROM (
            SELECT
                d.chain,
                d.number,
                c.index::int4 AS index,
                c.edition_id,
                c.index * 2 >= cardinality(d.editions) AND NOT EXISTS (
                    SELECT FROM feed_decks n WHERE n.user_id = $1 AND n.chain = d.chain AND n.number > 0
                ) AS needs_successor
            FROM (
                SELECT *
                FROM feed_decks d
                WHERE d.user_id = $1 AND d.filter = $2::int2[] AND d.number = 0
                ORDER BY d.chain DESC
                LIMIT 1
            ) d
            CROSS JOIN LATERAL unnest(d.editions[:$3]) WITH ORDINALITY c (edition_id, index)
            WHERE \(isCurrent(for: "$1"))
        ) o
        CROSS JOIN LATERAL (SELECT * FROM editions e WHERE e.id = o.edition_id OFFSET 0) e
        ORDER BY o.index
        """
    }

    /// Returns the condition that the reader had neither swiped nor owned any record of the work at a time. Skips count until
    /// the end of their cool-down.
    private static func isUnseen(_ edition: String, at time: String) -> String {
        """
        NOT EXISTS (
            SELECT
            FROM swipes w
            WHERE w.user_id = $1
                AND w.edition_id = \(edition)
                AND w.recorded_at <= \(time)
                AND (w.undone_at IS NULL OR w.undone_at > \(time))
                AND (
                    w.action <> 'SKIP'
                    OR least(w.swiped_at, w.recorded_at) > \(time) - interval '\(skipCoolDown)'
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
        let id: DeckID
        /// Whether the feed ends with this deck.
        let isEnd: Bool

        init?(_ row: inout RowReader) {
            guard let chain = row.int64(), let number = row.int32() else { return nil }
            id = DeckID(chain: chain, number: number)
            isEnd = row.bool() == true
        }
    }

    /// Returns the last deck of the chain, or no row if there is no deck at which to start.
    static let lastDeck = TypedStatement<LastDeck>(
        """
        WITH \(start)
        SELECT s.chain, coalesce(d.number, 0)::int4, coalesce(d.editions = '{}', false)
        FROM start s
        LEFT JOIN LATERAL (
            SELECT d.number, d.editions
            FROM feed_decks d
            WHERE d.user_id = $1 AND d.chain = s.chain
            ORDER BY d.number DESC
            LIMIT 1
        ) d ON true
        """)
}
