import GraphQL
import JobQueue
import Postgres

/// What a reader did with a card.
enum Swipe {
    /// Swipes of one batch.
    static let batchMax = 100
    /// Replaced and undone swipes that are remembered of a card.
    private static let keptMax = 20
    /// How long after a swipe without a time the same is taken for that one, sent again after a lost answer.
    private static let sentAgainWithin = "1 day"

    static let record = PlainMutation(.one) { arguments, request throws(BookplateError) in
        let swipes = arguments["swipes"]?.list ?? []
        guard swipes.count <= batchMax else {
            throw .badUserInput(field: "swipes", "At most \(batchMax) swipes at once.")
        }
        var cards: [UUID?] = []
        var actions: [String] = []
        var times: [Int64?] = []
        for swipe in swipes.map(InputObject.init) {
            cards.append(swipe.text("cardId").flatMap { UUID($0) })
            actions.append(swipe.text("action") ?? "")
            times.append(swipe.text("swipedAt").flatMap { Instant($0)?.microseconds })
        }
        let wantsCovers =
            !request.services.coverSources.isEmpty
            && actions.contains { $0 == "LIKE" || $0 == "BUY" }
        let rows = try await request.write { segment, viewer in
            var parameters = Parameters.of(viewer.userID)
            parameters.appendArray(of: .uuid) { for card in cards { $0.append(uuid: card) } }
            parameters.append(texts: actions)
            parameters.appendArray(of: .timestamptz) {
                for time in times { $0.append(timestamptz: time) }
            }
            segment.append(keepReplaced, parameters)
            segment.append(upsert, parameters)
            appendSaving(for: viewer, wantsCovers, to: &segment)
            segment.append(outcome, parameters)
            var swiped = Parameters.of(viewer.userID)
            swiped.append(uuids: cards.compactMap { $0 })
            segment.append(forget, swiped)
            segment.enqueue(PrepareDeck.self, NoPayload(), for: viewer.userID, key: "deck")
            if wantsCovers { segment.enqueueCoverSearches() }
        }
        let saved = (0..<rows[4].count).compactMap { rows[4].uuid($0, 1) }
        return [
            PlainObject(
                leaves: ["recorded": .int(Int(rows[4].int64(0, 0) ?? 0))], ids: ["saved": saved])
        ]
    }

    static let undo = RowMutation(FeedCard.type) {
        arguments, request, card throws(BookplateError) in
        let id = try arguments.id("cardId", else: FeedCard.noSuchCard)
        let at = arguments["swipedAt"]?.string.flatMap { Instant($0)?.microseconds }
        let wantsCovers = !request.services.coverSources.isEmpty
        let rows = try await request.write { segment, viewer in
            var parameters = Parameters.of(viewer.userID, id)
            parameters.append(timestamptz: at)
            segment.append(takeBack, parameters)
            appendSaving(for: viewer, wantsCovers, to: &segment)
            card.append([id], to: &segment, for: viewer)
            segment.appendRemovedCovers(of: viewer.userID)
            var undone = Parameters.of(viewer.userID)
            undone.append(uuids: [id])
            segment.append(forget, undone)
            segment.enqueue(PrepareDeck.self, NoPayload(), for: viewer.userID, key: "deck")
            if wantsCovers { segment.enqueueCoverSearches() }
        }
        await request.removeCovers(rows[4])
        await request.removeTitleCards(of: rows[0])
        return try card.only(rows[3], orElse: FeedCard.noSuchCard)
    }

    private static func appendSaving(
        for viewer: Viewer, _ wantsCovers: Bool, to segment: inout Pipeline
    ) {
        var parameters = Parameters.of(viewer.userID)
        parameters.append(bool: wantsCovers)
        segment.append(save, parameters)
        segment.append(rememberSaved, .of(viewer.userID))
    }

    // MARK: - Statements

    private static let input = """
        unnest($2::uuid[], $3::text[], $4::timestamptz[]) \
        WITH ORDINALITY i (edition_id, action, swiped_at, n)
        """

    /// One whose time is not said is of now, and after those that come before it in the batch.
    private static let swipedAt =
        "least(coalesce(i.swiped_at, now() - (cardinality($2) - i.n) * interval '1 microsecond'), now())"

    /// Which of two swipes of a card is the newer: what a clock that is ahead says is of now, so it may tie.
    private static func order(_ swipe: String) -> String {
        "(\(swipe).swiped_at, coalesce(\(swipe).said_at, \(swipe).swiped_at))"
    }

    /// The swipes of the batch that are not known yet. Of one time the last counts, and of those without a time that say
    /// the same. One that is older than as many as are remembered of its card may have been forgotten: it is taken for known.
    private static let fresh = """
        SELECT DISTINCT ON (i.edition_id, i.swiped_at, CASE WHEN i.swiped_at IS NULL THEN i.action END) \
        e.id AS edition_id, i.action::swipe_action AS action, \(swipedAt) AS swiped_at, i.swiped_at AS said_at, i.n \
        FROM \(input) CROSS JOIN LATERAL (SELECT e.id FROM editions e WHERE e.id = i.edition_id OFFSET 0) e \
        WHERE NOT EXISTS (SELECT FROM swipes s WHERE s.user_id = $1 AND s.edition_id = e.id \
        AND coalesce(s.said_at, s.swiped_at) = i.swiped_at OFFSET 0) \
        AND NOT EXISTS (SELECT FROM earlier_swipes k WHERE k.user_id = $1 AND k.edition_id = e.id \
        AND k.said_at = coalesce(i.swiped_at, \(swipedAt)) OFFSET 0) \
        AND NOT EXISTS (SELECT FROM earlier_swipes k WHERE k.user_id = $1 AND k.edition_id = e.id \
        AND k.swiped_at > \(swipedAt) OFFSET \(keptMax - 1)) \
        ORDER BY i.edition_id, i.swiped_at, CASE WHEN i.swiped_at IS NULL THEN i.action END, i.n DESC
        """

