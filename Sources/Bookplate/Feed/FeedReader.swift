import Postgres

/// Reads as little as makes a page. The reader's own deck comes first, or the opening; then the queues of the
/// genres: mostly one book of each genre whose turn is next; more of each where
/// genres run out; and the later tiers where the first is read.
struct FeedReader {
    /// The rows that were read, and the cards chosen from them.
    struct Reading {
        var rows: Rows
        /// Where the first card is taken from.
        var start: FeedPosition
        var cards: [FeedCandidate]
        /// The version of the deck that later pages go on with.
        var newestDeck: Int32?
        /// Whether it is a page as it should be.
        var isSettled: Bool
        /// Whether a genre that was read has more.
        var hasMore: Bool
        /// Whether a genre was not read.
        var leavesOut: Bool
        /// Genres all of whose cards were chosen though they have more, and how many those were: what was chosen behind
        /// them might have been theirs.
        var emptied: [Int16: Int]
    }

    let statements: FeedStatements
    let request: RequestContext
    /// All genres that the queues of may have cards, those with the most readers first.
    let genres: [Int16]
    /// Only books that have one of these; nil for all.
    let filter: [Int16]?
    let after: FeedPosition?
    /// How many cards.
    let wanted: Int

    /// Genres that take turns at once; where one is read to its end, the next enters. Of a filter so many of its own and of
    /// others.
    private static let genresAtOnce = 30
    /// A queue whose genre is not of the filter is read once for each genre that is: so often at once.
    private static let rangesAtOnce = 200
    /// Cards that are read besides, for where an author would come again too soon.
    private static let spare = 4
    /// Rows of queues that are read at once for each card, before it is known which queues a page needs more of.
    private static let rowsPerCard = 20
    /// Cards of a deck that are read besides, for where neighbours would be of one genre.
    private static let deckSpare = 16

