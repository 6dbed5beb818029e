/// Moves cursors over a text, token by token.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Language.Source-Text
struct Lexer: ~Copyable {
    var text: MarkedText
    /// Where the token before the current one ended.
    private(set) var previousEnd = 0
    private let tokensMax: Int
    /// How many tokens may still follow; below zero there must be none, but the end of the text.
    private var tokensLeft: Int

    init(_ source: consuming Source, tokensMax: Int, room: Int) {
        self.tokensMax = tokensMax
        tokensLeft = tokensMax
        text = MarkedText(source, room: room)
    }

    /// The first token.
    mutating func begin() throws(SyntaxFailure) -> Cursor {
        var at = Cursor(text.bytes)
        settle(&at)
        try count(at)
        return at
    }

    func isAtEnd(_ at: Cursor) -> Bool { at.start == text.count }

    /// Goes on to what stands behind a name or a punctuator of one character.
    ///
    /// That may yet be ignored: who finds something else there than they look for settles that first.
    @inline(always)
    mutating func step(_ at: inout Cursor, behind end: Int) throws(SyntaxFailure) {
        previousEnd = end
        at.advance()
        try count(at)
    }

    /// The same behind a token that may have marks in it.
    @inline(always)
    mutating func jump(_ at: inout Cursor, behind end: Int) throws(SyntaxFailure) {
        previousEnd = end
        at.jump(to: end)
        try count(at)
    }

    /// Goes over what is ignored.
    @inline(always)
    mutating func settle(_ at: inout Cursor) {
        // `#` and the first byte of a byte order mark; before them `!`, `"` and the end, which are no more than looked at.
        if _slowPath(at.first &- 0x24 >= 0xEF - 0x24) { at = skipIgnored(at) }
    }

    /// Ignored :: UnicodeBOM | WhiteSpace | LineTerminator | Comment | Comma
    ///
    /// White space, line terminators and commas have no marks.
    @inline(never)
    private mutating func skipIgnored(_ from: Cursor) -> Cursor {
        var at = from
        while true {
            if at.isAt("#") {
                at.jump(to: text.endOfComment(at: at.start))
            } else if at.first == 0xEF, text[at.start + 1] == 0xBB, text[at.start + 2] == 0xBF {
                at.jump(to: at.start + 3)
            } else {
                return at
            }
        }
    }

    @inline(always)
    private mutating func count(_ at: Cursor) throws(SyntaxFailure) {
        tokensLeft &-= 1
        if _slowPath(tokensLeft < 0) { try expectEnd(at) }
    }

    /// No token is left: the current one must not be there.
    @inline(never)
    private mutating func expectEnd(_ at: Cursor) throws(SyntaxFailure) {
        let start = skipIgnored(at).start
        if start == text.count { return }
        // Where it is no token at all, that counts first.
        _ = try text.describeToken(at: start)
        throw SyntaxFailure(
            text.source.limitExceeded(
                at: start, "Document contains more than \(tokensMax) tokens.", limit: "tokensMax",
                max: tokensMax))
    }
}

extension MarkedText {
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
