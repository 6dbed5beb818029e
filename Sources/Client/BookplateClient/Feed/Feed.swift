import Foundation
import GRDB

extension Library {
    /// The discovery feed. `run(feed:)` keeps its next cards on the device.
    public var feed: Feed { Feed(library: self) }
}

/// The discovery feed of a reader.
///
/// The cards are on the device, so the reader can swipe without a network. A swiped card does not come back, also after a restart of
/// the app, unless the reader undoes the swipe, or the server shows a skipped book again after 30 days.
public struct Feed: Sendable {
    let library: Library

    /// A swiped card.
    public struct Swipe: Hashable, Identifiable, Sendable {
        /// The id of the card.
        public var id: String { card.id }
        /// The card.
        public let card: FeedCard
        /// The action of the reader.
        public let action: SwipeAction
        /// The time of the swipe.
        public let swipedAt: Timestamp
    }

    /// The next cards, now and after each change. The app shows the first one.
    public func cards(limit: Int = 10) -> AsyncValueObservation<[FeedCard]> {
        library.values { try Deck(db: $0).cards(limit: limit) }
    }

    /// The latest swipes of this device that can be undone, the latest first, now and after each change. At most 100.
    public func swipes(limit: Int = 20) -> AsyncValueObservation<[Swipe]> {
        library.values { db in
            try Deck(db: db).swipes(limit: limit).map {
                Swipe(card: $0.card, action: $0.action, swipedAt: $0.swipedAt)
            }
        }
    }

    /// Swipes a card of the feed, or of an app's own query. A liked or bought book joins the library at once.
    ///
    /// - Parameters:
    ///   - scope: the subject of a dislike.
    ///   - bookstore: the id of the store whose link the reader has opened. Only for `buy`.
    public func swipe(
        _ card: FeedCard, _ action: SwipeAction, scope: SwipeScope = .book, bookstore: String? = nil
    ) throws {
        let bookID = action.savesBook ? library.environment.makeID() : nil
        let time = library.environment.timestamp
        var input: [String: JSON] = [
            "cardId": .string(card.id), "action": .string(action.rawValue),
            "swipedAt": .string(time.rawValue),
        ]
        if scope != .book { input["scope"] = .string(scope.rawValue) }
        input["bookstoreId"] = bookstore.map(JSON.string)
        input["bookId"] = bookID.map(JSON.string)
        let swipe = Self.name(of: card.id, at: time)
        try library.perform(
            Write(
                .recordSwipes, bookID ?? card.id, input, related: [card.id],
                creates: Set([swipe, bookID].compactMap { $0 }), card: card, at: time))
    }

    /// Undoes the latest swipe of this device, and returns its card, which is the first one of the feed again. Nil if there is none.
    ///
    /// The book of a liked card leaves the library, unless the reader has changed it since.
    @discardableResult
    public func undo() throws -> FeedCard? {
        try library.perform { db in
            guard let swipe = try Deck(db: db).swipes(limit: 1).first else { return (nil, []) }
            return (swipe.card, [undoing(swipe)])
        }
    }

    /// Undoes the swipe of a card.
    ///
    /// - Throws: `BookplateError.notInLibrary` if it is not one of the latest swipes of this device.
    public func undo(_ card: String) throws {
        try library.perform { db in
            guard let swipe = try Deck(db: db).swipe(of: card) else {
                throw BookplateError.notInLibrary(id: card)
            }
            return [undoing(swipe)]
        }
    }

    private func undoing(_ swipe: Deck.Swipe) -> Write {
        Write(
            .undoSwipe, swipe.book ?? swipe.id,
            ["cardId": .string(swipe.id), "swipedAt": .string(swipe.swipedAt.rawValue)],
            related: [swipe.id, Self.name(of: swipe.id, at: swipe.swipedAt)],
            at: library.environment.timestamp)
    }

    /// The name of a swipe in the queue: if the server refuses it, there is nothing to undo.
    private static func name(of card: String, at time: Timestamp) -> String {
        "\(card)@\(time.rawValue)"
    }
}

extension LocalEffect {
    /// Adds the book of a liked card, unless the library has the book.
    func recordSwipes() throws {
        guard let id = write.savedBook, let card = write.card,
            try state.find(Book.self, id) == nil, try !hasEdition(card.isbn13),
            try !Deck(db: state.db).hasOldBook(card)
        else { return }
        try state.save(Book(id: id, card: card, at: write.madeAt))
    }

    /// Deletes the book that the swipe has added, unless it was changed since.
    func undoSwipe() throws {
        guard let book = try state.find(Book.self, write.target), book.status == .wantToRead,
            book.updatedAt == book.addedAt, book.shelves.isEmpty, book.review == nil,
            try Note.filter(Column("bookID") == book.id).isEmpty(state.db)
        else { return }
        try state.deleteBook(book.id)
    }

    private func hasEdition(_ isbn: String?) throws -> Bool {
        guard let isbn else { return false }
        return try !Book.filter(Column("isbn13") == isbn).isEmpty(state.db)
    }
}

extension Book {
    /// The book that the server creates from a card.
    init(id: String, card: FeedCard, at time: Timestamp) {
        self.init(
            id: id, title: card.title, subtitle: card.subtitle, author: card.author,
            authors: card.authors, isbn13: card.isbn13, publisher: card.publisher,
            publishedDate: card.publishedDate, pageCount: card.pageCount, language: card.language,
            genre: card.genres.first?.name, description: card.description, moods: [],
            status: .wantToRead, series: card.series, shelves: [], image: card.image,
            addedAt: time, updatedAt: time)
    }
}