    /// The newest of a card first.
    private static let newestFirst = "swiped_at DESC, coalesce(said_at, swiped_at) DESC, n DESC"

    /// Keeps the swipes that newer ones are going to replace, and those that are not the newest of their card. One without a
    /// time that says what another without a time did was most probably sent again: nothing is replaced by it.
    private static let keepReplaced = Statement(
        """
        INSERT INTO earlier_swipes (user_id, edition_id, said_at, swiped_at, action, recorded_at, saved_book_id, is_late) \
        SELECT $1, f.edition_id, k.* FROM (SELECT *, \
        row_number() OVER (PARTITION BY edition_id ORDER BY \(newestFirst)) = 1 AS is_newest FROM (\(fresh)) f) f \
        LEFT JOIN swipes s ON s.user_id = $1 AND s.edition_id = f.edition_id CROSS JOIN LATERAL (\
        SELECT coalesce(f.said_at, f.swiped_at), f.swiped_at, f.action, now(), NULL::uuid, true \
        WHERE NOT f.is_newest OR \(order("f")) < \(order("s")) UNION ALL \
        SELECT coalesce(s.said_at, s.swiped_at), s.swiped_at, s.action, s.recorded_at, s.saved_book_id, false \
        WHERE f.is_newest AND \(order("f")) > \(order("s")) AND NOT (f.said_at IS NULL AND s.said_at IS NULL \
        AND f.action = s.action AND s.swiped_at > now() - interval '\(sentAgainWithin)')) k \
        ON CONFLICT DO NOTHING
        """)

    /// Records the newest swipe of each card, unless a newer one is there. What this transaction changes is known
    /// afterwards by `recorded_at = now()`, the time it began. The book of the swipe before stays with that where it is kept.
    private static let upsert = Statement(
        """
        INSERT INTO swipes (user_id, edition_id, action, swiped_at, said_at) \
        SELECT DISTINCT ON (edition_id) $1, edition_id, action, swiped_at, said_at FROM (\(fresh)) f \
        ORDER BY edition_id, \(newestFirst) \
        ON CONFLICT (user_id, edition_id) DO UPDATE \
        SET action = excluded.action, swiped_at = excluded.swiped_at, said_at = excluded.said_at, recorded_at = now(), \
        saved_book_id = CASE WHEN NOT EXISTS (SELECT FROM earlier_swipes k WHERE k.user_id = $1 \
        AND k.edition_id = excluded.edition_id AND k.said_at = coalesce(swipes.said_at, swipes.swiped_at)) \
        THEN swipes.saved_book_id END WHERE \(order("swipes")) < \(order("excluded"))
        """)

    /// Of each card so many are remembered, whatever came in one batch.
    private static let forget = Statement(
        """
        DELETE FROM earlier_swipes e USING (SELECT DISTINCT id FROM unnest($2::uuid[]) c (id)) c \
        CROSS JOIN LATERAL (SELECT k.said_at FROM earlier_swipes k WHERE k.user_id = $1 AND k.edition_id = c.id \
        ORDER BY k.swiped_at DESC, k.said_at DESC OFFSET \(keptMax)) old \
        WHERE e.user_id = $1 AND e.edition_id = c.id AND e.said_at = old.said_at
        """)

    /// Likes and purchases just recorded become books, unless they are in the library.
    private static let save = Statement(
        """
        INSERT INTO books (user_id, id, edition_id, title, author, isbn13, publisher, \
        published_date, page_count, genre, description, cover_status, cover_wanted_at) \
        SELECT $1, gen_random_uuid(), e.id, e.title, e.authors[1], e.isbn13, e.publisher, \
        e.published_date, e.page_count, e.genres[1], e.description, \
        CASE WHEN $2 THEN 'FETCHING' ELSE 'NONE' END::cover_status, CASE WHEN $2 THEN now() END \
        FROM swipes s JOIN editions e ON e.id = s.edition_id \
        WHERE s.user_id = $1 AND s.recorded_at = now() AND s.action IN ('LIKE', 'BUY') \
        ON CONFLICT DO NOTHING
        """)

    private static let rememberSaved = Statement(
        """
        UPDATE swipes s SET saved_book_id = b.id FROM books b \
        WHERE s.user_id = $1 AND s.recorded_at = now() \
        AND b.user_id = $1 AND b.edition_id = s.edition_id AND b.added_at = now()
        """)

    /// How many of the batch are of cards that exist; and, a row each, the books of liked and bought ones.
    private static let outcome = Statement(
        """
        WITH input AS (SELECT i.edition_id, i.action, i.n FROM \(input) \
        JOIN editions e ON e.id = i.edition_id) \
        SELECT (SELECT count(*) FROM input), b.id FROM (SELECT) one LEFT JOIN \
        (SELECT edition_id, min(n) AS n FROM input WHERE action IN ('LIKE', 'BUY') \
        GROUP BY edition_id) liked ON true \
        LEFT JOIN books b ON b.user_id = $1 AND b.edition_id = liked.edition_id ORDER BY liked.n
        """)

    private static let takeBack = Statement(
        "SELECT book_id, title, author, genre FROM take_back_swipe($1, $2, $3)")
}
