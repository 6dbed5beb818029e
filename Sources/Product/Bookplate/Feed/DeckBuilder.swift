import Postgres
import Ranking

/// Runs the pipelines that build a deck: a request or a job.
protocol DeckDatabase {
    associatedtype Failure: Error

    func read<Keys>(
        _ fill: (inout Pipeline) throws(Failure) -> Keys
    ) async throws(Failure) -> (results: PipelineResults, keys: Keys)

    func write<Keys>(
        _ fill: (inout Pipeline) throws(Failure) -> Keys
    ) async throws(Failure) -> (results: PipelineResults, keys: Keys)
}

/// Builds a deck: the start of a chain, or the successor of a deck.
///
/// 1. Read the reader's signals, preferred genres, and languages, and the end of the preceding deck.
/// 2. Read candidates that the reader has not seen and that no earlier deck of the chain contains (`DeckCandidates`).
/// 3. Rank them, and store the best ones in `feed_decks`.
///
/// If the usual candidates do not fill a deck, the next ones of all genres are added, then skipped books after their cool-down, and
/// books with incomplete descriptions. Books in the catalog's main language follow in the same order, unless the reader reads it, and
/// then books in all other languages (`DeckLanguages`). A deck without cards ends the feed.
struct DeckBuilder {
    /// The maximum number of cards of a deck, so that its row needs no TOAST.
    static let cardsMax = 100
    /// The number of cards of the first decks of new readers, so that their first likes take effect soon.
    static let firstCardsMax = 30
    /// The bonus for books by a followed author. It is as large as the prior of the most popular book for a new reader.
    private static let followedBonus: Float = 0.3
    /// The number of positive signals from which all decks have `cardsMax` cards.
    private static let signalsOfLongDecks = 10
    /// The number of the decks of a chain that have `firstCardsMax` cards for new readers.
    private static let shortDecksMax: Int32 = 3
    /// The maximum number of decks of a chain, for 100,000 cards. It bounds the cost of leaving out their cards.
    private static let chainDecksMax: Int32 = 1000

    let reader: UUID
    /// Ids in ascending order; empty for all genres. Ignored if there is a preceding deck, which has the same filter.
    var filter: [Int16] = []
    /// The preceding deck; nil for the start of a chain.
    var previous: DeckID?
    /// Whether nothing is built at the start of a chain for a reader who gets the cold-start deck (`FeedPage.isNew`).
    var skipsNewReaders = false

    /// - Returns: The new deck; nil if none was stored.
    @discardableResult
    func build<Database: DeckDatabase>(
        in database: Database
    ) async throws(Database.Failure) -> DeckID? {
        let precedingDeck = precedingDeck
        let (results, keys) = try await database.read { pipeline in
            let profile = pipeline.append(ReaderSignals.profile, .of(reader))
            let signals = pipeline.append(ReaderSignals.latest, .of(reader))
            let genres = pipeline.append(DeckCandidates.genres)
            let preceding = pipeline.append(Self.lastCards, precedingDeck)
            return (profile: profile, signals: signals, genres: genres, preceding: preceding)
        }
        guard let profile = results[keys.profile].first else { return nil }
        let signals = results[keys.signals]
        let preceding = results[keys.preceding]
        if previous == nil {
            if skipsNewReaders, signals.isEmpty, profile.preferredGenres.isEmpty,
                profile.followedAuthors.isEmpty, profile.languages.count <= 1
            {
                return nil
            }
        } else if preceding.isEmpty {
            return nil
        }
        let languages = DeckLanguages(
            profile: profile.languages, signals: signals, catalog: profile.catalogLanguages)
        var candidates = DeckCandidates(
            reader: reader, filter: preceding.first?.filter ?? filter, chain: previous?.chain,
            signals: signals, preferred: profile.preferredGenres,
            followedAuthors: profile.followedAuthors,
            genres: results[keys.genres].map { Int16(truncatingIfNeeded: $0) },
            preferredLanguages: languages.preferred, languages: [])
        let number = previous.map { $0.number + 1 } ?? 0
        var cards: [DeckCandidates.Candidate] = []
        let count = Self.cardsCount(signals, number)
        for group in languages.groups where cards.count < count {
            candidates.languages = group
            var found: [DeckCandidates.Candidate] = []
            for isComplete in [false, true] where cards.count + found.count < count {
                candidates.isComplete = isComplete
                let parameters = candidates.parameters
                let (results, key) = try await database.read {
                    $0.append(DeckCandidates.select, parameters)
                }
                var books = results[key]
                for index in books.indices
                where profile.followedAuthors.contains(books[index].item.traits.author) {
                    books[index].item.bonus = Self.followedBonus
                }
                found = languages.mix(books, count: count - cards.count) {
                    Self.rank(
                        $0, signals: signals.map(\.signal), preferred: profile.preferredGenres,
                        count: count - cards.count,
                        after: preceding.map(\.traits) + cards.map(\.item.traits))
                }
            }
            cards += found
        }
        // Other languages and tiers are ranked separately, so a volume may come after a later one.
        var volumes = LastVolumes()
        cards.removeAll { card in
            defer { volumes.append(card.item.traits) }
            return volumes.passed(card.item.traits)
        }
        var deck = Parameters.of(reader)
        deck.append(int64: previous?.chain)
        deck.append(int32: number)
        deck.append(int32s: candidates.filter.map(Int32.init))
        deck.append(uuids: cards.map(\.id))
        let reasons = FeedReason.Finder(
            signals, genres: candidates.favoriteGenres, followedAuthors: profile.followedAuthors)
        deck.append(int64s: cards.map(reasons.reason(for:)))
        deck.append(int64: profile.version)
        let parameters = deck
        let (stored, key) = try await database.write { pipeline in
            let key = pipeline.append(Self.insert, parameters)
            pipeline.append(Self.deleteUnused, .of(reader))
            return key
        }
        return stored[key].first.map { DeckID(chain: $0, number: number) }
    }

