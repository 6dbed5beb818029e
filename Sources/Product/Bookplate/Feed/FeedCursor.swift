import Basics
import Identity

/// The chain of a deck, and the deck's position in it: a key of `feed_decks`, or of `cold_start_decks` if the chain is negative
/// and the number is 0.
struct DeckID: Codable, Equatable {
    var chain: Int64
    var number: Int32
}

/// A position in a reader's feed: the content of a feed cursor.
///
/// Chains are unique in the installation, and a reader can see only their own decks and the cold-start decks. A cursor of
/// another reader therefore matches no deck, and neither does one whose deck was deleted.
struct FeedCursor: Equatable {
    var deck: DeckID
    /// The number of cards of the deck that precede the next page.
    var index: Int32
    /// The time at which the page of this cursor was created, in microseconds of Unix time. The next page leaves out what the
    /// reader had seen by then.
    var asOf: Int64

    init(deck: DeckID, index: Int32, asOf: Int64) {
        self.deck = deck
        self.index = index
        self.asOf = asOf
    }

    private static let format: UInt8 = 7
    private static let byteCount = 25
    /// The year 10000 in microseconds of Unix time. PostgreSQL can calculate with earlier times.
    private static let asOfEnd: Int64 = 253_402_300_800_000_000

    /// The format, the chain, the deck, the index, and the time as base64url, integers in big-endian order.
    var text: String {
        var bytes: [UInt8] = [Self.format]
        func append(_ value: some FixedWidthInteger) {
            withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
        }
        append(deck.chain)
        append(deck.number)
        append(index)
        append(asOf)
        return Base64URL.encode(bytes)
    }

    /// Decodes a cursor.
    ///
    /// - Returns: nil if it is malformed.
    init?(_ text: String) {
        guard text.utf8.count <= Self.byteCount * 2, let bytes = Base64URL.decode(text.utf8),
            bytes.count == Self.byteCount, bytes[0] == Self.format
        else { return nil }
        func read<Value: FixedWidthInteger>(at offset: Int, _ type: Value.Type) -> Value {
            bytes.withUnsafeBytes {
                Value(bigEndian: $0.loadUnaligned(fromByteOffset: offset, as: type))
            }
        }
        deck = DeckID(chain: read(at: 1, Int64.self), number: read(at: 9, Int32.self))
        index = read(at: 13, Int32.self)
        asOf = read(at: 17, Int64.self)
        guard deck.number >= 0, index >= 0, (0..<Self.asOfEnd).contains(asOf) else { return nil }
    }
}
