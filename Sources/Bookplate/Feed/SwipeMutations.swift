import GraphQL
import JobQueue
import Postgres

/// The mutations that record and undo swipes.
enum Swipe {
    /// The maximum number of swipes in one batch.
    static let batchMax = 100
    /// The maximum number of replaced and undone swipes that are stored for each card.
    private static let replacedMax = 20
    /// The time within which a second, equal swipe without `swipedAt` is treated as a repetition after a lost response.
    private static let repetitionWindow = "1 day"

    static let record = PlainMutation(.one) { arguments, request throws(BookplateError) in
        let swipes = arguments["swipes"]?.list ?? []
        guard swipes.count <= batchMax else {
            throw .badUserInput(field: "swipes", "At most \(batchMax) swipes are allowed.")
        }
        var cards: [UUID?] = []
        var actions: [String] = []
        var times: [Int64?] = []
        for swipe in swipes.map(InputObject.init) {
            cards.append(swipe.text("cardId").flatMap { UUID($0) })
            actions.append(swipe.text("action") ?? "")
            times.append(swipe.text("swipedAt").flatMap { Instant($0)?.microseconds })
        }
        let searchesCovers =
            !request.services.coverSources.isEmpty
            && actions.contains { $0 == "LIKE" || $0 == "BUY" }
        let (results, outcomes) = try await request.write { pipeline, viewer in
            var parameters = Parameters.of(viewer.userID)
            parameters.appendArray(of: .uuid) { for card in cards { $0.append(uuid: card) } }
            parameters.append(texts: actions)
            parameters.appendArray(of: .timestamptz) {
                for time in times { $0.append(timestamptz: time) }
            }
            pipeline.append(storeReplaced, parameters)
            pipeline.append(upsert, parameters)
            appendSaving(for: viewer, searchesCovers, to: &pipeline)
            let outcomes = pipeline.append(selectOutcomes, parameters)
            var swiped = Parameters.of(viewer.userID)
            swiped.append(uuids: cards.compactMap { $0 })
            pipeline.append(deleteExcess, swiped)
            pipeline.enqueue(PrepareDeck.self, NoPayload(), for: viewer.userID, key: "deck")
            if searchesCovers { pipeline.enqueueCoverSearches() }
            return outcomes
        }
        return [
            PlainObject(
                leaves: ["recorded": .int(results[outcomes].first?.recordedCount ?? 0)],
                ids: ["saved": results[outcomes].compactMap(\.savedBook)])
        ]
    }

    static let undo = RowMutation(FeedCard.type) {
        arguments, request, card throws(BookplateError) in
        let id = try arguments.id("cardId", else: FeedCard.noSuchCard)
        let at = arguments["swipedAt"]?.string.flatMap { Instant($0)?.microseconds }
        let searchesCovers = !request.services.coverSources.isEmpty
        let (results, keys) = try await request.write { pipeline, viewer in
            var parameters = Parameters.of(viewer.userID, id)
            parameters.append(timestamptz: at)
            let deletedBooks = pipeline.appendForRows(undoSwipe, parameters)
            appendSaving(for: viewer, searchesCovers, to: &pipeline)
            let card = card.append([id], to: &pipeline, for: viewer)
            let removedCovers = pipeline.appendRemovedCovers(of: viewer.userID)
            var undone = Parameters.of(viewer.userID)
            undone.append(uuids: [id])
            pipeline.append(deleteExcess, undone)
            pipeline.enqueue(PrepareDeck.self, NoPayload(), for: viewer.userID, key: "deck")
            if searchesCovers { pipeline.enqueueCoverSearches() }
            return (deletedBooks: deletedBooks, card: card, removedCovers: removedCovers)
        }
        await request.removeCovers(results[keys.removedCovers])
        await request.removeTitleCards(of: results[keys.deletedBooks])
        return try card.only(results[keys.card], orElse: FeedCard.noSuchCard)
    }

    /// Adds the statements that add the liked and bought books of this transaction to the library.
    private static func appendSaving(
        for viewer: Viewer, _ searchesCovers: Bool, to pipeline: inout Pipeline
    ) {
        var parameters = Parameters.of(viewer.userID)
        parameters.append(bool: searchesCovers)
        pipeline.append(insertBooks, parameters)
        pipeline.append(storeSavedBooks, .of(viewer.userID))
    }

