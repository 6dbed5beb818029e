import GraphQL
import JobQueue
import Postgres
import Requests

/// The mutations that record and undo swipes.
enum Swipe {
    /// The maximum number of swipes in one batch.
    static let batchMax = 100
    /// The time within which a second, equal swipe without `swipedAt` is treated as a repetition after a lost response.
    private static let repetitionWindow = "1 day"
    /// The delay before the reader's deck is replaced, so that swipes in quick succession lead to one deck.
    private static let deckDelay = Duration.seconds(2)

    static let record = PlainMutation(.one) { arguments, request throws(BookplateError) in
        let swipes = arguments["inputs"]?.list ?? []
        guard swipes.count <= batchMax else {
            throw .badUserInput(field: "inputs", .init(.tooMany, max: batchMax))
        }
        var cards: [UUID?] = []
        var actions: [String] = []
        var times: [Int64?] = []
        var stores: [String?] = []
        var bookIDs: [UUID?] = []
        var scopes: [String] = []
        for swipe in swipes.map(InputObject.init) {
            let action = swipe.text("action") ?? ""
            cards.append(swipe.text("cardId").flatMap { UUID($0) })
            actions.append(action)
            scopes.append(try SwipeScope.read(swipe, action: action).rawValue)
            times.append(swipe.text("swipedAt").flatMap { Instant($0)?.microseconds })
            let store = swipe.text("bookstoreId").flatMap { Bookstore(rawValue: $0) }
            stores.append(action == "BUY" ? store?.rawValue : nil)
            let bookID = try swipe.optionalID("bookId")
            bookIDs.append(bookIDs.contains(bookID) ? nil : bookID)
        }
        let savesBooks = actions.contains { $0 == "LIKE" || $0 == "BUY" }
        let searchesCovers = !request.services.coverSources.isEmpty && savesBooks
        // The usual batch has a shorter statement.
        let isPlain = !savesBooks && Set(cards).count == cards.count
        let outcomes = try await request.write { pipeline, viewer in
            var parameters = Parameters.of(viewer.userID)
            parameters.appendArray(of: .uuid) { for card in cards { $0.append(uuid: card) } }
            parameters.append(texts: actions)
            parameters.appendArray(of: .timestamptz) {
                for time in times { $0.append(timestamptz: time) }
            }
            parameters.append(texts: scopes)
            if !isPlain {
                parameters.append(bool: searchesCovers)
                parameters.appendArray(of: .text) {
                    for store in stores { $0.append(text: store) }
                }
                parameters.appendArray(of: .uuid) { for id in bookIDs { $0.append(uuid: id) } }
            }
            let outcomes = pipeline.append(
                isPlain ? recordPlainSwipes : recordSwipes, parameters)
            pipeline.replaceDeck(of: viewer.userID, after: deckDelay)
            if searchesCovers { pipeline.enqueueCoverSearches() }
            return outcomes
        }
        let recordedCards = outcomes.first?.recordedCards ?? []
        let knownCards = Set(recordedCards)
        var unknownIDs: [Value] = []
        for (swipe, card) in zip(swipes, cards) where card.map({ !knownCards.contains($0) }) ?? true
        {
            if let id = swipe["cardId"], !unknownIDs.contains(id) { unknownIDs.append(id) }
        }
        // Two records of a work have the same book.
        var savedBooks: [UUID] = []
        for case let book? in outcomes.map(\.savedBook) where !savedBooks.contains(book) {
            savedBooks.append(book)
        }
        return [
            PlainObject(
                leaves: [
                    "recorded": .int(recordedCards.count),
                    "unknownCardIds": .list(unknownIDs),
                ],
                ids: ["saved": savedBooks])
        ]
    }

    static let undo = PlainMutation(.one) { arguments, request throws(BookplateError) in
        let input = InputObject(arguments["input"])
        let id = try input.id("cardId", else: .noSuchCard)
        let at = input.text("swipedAt").flatMap { Instant($0)?.microseconds }
        let searchesCovers = !request.services.coverSources.isEmpty
        let (results, keys) = try await request.write { pipeline, viewer in
            var parameters = Parameters.of(viewer.userID, id)
            parameters.append(timestamptz: at)
            parameters.append(bool: searchesCovers)
            let deletedBooks = pipeline.append(undoSwipe, parameters)
            let card = pipeline.append(findCard, .of(id))
            let removedCovers = pipeline.appendRemovedCovers(of: viewer.userID)
            pipeline.replaceDeck(of: viewer.userID, after: deckDelay)
            if searchesCovers { pipeline.enqueueCoverSearches() }
            return (deletedBooks: deletedBooks, card: card, removedCovers: removedCovers)
        }
        await request.removeCovers(results[keys.removedCovers])
        await request.removeTitleCards(of: results[keys.deletedBooks])
        guard let card = results[keys.card].first else { throw .notFound(.noSuchCard) }
        var payload = PlainObject(ids: ["card": [card]])
        if let book = results[keys.deletedBooks].first {
            payload.leaves["deletedBookId"] = .string(book.id.description)
        }
        return [payload]
    }

