import Basics
import GraphQLPostgres
import Identity
import Ranking

/// A position in a reader's feed: the content of a feed cursor.
///
/// The feed takes books from the genres' queues alternately. A position records how far each queue has been read, when it
/// was used last, and until when swipes count: those recorded before the page was first created. A cursor therefore
/// returns the same page again even after new swipes, and new swipes change only later pages.
struct FeedPosition: Equatable {
    /// How far the queue of a genre has been read.
    struct Reading: Equatable {
        /// The position in the queue of the last card (`feed_order.position`), or the end of a tier.
        var place: Int64
        /// The rank in this feed of the last card of the genre, counted from 1.
        var turn: Int32
    }

    /// By genre ID, without the genres that have not been read.
    private(set) var readings: [Int16: Reading] = [:]
    /// The number of cards so far.
    private(set) var count: Int32 = 0
    /// The authors and series of the last cards, newest last, so that they are not repeated soon.
    private(set) var recent: [Origin] = []
    /// Whether the later tiers are read as well: skipped books, then books with incomplete descriptions.
    private(set) var isRelaxed = false
    /// The genres that provide every second card: those that the reader preferred when this feed began, or the filter.
    private(set) var preferred: [Int16] = []
    /// Whether the feed was filtered by genre, so that the read parts of the queues may contain books that were not shown.
    private(set) var isFiltered = false
    /// The version of the deck that the next page reads: a row of `feed_decks`, or of `feed_openings` if it is negative.
    private(set) var deck: Int32?
    /// The marks (`FeedCandidate.mark`) of all cards that this scroll took from decks. Decks repeat cards that the reader
    /// has not swiped, and a deck may be deleted while the scroll goes on, so the cursor itself holds what was shown.
    private(set) var shown: [Int32] = []
    /// Whether this scroll has left the decks. From then on it reads only the queues.
    private(set) var isDeckOver = false
    /// The version of the order in which the queues are read (`feed_state.order_version`). It is that of the first read.
    private(set) var order: Int32?
    /// Swipes and books that were recorded until this time count. In microseconds of Unix time.
    let asOf: Int64

    /// The end of the first tier, and of the queue.
    static let firstTierEnd: Int64 = 1 << 61
    static let end = Int64.max

    /// Creates the position of a page that is created at `asOf` and follows another position.
    init(asOf: Int64, continuing position: FeedPosition? = nil) {
        self.asOf = asOf
        guard let position else { return }
        readings = position.readings
        count = position.count
        recent = position.recent
        isRelaxed = position.isRelaxed
        preferred = position.preferred
        isFiltered = position.isFiltered
        deck = position.deck
        shown = position.shown
        isDeckOver = position.isDeckOver
        order = position.order
    }

    /// The genres whose queues were read, with the position in each.
    var passed: [(genre: Int16, place: Int64)] {
        readings.compactMap { $1.place > 0 ? ($0, $1.place) : nil }
    }

    func place(in genre: Int16) -> Int64 { readings[genre]?.place ?? 0 }

    /// The genre of the last card.
    var lastGenre: Int16? {
        count == 0 ? nil : readings.first { $0.value.turn == count }?.key
    }

    /// Returns the genres in the order in which they provide the next cards: the least recently used first, and genres that
    /// have not been read in the given order.
    func turns(of genres: [Int16]) -> [Int16] {
        let waiting = genres.enumerated().map { ($1, readings[$1]?.turn ?? 0, $0) }
        return waiting.sorted { ($0.1, $0.2) < ($1.1, $1.2) }.map(\.0)
    }

    /// Records that a queue contains no more cards before this position.
    mutating func pass(_ genre: Int16, to place: Int64) {
        readings[genre] = Reading(place: place, turn: readings[genre]?.turn ?? 0)
    }

    mutating func relax() { isRelaxed = true }

    mutating func read(inOrder version: Int32) { order = version }

    mutating func leaveDeck() { isDeckOver = true }

    /// Continues with another version of the deck, unless the decks are over.
    mutating func enterDeck(_ version: Int32) {
        if !isDeckOver { deck = version }
    }

    /// Whether the cursor has room for the marks of this many more cards from decks.
    func canShow(_ count: Int) -> Bool { shown.count + count <= Self.shownMax }

    mutating func prefer(_ genres: [Int16]) { preferred = Array(genres.prefix(Self.preferredMax)) }

    /// Continues with books of these genres only, or of all genres if nil.
    ///
    /// A filtered feed cannot continue with other genres, because it does not know which of their books were shown, so it
    /// starts again. The order of the genres does not matter. It depends on their numbers of readers, which change, so the
    /// feed keeps the order with which it began.
    mutating func filter(_ genres: [Int16]?) {
        if isFiltered {
            if let genres, Set(genres) == Set(preferred) { return }
            self = FeedPosition(asOf: asOf)
        }
        guard let genres else { return }
        prefer(genres)
        isFiltered = true
    }