    // MARK: - Statements

    private static let input = """
        unnest($2::uuid[], $3::text[], $4::timestamptz[])
        WITH ORDINALITY i (edition_id, action, swiped_at, n)
        """

    /// Swipes without a time get the current time, with one microsecond between consecutive swipes of the batch. Future times
    /// are clamped to the current time.
    private static let swipedAt = """
        least(
            coalesce(i.swiped_at, now() - (cardinality($2) - i.n) * interval '1 microsecond'),
            now()
        )
        """

    /// The sort key of two swipes of a card. Future times are clamped, so the client's time breaks ties.
    private static func order(_ swipe: String) -> String {
        "(\(swipe).swiped_at, coalesce(\(swipe).said_at, \(swipe).swiped_at))"
    }

    /// The swipes of the batch that are not stored yet. Of several swipes of a card with the same time, or without a time and
    /// with the same action, the last one counts. A swipe that is older than `replacedMax` stored ones of its card is
    /// ignored, because it may already have been deleted.
    private static let newSwipes = """
        SELECT DISTINCT ON (i.edition_id, i.swiped_at, CASE WHEN i.swiped_at IS NULL THEN i.action END)
            e.id AS edition_id,
            i.action::swipe_action AS action,
            \(swipedAt) AS swiped_at,
            i.swiped_at AS said_at,
            i.n
        FROM \(input)
        CROSS JOIN LATERAL (SELECT e.id FROM editions e WHERE e.id = i.edition_id OFFSET 0) e
        WHERE NOT EXISTS (
                SELECT
                FROM swipes s
                WHERE s.user_id = $1
                    AND s.edition_id = e.id
                    AND coalesce(s.said_at, s.swiped_at) = i.swiped_at
                OFFSET 0
            )
            AND NOT EXISTS (
                SELECT
                FROM earlier_swipes k
                WHERE k.user_id = $1
                    AND k.edition_id = e.id
                    AND k.said_at = coalesce(i.swiped_at, \(swipedAt))
                OFFSET 0
            )
            AND NOT EXISTS (
                SELECT
                FROM earlier_swipes k
                WHERE k.user_id = $1 AND k.edition_id = e.id AND k.swiped_at > \(swipedAt)
                OFFSET \(replacedMax - 1)
            )
        ORDER BY
            i.edition_id, i.swiped_at, CASE WHEN i.swiped_at IS NULL THEN i.action END, i.n DESC
        """

    private static let newestFirst = "swiped_at DESC, coalesce(said_at, swiped_at) DESC, n DESC"

    /// Stores the current swipes that newer ones of the batch will replace, and the swipes of the batch that are not the
    /// newest of their card. A swipe that replaces an equal one without a time is probably a repetition, so the replaced
    /// one is not stored.
    private static let storeReplaced = Statement(
        """
        INSERT INTO earlier_swipes
            (user_id, edition_id, said_at, swiped_at, action, recorded_at, saved_book_id, is_late)
        SELECT $1, f.edition_id, k.*
        FROM (
            SELECT
                *,
                row_number() OVER (PARTITION BY edition_id ORDER BY \(newestFirst)) = 1 AS is_newest
            FROM (\(newSwipes)) f
        ) f
        LEFT JOIN swipes s ON s.user_id = $1 AND s.edition_id = f.edition_id
        CROSS JOIN LATERAL (
            -- The new swipe, if it is not the newest of its card.
            SELECT
                coalesce(f.said_at, f.swiped_at), f.swiped_at, f.action, now(), NULL::uuid, true
            WHERE NOT f.is_newest OR \(order("f")) < \(order("s"))
            UNION ALL
            -- The current swipe, if the new one replaces it.
            SELECT
                coalesce(s.said_at, s.swiped_at), s.swiped_at, s.action, s.recorded_at,
                s.saved_book_id, false
            WHERE f.is_newest
                AND \(order("f")) > \(order("s"))
                AND NOT (
                    f.said_at IS NULL
                    AND s.said_at IS NULL
                    AND f.action = s.action
                    AND s.swiped_at > now() - interval '\(repetitionWindow)'
                )
        ) k
        ON CONFLICT DO NOTHING
        """)