    /// - Parameter number: The number of the deck in its chain.
    private static func cardsCount(_ signals: [ReaderSignals.Signal], _ number: Int32) -> Int {
        guard number < chainDecksMax else { return 0 }
        let isShort =
            number < shortDecksMax && signals.count { $0.signal.weight > 0 } < signalsOfLongDecks
        return isShort ? firstCardsMax : cardsMax
    }

    /// Returns the best candidates of the first tier, then those of the next tiers.
    private static func rank(
        _ candidates: [DeckCandidates.Candidate], signals: [ReaderSignal], preferred: [Int16],
        count: Int, after recent: [BookTraits]
    ) -> [DeckCandidates.Candidate] {
        var cards: [DeckCandidates.Candidate] = []
        let tiers = Dictionary(grouping: candidates, by: \.tier)
        for (_, tier) in tiers.sorted(by: { $0.key < $1.key }) where cards.count < count {
            let order = FeedRanking.rank(
                tier.map(\.item), signals: signals, preferred: preferred,
                count: count - cards.count,
                after: (recent + cards.map(\.item.traits)).suffix(FeedRanking.spread))
            cards += order.map { tier[$0] }
        }
        return cards
    }

    // MARK: - Statements

    private var precedingDeck: Parameters {
        var parameters = Parameters.of(reader)
        parameters.append(int64: previous?.chain)
        parameters.append(int32: previous?.number)
        return parameters
    }

    private struct LastCard: RowDecodable {
        /// The filter of the deck.
        let filter: [Int16]
        let traits: BookTraits

        init?(_ row: inout RowReader) {
            filter = row.int16s()
            traits = BookTraits(&row)
        }
    }

    /// The last cards of the preceding deck, in order; none if the deck was deleted or has a successor.
    private static let lastCards = TypedStatement<LastCard>(
        """
        SELECT d.filter::text[], \(BookTraits.columns(of: "e"))
        FROM (
            SELECT filter, editions
            FROM feed_decks
            WHERE user_id = $1 AND chain = $2 AND number = $3
            UNION ALL
            SELECT '{}', editions
            FROM cold_start_decks
            WHERE chain = $2 AND $3 = 0
        ) d
        CROSS JOIN LATERAL unnest(
            d.editions[cardinality(d.editions) - \(FeedRanking.spread - 2):]
        ) WITH ORDINALITY c (id, ordinal)
        CROSS JOIN LATERAL (SELECT * FROM editions e WHERE e.id = c.id OFFSET 0) e
        WHERE NOT EXISTS (
            SELECT
            FROM feed_decks
            WHERE user_id = $1 AND chain = $2 AND number = $3 + 1
        )
        ORDER BY c.ordinal
        """)

    /// A deck has one successor: of two that are built at the same time, the second is not stored.
    private static let insert = TypedStatement<Int64>(
        """
        INSERT INTO feed_decks (user_id, chain, number, filter, editions, reasons, signals_version)
        VALUES ($1, coalesce($2, nextval('feed_chains')), $3, $4::int2[], $5, $6, $7)
        ON CONFLICT DO NOTHING
        RETURNING chain
        """)

    /// Deletes starts of chains without a successor. Each group of swipes leads to a new start, and most of these are never read.
    /// All are kept for a day, because cursors may read them, but at most 500. Older ones are deleted beyond 50. Chains of
    /// several decks are kept until `feed.refresh` deletes them.
    ///
    /// The array and OFFSET 0 make sure that each deck is looked at once, even if the table was never analyzed.
    private static let deleteUnused = Statement(
        """
        DELETE FROM feed_decks
        WHERE user_id = $1
            AND number = 0
            AND chain = ANY (ARRAY(
                SELECT chain
                FROM (
                    SELECT d.chain, d.created_at, row_number() OVER (ORDER BY d.chain DESC) AS rank
                    FROM feed_decks d
                    WHERE d.user_id = $1
                        AND d.number = 0
                        AND NOT EXISTS (
                            SELECT
                            FROM feed_decks n
                            WHERE n.user_id = $1 AND n.chain = d.chain AND n.number = 1
                            OFFSET 0
                        )
                ) unused
                WHERE rank > 500 OR rank > 50 AND created_at < now() - interval '1 day'
            ))
        """)
}
