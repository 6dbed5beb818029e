import Ranking

/// A book that may become one of the next cards of the feed.
struct FeedCandidate: Equatable {
    /// The index of its row in the result.
    let row: Int32
    let genre: Int16
    let place: Int64
    let origin: Origin
    /// The card's position in its deck, counted from 1; nil for a card from a queue.
    var deckPlace: Int32?
    /// A hash of the edition's id, by which a cursor recognizes cards that it has shown. If two ids have the same hash,
    /// which happens once in 4 billion pairs, one of the two cards is missing from the scroll.
    var mark: Int32 = 0

    /// The tier. Lower tiers are shown first.
    var tier: Int64 { place / FeedPosition.firstTierEnd }
}

extension FeedCandidate {
    /// Selects the next cards of a deck, in its order. A card of the same genre as the previous one is postponed. In the
    /// cold-start deck, so is a card whose author or series was shown recently.
    static func dealt(
        _ deck: [FeedCandidate], from position: FeedPosition, count: Int, isColdStart: Bool
    ) -> [FeedCandidate] {
        var rest = deck
        var last = position.lastGenre
        var recent = isColdStart ? position.recent : []
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
            guard isColdStart else { continue }
            recent.append(card.origin)
            if recent.count == FeedRanking.spread { recent.removeFirst() }
        }
        return cards
    }
}

/// Selects the cards of a page from the queues, with alternating genres.
struct FeedTurns {
    /// The selected cards, in order.
    private(set) var cards: [FeedCandidate] = []
    /// Whether two consecutive cards have the same genre because there were no others.
    private(set) var hasNeighbours = false

    private var position: FeedPosition
    private let genres: [Int16]
    /// The genres that provide every second card.
    private let preferred: Set<Int16>
    private var queues: [Int16: ArraySlice<FeedCandidate>]

    /// - Parameter candidates: The candidates grouped by genre, in the order of their queue.
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

    /// Returns the next card. It has another genre than the previous card, the lowest tier, and, if possible, an author and a
    /// series that were not shown recently.
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