    /// Stores the newest swipe of each card, unless a newer one is already stored. Later statements recognize the changed rows
    /// by `recorded_at = now()`, the start of the transaction. The saved book of a replaced swipe stays with it if the
    /// replaced swipe is stored in `earlier_swipes`.
    private static let upsert = Statement(
        """
        INSERT INTO swipes (user_id, edition_id, action, swiped_at, said_at)
        SELECT DISTINCT ON (edition_id) $1, edition_id, action, swiped_at, said_at
        FROM (\(newSwipes)) f
        ORDER BY edition_id, \(newestFirst)
        ON CONFLICT (user_id, edition_id) DO UPDATE
        SET action = excluded.action,
            swiped_at = excluded.swiped_at,
            said_at = excluded.said_at,
            recorded_at = now(),
            saved_book_id = CASE
                WHEN NOT EXISTS (
                    SELECT
                    FROM earlier_swipes k
                    WHERE k.user_id = $1
                        AND k.edition_id = excluded.edition_id
                        AND k.said_at = coalesce(swipes.said_at, swipes.swiped_at)
                ) THEN swipes.saved_book_id
            END
        WHERE \(order("swipes")) < \(order("excluded"))
        """)

    /// Deletes the oldest replaced and undone swipes of each card beyond `replacedMax`.
    private static let deleteExcess = Statement(
        """
        DELETE FROM earlier_swipes e
        USING (SELECT DISTINCT id FROM unnest($2::uuid[]) c (id)) c
        CROSS JOIN LATERAL (
            SELECT k.said_at
            FROM earlier_swipes k
            WHERE k.user_id = $1 AND k.edition_id = c.id
            ORDER BY k.swiped_at DESC, k.said_at DESC
            OFFSET \(replacedMax)
        ) old
        WHERE e.user_id = $1 AND e.edition_id = c.id AND e.said_at = old.said_at
        """)

    /// Adds the books of likes and purchases that this transaction has recorded, unless they are in the library.
    private static let insertBooks = Statement(
        """
        INSERT INTO books (
            user_id, id, edition_id, title, author, isbn13, publisher,
            published_date, page_count, genre, description, cover_status, cover_requested_at
        )
        SELECT
            $1, gen_random_uuid(), e.id, e.title, e.authors[1], e.isbn13, e.publisher,
            e.published_date, e.page_count, e.genres[1], e.description,
            CASE WHEN $2 THEN 'FETCHING' ELSE 'NONE' END::cover_status,
            CASE WHEN $2 THEN now() END
        FROM swipes s
        JOIN editions e ON e.id = s.edition_id
        WHERE s.user_id = $1 AND s.recorded_at = now() AND s.action IN ('LIKE', 'BUY')
        ON CONFLICT DO NOTHING
        """)

    /// Stores in each swipe the book that `insertBooks` has added for it.
    private static let storeSavedBooks = Statement(
        """
        UPDATE swipes s
        SET saved_book_id = b.id
        FROM books b
        WHERE s.user_id = $1
            AND s.recorded_at = now()
            AND b.user_id = $1
            AND b.edition_id = s.edition_id
            AND b.added_at = now()
        """)

    private struct Outcome: RowDecodable {
        /// The number of swipes of the batch whose cards exist; the same in all rows.
        let recordedCount: Int
        /// The book of a liked or bought card.
        let savedBook: UUID?

        init?(_ row: inout RowReader) {
            recordedCount = Int(row.int64() ?? 0)
            savedBook = row.uuid()
        }
    }

    /// Returns one row for each liked or bought card, but at least one row.
    private static let selectOutcomes = TypedStatement<Outcome>(
        """
        WITH input AS (
            SELECT i.edition_id, i.action, i.n
            FROM \(input)
            JOIN editions e ON e.id = i.edition_id
        )
        SELECT (SELECT count(*) FROM input), b.id
        FROM (SELECT) one
        LEFT JOIN (
            SELECT edition_id, min(n) AS n
            FROM input
            WHERE action IN ('LIKE', 'BUY')
            GROUP BY edition_id
        ) liked ON true
        LEFT JOIN books b ON b.user_id = $1 AND b.edition_id = liked.edition_id
        ORDER BY liked.n
        """)

    /// Undoes a swipe. Returns the book that it had saved, if that was deleted.
    private static let undoSwipe = Statement(
        "SELECT book_id, title, author, genre FROM take_back_swipe($1, $2, $3)")
}
