/// Parses a document: executable definitions, type-system definitions and extensions, or both.
///
/// - Throws: the first error of the text, with `GRAPHQL_PARSE_FAILED` as its code; or `OPERATION_TOO_COMPLEX`
///   with the name of the limit where the text exceeds one of `limits`. Messages are those of graphql-js.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Document
public func parse(
    _ source: Source, limits: ParseLimits = ParseLimits()
) throws(GraphQLError) -> Document {
    try source.check(limits)
    var parser = Parser(source.bytes.span, source: source, limits: limits)
    try parser.advance()
    var definitions: [Definition] = []
    repeat {
        definitions.append(try parser.parseDefinition())
    } while !parser.isAt(.endOfFile)
    return Document(source: source, definitions: definitions)
}

/// Parses a text that is one value, such as a default value given to a tool.
///
/// Spec: https://spec.graphql.org/September2025/#Value
public func parseValue(
    _ source: Source, limits: ParseLimits = ParseLimits()
) throws(GraphQLError) -> ValueNode {
    try source.check(limits)
    var parser = Parser(source.bytes.span, source: source, limits: limits)
    try parser.advance()
    let value = try parser.parseValue(isConst: false)
    try parser.expect(.endOfFile)
    return value
}

/// Parses a text that is one type reference.
///
/// Spec: https://spec.graphql.org/September2025/#Type
public func parseType(
    _ source: Source, limits: ParseLimits = ParseLimits()
) throws(GraphQLError) -> TypeReference {
    try source.check(limits)
    var parser = Parser(source.bytes.span, source: source, limits: limits)
    try parser.advance()
    let type = try parser.parseTypeReference()
    try parser.expect(.endOfFile)
    return type
}

/// A recursive-descent parser; one method a grammar production, one token of lookahead.
///
/// Recursion is bounded by `ParseLimits.nestingMax`, so no text overflows the stack.
struct Parser: ~Copyable, ~Escapable {
    private var lexer: Lexer
    private let nestingMax: Int
    private var nesting = 0

    /// Takes a text that `Source.check` let pass; `advance` reads the first token.
    @_lifetime(copy bytes)
    init(_ bytes: Span<UInt8>, source: Source, limits: ParseLimits) {
        nestingMax = limits.nestingMax
        lexer = Lexer(bytes, source: source, tokensMax: limits.tokensMax)
    }

    // MARK: - Tokens

    var kind: TokenKind { lexer.kind }

    /// Where the current token starts.
    var start: Int32 { Int32(truncatingIfNeeded: lexer.start) }

    /// Where the current token stands.
    var tokenRange: SourceRange {
        SourceRange(start: start, end: Int32(truncatingIfNeeded: lexer.end))
    }

    /// The text of the current token, which is a name.
    var nameText: String { mutating get { lexer.name } }

    /// The text of the current token.
    var tokenText: String { lexer.text }

    func isAt(_ kind: TokenKind) -> Bool { lexer.kind == kind }

    mutating func advance() throws(GraphQLError) { try lexer.advance() }

    /// The range from the start of a node's first token to the end of the last token read.
    func range(from start: Int32) -> SourceRange {
        SourceRange(start: start, end: Int32(truncatingIfNeeded: lexer.previousEnd))
    }

    mutating func expect(_ kind: TokenKind) throws(GraphQLError) {
        guard lexer.kind == kind else { throw expected(kind.description) }
        try lexer.advance()
    }

    /// Takes the current token if it is of that kind.
    mutating func skip(_ kind: TokenKind) throws(GraphQLError) -> Bool {
        guard lexer.kind == kind else { return false }
        try lexer.advance()
        return true
    }

    mutating func isAtKeyword(_ word: String) -> Bool { isAt(.name) && nameText == word }

    mutating func expectKeyword(_ word: String) throws(GraphQLError) {
        guard try skipKeyword(word) else { throw expected("\"\(word)\"") }
    }

    mutating func skipKeyword(_ word: String) throws(GraphQLError) -> Bool {
        guard isAtKeyword(word) else { return false }
        try lexer.advance()
        return true
    }

    // MARK: - Shared productions

    mutating func parseName() throws(GraphQLError) -> Name {
        guard isAt(.name) else { throw expected(TokenKind.name.description) }
        let name = Name(nameText, range: tokenRange)
        try lexer.advance()
        return name
    }

    /// Description :: StringValue
    mutating func parseDescription() throws(GraphQLError) -> StringValue? {
        isAt(.string) || isAt(.blockString) ? try parseStringValue() : nil
    }

    mutating func parseStringValue() throws(GraphQLError) -> StringValue {
        let value = StringValue(
            lexer.stringValue, isBlock: isAt(.blockString),
            range: tokenRange)
        try lexer.advance()
        return value
    }

    /// One node or more between `open` and `close`.
    mutating func many<Node>(
        _ open: TokenKind, _ close: TokenKind,
        _ parse: (inout Parser) throws(GraphQLError) -> Node
    ) throws(GraphQLError) -> [Node] {
        try expect(open)
        var nodes: [Node] = []
        repeat { nodes.append(try parse(&self)) } while try !skip(close)
        return nodes
    }

    /// Nothing at all, or one node or more between `open` and `close`.
    mutating func optionalMany<Node>(
        _ open: TokenKind, _ close: TokenKind,
        _ parse: (inout Parser) throws(GraphQLError) -> Node
    ) throws(GraphQLError) -> [Node] {
        isAt(open) ? try many(open, close, parse) : []
    }

    /// One node or more between delimiters, the first of which may be left out.
    mutating func delimited<Node>(
        by delimiter: TokenKind, _ parse: (inout Parser) throws(GraphQLError) -> Node
    ) throws(GraphQLError) -> [Node] {
        _ = try skip(delimiter)
        var nodes: [Node] = []
        repeat { nodes.append(try parse(&self)) } while try skip(delimiter)
        return nodes
    }

    /// Counts one level more; every `descend` is followed by an `ascend`, or the parse has failed.
    mutating func descend() throws(GraphQLError) {
        guard nesting < nestingMax else {
            throw lexer.source.limitExceeded(
                at: lexer.start, "Document is nested deeper than \(nestingMax) levels.",
                limit: "nestingMax", max: nestingMax)
        }
        nesting += 1
    }

    mutating func ascend() { nesting -= 1 }

    // MARK: - Errors

    func unexpected() -> GraphQLError {
        error(at: start, "Unexpected \(tokenDescription).")
    }

    /// A name that was read and turns out to be none that fits.
    func unexpected(_ name: Name) -> GraphQLError {
        error(at: name.range.start, "Unexpected Name \"\(name.value)\".")
    }

    func error(at offset: Int32, _ message: String) -> GraphQLError {
        lexer.source.syntaxError(at: Int(offset), message)
    }

    private func expected(_ what: String) -> GraphQLError {
        error(at: start, "Expected \(what), found \(tokenDescription).")
    }

    /// The current token as it reads in an error: `Name "a"`, `"}"`, `<EOF>`.
    var tokenDescription: String {
        switch kind {
        case .name, .int, .float: "\(kind.description) \"\(tokenText)\""
        case .string, .blockString: "\(kind.description) \"\(lexer.stringValue)\""
        default: kind.description
        }
    }
}
