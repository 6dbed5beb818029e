import Identity

/// A place in a reader's feed: what a feed cursor holds.
///
/// The feed takes books from the genres in turn. A position says how far each genre has been read,
/// whose turn was last, and which swipes count: those recorded before the page was first made. So a
/// cursor gives the same page again whatever is swiped meanwhile, and new swipes change later pages.
struct FeedPosition: Equatable {
    /// By genre id, the rank of the last book taken; genres that have not been read are absent.
    private(set) var ranks: [Int16: Int32] = [:]
    /// The genre whose turn was last; nil at the start.
    private(set) var lastGenre: Int16?
    /// Swipes recorded, and books added, until this instant count: microseconds of Unix time.
    let asOf: Int64

    /// Genre ids and ranks are bounded by what the catalogue can hold; a cursor of more is no cursor.
    private static let genresMax = 1000

    /// The rank of a genre that has no unseen books left.
    static let exhausted = Int32.max

    /// A position of a page made at `asOf`, with what was read before it.
    init(asOf: Int64, continuing position: FeedPosition? = nil) {
        self.asOf = asOf
        ranks = position?.ranks ?? [:]
        lastGenre = position?.lastGenre
    }

    mutating func exhaust(_ genre: Int16) { ranks[genre] = Self.exhausted }

    /// The position behind a book.
    mutating func take(genre: Int16, rank: Int32) {
        ranks[genre] = rank
        lastGenre = genre
    }

    /// The genres with the one first whose turn is next.
    func turns(of genres: [Int16]) -> [Int16] {
        guard let lastGenre, let last = genres.firstIndex(of: lastGenre) else { return genres }
        return Array(genres[(last + 1)...] + genres[...last])
    }

    // MARK: - Cursor

    /// Bytes: the instant, the last genre, then genre and rank of each genre read; base64url.
    var cursor: String {
        var bytes: [UInt8] = []
        func append(_ value: some FixedWidthInteger) {
            withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
        }
        append(asOf)
        append(lastGenre ?? -1)
        for (genre, rank) in ranks.sorted(by: { $0.key < $1.key }) {
            append(genre)
            append(rank)
        }
        return Base64URL.encode(bytes)
    }

    /// nil for what is no cursor of a feed.
    init?(cursor: String) {
        guard cursor.utf8.count <= Self.genresMax * 8 + 16,
            let bytes = Base64URL.decode(cursor.utf8), bytes.count >= 10,
            (bytes.count - 10).isMultiple(of: 6)
        else { return nil }
        func read<Value: FixedWidthInteger>(_ offset: Int, as type: Value.Type) -> Value {
            bytes.withUnsafeBytes {
                Value(bigEndian: $0.loadUnaligned(fromByteOffset: offset, as: type))
            }
        }
        asOf = read(0, as: Int64.self)
        let genre = read(8, as: Int16.self)
        lastGenre = genre < 0 ? nil : genre
        for offset in stride(from: 10, to: bytes.count, by: 6) {
            ranks[read(offset, as: Int16.self)] = read(offset + 2, as: Int32.self)
        }
    }
}
