/// Turns the bytes of a source into tokens, one at a time.
///
/// It moves forward only, so its state is a position; the current token is `token`.
/// The bytes were checked to be UTF-8.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Language.Source-Text
struct Lexer: ~Copyable {
    let source: Source
    private(set) var token = Token(.startOfFile, 0, 0)
    /// The value of the current token where that is a string: quotes, escapes and indentation resolved.
    private(set) var stringValue = ""
    /// Where the token before the current one ended.
    private(set) var previousEnd: Int32 = 0
    private let tokensMax: Int
    private var tokensLeft: Int

    init(source: Source, tokensMax: Int) {
        self.source = source
        self.tokensMax = tokensMax
        tokensLeft = tokensMax
    }

    /// Reads the next token and makes it the current one; at the end of the text, `endOfFile` again and again.
    ///
    /// Ignored :: UnicodeBOM | WhiteSpace | LineTerminator | Comment | Comma
    mutating func advance() throws(GraphQLError) {
        previousEnd = token.end
        let scanned = try scan()
        token = scanned.token
        switch token.kind {
        case .endOfFile: return
        case .string, .blockString: stringValue = scanned.string
        default: break
        }
        guard tokensLeft > 0 else {
            throw source.limitExceeded(
                at: Int(token.start), "Document contains more than \(tokensMax) tokens.",
                limit: "tokensMax", max: tokensMax)
        }
        tokensLeft -= 1
    }

    /// The next token, and its value where it is a string.
    private func scan() throws(GraphQLError) -> (token: Token, string: String) {
        let bytes = source.bytes.span
        var position = Int(token.end)
        while position < bytes.count {
            let byte = bytes[position]
            switch byte {
            case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: ","), UInt8(ascii: "\t"),
                UInt8(ascii: "\r"):
                position += 1
            case UInt8(ascii: "#"):
                position = endOfComment(from: position, in: bytes)
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "_"):
                return found(.name, position, endOfName(from: position + 1, in: bytes))
            case UInt8(ascii: "{"): return found(.leftBrace, position, position + 1)
            case UInt8(ascii: "}"): return found(.rightBrace, position, position + 1)
            case UInt8(ascii: "("): return found(.leftParenthesis, position, position + 1)
            case UInt8(ascii: ")"): return found(.rightParenthesis, position, position + 1)
            case UInt8(ascii: "["): return found(.leftBracket, position, position + 1)
            case UInt8(ascii: "]"): return found(.rightBracket, position, position + 1)
            case UInt8(ascii: ":"): return found(.colon, position, position + 1)
            case UInt8(ascii: "$"): return found(.dollar, position, position + 1)
            case UInt8(ascii: "!"): return found(.bang, position, position + 1)
            case UInt8(ascii: "@"): return found(.at, position, position + 1)
            case UInt8(ascii: "="): return found(.equals, position, position + 1)
            case UInt8(ascii: "|"): return found(.pipe, position, position + 1)
            case UInt8(ascii: "&"): return found(.ampersand, position, position + 1)
            case UInt8(ascii: "."):
                guard byteIs(UInt8(ascii: "."), at: position + 1, in: bytes),
                    byteIs(UInt8(ascii: "."), at: position + 2, in: bytes)
                else { throw unexpectedCharacter(at: position) }
                return found(.spread, position, position + 3)
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
                let number = try scanNumber(from: position)
                return found(number.isFloat ? .float : .int, position, number.end)
            case UInt8(ascii: "\""):
                let string = try scanString(from: position)
                let kind: TokenKind = string.isBlock ? .blockString : .string
                return (Token(kind, position, string.end), string.value)
            case 0xEF
            where byteIs(0xBB, at: position + 1, in: bytes)
                && byteIs(0xBF, at: position + 2, in: bytes):
                position += 3
            default:
                throw unexpectedCharacter(at: position)
            }
        }
        return found(.endOfFile, bytes.count, bytes.count)
    }

    private func found(
        _ kind: TokenKind, _ start: Int, _ end: Int
    ) -> (token: Token, string: String) {
        (Token(kind, start, end), "")
    }

    private func unexpectedCharacter(at position: Int) -> GraphQLError {
        source.syntaxError(
            at: position,
            source.bytes[position] == UInt8(ascii: "'")
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

/// Name :: NameStart NameContinue* [lookahead != NameContinue]
private func endOfName(from start: Int, in bytes: Span<UInt8>) -> Int {
    var position = start
    while position < bytes.count, isNameContinue(bytes[position]) { position += 1 }
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
