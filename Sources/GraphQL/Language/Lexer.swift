/// Goes through a text token by token.
///
/// The first byte of a token tells its kind. So the current token is only a place: the parser looks at the byte that stands
/// there, and when it is what the grammar wants, the lexer goes on behind the token. No token is ever made as a value.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Language.Source-Text
struct Lexer: ~Copyable {
    let text: MarkedText
    /// Where the current token starts; behind the last one, the end of the text.
    private(set) var start = 0
    /// Where the token before the current one ended.
    private(set) var previousEnd = 0
    /// Where tokens may start in the 64 bytes around `start`, from there on.
    private var marks: UInt64 = 0
    private var block = 0
    private let tokensMax: Int
    private var tokensLeft: Int

    /// `begin` reads the first token.
    init(_ source: Source, tokensMax: Int) {
        self.tokensMax = tokensMax
        text = MarkedText(source)
        tokensLeft = tokensMax
    }

    /// The first byte of the current token; zero at the end of the text.
    @inline(__always)
    var first: UInt8 { text[start] }

    @inline(__always)
    var isAtEnd: Bool { start == text.count }

    /// The current token where it is a name.
    @inline(__always)
    var name: NameToken? { text.name(at: start) }

    mutating func begin() throws(SyntaxFailure) { try advance(to: 0) }

    /// Goes on to the next token behind a name or a punctuator of one character.
    @inline(__always)
    mutating func advance(behind end: Int) throws(SyntaxFailure) {
        previousEnd = end
        marks &= marks &- 1
        if _slowPath(marks == 0) { findMarks() }
        start = block << 6 | marks.trailingZeroBitCount
        try acceptStart()
    }

    /// The same behind a token that may have marks in it.
    mutating func advance(to end: Int) throws(SyntaxFailure) {
        previousEnd = end
        jump(to: end)
        try acceptStart()
    }

    @inline(__always)
    private mutating func jump(to position: Int) {
        block = position >> 6
        marks = text.starts(block) & (~0 << UInt64(truncatingIfNeeded: position & 63))
        findMarks()
        start = block << 6 | marks.trailingZeroBitCount
    }

    /// There is one always, at the end of the text.
    @inline(never)
    private mutating func findMarks() {
        while marks == 0 {
            block &+= 1
            marks = text.starts(block)
        }
    }

    @inline(__always)
    private mutating func acceptStart() throws(SyntaxFailure) {
        // `#` and the first byte of a byte order mark; before them `!`, `"` and the end, which are no more than looked at.
        if _slowPath(first &- 0x24 >= 0xEF - 0x24) { skipIgnored() }
        tokensLeft &-= 1
        if _slowPath(tokensLeft < 0) { try expectEnd() }
    }

    /// Ignored :: UnicodeBOM | WhiteSpace | LineTerminator | Comment | Comma
    ///
    /// White space, line terminators and commas have no marks.
    @inline(never)
    private mutating func skipIgnored() {
        while true {
            if first == UInt8(ascii: "#") {
                jump(to: text.endOfComment(at: start))
            } else if first == 0xEF, text[start + 1] == 0xBB, text[start + 2] == 0xBF {
                jump(to: start + 3)
            } else {
                return
            }
        }
    }

    /// No token is left: the current one must not be there.
    @inline(never)
    private mutating func expectEnd() throws(SyntaxFailure) {
        if isAtEnd { return }
        // Where it is no token at all, that counts first.
        _ = try text.describeToken(at: start)
        throw SyntaxFailure(
            text.source.limitExceeded(
                at: start, "Document contains more than \(tokensMax) tokens.", limit: "tokensMax",
                max: tokensMax))
    }
}

extension MarkedText {
    @inline(__always)
    func isSpread(at start: Int) -> Bool {
        self[start] == UInt8(ascii: ".") && self[start &+ 1] == UInt8(ascii: ".")
            && self[start &+ 2] == UInt8(ascii: ".")
    }

    /// Comment :: `#` CommentChar* [lookahead != CommentChar]
    fileprivate func endOfComment(at start: Int) -> Int {
        var position = start
        while position < count, self[position] != UInt8(ascii: "\n"),
            self[position] != UInt8(ascii: "\r")
        {
            position += 1
        }
        return position
    }
}
