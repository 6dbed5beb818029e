/// Turns the bytes of a source into tokens, one at a time.
///
/// It moves forward only, so its state is a position; the current token is what `kind`, `start` and `end`
/// say. The bytes were checked to be UTF-8.
///
/// Methods that only read are `mutating`, too: where such a type is borrowed the compiler copies it, for every token.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Language.Source-Text
struct Lexer: ~Copyable, ~Escapable {
    let bytes: Span<UInt8>
    /// The same text, to make errors of.
    let source: Source
    private(set) var kind = TokenKind.startOfFile
    /// Byte offsets of the current token.
    private(set) var start = 0
    private(set) var end = 0
    /// Where the token before the current one ended.
    private(set) var previousEnd = 0
    /// The value of the current token where that is a string; nil where it is what stands between its quotes.
    private(set) var stringValue: String?
    /// Of the current token, which is a name.
    private(set) var nameKey = NameTable.Key()
    private let multiplier = NameTable.multiplier
    private let tokensMax: Int
    private var tokensLeft: Int

    @_lifetime(copy bytes)
    init(_ bytes: Span<UInt8>, source: Source, tokensMax: Int) {
        self.bytes = bytes
        self.source = source
        self.tokensMax = tokensMax
        tokensLeft = tokensMax
    }

    /// The number of the current token, which is a name.
    mutating func number(in names: inout NameTable) -> Int32 {
        names.number(nameKey, multiplier, at: start, end, in: bytes)
    }

    /// Whether the current token is that name.
    mutating func isName(_ word: StaticString) -> Bool {
        guard kind == .name, end - start == word.utf8CodeUnitCount else { return false }
        for offset in 0..<end - start where bytes[start + offset] != word.utf8Start[offset] {
            return false
        }
        return true
    }

    /// The text of the current token, whatever it is.
    var text: String { source.text(start..<end) }

    /// Reads the next token and makes it the current one; at the end of the text, `endOfFile` again and again.
    ///
    /// Ignored :: UnicodeBOM | WhiteSpace | LineTerminator | Comment | Comma
    mutating func advance() throws(GraphQLError) {
        previousEnd = end
        let bytes = bytes  // In registers, whatever changes in self.
        var position = end
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: " "), UInt8(ascii: "\n"):
                position += 1
                // One blank between tokens, or an indentation.
                guard position < bytes.count, bytes[position] == UInt8(ascii: " ") else { continue }
                var blanks: Int
                repeat {
                    blanks = Word(bytes, at: position).blankLength
                    position += blanks
                } while blanks == 8
            case UInt8(ascii: ","), UInt8(ascii: "\t"), UInt8(ascii: "\r"):
                position += 1
            case UInt8(ascii: "#"):
                position = endOfComment(from: position, in: bytes)
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "_"):
                return try acceptName(from: position)
            case UInt8(ascii: "{"): return try accept(.leftBrace, position, position + 1)
            case UInt8(ascii: "}"): return try accept(.rightBrace, position, position + 1)
            case UInt8(ascii: "("): return try accept(.leftParenthesis, position, position + 1)
            case UInt8(ascii: ")"): return try accept(.rightParenthesis, position, position + 1)
            case UInt8(ascii: "["): return try accept(.leftBracket, position, position + 1)
            case UInt8(ascii: "]"): return try accept(.rightBracket, position, position + 1)
            case UInt8(ascii: ":"): return try accept(.colon, position, position + 1)
            case UInt8(ascii: "$"): return try accept(.dollar, position, position + 1)
            case UInt8(ascii: "!"): return try accept(.bang, position, position + 1)
            case UInt8(ascii: "@"): return try accept(.at, position, position + 1)
            case UInt8(ascii: "="): return try accept(.equals, position, position + 1)
            case UInt8(ascii: "|"): return try accept(.pipe, position, position + 1)
            case UInt8(ascii: "&"): return try accept(.ampersand, position, position + 1)
            case UInt8(ascii: "."):
                guard byteIs(UInt8(ascii: "."), at: position + 1, in: bytes),
                    byteIs(UInt8(ascii: "."), at: position + 2, in: bytes)
                else { throw unexpectedCharacter(at: position) }
                return try accept(.spread, position, position + 3)
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
                let number = try scanNumber(from: position)
                return try accept(number.isFloat ? .float : .int, position, number.end)
            case UInt8(ascii: "\""):
                let string = try scanString(from: position)
                stringValue = string.value
                return try accept(string.isBlock ? .blockString : .string, position, string.end)
            case 0xEF
            where byteIs(0xBB, at: position + 1, in: bytes)
                && byteIs(0xBF, at: position + 2, in: bytes):
                position += 3
            default:
                throw unexpectedCharacter(at: position)
            }
        }
        (kind, start, end) = (.endOfFile, bytes.count, bytes.count)
    }

    @inline(__always)
    private mutating func accept(
        _ kind: TokenKind, _ start: Int, _ end: Int
    ) throws(GraphQLError) {
        guard tokensLeft > 0 else {
            throw source.limitExceeded(
                at: start, "Document contains more than \(tokensMax) tokens.",
                limit: "tokensMax", max: tokensMax)
        }
        tokensLeft -= 1
        self.kind = kind
        self.start = start
        self.end = end
    }

    /// Name :: NameStart NameContinue* [lookahead != NameContinue]
    @inline(__always)
    private mutating func acceptName(from start: Int) throws(GraphQLError) {
        let bytes = bytes
        let first = Word(bytes, at: start)
        var length = first.nameLength
        var key = NameTable.Key(low: first.prefix(length))
        if length == 8 {
            var word: Word
            var wordLength: Int
            repeat {
                word = Word(bytes, at: start + length)
                wordLength = word.nameLength
                // The second word itself; with more of them, a hash of them all.
                key.high = key.high &* multiplier ^ word.prefix(wordLength)
                length += wordLength
            } while wordLength == 8
        }
        nameKey = key
        try accept(.name, start, start + length)
    }

    private mutating func unexpectedCharacter(at position: Int) -> GraphQLError {
        source.syntaxError(
            at: position,
            bytes[position] == UInt8(ascii: "'")
                ? "Unexpected single quote character ('), did you mean to use a double quote (\")?"
                : "Unexpected character: \(source.describeCharacter(at: position)).")
    }
}

/// Comment :: `#` CommentChar* [lookahead != CommentChar]
private func endOfComment(from start: Int, in bytes: Span<UInt8>) -> Int {
    var position = start
    while position < bytes.count, bytes[position] != UInt8(ascii: "\n"),
        bytes[position] != UInt8(ascii: "\r")
    {
        position += 1
    }
    return position
}

func byteIs(_ byte: UInt8, at position: Int, in bytes: Span<UInt8>) -> Bool {
    position < bytes.count && bytes[position] == byte
}

func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }

func isNameStart(_ byte: UInt8) -> Bool {
    (byte | 0x20) &- UInt8(ascii: "a") < 26 || byte == UInt8(ascii: "_")
}

func isNameContinue(_ byte: UInt8) -> Bool { isNameStart(byte) || isDigit(byte) }
