import GraphQL
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
            segment.enqueue(PrepareDeck.self, NoPayload(), for: viewer.userID, key: "deck")
            if wantsCovers { segment.enqueueCoverSearches() }
        }
        await request.removeCovers(rows[4])
        await request.removeTitleCards(of: rows[0])
        return try card.only(rows[3], orElse: FeedCard.noSuchCard)
    }

    private static func appendSaving(
        for viewer: Viewer, _ wantsCovers: Bool, to segment: inout Segment
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

    /// The swipes of the batch that are not known yet. Of one time the last counts, and of those without a time that say
    /// the same.
    private static let fresh = """
        SELECT DISTINCT ON (i.edition_id, i.swiped_at, CASE WHEN i.swiped_at IS NULL THEN i.action END) \
        e.id AS edition_id, i.action::swipe_action AS action, \(swipedAt) AS swiped_at, \
        i.swiped_at IS NULL AS is_of_now, i.n \
        FROM \(input) JOIN editions e ON e.id = i.edition_id \
        WHERE NOT EXISTS (SELECT FROM earlier_swipes k WHERE k.user_id = $1 AND k.edition_id = e.id \
        AND k.swiped_at = \(swipedAt) OFFSET 0) \
        ORDER BY i.edition_id, i.swiped_at, CASE WHEN i.swiped_at IS NULL THEN i.action END, i.n DESC
        """

    /// Keeps the swipes that newer ones are going to replace, and those that are not the newest of their card; of a card
    /// so many. One without a time that says what is there was most probably sent again: nothing is replaced by it.
    private static let keepReplaced = Statement(
        """
        WITH fresh AS (\(fresh)), kept AS (\
        INSERT INTO earlier_swipes (user_id, edition_id, swiped_at, action, recorded_at, saved_book_id, is_late) \
        SELECT $1, f.edition_id, k.* FROM (SELECT *, \
        swiped_at = max(swiped_at) OVER (PARTITION BY edition_id) AS is_newest FROM fresh) f \
        LEFT JOIN swipes s ON s.user_id = $1 AND s.edition_id = f.edition_id CROSS JOIN LATERAL (\
        SELECT f.swiped_at, f.action, now(), NULL::uuid, true \
        WHERE NOT f.is_newest AND f.swiped_at IS DISTINCT FROM s.swiped_at OR f.swiped_at < s.swiped_at UNION ALL \
        SELECT s.swiped_at, s.action, s.recorded_at, s.saved_book_id, false \
        WHERE f.is_newest AND f.swiped_at > s.swiped_at AND NOT (f.is_of_now AND f.action = s.action \
        AND s.recorded_at > now() - interval '\(sentAgainWithin)')) k \
        ON CONFLICT DO NOTHING RETURNING edition_id) \
        DELETE FROM earlier_swipes e USING (SELECT DISTINCT edition_id FROM kept) k \
        WHERE e.user_id = $1 AND e.edition_id = k.edition_id AND e.swiped_at <= (\
        SELECT o.swiped_at FROM earlier_swipes o WHERE o.user_id = $1 AND o.edition_id = k.edition_id \
        ORDER BY o.swiped_at DESC OFFSET \(keptMax) LIMIT 1)
        """)

    /// Records the newest swipe of each card, unless a newer one is there. What this transaction changes is known
    /// afterwards by `recorded_at = now()`, the time it began. The book of the swipe before stays with that where it is kept.
    private static let upsert = Statement(
        """
        INSERT INTO swipes (user_id, edition_id, action, swiped_at) \
        SELECT DISTINCT ON (edition_id) $1, edition_id, action, swiped_at FROM (\(fresh)) f \
        ORDER BY edition_id, swiped_at DESC, n DESC \
        ON CONFLICT (user_id, edition_id) DO UPDATE \
        SET action = excluded.action, swiped_at = excluded.swiped_at, recorded_at = now(), \
        saved_book_id = CASE WHEN NOT EXISTS (SELECT FROM earlier_swipes k WHERE k.user_id = $1 \
        AND k.edition_id = excluded.edition_id AND k.swiped_at = swipes.swiped_at) THEN swipes.saved_book_id END \
        WHERE swipes.swiped_at < excluded.swiped_at
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
