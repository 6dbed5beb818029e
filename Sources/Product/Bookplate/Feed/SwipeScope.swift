import GraphQL
import Postgres
import Requests

/// The subject of a DISLIKE: the book, or all books of its first author or of its series. The feed hides them.
enum SwipeScope: String, CaseIterable {
    case book = "BOOK"
    case author = "AUTHOR"
    case series = "SERIES"

    /// The maximum number of authors and series that the feed hides: those of the latest swipes.
    static let hiddenMax = 200

    /// The condition that a swipe `s` of the reader `$1` is in effect: it was not undone, and no later swipe of the same card has replaced
    /// it.
    static let isInEffect = """
        s.undone_at IS NULL
            AND NOT EXISTS (
                SELECT
                FROM swipes n
                WHERE n.user_id = $1
                    AND n.edition_id = s.edition_id
                    AND n.undone_at IS NULL
                    -- Follows from the next condition, and limits the rows of the key.
                    AND n.swiped_at >= least(s.swiped_at, s.recorded_at)
                    AND (least(n.swiped_at, n.recorded_at), n.swiped_at)
                        > (least(s.swiped_at, s.recorded_at), s.swiped_at)
                OFFSET 0
            )
        """

    /// A query of the authors and series that a reader `$1` hides, as `author` and `series`, the hashes of `editions`. In each row,
    /// one of the two is NULL.
    ///
    /// Relies on this plan: the swipes by `swipes_hiding`, and the editions and later swipes by their keys.
    static let hidden = """
        SELECT
            CASE s.scope WHEN 'AUTHOR' THEN nullif(e.first_author_hash, 0) END AS author,
            CASE s.scope WHEN 'SERIES' THEN e.series_key END AS series
        FROM (
            SELECT s.edition_id, s.scope
            FROM swipes s
            WHERE s.user_id = $1
                AND s.scope <> 'BOOK'
                AND \(isInEffect)
            ORDER BY least(s.swiped_at, s.recorded_at) DESC
            LIMIT \(hiddenMax)
        ) s
        CROSS JOIN LATERAL (SELECT * FROM editions e WHERE e.id = s.edition_id OFFSET 0) e
        """

    /// Reads the scope of a swipe.
    ///
    /// - Throws: `.badUserInput` for an author or a series with another action than DISLIKE.
    static func read(_ swipe: InputObject, action: String) throws(BookplateError) -> SwipeScope {
        let scope = swipe.text("scope").flatMap { SwipeScope(rawValue: $0) } ?? .book
        guard scope == .book || action == "DISLIKE" else {
            throw .badUserInput(
                field: "scope",
                .init(
                    .invalidChoice,
                    detail: "Only a DISLIKE can be about an author or a series."))
        }
        return scope
    }
}
