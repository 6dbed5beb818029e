import Postgres

/// Reads the cards of one page with as few rows as possible.
///
/// The cards come from the reader's deck or the cold-start deck, then from the queues of the genres: usually one book of
/// each of the next genres, more of each if too few genres are left, and the later tiers after the first one.
struct FeedReader {
    /// The rows that were read, and the cards selected from them.
    struct Reading {
        var rows: Rows
        /// The position before the first card.
        var start: FeedPosition
        var cards: [FeedCandidate]
        /// The version of the deck with which later pages continue.
        var newestDeck: Int32?
        /// Whether the page is complete and satisfies the rules.
        var isSettled: Bool
        /// Whether a genre that was read has more books.
        var hasMore: Bool
        /// Whether a genre was not read.
        var leavesOut: Bool
        /// The genres that have more books but whose read books were all selected, with the number of those books. Cards after
        /// them may have been selected only because not enough books were read.
        var emptied: [Int16: Int]
    }

    let statements: FeedStatements
    let request: RequestContext
    /// The genres whose queues may contain cards, those with the most readers first.
    let genres: [Int16]
    /// Only books with one of these genres are shown; nil for all books.
    let filter: [Int16]?
    let after: FeedPosition?
    /// The number of cards.
    let wanted: Int

    /// The maximum number of genres in rotation. When a genre is exhausted, the next one is added. With a filter, the
    /// maximum applies separately to its genres and to others.
    private static let genresAtOnce = 30
    /// The maximum number of such reads: a queue whose genre is not in the filter is read once for each genre of the filter.
    private static let rangesAtOnce = 200
    /// The number of additional cards that are read in case an author would be repeated too soon.
    private static let spare = 4
    /// The number of queue rows that are read per card, before it is known from which queues a page needs more.
    private static let rowsPerCard = 20
    /// The number of additional cards of a deck that are read in case consecutive cards would have the same genre.
    private static let deckSpare = 16

    private var position: FeedPosition
    /// The factor for the number of genres in rotation. It grows if the genres have too few cards.
    private var width = 1

    init(
        statements: FeedStatements, request: RequestContext, genres: [Int16], filter: [Int16]?,
        after: FeedPosition?, wanted: Int
    ) {
        self.statements = statements
        self.request = request
        self.genres = genres
        self.filter = filter
        self.after = after
        self.wanted = wanted
        position = after ?? FeedPosition(asOf: 0)
        position.filter(filter)
    }

    mutating func read() async throws(BookplateError) -> Reading {
        // A cursor without a deck was created when there was no deck, and its page must stay the same.
        let mayHaveDeck = after == nil || position.deck != nil
        if filter == nil, mayHaveDeck, !position.isDeckOver {
            if position.canShow(wanted), let reading = try await readDeck() { return reading }
            if position.deck != nil { position.leaveDeck() }
        }
        return try await readQueues()
    }

    /// Reads a page of the deck.
    ///
    /// - Returns: nil if there is no deck, or if it contains too few cards.
    private mutating func readDeck() async throws(BookplateError) -> Reading? {
        if after == nil {
            let (results, cards) = try await request.read { pipeline, viewer in
                var parameters = Parameters.of(viewer.userID)
                parameters.append(int32: Int32(wanted))
                return pipeline.appendForRows(statements.top, parameters)
            }
            if let reading = deal(results[cards]) { return reading }
        }
        let (results, cards) = try await request.read { pipeline, viewer in
            var parameters = Parameters.of(viewer.userID)
            parameters.append(timestamptz: after?.asOf)
            parameters.append(int32: position.deck)
            parameters.append(int32s: position.shown)
            parameters.append(int32: Int32(wanted + Self.deckSpare))
            let passed = position.passed
            parameters.append(int32s: passed.map { Int32($0.genre) })
            parameters.append(int64s: passed.map(\.place))
            return pipeline.appendForRows(statements.deck, parameters)
        }
        let rows = results[cards]
        if let reading = deal(rows) { return reading }
        if let version = statements.deckVersion(rows) { position.enterDeck(version) }
        return nil
    }

