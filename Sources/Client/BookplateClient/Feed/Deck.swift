import Foundation
import GRDB

/// The cards of the feed on this device: those to show, and those that were swiped.
///
/// Invariant: a work with a swiped card has no card to show, so that a page that the server made before it got the swipe does not
/// show the work again. A swipe is remembered as long as the server keeps a skipped book away, and until the feed has started again after
/// the server got it: the pages of one start stay the same, whatever is swiped meanwhile.
struct Deck {
    let db: Database

    /// The number of days that a swipe is remembered.
    private static let days = 30.0
    /// The number of swiped cards that are kept with their contents, for undo.
    private static let undoableMax = 100
    /// The number of swipes that are remembered.
    private static let swipesMax = 10_000
    /// The number of first cards that stay when the feed starts again, because the app shows them already.
    private static let shownCards = 2

    // MARK: Cards

    /// The cards to show, in their order.
    func cards(limit: Int) throws -> [FeedCard] {
        let sql = "SELECT card FROM card WHERE action IS NULL ORDER BY position LIMIT ?"
        return try Self.decode(
            String.fetchAll(db.cachedStatement(sql: sql), arguments: [limit]))
    }

    func card(_ id: String) throws -> FeedCard? {
        let sql = "SELECT card FROM card WHERE id = ? AND card IS NOT NULL"
        return try Self.decode(
            String.fetchAll(db.cachedStatement(sql: sql), arguments: [id])
        ).first
    }

    private static func decode(_ texts: [String]) throws -> [FeedCard] {
        let decoder = JSONDecoder()
        return try texts.map { try decoder.decode(FeedCard.self, from: Data($0.utf8)) }
    }

    // MARK: Swipes

    /// A swiped card.
    struct Swipe: FetchableRecord, Decodable {
        let id: String
        let card: FeedCard
        let action: SwipeAction
        let swipedAt: Timestamp
        let book: String?
    }

    /// The latest swipes whose cards are known, the latest first.
    func swipes(limit: Int) throws -> [Swipe] {
        let sql = """
            SELECT id, card, action, swipedAt, book FROM card
            WHERE action IS NOT NULL AND card IS NOT NULL ORDER BY swipeNumber DESC LIMIT ?
            """
        return try Swipe.fetchAll(db.cachedStatement(sql: sql), arguments: [limit])
    }

    func swipe(of id: String) throws -> Swipe? {
        let sql = """
            SELECT id, card, action, swipedAt, book FROM card
            WHERE id = ? AND action IS NOT NULL AND card IS NOT NULL
            """
        return try Swipe.fetchOne(db.cachedStatement(sql: sql), arguments: [id])
    }

    /// Removes a card from those to show, with all that the swipe hides: other editions, and books of its author or series.
    func swiped(_ write: Write) throws {
        guard let card = write.card else { return }
        let scope = write.input["scope"]?.string.map(SwipeScope.init(rawValue:))
        try db.execute(
            sql: """
                INSERT INTO card (id, work, author, series, position, card, action, scope, swipedAt, swipeNumber, book)
                VALUES (
                    ?, ?, ?, ?, (SELECT coalesce(min(position), 0) - 1 FROM card), ?, ?, ?, ?,
                    (SELECT coalesce(max(swipeNumber), 0) + 1 FROM card), ?
                )
                ON CONFLICT (id) DO UPDATE
                SET action = excluded.action, scope = excluded.scope, swipedAt = excluded.swipedAt,
                    swipeNumber = excluded.swipeNumber, book = excluded.book, card = excluded.card
                """,
            arguments: [
                card.id, card.work.id, card.firstAuthor, card.firstSeries,
                try JSON.text(card), write.input["action"]?.string, scope?.rawValue,
                write.madeAt.rawValue, write.savedBook,
            ])
        try db.execute(
            sql: """
                DELETE FROM card
                WHERE action IS NULL
                    AND (work = :work OR :scope = 'AUTHOR' AND author = :author OR :scope = 'SERIES' AND series = :series)
                """,
            arguments: [
                "work": card.work.id, "scope": scope?.rawValue, "author": card.firstAuthor,
                "series": card.firstSeries,
            ])
    }

