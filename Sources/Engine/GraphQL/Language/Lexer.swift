/// Moves a cursor from token to token and counts the tokens.
///
/// The functions come in two kinds. After `step` and `jump`, the cursor may be at a comment or a
/// byte order mark, which the structural index does not skip. `skipIgnored` moves it to the next
/// token. Separating the two lets the parser check for the expected token first and skip ignored
/// text only if something else is there.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Language.Source-Text
struct Lexer: ~Copyable {
    var text: IndexedText
    /// The offset at which the previous token ended.
    private(set) var previousEnd = 0
    private let tokensMax: Int
    /// The number of tokens that are still allowed. Once it is negative, only the end of the text
    /// may follow.
    private var tokensLeft: Int

    init(_ source: consuming Source, tokensMax: Int, scratchSize: Int) {
        self.tokensMax = tokensMax
        tokensLeft = tokensMax
        text = IndexedText(source, scratchSize: scratchSize)
    }

    /// Returns a cursor at the first token.
    mutating func begin() throws(SyntaxFailure) -> Cursor {
        var cursor = Cursor(text.bytes)
        skipIgnored(&cursor)
        try count(cursor)
        return cursor
    }

    func isAtEnd(_ cursor: Cursor) -> Bool { cursor.start == text.count }

    /// Moves past a name or a one-character punctuator that ends at `end`.
    ///
    /// Ignored text may follow: call `skipIgnored` before reporting an unexpected token.
    @inline(always)
    mutating func step(_ cursor: inout Cursor, tokenEnd end: Int) throws(SyntaxFailure) {
        previousEnd = end
        cursor.advance()
        try count(cursor)
    }

    /// Moves past a token that may contain token starts, such as a string.
    @inline(always)
    mutating func jump(_ cursor: inout Cursor, tokenEnd end: Int) throws(SyntaxFailure) {
        previousEnd = end
        cursor.jump(to: end)
        try count(cursor)
    }

    /// Moves to the next token if the cursor is at ignored text.
    @inline(always)
    mutating func skipIgnored(_ cursor: inout Cursor) {
        // This comparison is true for `#` (0x23) and 0xEF, the first byte of a byte order mark. It
        // is also true for `!`, `"`, and the end of the text, for which the slow path does nothing.
        if _slowPath(cursor.firstByte &- 0x24 >= 0xEF - 0x24) {
            cursor = skipIgnoredSlowPath(cursor)
        }
    }

    /// Ignored :: UnicodeBOM | WhiteSpace | LineTerminator | Comment | Comma
    ///
    /// White space, line terminators, and commas are never token starts, so only the other two
    /// remain.
    @inline(never)
    private mutating func skipIgnoredSlowPath(_ from: Cursor) -> Cursor {
        var cursor = from
        while true {
            if cursor.isAt("#") {
                cursor.jump(to: text.endOfComment(at: cursor.start))
            } else if cursor.firstByte == 0xEF, text[cursor.start + 1] == 0xBB,
                text[cursor.start + 2] == 0xBF
            {
                cursor.jump(to: cursor.start + 3)
            } else {
                return cursor
            }
        }
    }

    @inline(always)
    private mutating func count(_ cursor: Cursor) throws(SyntaxFailure) {
        tokensLeft &-= 1
        if _slowPath(tokensLeft < 0) { try expectEnd(cursor) }
    }

    /// Throws unless only the end of the text follows: the token limit is used up.
    @inline(never)
    private mutating func expectEnd(_ cursor: Cursor) throws(SyntaxFailure) {
        let start = skipIgnoredSlowPath(cursor).start
        if start == text.count { return }
        // A lexical error at this position takes precedence.
        _ = try text.describeToken(at: start)
        throw SyntaxFailure(
            text.source.limitExceeded(
                at: start, "Document contains more than \(tokensMax) tokens.", limit: "tokensMax",
                max: tokensMax))
    }
}

extension IndexedText {
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