    static let undoPayloadFields: [String: FieldResolver] = [
        "card": .load(RowsOfPlainObject(.one, FeedCard.type)), "deletedBookId": .property,
    ]

    // MARK: - Statements

    private struct Outcome: RowDecodable {
        /// The cards of the swipes of the batch, without those that do not exist; the same in all rows.
        let recordedCards: [UUID]
        /// The book of a liked or bought card.
        let savedBook: UUID?

        init?(_ row: inout RowReader) {
            recordedCards = row.uuids() ?? []
            savedBook = row.uuid()
        }
    }

    /// Stores the swipes of a batch that are not stored yet, and adds the books of liked and bought cards to the library.
    /// Returns one row for each liked or bought card, but at least one row.
    ///
    /// The parameters are `$1` the reader, `$2` the cards, `$3` the actions, `$4` the times or NULL, `$5` the scopes, `$6` whether
    /// covers are searched, `$7` the bookstores or NULL, and `$8` the ids of the books or NULL. No book is added if the library
    /// has one of the work, whatever its edition. Swipes without a time get the server's time, one microsecond apart in the order of the batch. Of several
    /// swipes of a card with the same time, the last one counts. Only the current swipe of a card saves a book, not one that
    /// arrives late. No other transaction of the reader runs at the same time (`begin_request`), so a swipe that is not stored
    /// yet has no conflict. ON CONFLICT would write a second record to the WAL for each row.
    ///
    /// Relies on this plan: for each swipe, the edition by its key, the swipes of the card by the prefix of their key, the
    /// other records of its work by their keys, and the books by `books_edition_id`. Neither the number of swipes nor the
    /// size of the library matters.
    private static let recordSwipes = TypedStatement<Outcome>(
        """
        \(input(savesBooks: true)),
        ranked AS (
            SELECT
                i.*,
                CASE
                    WHEN i.action IN ('LIKE', 'BUY')
                    THEN coalesce((SELECT w.founder_id FROM work_records w WHERE w.edition_id = i.edition_id), i.edition_id)
                END AS work,
                c.counted_at,
                row_number() OVER newest_first = 1 AS is_newest,
                -- A second, equal swipe without a time.
                i.is_untimed
                    AND (
                        \(isRepetition)
                        OR lag(i.action) OVER newest_first = i.action
                            AND lag(i.scope) OVER newest_first = i.scope
                            AND lag(i.is_untimed) OVER newest_first
                    ) AS is_repetition,
                lag(i.swiped_at) OVER newest_first = i.swiped_at AS has_same_time
            FROM input i
            CROSS JOIN LATERAL (
                \(earlierSwipes)
            ) c
            WHERE NOT c.is_stored
            WINDOW newest_first AS (
                PARTITION BY i.edition_id
                ORDER BY least(i.swiped_at, now()) DESC, i.swiped_at DESC, i.n DESC
            )
        ),
        stored AS (
            INSERT INTO swipes (user_id, edition_id, swiped_at, action, scope, store, saved_book_id)
            SELECT
                $1,
                r.edition_id,
                r.swiped_at,
                r.action,
                r.scope,
                r.store,
                CASE
                    WHEN r.action IN ('LIKE', 'BUY')
                        AND r.is_newest
                        AND least(r.swiped_at, now()) > coalesce(r.counted_at, '-infinity')
                        AND NOT EXISTS (
                            SELECT
                            FROM ranked first
                            WHERE first.work = r.work
                                AND first.n < r.n
                                AND first.action IN ('LIKE', 'BUY')
                                AND first.is_newest
                                AND first.is_repetition IS NOT TRUE
                                AND least(first.swiped_at, now()) > coalesce(first.counted_at, '-infinity')
                        )
                        AND book_of_work($1, r.edition_id) IS NULL
                    THEN CASE
                        WHEN r.book_id IS NULL OR \(bookIDIsTaken) THEN gen_random_uuid()
                        ELSE r.book_id
                    END
                END
            FROM ranked r
            WHERE r.is_repetition IS NOT TRUE AND r.has_same_time IS NOT TRUE
            RETURNING edition_id, saved_book_id
        ),
        saved AS MATERIALIZED (
            SELECT b.card_id, b.book_id
            FROM (
                SELECT array_agg(edition_id) AS cards, array_agg(saved_book_id) AS books
                FROM stored
                WHERE saved_book_id IS NOT NULL
            ) s
            CROSS JOIN LATERAL save_cards($1, s.cards, s.books, $6) b
            WHERE s.cards IS NOT NULL
        )
        SELECT
            \(recordedCards),
            coalesce(s.book_id, book_of_work($1, liked.edition_id))
        FROM (SELECT) one
        LEFT JOIN (
            SELECT edition_id, min(n) AS n
            FROM input
            WHERE action IN ('LIKE', 'BUY')
            GROUP BY edition_id
        ) liked ON true
        LEFT JOIN saved s ON s.card_id = liked.edition_id
        ORDER BY liked.n
        """)

