import Ranking

/// A book that may be the feed's next card: the head of a genre's queue, or one behind it.
struct FeedCandidate: Equatable {
    /// Where it stands in the rows that were read.
    let row: Int32
    let genre: Int16
    let place: Int64
    let origin: Origin
    /// The card's position in its deck, counted from 1; nil for a card from a queue.
    var deckPlace: Int32?
    /// A hash of the edition's id, by which a cursor recognizes cards that it has shown. If two ids have the same hash,
    /// which happens once in 4 billion pairs, one of the two cards is missing from the scroll.
    var mark: Int32 = 0

    /// 0 is shown before 1, and so on.
    var tier: Int64 { place / FeedPosition.firstTierEnd }
}

extension FeedCandidate {
    /// As many cards of a deck as its order and the rule against neighbours of one genre allow: one that
    /// may not stand here comes later. In the opening that is also one whose author or series was there lately.
    static func dealt(
        _ deck: [FeedCandidate], from position: FeedPosition, count: Int, isOpening: Bool
    ) -> [FeedCandidate] {
        var rest = deck
        var last = position.lastGenre
        var recent = isOpening ? position.recent : []
        var cards: [FeedCandidate] = []
        while cards.count < count,
            let next = rest.firstIndex(where: { card in
                card.genre != last
                    && !recent.contains { $0.sharesAuthorOrSeries(with: card.origin) }
            }) ?? rest.firstIndex(where: { $0.genre != last })
        {
            let card = rest.remove(at: next)
            last = card.genre
            cards.append(card)
            guard isOpening else { continue }
            recent.append(card.origin)
            if recent.count == FeedRanking.spread { recent.removeFirst() }
        }
        return cards
    }
}

/// Chooses the cards of a page: the genres take turns.
struct FeedTurns {
    /// The chosen cards, in order.
    private(set) var cards: [FeedCandidate] = []
    /// Whether two neighbours are of one genre, for want of others.
    private(set) var hasNeighbours = false

    private var position: FeedPosition
    private let genres: [Int16]
    /// Genres that have every second turn.
    private let preferred: Set<Int16>
    private var queues: [Int16: ArraySlice<FeedCandidate>]

    /// - Parameter candidates: each genre's together, in the order of their places.
    init(
        _ candidates: [FeedCandidate], of genres: [Int16], from position: FeedPosition, count: Int
    ) {
        self.genres = genres
        preferred = Set(position.preferred)
        self.position = position
        queues = Dictionary(grouping: candidates, by: \.genre).mapValues { $0[...] }
        while cards.count < count, let card = next() {
            if card.genre == self.position.lastGenre { hasNeighbours = true }
            queues[card.genre]?.removeFirst()
            self.position.take(card)
            cards.append(card)
        }
    }

    /// The first card that may stand here: of another genre than the last, of the lowest tier, and, if there is one, of an
    /// author and a series that were not there for a while.
    private func next() -> FeedCandidate? {
        let last = position.lastGenre
        let waiting = position.turns(of: genres)
        let isTheirTurn = last.map { !preferred.contains($0) } ?? true
        let turns =
            waiting.filter { preferred.contains($0) == isTheirTurn }
            + waiting.filter { preferred.contains($0) != isTheirTurn }
        var heads = turns.filter { $0 != last }.compactMap { queues[$0]?.first }
        let tier = heads.map(\.tier).min()
        heads.removeAll { $0.tier != tier }
        return heads.first { head in
            !position.recent.contains { $0.sharesAuthorOrSeries(with: head.origin) }
        } ?? heads.first ?? last.flatMap { queues[$0]?.first }
    }
}