    /// Creates a page from the cards of a deck.
    ///
    /// - Returns: nil if there are too few cards.
    private func deal(_ rows: Rows) -> Reading? {
        guard rows.count >= wanted, let version = statements.deckVersion(rows) else { return nil }
        var start = FeedPosition(asOf: statements.now(rows) ?? 0, continuing: position)
        start.enterDeck(version)
        if let order = statements.order(rows) { start.read(inOrder: order) }
        let cards = FeedCandidate.dealt(
            statements.dealt(rows), from: start, count: wanted, isColdStart: version < 0)
        guard cards.count == wanted else { return nil }
        return Reading(
            rows: rows, start: start, cards: cards, newestDeck: statements.newestDeck(rows),
            isSettled: true, hasMore: true, leavesOut: false, emptied: [:])
    }

    /// - Parameter order: An earlier version of the order; nil for the current one.
    private func appendQueues(
        _ shares: [(genre: Int16, most: Int)], inOrder order: Int32?, to pipeline: inout Pipeline,
        for viewer: Viewer
    ) -> RowsKey {
        var parameters = Parameters.of(viewer.userID)
        parameters.append(timestamptz: after?.asOf)
        parameters.append(int32s: shares.map { Int32($0.genre) })
        parameters.append(int64s: shares.map { position.place(in: $0.genre) })
        parameters.append(int32s: shares.map { Int32($0.most) })
        if let filter {
            parameters.append(int32s: filter.map(Int32.init))
        } else {
            parameters.appendNull(PostgresType.int32.array)
        }
        parameters.append(int32s: position.shown)
        if !position.isRelaxed { parameters.append(int64: FeedPosition.firstTierEnd) }
        if let order {
            parameters.append(int32: order)
            return pipeline.appendForRows(
                position.isRelaxed ? statements.relaxedBefore : statements.firstTierBefore,
                parameters)
        }
        return pipeline.appendForRows(
            position.isRelaxed ? statements.relaxed : statements.firstTier, parameters)
    }

    /// Reads the next books of the queues, in the order in which this feed began to read them if that is still stored.
    private mutating func readQueues(
        _ shares: [(genre: Int16, most: Int)]
    ) async throws(BookplateError) -> Rows {
        let (results, keys) = try await request.read { [self] pipeline, viewer in
            let versions = pipeline.append(FeedStatements.order)
            let rows = appendQueues(shares, inOrder: nil, to: &pipeline, for: viewer)
            return (versions: versions, rows: rows)
        }
        let versions = results[keys.versions].first
        let current = versions?.current ?? 0
        let oldest = versions?.oldest ?? current
        guard let order = position.order, order >= oldest, order < current else {
            position.read(inOrder: current)
            return results[keys.rows]
        }
        let (earlier, rows) = try await request.read { [self] pipeline, viewer in
            appendQueues(shares, inOrder: order, to: &pipeline, for: viewer)
        }
        return earlier[rows]
    }

    private mutating func readQueues() async throws(BookplateError) -> Reading {
        // A page with several tiers takes most cards from the queues that still contain books of the lowest tier.
        var readsMuch = position.isRelaxed
        var atLeast: [Int16: Int] = [:]
        while true {
            let turns = position.turns(of: atOnce(open()))
            if turns.isEmpty, !position.isRelaxed {
                position.relax()
                readsMuch = true
                continue
            }
            let preferred = position.preferred
            let reading = try await select(
                readsMuch
                    ? Self.much(turns, filter: filter, wanted: wanted, atLeast: atLeast)
                    : shares(turns))
            // The first result contains the reader's preferred genres, which change the shares.
            if position.preferred != preferred { continue }
            if readsMuch, !reading.emptied.isEmpty {
                atLeast.merge(reading.emptied.mapValues { 4 * $0 }) { max($0, $1) }
                continue
            }
            if reading.isSettled { return reading }
            // `readsMuch` reads enough books of its genres, so only other genres can have more.
            if reading.leavesOut || reading.hasMore && !readsMuch {
                if readsMuch { width *= 4 }
                readsMuch = true
            } else if position.isRelaxed {
                return reading
            } else {
                position.relax()
                readsMuch = true
            }
        }
    }

    /// Returns the genres with books left in this tier. Books without a genre are not in the first tier.
    private func open() -> [Int16] {
        func open(_ genres: [Int16], before end: Int64) -> [Int16] {
            genres.filter { position.place(in: $0) < end }
        }
        let ofFirstTier = open(genres, before: FeedPosition.firstTierEnd)
        guard position.isRelaxed else { return ofFirstTier }
        // The rest of the first tier is shown before the other tiers.
        let others = open(filter == nil ? genres + [0] : genres, before: FeedPosition.end)
        let isOfFirstTier = Set(ofFirstTier)
        return ofFirstTier + others.filter { !isOfFirstTier.contains($0) }
    }

