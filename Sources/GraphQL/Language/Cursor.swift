/// A place in a text: where the current token starts, and the next ones near it.
///
/// The first byte of a token tells its kind. So the current token is only a place: the parser looks at the byte that stands
/// there, and when it is what the grammar wants, goes on behind the token. No token is ever made as a value.
///
/// It is a value that productions hand on, and no part of the parser, so that it stays in the processor's registers: what
/// is behind a pointer is read anew after each node that is written.
struct Cursor {
    let text: MarkedBytes
    /// Where the current token starts; behind the last one, the end of the text.
    private(set) var start = 0
    /// Where tokens may start in the 64 bytes around `start`, from there on.
    private var marks: UInt64

    /// At the first mark of a text.
    init(_ text: MarkedBytes) {
        self.text = text
        marks = text.starts(0)
        jump(to: 0)
    }

    /// The first byte of the current token; zero at the end of the text.
    @inline(always)
    var first: UInt8 { text[start] }

    /// Whether the current token is that punctuator, or begins with that character.
    @inline(always)
    func isAt(_ character: Unicode.Scalar) -> Bool { first == UInt8(ascii: character) }

    /// Whether the current token is a name, or begins with one of `[`, `\`, `]`, `^` and `` ` ``, which are letters' neighbours.
    @inline(always)
    var isAtLetter: Bool { first &- UInt8(ascii: "A") <= UInt8(ascii: "z") - UInt8(ascii: "A") }

    @inline(always)
    var isAtSpread: Bool { text.isSpread(at: start) }

    /// The current token where it is a name.
    @inline(always)
    var name: NameToken? { text.name(at: start) }

    /// Goes on to the next mark.
    @inline(always)
    mutating func advance() {
        marks &= marks &- 1
        if _slowPath(marks == 0) { (start, marks) = text.marks(behind: start) }
        start = start & ~63 | marks.trailingZeroBitCount
    }

    /// Goes on to the first mark from `position` on, which is not before `start`.
    @inline(always)
    mutating func jump(to position: Int) {
        if position >> 6 != start >> 6 { marks = text.starts(position >> 6) }
        marks &= ~0 << UInt64(truncatingIfNeeded: position & 63)
        start = position
        if _slowPath(marks == 0) { (start, marks) = text.marks(behind: start) }
        start = start & ~63 | marks.trailingZeroBitCount
    }
}

extension MarkedBytes {
    @inline(always)
    func isSpread(at start: Int) -> Bool {
        self[start] == UInt8(ascii: ".") && self[start &+ 1] == UInt8(ascii: ".")
            && self[start &+ 2] == UInt8(ascii: ".")
    }

    /// The marks of the next block that has any. There is one always, at the end of the text.
    @inline(never)
    fileprivate func marks(behind position: Int) -> (start: Int, marks: UInt64) {
        var block = position >> 6 &+ 1
        while starts(block) == 0 { block &+= 1 }
        return (block << 6, starts(block))
    }
}
