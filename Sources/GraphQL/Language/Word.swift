/// Eight bytes of a text, looked at together.
///
/// What is asked of them is answered for all at once, in the highest bit of each byte: so the end of a name or of an
/// indentation is found without a branch for each byte, which the processor would have to guess.
struct Word {
    /// The byte that stands first in the text is the lowest.
    let bits: UInt64

    /// The bytes from `position` on; zeros beyond the end.
    @inline(__always)
    init(_ bytes: Span<UInt8>, at position: Int) {
        if position &+ 8 <= bytes.count {
            // Any eight bytes are a number, and these are there.
            bits = UInt64(
                littleEndian: bytes.bytes.unsafeLoadUnaligned(
                    fromByteOffset: position, as: UInt64.self))
        } else {
            var rest: UInt64 = 0
            var index = bytes.count - 1
            while index >= position {
                rest = rest << 8 | UInt64(bytes[index])
                index -= 1
            }
            bits = rest
        }
    }

    /// How many bytes from the first on can continue a name.
    @inline(__always)
    var nameLength: Int {
        let ascii = bits & Self.low7
        let folded = ascii | Self.all(0x20)
        // Adding carries into the highest bit from the given byte on.
        let letters =
            (folded &+ Self.all(0x80 - UInt8(ascii: "a")))
            & ~(folded &+ Self.all(0x7F - UInt8(ascii: "z")))
        let digits =
            (ascii &+ Self.all(0x80 - UInt8(ascii: "0")))
            & ~(ascii &+ Self.all(0x7F - UInt8(ascii: "9")))
        let underscores = ~((ascii ^ Self.all(UInt8(ascii: "_"))) &+ Self.low7)
        return Self.count((letters | digits | underscores) & ~bits)
    }

    /// How many bytes from the first on are spaces and line feeds.
    @inline(__always)
    var blankLength: Int {
        let spaces = ~(((bits ^ Self.all(UInt8(ascii: " "))) & Self.low7) &+ Self.low7)
        let lineFeeds = ~(((bits ^ Self.all(UInt8(ascii: "\n"))) & Self.low7) &+ Self.low7)
        return Self.count((spaces | lineFeeds) & ~bits)
    }

    /// The first `count` bytes, zeros behind them.
    @inline(__always)
    func prefix(_ count: Int) -> UInt64 {
        count >= 8 ? bits : bits & ((1 << UInt64(truncatingIfNeeded: 8 &* count)) &- 1)
    }

    /// How many bytes from the first on have their highest bit set.
    @inline(__always)
    private static func count(_ marked: UInt64) -> Int {
        (~marked & ~low7).trailingZeroBitCount >> 3
    }

    private static let low7: UInt64 = 0x7F7F_7F7F_7F7F_7F7F

    @inline(__always)
    private static func all(_ byte: UInt8) -> UInt64 { UInt64(byte) &* 0x0101_0101_0101_0101 }
}