    /// Shows a card again, before all others.
    func undone(_ id: String) throws {
        try db.execute(
            sql: """
                UPDATE card
                SET action = NULL, scope = NULL, swipedAt = NULL, swipeNumber = NULL, book = NULL,
                    oldBook = coalesce(book, oldBook), position = (SELECT min(position) FROM card) - 1
                WHERE id = ? AND card IS NOT NULL
                """, arguments: [id])
        try db.execute(sql: "DELETE FROM card WHERE id = ? AND card IS NULL", arguments: [id])
    }

    /// Whether the library has the book of an undone swipe of the work, because the reader has changed it.
    func hasOldBook(_ card: FeedCard) throws -> Bool {
        let sql = "SELECT 1 FROM card JOIN book ON book.id = card.oldBook WHERE card.work = ?"
        return try Int.fetchOne(db.cachedStatement(sql: sql), arguments: [card.work.id]) != nil
    }

    /// Removes a card and all editions of its work, which are in the library now.
    func added(_ card: FeedCard) throws {
        try db.execute(
            sql: "DELETE FROM card WHERE action IS NULL AND work = ?", arguments: [card.work.id])
    }

    // MARK: Pages

    /// Whether a page must be fetched.
    func isDue(_ prefetch: FeedPrefetch, now: Timestamp) throws -> Bool {
        let position = try FeedPosition.load(db)
        if position.isOld(prefetch, now) { return true }
        if let endedAt = position.endedAt, !endedAt.isOlder(than: 3600, now) { return false }
        let sql = "SELECT count(*) FROM card WHERE action IS NULL"
        let count = try Int.fetchOne(db.cachedStatement(sql: sql)) ?? 0
        return count <= prefetch.cards - prefetch.pageSize
    }

    /// Returns the variables of the next page.
    func request(_ prefetch: FeedPrefetch, now: Timestamp) throws -> JSON {
        let position = try FeedPosition.load(db)
        let startsAgain = position.startsAgain(prefetch, now)
        return [
            "first": JSON(prefetch.pageSize), "after": JSON(startsAgain ? nil : position.cursor),
            "genres": .array(prefetch.genres.map(JSON.string)),
        ]
    }

    /// Stores a page. A page of other genres, or of an earlier start of the feed, is dropped.
    func store(_ page: Page<FeedCard>, to request: JSON, _ prefetch: FeedPrefetch, now: Timestamp)
        throws
    {
        guard request == (try self.request(prefetch, now: now)) else { return }
        var position = try FeedPosition.load(db)
        if position.startsAgain(prefetch, now) {
            try removeOldCards(keepsFirst: position.genres == prefetch.genres)
            try forgetOldSwipes(through: position.sentSwipes, now)
            position = FeedPosition(
                genres: prefetch.genres, startedAt: now, sentSwipes: try lastSentSwipe())
        }
        try insert(page.nodes)
        position.cursor = page.pageInfo.endCursor
        position.endedAt = page.pageInfo.hasNextPage ? nil : now
        try position.upsert(db)
    }

    /// Starts the feed again with the next page: the server does not accept the cursor.
    func forgetCursor() throws {
        var position = try FeedPosition.load(db)
        position.startedAt = nil
        try position.upsert(db)
    }

    private func removeOldCards(keepsFirst: Bool) throws {
        try db.execute(
            sql: """
                DELETE FROM card
                WHERE action IS NULL
                    AND id NOT IN (SELECT id FROM card WHERE action IS NULL ORDER BY position LIMIT ?)
                """, arguments: [keepsFirst ? Self.shownCards : 0])
    }

