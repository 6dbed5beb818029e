/// The position of the current token in a text, with the next token positions nearby.
///
/// The first byte of a token determines its kind, so the cursor does not build token values: the
/// parser looks at the byte at `start` and, if the grammar accepts it, advances past the token.
///
/// The cursor is passed to each production as an argument instead of being stored in the parser.
/// That lets the compiler keep it in registers. Values in memory would have to be reloaded
/// after each node that the parser writes.
///
/// Example: for the text `{a}` followed by the end, bits 0, 1, and 2 of block 0 are set, and every
/// byte after the text has its bit set as well. The cursor starts at 0. `advance` clears the lowest
/// bit and moves to 1, the start of the name, then to 2, then to 3, which is the end of the text.
struct Cursor {
    let text: IndexedBytes
    /// The offset of the first byte of the current token, or the length of the text after the last
    /// token.
    private(set) var start = 0
    /// The token starts in the 64-byte block that contains `start`, from `start` on. The lowest set
    /// bit is that of `start`.
    private var tokenStarts: UInt64

    /// Creates a cursor at the first position of the text where a token can start.
    init(_ text: IndexedBytes) {
        self.text = text
        tokenStarts = text.tokenStarts(inBlock: 0)
        jump(to: 0)
    }

    /// The first byte of the current token, or zero at the end of the text.
    @inline(always)
    var firstByte: UInt8 { text[start] }

    /// Whether the current token is or starts with `character`.
    @inline(always)
    func isAt(_ character: Unicode.Scalar) -> Bool { firstByte == UInt8(ascii: character) }

    /// Whether the current byte is in the range `A` to `z`: the token is a name or starts with one
    /// of `[`, `\`, `]`, `^`, `_`, and `` ` ``.
    @inline(always)
    var isAtLetter: Bool { firstByte &- UInt8(ascii: "A") <= UInt8(ascii: "z") - UInt8(ascii: "A") }

    @inline(always)
    var isAtSpread: Bool { text.isSpread(at: start) }

    /// The current token if it is a name, otherwise nil.
    @inline(always)
    var name: NameToken? { text.name(at: start) }

    /// Moves to the next position where a token can start.
    @inline(always)
    mutating func advance() {
        tokenStarts &= tokenStarts &- 1
        if _slowPath(tokenStarts == 0) { (start, tokenStarts) = text.tokenStarts(after: start) }
        start = start & ~63 | tokenStarts.trailingZeroBitCount
    }

    /// Moves to the first position at or after `position` where a token can start. `position` must
    /// not be less than `start`.
    @inline(always)
    mutating func jump(to position: Int) {
        if position >> 6 != start >> 6 { tokenStarts = text.tokenStarts(inBlock: position >> 6) }
        tokenStarts &= ~0 << UInt64(truncatingIfNeeded: position & 63)
        start = position
        if _slowPath(tokenStarts == 0) { (start, tokenStarts) = text.tokenStarts(after: start) }
        start = start & ~63 | tokenStarts.trailingZeroBitCount
    }
}

extension IndexedBytes {
    @inline(always)
    func isSpread(at start: Int) -> Bool {
        self[start] == UInt8(ascii: ".") && self[start &+ 1] == UInt8(ascii: ".")
            && self[start &+ 2] == UInt8(ascii: ".")
    }

    /// Returns the first block after the one of `position` that has token starts. There always is
    /// one, because the end of the text counts as a token start.
    @inline(never)
    fileprivate func tokenStarts(after position: Int) -> (start: Int, tokenStarts: UInt64) {
        var block = position >> 6 &+ 1
        while tokenStarts(inBlock: block) == 0 { block &+= 1 }
        return (block << 6, tokenStarts(inBlock: block))
    }
}