    /// Returns the first genres, so that the cost of a page does not depend on the number of genres.
    private func atOnce(_ genres: [Int16]) -> [Int16] {
        let most = Self.genresAtOnce * width
        guard let filter else { return Array(genres.prefix(most)) }
        let isOwn = Set(filter)
        let own = genres.filter(isOwn.contains).prefix(most)
        let others = genres.filter { !isOwn.contains($0) }
        let ranges = Self.rangesAtOnce * width / max(filter.count, 1)
        return Array(own + others.prefix(max(1, min(most, ranges))))
    }

    /// Returns how many books to read of each genre, so that they suffice if other genres have none. The number of rows is
    /// limited: a queue whose genre is not in the filter is read once for each genre of the filter.
    ///
    /// - Parameter atLeast: The minimum for genres of which too few books were read before.
    static func much(
        _ turns: [Int16], filter: [Int16]?, wanted: Int, atLeast: [Int16: Int]
    ) -> [(genre: Int16, most: Int)] {
        let filter = Set(filter ?? turns)
        let ranges = turns.reduce(0) { $0 + (filter.contains($1) ? 1 : filter.count) }
        let most = max(wanted / max(turns.count, 1) + 2, rowsPerCard * wanted / max(ranges, 1))
        return turns.map { ($0, min(wanted, max(most, atLeast[$0] ?? 0))) }
    }

    /// Returns how many books to read of each genre if all genres have some. Preferred genres provide every second card.
    private func shares(_ turns: [Int16]) -> [(genre: Int16, most: Int)] {
        func share(_ count: Int, among genres: [Int16]) -> [(genre: Int16, most: Int)] {
            guard genres.count < count + Self.spare else {
                return genres.prefix(count + Self.spare).map { ($0, 1) }
            }
            return genres.map { ($0, count / genres.count + 2) }
        }
        let preferred = turns.filter(position.preferred.contains)
        guard !preferred.isEmpty else { return share(wanted, among: turns) }
        let others = turns.filter { !preferred.contains($0) }
        // The books of a filter may all be in the queues of its own genres.
        if filter != nil { return share(wanted, among: preferred) + others.map { ($0, 1) } }
        let half = (wanted + 1) / 2
        return share(half, among: preferred)
            + share(half, among: others)
    }

    /// Reads books of the genres after the position and selects the cards.
    private mutating func select(
        _ shares: [(genre: Int16, most: Int)]
    ) async throws(BookplateError) -> Reading {
        let rows = try await readQueues(shares)
        let candidates = statements.candidates(rows)
        let found = candidates.reduce(into: [Int16: Int]()) { $0[$1.genre, default: 0] += 1 }
        for (genre, _) in shares where found[genre] == nil {
            position.pass(
                genre, to: position.isRelaxed ? FeedPosition.end : FeedPosition.firstTierEnd)
        }
        // All books before the first candidate were seen, so later pages skip them.
        for card in candidates.reversed() { position.pass(card.genre, to: card.place - 1) }
        let open = open()
        if position.count == 0, filter == nil, position.preferred.isEmpty {
            let names = statements.preferredGenres(rows)
            position.prefer(try await request.services.genres.known(names, for: request))
        }
        let start = FeedPosition(asOf: statements.now(rows) ?? 0, continuing: position)
        let turns = FeedTurns(
            candidates, of: (genres + [0]).filter { found[$0] != nil }, from: start, count: wanted)
        let taken = turns.cards.reduce(into: [Int16: Int]()) { $0[$1.genre, default: 0] += 1 }
        let emptied = shares.filter { $0.most < wanted && taken[$0.genre] == $0.most }
        // With only one genre left, consecutive cards have the same genre.
        let mayHaveNeighbours = position.isRelaxed && open.count == 1
        return Reading(
            rows: rows, start: start, cards: turns.cards, newestDeck: statements.newestDeck(rows),
            isSettled: turns.cards.count == wanted && (mayHaveNeighbours || !turns.hasNeighbours),
            hasMore: shares.contains { $0.most < wanted && found[$0.genre] == $0.most },
            leavesOut: !Set(open).isSubset(of: shares.map(\.genre)),
            emptied: Dictionary(emptied.map { ($0.genre, $0.most) }, uniquingKeysWith: max))
    }
}