    private func insert(_ cards: [FeedCard]) throws {
        var last = try Int.fetchOne(db, sql: "SELECT max(position) FROM card") ?? 0
        for card in cards {
            last += 1
            try db.execute(
                sql: """
                    INSERT INTO card (id, work, author, series, position, card)
                    SELECT :id, :work, :author, :series, :position, :card
                    WHERE NOT EXISTS (
                        SELECT 1 FROM card
                        WHERE id = :id OR work = :work
                            OR scope = 'AUTHOR' AND author = :author OR scope = 'SERIES' AND series = :series
                    )
                    """,
                arguments: [
                    "id": card.id, "work": card.work.id, "author": card.firstAuthor,
                    "series": card.firstSeries, "position": last,
                    "card": try JSON.text(card),
                ])
        }
    }

    /// The number of the last swipe before the first one in the queue.
    private func lastSentSwipe() throws -> Int {
        try Int.fetchOne(
            db,
            sql: """
                SELECT coalesce(
                    (
                        SELECT min(swipeNumber) - 1 FROM card
                        WHERE id IN (SELECT json_extract(input, '$.cardId') FROM write WHERE operation = 'recordSwipes')
                    ),
                    (SELECT max(swipeNumber) FROM card),
                    0
                )
                """) ?? 0
    }

    /// - Parameter last: the last swipe that the server had when the feed started before. No page is from an earlier start.
    private func forgetOldSwipes(through last: Int, _ now: Timestamp) throws {
        try db.execute(
            sql: """
                UPDATE card SET card = NULL
                WHERE card IS NOT NULL
                    AND swipeNumber <= (SELECT max(swipeNumber) FROM card) - \(Self.undoableMax)
                """)
        guard let date = now.date else { return }
        let oldest = Timestamp(date.addingTimeInterval(-Self.days * 86_400))
        try db.execute(
            sql: """
                DELETE FROM card
                WHERE swipeNumber <= ?
                    AND (swipedAt < ? OR swipeNumber <= (SELECT max(swipeNumber) FROM card) - \(Self.swipesMax))
                """, arguments: [last, oldest.rawValue])
    }
}

/// How far the feed has been fetched. There is at most one row.
struct FeedPosition: Codable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "feed_position"

    private var id = 1
    var genres: [String]
    /// The end of the last page.
    var cursor: String?
    /// The time of the first page. Nil if the feed starts with the next page.
    var startedAt: Timestamp?
    /// The time of the last page, if the server has no more cards.
    var endedAt: Timestamp?
    /// The number of the last swipe that the server had at the start.
    var sentSwipes: Int

    init(genres: [String] = [], startedAt: Timestamp? = nil, sentSwipes: Int = 0) {
        self.sentSwipes = sentSwipes
        self.genres = genres
        self.startedAt = startedAt
    }

    static func load(_ db: Database) throws -> FeedPosition {
        try fetchOne(db.cachedStatement(sql: "SELECT * FROM feed_position")) ?? FeedPosition()
    }

    /// Whether the cards must be replaced: a cursor is valid for a day, and likes count when the feed starts again.
    func isOld(_ prefetch: FeedPrefetch, _ now: Timestamp) -> Bool {
        startedAt?.isOlder(than: 86_400, now) ?? true || genres != prefetch.genres
    }

    /// Whether the next page is the first one.
    func startsAgain(_ prefetch: FeedPrefetch, _ now: Timestamp) -> Bool {
        isOld(prefetch, now) || endedAt != nil
    }
}

extension Timestamp {
    /// Whether a number of seconds has passed. Also true for a time in the future, because the clock was set back then.
    fileprivate func isOlder(than seconds: Double, _ now: Timestamp) -> Bool {
        guard let date, let now = now.date else { return true }
        return !(0..<seconds).contains(now.timeIntervalSince(date))
    }
}

extension FeedCard {
    /// The person that a dislike of the author hides.
    fileprivate var firstAuthor: String? { authors.first.map { $0.id ?? $0.name } }

    /// The series that a dislike of the series hides.
    fileprivate var firstSeries: String? { series.first?.series.id }
}

extension Write {
    /// The id of the book that a swipe adds to the library. Nil if it adds none.
    var savedBook: String? { input["bookId"]?.string }
}
