import Foundation

@testable import BookplateClient

/// The feed of the model.
struct ModelFeed {
    struct Swipe {
        let card: String
        let action: String
        let scope: String
        /// The time of the device.
        let swipedAt: String
        /// The time at which it counts.
        let countsAt: String
        let number: Int
        var isUndone = false
        var book: String?
    }

    /// Each tenth card is another edition of the card before it.
    let cards: [FeedCard] = (0..<60).map { number in
        FeedCard(
            id: "card-\(number)", title: "Card \(number)", subtitle: nil,
            author: "Author \(number % 7)", authors: [Author("Author \(number % 7)")], genres: [],
            averageRating: nil, ratingsCount: 0, pageCount: 100 + number, language: nil,
            publisher: nil, publishedDate: nil, isbn13: nil, hook: nil, description: nil,
            work: Reference(id: "work-\(number % 10 == 9 ? number - 1 : number)"), series: [],
            image: nil, reason: nil, purchaseLinks: [])
    }
    /// The cards that were removed from the catalog after a device got them.
    var removed: Set<String> = []
    /// The error of all swipes.
    var error: ServerError?
    fileprivate(set) var swipes: [Swipe] = []
    /// The cards of the books of the library.
    fileprivate var cardsOfBooks: [String: String] = [:]
    /// The cards of each start of the feed: its pages stay the same.
    fileprivate var starts: [[FeedCard]] = []

    func card(_ id: String) -> FeedCard? {
        removed.contains(id) ? nil : cards.first { $0.id == id }
    }

    /// The swipe of a card that counts.
    fileprivate func current(_ card: String) -> Swipe? {
        swipes.filter { $0.card == card && !$0.isUndone }
            .max { ($0.countsAt, $0.swipedAt) < ($1.countsAt, $1.swipedAt) }
    }
}

extension ModelServer {
    // MARK: Pages

    func feedPage(_ variables: JSON) -> String {
        let size = variables["first"]?.int ?? 10
        let parts = (variables["after"]?.string ?? "").split(separator: ":").compactMap { Int($0) }
        if parts.count != 2 { feed.starts.append(visibleCards()) }
        let (start, offset) = parts.count == 2 ? (parts[0], parts[1]) : (feed.starts.count - 1, 0)
        let cards = feed.starts[start]
        let slice = cards[min(offset, cards.count)...].prefix(size)
        return """
            {"nodes":\(Self.text(Array(slice))),"pageInfo":\
            {"endCursor":"\(start):\(slice.endIndex)","hasNextPage":\(slice.endIndex < cards.count)}}
            """
    }

    private func visibleCards() -> [FeedCard] {
        let current = feed.cards.compactMap { feed.current($0.id) }
        let monthAgo = Timestamp(
            (now.date ?? .distantPast).addingTimeInterval(-30 * 86_400)
        ).rawValue
        let hidden = current.filter { $0.action != "SKIP" || $0.countsAt > monthAgo }
            .compactMap { feed.card($0.card) }
        let authors = current.filter { $0.scope == "AUTHOR" }.compactMap { feed.card($0.card) }
            .compactMap(\.authors.first?.name)
        var works = Set(hidden.map(\.work.id))
        works.formUnion(
            books.keys.compactMap { feed.cardsOfBooks[$0] }.compactMap { feed.card($0)?.work.id })
        return feed.cards.filter { card in
            let isHidden = authors.contains(card.authors.first?.name ?? "")
            return works.insert(card.work.id).inserted && !isHidden
        }
    }

    // MARK: Swipes

    private func book(of card: String) -> String? {
        let work = feed.card(card)?.work
        return books.keys.sorted().first { book in
            feed.cardsOfBooks[book].flatMap { feed.card($0)?.work } == work
        }
    }

    /// Returns the payload of `recordSwipes`.
    func recordSwipe(_ input: JSON) -> JSON {
        let (card, at) = (input["cardId"]?.string ?? "", input["swipedAt"]?.string ?? "")
        let action = input["action"]?.string ?? ""
        guard feed.card(card) != nil else {
            return ["unknownCardIds": [.string(card)], "saved": []]
        }
        let saves = action == "LIKE" || action == "BUY"
        if !feed.swipes.contains(where: { $0.card == card && $0.swipedAt == at }) {
            let countsAt = min(at, now.rawValue)
            let isNewest = feed.current(card).map { $0.countsAt < countsAt } ?? true
            var swipe = ModelFeed.Swipe(
                card: card, action: action, scope: input["scope"]?.string ?? "BOOK", swipedAt: at,
                countsAt: countsAt, number: feed.swipes.count)
            if saves, isNewest, book(of: card) == nil, let id = input["bookId"]?.string {
                create(id)
                save(card, as: id)
                swipe.book = id
            }
            feed.swipes.append(swipe)
        }
        let saved = saves ? book(of: card) : nil
        return [
            "unknownCardIds": [], "saved": .array(saved.map { [["id": .string($0)]] } ?? []),
        ]
    }

    private func save(_ card: String, as id: String) {
        guard let content = feed.card(card) else { return }
        books[id] = Book(id: id, card: content, at: now)
        feed.cardsOfBooks[id] = card
        record(Book.self, id)
    }

    /// The rules of `undo_swipe`.
    func undoSwipe(_ input: JSON) {
        let (card, at) = (input["cardId"]?.string ?? "", input["swipedAt"]?.string ?? "")
        let index = feed.swipes.firstIndex { $0.card == card && $0.swipedAt == at }
        guard let index, !feed.swipes[index].isUndone else { return }
        let undone = feed.swipes[index]
        feed.swipes[index].isUndone = true
        feed.swipes[index].book = nil
        if let id = undone.book, let book = books[id] { pass(book, of: undone) }
        guard let current = feed.current(card), ["LIKE", "BUY"].contains(current.action),
            current.book == nil, self.book(of: card) == nil, current.number > undone.number
        else { return }
        // A like that arrived late, and so has never counted.
        let id = "server-\(creations.count)-\(log.count)"
        save(card, as: id)
        feed.swipes[current.number].book = id
    }

    /// Passes the book of an undone swipe to a later like of the work, or deletes it.
    private func pass(_ book: Book, of undone: ModelFeed.Swipe) {
        let work = feed.card(undone.card)?.work
        let heir = feed.swipes.filter {
            feed.card($0.card)?.work == work && !$0.isUndone && ["LIKE", "BUY"].contains($0.action)
                && $0.number >= undone.number
        }.max { ($0.countsAt, $0.swipedAt) < ($1.countsAt, $1.swipedAt) }
        if let heir {
            feed.swipes[heir.number].book = book.id
        } else if book.status == .wantToRead, book.updatedAt == book.addedAt,
            book.shelves.isEmpty, book.review == nil,
            !notes.values.contains(where: { $0.book.id == book.id })
        {
            deleteBook(book.id)
        }
    }
}