    private var position: FeedPosition
    /// How many times as many genres take turns, where those that do have too few cards.
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
        // A cursor without a deck is of a time when there was none, and its page stays as it was.
        let mayHaveDeck = after == nil || position.deck != nil
        if filter == nil, mayHaveDeck, !position.isDeckOver {
            if position.canShow(wanted), let reading = try await readDeck() { return reading }
            if position.deck != nil { position.leaveDeck() }
        }
        return try await readQueues()
    }

    /// A page of the deck; nil where there is none, or too little is left of it.
    private mutating func readDeck() async throws(BookplateError) -> Reading? {
        if after == nil {
            let rows = try await request.read { segment, viewer in
                var parameters = Parameters.of(viewer.userID)
                parameters.append(int32: Int32(wanted))
                segment.append(statements.top, parameters)
            }[0]
            if let reading = deal(rows) { return reading }
        }
        let rows = try await request.read { segment, viewer in
            var parameters = Parameters.of(viewer.userID)
            parameters.append(timestamptz: after?.asOf)
            parameters.append(int32: position.deck)
            parameters.append(int32s: position.shown)
            parameters.append(int32: Int32(wanted + Self.deckSpare))
            let passed = position.passed
            parameters.append(int32s: passed.map { Int32($0.genre) })
            parameters.append(int64s: passed.map(\.place))
            segment.append(statements.deck, parameters)
        }[0]
        if let reading = deal(rows) { return reading }
        if let version = statements.deckVersion(rows) { position.enterDeck(version) }
        return nil
    }

    /// A page of cards of a deck, where they are enough for it.
    private func deal(_ rows: Rows) -> Reading? {
        guard rows.count >= wanted, let version = statements.deckVersion(rows) else { return nil }
        var start = FeedPosition(asOf: statements.now(rows) ?? 0, continuing: position)
        start.enterDeck(version)
        if let order = statements.order(rows) { start.read(inOrder: order) }
        let cards = FeedCandidate.dealt(
            statements.dealt(rows), from: start, count: wanted, isOpening: version < 0)
        guard cards.count == wanted else { return nil }
        return Reading(
            rows: rows, start: start, cards: cards, newestDeck: statements.newestDeck(rows),
            isSettled: true, hasMore: true, leavesOut: false, emptied: [:])
    }

    /// - Parameter order: a version of the order that is not the current one; nil for that.
    private func appendQueues(
        _ shares: [(genre: Int16, most: Int)], inOrder order: Int32?, to segment: inout Pipeline,
        for viewer: Viewer
    ) {
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
            segment.append(
                position.isRelaxed ? statements.relaxedBefore : statements.firstTierBefore,
                parameters)
        } else {
            segment.append(
                position.isRelaxed ? statements.relaxed : statements.firstTier, parameters)
        }
    }

    /// The next books of the queues, in the order in which this feed began to read them, as long as that is known.
    private mutating func readQueues(
        _ shares: [(genre: Int16, most: Int)]
    ) async throws(BookplateError) -> Rows {
        let rows = try await request.read { [self] segment, viewer in
            segment.append(FeedStatements.order, Parameters())
            appendQueues(shares, inOrder: nil, to: &segment, for: viewer)
        }
        let current = rows[0].int32(0, 0) ?? 0
        let oldest = rows[0].int32(0, 1) ?? current
        guard let order = position.order, order >= oldest, order < current else {
            position.read(inOrder: current)
            return rows[1]
        }
        return try await request.read { [self] segment, viewer in
            appendQueues(shares, inOrder: order, to: &segment, for: viewer)
        }[0]
    }

    private mutating func readQueues() async throws(BookplateError) -> Reading {
        // A page of several tiers has most of its cards from the queues that have something left of the lowest.
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
            let reading = try await ask(
                readsMuch
                    ? Self.much(turns, filter: filter, wanted: wanted, atLeast: atLeast)
                    : shares(turns))
            // The first rows tell what the reader prefers.
            if position.preferred != preferred { continue }
            if readsMuch, !reading.emptied.isEmpty {
                atLeast.merge(reading.emptied.mapValues { 4 * $0 }) { max($0, $1) }
                continue
            }
            if reading.isSettled { return reading }
            // Reading much asks its genres for enough: then only others have more.
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

    /// The genres that have something left in this tier. Books of none are in no first tier.
    private func open() -> [Int16] {
        func open(_ genres: [Int16], before end: Int64) -> [Int16] {
            genres.filter { position.place(in: $0) < end }
        }
        let ofFirstTier = open(genres, before: FeedPosition.firstTierEnd)
        guard position.isRelaxed else { return ofFirstTier }
        // What is left of the first tier is shown before the others are.
        let others = open(filter == nil ? genres + [0] : genres, before: FeedPosition.end)
        let isOfFirstTier = Set(ofFirstTier)
        return ofFirstTier + others.filter { !isOfFirstTier.contains($0) }
    }

    /// The first of these, so that a page costs the same however many genres there are.
    private func atOnce(_ genres: [Int16]) -> [Int16] {
        let most = Self.genresAtOnce * width
        guard let filter else { return Array(genres.prefix(most)) }
        let isOwn = Set(filter)
        let own = genres.filter(isOwn.contains).prefix(most)
        let others = genres.filter { !isOwn.contains($0) }
        let ranges = Self.rangesAtOnce * width / max(filter.count, 1)
        return Array(own + others.prefix(max(1, min(most, ranges))))
    }

    /// As many books of each genre as may be needed if the others have none, where that is not too much to read at once:
    /// a queue whose genre is not of the filter is read once for each genre that is.
    ///
    /// - Parameter atLeast: how many of those that were too few before.
    static func much(
        _ turns: [Int16], filter: [Int16]?, wanted: Int, atLeast: [Int16: Int]
    ) -> [(genre: Int16, most: Int)] {
        let filter = Set(filter ?? turns)
        let ranges = turns.reduce(0) { $0 + (filter.contains($1) ? 1 : filter.count) }
        let most = max(wanted / max(turns.count, 1) + 2, rowsPerCard * wanted / max(ranges, 1))
        return turns.map { ($0, min(wanted, max(most, atLeast[$0] ?? 0))) }
    }

    /// How many books of each genre make a page, if all have some: preferred genres have every second turn.
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
        // A filter's books may all stand under its own genres.
        if filter != nil { return share(wanted, among: preferred) + others.map { ($0, 1) } }
        let half = (wanted + 1) / 2
        return share(half, among: preferred)
            + share(half, among: others)
    }

    /// Reads books of the genres behind the position, and chooses.
    private mutating func ask(
        _ shares: [(genre: Int16, most: Int)]
    ) async throws(BookplateError) -> Reading {
        let rows = try await readQueues(shares)
        let candidates = statements.candidates(rows)
        let found = candidates.reduce(into: [Int16: Int]()) { $0[$1.genre, default: 0] += 1 }
        for (genre, _) in shares where found[genre] == nil {
            position.pass(
                genre, to: position.isRelaxed ? FeedPosition.end : FeedPosition.firstTierEnd)
        }
        // What is before the first was seen: no page has to walk over it again.
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
        // One genre alone has no neighbours but itself.
        let mayHaveNeighbours = position.isRelaxed && open.count == 1
        return Reading(
            rows: rows, start: start, cards: turns.cards, newestDeck: statements.newestDeck(rows),
            isSettled: turns.cards.count == wanted && (mayHaveNeighbours || !turns.hasNeighbours),
            hasMore: shares.contains { $0.most < wanted && found[$0.genre] == $0.most },
            leavesOut: !Set(open).isSubset(of: shares.map(\.genre)),
            emptied: Dictionary(emptied.map { ($0.genre, $0.most) }, uniquingKeysWith: max))
    }
}
