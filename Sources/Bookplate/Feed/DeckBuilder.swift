import Postgres
import Ranking

/// Runs the pipelines that build a deck: a request or a job.
protocol DeckDatabase {
    associatedtype Failure: Error

    func readDeck<Keys>(
        _ fill: (inout Pipeline) -> Keys
    ) async throws(Failure) -> (results: PipelineResults, keys: Keys)

    func writeDeck(_ fill: (inout Pipeline) -> Void) async throws(Failure)
}

/// Builds a deck: the start of a chain, or the successor of a deck.
///
/// 1. Read the reader's signals, their preferred genres, and the preceding deck.
/// 2. Read candidates that the reader has not seen and that no earlier deck of the chain contains (`DeckCandidates`).
/// 3. Rank them, and store the best ones in `feed_decks`.
///
/// If the usual candidates do not fill a deck, the next ones of all genres are added, then skipped books after their cool-down,
/// books with incomplete descriptions, and books in other languages. A deck without cards ends the feed.
struct DeckBuilder {
    /// The maximum number of cards of a deck, so that its row needs no TOAST.
    static let cardsMax = 100
    /// The number of cards of the first decks of new readers, so that their first likes take effect soon.
    static let firstCardsMax = 30
    /// The number of positive signals from which decks have `cardsMax` cards.
    private static let signalsOfLongDecks = 10
    /// The maximum number of decks of a chain. It bounds the cost of leaving out their cards.
    private static let depthMax: Int32 = 100

    let reader: UUID
    /// Ids in ascending order; empty for all genres. Ignored if there is a preceding deck, which has the same filter.
    var filter: [Int16] = []
    /// The number of the preceding deck; nil for the start of a chain.
    var previous: Int64?
    /// Whether to build no start for a reader without signals and preferred genres, who starts with the cold-start deck.
    var skipsNewReaders = false

    func build<Database: DeckDatabase>(
        in database: Database
    ) async throws(Database.Failure) {
        var parameters = Parameters.of(reader)
        let ofReader = parameters
        parameters.append(int64: previous)
        let ofPrevious = parameters
        let (results, keys) = try await database.readDeck { pipeline in
            let signals = pipeline.append(DeckStatements.signals, ofReader)
            let preferred = pipeline.append(DeckStatements.preferredGenres, ofReader)
            let genres = pipeline.append(DeckStatements.genres)
            let previous = pipeline.append(DeckStatements.previous, ofPrevious)
            let recent = pipeline.append(DeckStatements.lastCards, ofPrevious)
            return (signals, preferred, genres, previous, recent)
        }
        let signals = results[keys.0]
        let preferred = results[keys.1].map(\.id)
        if skipsNewReaders, previous == nil, signals.isEmpty, preferred.isEmpty { return }
        let preceding = results[keys.3].first
        // The preceding deck was deleted.
        if previous != nil, preceding == nil { return }
        let depth = preceding.map { $0.depth + 1 } ?? 0
        let filter = preceding?.filter ?? self.filter
        var candidates = DeckCandidates(
            reader: reader, filter: filter, previous: previous, signals: signals,
            preferred: preferred, genres: results[keys.2].map(\.id))
        var cards: [UUID] = []
        if depth < Self.depthMax {
            let count = cardsCount(signals)
            let recent = results[keys.4].map(\.traits)
            for isComplete in [false, true] where cards.count < count {
                candidates.isComplete = isComplete
                let parameters = candidates.parameters
                let (results, key) = try await database.readDeck {
                    $0.append(DeckStatements.candidates, parameters)
                }
                cards = Self.rank(
                    results[key], signals: signals.map(\.signal), preferred: preferred,
                    count: count, after: recent)
            }
        }
        try await store(cards, filter: filter, depth: depth, in: database)
    }

    private func cardsCount(_ signals: [DeckStatements.Signal]) -> Int {
        let count = signals.count { $0.signal.weight > 0 }
        return count < Self.signalsOfLongDecks ? Self.firstCardsMax : Self.cardsMax
    }

    /// Returns the best candidates of the first tier, then those of the next tiers.
    private static func rank(
        _ candidates: [DeckStatements.Candidate], signals: [ReaderSignal], preferred: [Int16],
        count: Int, after recent: [BookTraits]
    ) -> [UUID] {
        var recent = recent
        var cards: [UUID] = []
        let tiers = Dictionary(grouping: candidates, by: \.tier)
        for (_, tier) in tiers.sorted(by: { $0.key < $1.key }) where cards.count < count {
            let order = FeedRanking.rank(
                tier.map(\.item), signals: signals, preferred: preferred,
                count: count - cards.count, after: recent)
            cards += order.map { tier[$0].id }
            recent = (recent + order.map { tier[$0].item.traits }).suffix(FeedRanking.spread)
        }
        return cards
    }

    private func store<Database: DeckDatabase>(
        _ cards: [UUID], filter: [Int16], depth: Int32, in database: Database
    ) async throws(Database.Failure) {
        var parameters = Parameters.of(reader)
        parameters.append(int32s: filter.map(Int32.init))
        parameters.append(int64: previous)
        parameters.append(int32: depth)
        parameters.append(uuids: cards)
        let deck = parameters
        try await database.writeDeck { pipeline in
            pipeline.append(DeckStatements.insert, deck)
            pipeline.append(DeckStatements.deleteUnused, .of(reader))
        }
    }
}