    /// Moves the position past a card.
    mutating func take(_ card: FeedCandidate) {
        count = count == .max ? 1 : count + 1
        if card.deckPlace != nil {
            if canShow(1) { shown.append(card.mark) }
            readings[card.genre] = Reading(place: self.place(in: card.genre), turn: count)
        } else {
            readings[card.genre] = Reading(place: card.place, turn: count)
        }
        recent.append(card.origin)
        if recent.count == FeedRanking.spread { recent.removeFirst() }
    }

    // MARK: - Cursor

    private static let format: UInt8 = 5
    private static let readingBytes = 14
    private static let originBytes = 8
    /// The maximum number of genres. Larger cursors are rejected.
    private static let genresMax = 1000
    private static let preferredMax = Genres.filterMax
    /// At most 2,000 bytes of a cursor. A scroll that has shown this many cards from decks continues with the queues.
    private static let shownMax = 500

    /// Encodes these fields as base64url, integers in big-endian order: the format, the flags, `asOf`, the order or -1, and
    /// the count of cards; the recent cards, the preferred genres, and the marks of cards from decks, each list after
    /// its length; the deck's version or 0; and the genre, place, and turn of each genre that was read.
    var cursor: String {
        var bytes: [UInt8] = [
            Self.format, (isRelaxed ? 1 : 0) | (isDeckOver ? 2 : 0) | (isFiltered ? 4 : 0),
        ]
        func append(_ value: some FixedWidthInteger) {
            withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
        }
        append(asOf)
        append(order ?? -1)
        append(count)
        append(UInt8(clamping: recent.count))
        for origin in recent {
            append(origin.author)
            append(origin.series)
        }
        append(UInt8(clamping: preferred.count))
        for genre in preferred { append(genre) }
        append(UInt16(clamping: shown.count))
        for mark in shown { append(mark) }
        append(deck ?? 0)
        for (genre, reading) in readings.sorted(by: { $0.key < $1.key }) {
            append(genre)
            append(reading.place)
            append(reading.turn)
        }
        return Base64URL.encode(bytes)
    }

    /// The year 10000 in microseconds of Unix time. PostgreSQL can calculate with earlier times.
    private static let asOfEnd: Int64 = 253_402_300_800_000_000

    /// Decodes a cursor.
    ///
    /// - Returns: nil if it is malformed.
    init?(cursor: String) {
        guard cursor.utf8.count <= Self.genresMax * Self.readingBytes * 2,
            let bytes = Base64URL.decode(cursor.utf8), bytes.count >= 19, bytes[0] == Self.format
        else { return nil }
        var offset = 1
        func read<Value: FixedWidthInteger>(_ type: Value.Type) -> Value {
            defer { offset += MemoryLayout<Value>.size }
            return bytes.withUnsafeBytes {
                Value(bigEndian: $0.loadUnaligned(fromByteOffset: offset, as: type))
            }
        }
        let flags = read(UInt8.self)
        isRelaxed = flags & 1 == 1
        isDeckOver = flags & 2 == 2
        isFiltered = flags & 4 == 4
        asOf = read(Int64.self)
        guard (0..<Self.asOfEnd).contains(asOf) else { return nil }
        let version = read(Int32.self)
        order = version < 0 ? nil : version
        count = max(0, read(Int32.self))
        func has(_ size: Int) -> Bool { bytes.count - offset >= size }
        let recentCount = Int(read(UInt8.self))
        guard recentCount < FeedRanking.spread, has(recentCount * Self.originBytes + 1) else {
            return nil
        }
        for _ in 0..<recentCount {
            recent.append(.init(author: read(Int32.self), series: read(Int32.self)))
        }
        let preferredCount = Int(read(UInt8.self))
        guard preferredCount <= Self.preferredMax, has(preferredCount * 2 + 2) else {
            return nil
        }
        for _ in 0..<preferredCount { preferred.append(read(Int16.self)) }
        let shownCount = Int(read(UInt16.self))
        guard shownCount <= Self.shownMax, has(shownCount * 4 + 4) else { return nil }
        for _ in 0..<shownCount { shown.append(read(Int32.self)) }
        // PostgreSQL cannot negate the smallest integer.
        let deckVersion = max(read(Int32.self), -Int32.max)
        deck = deckVersion == 0 ? nil : deckVersion
        guard (bytes.count - offset).isMultiple(of: Self.readingBytes) else { return nil }
        while offset < bytes.count {
            let genre = read(Int16.self)
            readings[genre] = Reading(place: max(0, read(Int64.self)), turn: read(Int32.self))
        }
    }
}