    private static let bookIDIsTaken = ChosenID.isTaken(
        "r.book_id",
        in: [
            "books", "deleted_books", "shelves", "reviews", "imports", "reads", "progress_entries",
            "notes",
        ])

    /// Does the same for a batch in which no card is liked or bought, and no card occurs twice. PostgreSQL prepares all parts of a
    /// statement, even those that have nothing to do.
    private static let recordPlainSwipes = TypedStatement<Outcome>(
        """
        \(input(savesBooks: false)),
        stored AS (
            INSERT INTO swipes (user_id, edition_id, swiped_at, action, scope)
            SELECT $1, i.edition_id, i.swiped_at, i.action, i.scope
            FROM input i
            CROSS JOIN LATERAL (
                \(earlierSwipes)
            ) c
            WHERE NOT c.is_stored AND (i.is_untimed AND \(isRepetition)) IS NOT TRUE
        )
        SELECT \(recordedCards), NULL::uuid
        """)

    /// The swipes of a batch whose cards exist.
    private static func input(savesBooks: Bool) -> String {
        """
        WITH input AS MATERIALIZED (
            SELECT
                i.edition_id,
                i.action::swipe_action AS action,
                i.scope::swipe_scope AS scope,
                coalesce(i.swiped_at, now() - (cardinality($2) - i.n) * interval '1 microsecond') AS swiped_at,
                i.swiped_at IS NULL AS is_untimed,
                \(savesBooks ? "i.store, i.book_id," : "")
                i.n
            FROM unnest($2::uuid[], $3::text[], $4::timestamptz[], $5::text[]\(savesBooks ? ", $7::text[], $8::uuid[]" : ""))
                WITH ORDINALITY i (edition_id, action, swiped_at, scope, \(savesBooks ? "store, book_id, " : "")n)
            CROSS JOIN LATERAL (SELECT FROM editions e WHERE e.id = i.edition_id OFFSET 0) e
        )
        """
    }

    /// The reader's earlier swipes of the card of `i`.
    private static let earlierSwipes = """
        SELECT
            max(least(s.swiped_at, s.recorded_at)) FILTER (WHERE s.undone_at IS NULL) AS counted_at,
            max(least(s.swiped_at, s.recorded_at))
                FILTER (WHERE s.undone_at IS NULL AND s.action = i.action AND s.scope = i.scope) AS same_action_at,
            coalesce(bool_or(s.swiped_at = i.swiped_at), false) AS is_stored
        FROM swipes s
        WHERE s.user_id = $1 AND s.edition_id = i.edition_id
        """

    /// The condition that a swipe without a time equals the current one of the card.
    private static let isRepetition = """
        c.same_action_at = c.counted_at AND c.counted_at > now() - interval '\(repetitionWindow)'
        """

    /// The cards of the swipes of a batch, without those that do not exist.
    private static let recordedCards = "(SELECT array_agg(edition_id) FROM input)"

    private static let findCard = TypedStatement<UUID>("SELECT id FROM editions WHERE id = $1")

    /// Undoes a swipe. Returns the book that it had saved, if that was deleted.
    private static let undoSwipe = TypedStatement<BookDeletion>(
        """
        SELECT book_id, title_card_version(title, author, genre), '{}'::uuid[]
        FROM undo_swipe($1, $2, $3, $4)
        """)
}
