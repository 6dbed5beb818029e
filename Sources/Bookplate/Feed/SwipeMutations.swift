import GraphQL
import Postgres

/// What a reader did with a card.
enum Swipe {
    /// Swipes of one batch.
    static let batchMax = 100

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
            segment.append(upsert, parameters)
            var saving = Parameters.of(viewer.userID)
            saving.append(bool: wantsCovers)
            segment.append(save, saving)
            segment.append(rememberSaved, .of(viewer.userID))
            segment.append(outcome, parameters)
            segment.enqueue(PrepareDeck.self, NoPayload(), for: viewer.userID, key: "deck")
            if wantsCovers { segment.enqueueCoverSearches() }
        }
        let saved = (0..<rows[3].count).compactMap { rows[3].uuid($0, 1) }
        return [
            PlainObject(
                leaves: ["recorded": .int(Int(rows[3].int64(0, 0) ?? 0))], ids: ["saved": saved])
        ]
    }

    static let undo = RowMutation(FeedCard.type) {
        arguments, request, card throws(BookplateError) in
        let id = try arguments.id("cardId", else: FeedCard.noSuchCard)
        let rows = try await request.write { segment, viewer in
            segment.append(takeBack, .of(viewer.userID, id))
            card.append([id], to: &segment, for: viewer)
            segment.appendRemovedCovers(of: viewer.userID)
            segment.enqueue(PrepareDeck.self, NoPayload(), for: viewer.userID, key: "deck")
        }
        await request.removeCovers(rows[2])
        await request.removeTitleCards(of: rows[0])
        return try card.only(rows[1], orElse: FeedCard.noSuchCard)
    }

    // MARK: - Statements

    private static let input = """
        unnest($2::uuid[], $3::text[], $4::timestamptz[]) \
        WITH ORDINALITY i (edition_id, action, swiped_at, n)
        """

    /// One whose time is not said is of now, and after those that come before it in the batch.
    private static let swipedAt =
        "least(coalesce(i.swiped_at, now() - (cardinality($2) - i.n) * interval '1 microsecond'), now())"

    /// Records the newest swipe of each card, unless a newer one is there. What this transaction
    /// changes is known afterwards by `recorded_at = now()`, the time it began.
    private static let upsert = Statement(
        """
        INSERT INTO swipes (user_id, edition_id, action, swiped_at) \
        SELECT DISTINCT ON (i.edition_id) $1, e.id, i.action::swipe_action, \
        \(swipedAt) \
        FROM \(input) JOIN editions e ON e.id = i.edition_id \
        ORDER BY i.edition_id, \(swipedAt) DESC, i.n DESC \
        ON CONFLICT (user_id, edition_id) DO UPDATE \
        SET action = excluded.action, swiped_at = excluded.swiped_at, recorded_at = now(), \
        saved_book_id = CASE WHEN excluded.action IN ('LIKE', 'BUY') THEN swipes.saved_book_id END \
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

    /// Deletes the swipe, and the book it saved if nobody touched that since.
    private static let takeBack = Statement(
        """
        WITH gone AS (DELETE FROM swipes WHERE user_id = $1 AND edition_id = $2 \
        RETURNING saved_book_id) \
        DELETE FROM books b USING gone WHERE b.user_id = $1 AND b.id = gone.saved_book_id \
        AND b.status = 'WANT_TO_READ' AND b.updated_at = b.added_at \
        AND NOT EXISTS (SELECT FROM shelf_books p WHERE p.user_id = $1 AND p.book_id = b.id) \
        AND NOT EXISTS (SELECT FROM reviews r WHERE r.user_id = $1 AND r.book_id = b.id) \
        RETURNING b.id, b.title, b.author, b.genre
        """)
}
