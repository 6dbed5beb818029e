/// Parses a document: executable definitions, type-system definitions and extensions, or both.
///
/// - Throws: the first error of the text, with `GRAPHQL_PARSE_FAILED` as its code; or `OPERATION_TOO_COMPLEX`
///   with the name of the limit where the text exceeds one of `limits`. Messages are those of graphql-js.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Document
public func parse(
    _ source: Source, limits: ParseLimits = ParseLimits()
) throws(GraphQLError) -> Document {
    Document(
        tree: try parseTree(source, limits) { parser throws(GraphQLError) in
            repeat { try parser.parseDefinition() } while !parser.isAt(.endOfFile)
        })
}

/// Parses a text that is one value, such as a default value given to a tool.
///
/// Spec: https://spec.graphql.org/September2025/#Value
public func parseValue(
    _ source: Source, limits: ParseLimits = ParseLimits()
) throws(GraphQLError) -> ValueNode {
    let tree = try parseTree(source, limits) { parser throws(GraphQLError) in
        try parser.parseValue(isConst: false)
        try parser.expect(.endOfFile)
    }
    return ValueNode(NodeReference(tree: tree, index: 0))
}

/// Parses a text that is one type reference.
///
/// Spec: https://spec.graphql.org/September2025/#Type
public func parseType(
    _ source: Source, limits: ParseLimits = ParseLimits()
) throws(GraphQLError) -> TypeReference {
    let tree = try parseTree(source, limits) { parser throws(GraphQLError) in
        try parser.parseTypeReference()
        try parser.expect(.endOfFile)
    }
    return NodeReference(tree: tree, index: 0).typeReference
}

/// The tree of what `parse` reads of a text.
private func parseTree(
    _ source: Source, _ limits: ParseLimits,
    _ parse: (inout Parser) throws(GraphQLError) -> Void
) throws(GraphQLError) -> SyntaxTree {
    try source.check(limits)
    var parser = Parser(source.bytes.span, source: source, limits: limits)
    try parser.advance()
    try parse(&parser)
    return parser.finish()
}

/// A recursive-descent parser; one method a grammar production, one token of lookahead.
///
/// A production opens its node, which puts it into the tree before its children, and closes it behind them.
///
/// What can stand in itself (selection sets, values, list types) is read with a stack of open nodes instead of recursion, so
/// no text overflows the stack of the thread.
struct Parser: ~Copyable, ~Escapable {
    private var lexer: Lexer
    private let nestingMax: Int
    private var nesting = 0
    private var nodes: Nodes
    private var names: NameTable
    private var strings: [String] = []
    /// Selection sets, values and list types around the current token, and the fields they belong to.
    var unclosed: [Node] = []

    /// Takes a text that `Source.check` let pass; `advance` reads the first token.
    @_lifetime(copy bytes)
    init(_ bytes: Span<UInt8>, source: Source, limits: ParseLimits) {
        nestingMax = limits.nestingMax
        names = NameTable(bytesCount: bytes.count)
        // More are rare: a name and the blanks around it are one node.
        nodes = Nodes(capacity: bytes.count / 6 + 8)
        lexer = Lexer(bytes, source: source, tokensMax: limits.tokensMax)
    }

    /// The tree of what was read.
    consuming func finish() -> SyntaxTree {
        SyntaxTree(source: lexer.source, nodes: nodes, names: names, strings: strings)
    }

    // MARK: - Tokens

    var kind: TokenKind { lexer.kind }

    /// Where the current token starts.
    var start: Int32 { Int32(truncatingIfNeeded: lexer.start) }

    /// Where the token before the current one ended.
    var previousEnd: Int32 { Int32(truncatingIfNeeded: lexer.previousEnd) }

    /// The text of the current token.
    var tokenText: String { lexer.text }

    @inline(__always)
    func isAt(_ kind: TokenKind) -> Bool { lexer.kind == kind }

    mutating func advance() throws(GraphQLError) { try lexer.advance() }

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

    mutating func isAtKeyword(_ word: StaticString) -> Bool { lexer.isName(word) }

    mutating func expectKeyword(_ word: StaticString) throws(GraphQLError) {
        guard try skipKeyword(word) else { throw expected("\"\(word)\"") }
    }

    mutating func skipKeyword(_ word: StaticString) throws(GraphQLError) -> Bool {
        guard isAtKeyword(word) else { return false }
        try lexer.advance()
        return true
    }

    // MARK: - Nodes

    /// A node that starts with the current token; what is read until `close` is below it.
    ///
    /// Its place in the tree is taken, and kept in `next` until then.
    @inline(__always)
    mutating func open(_ kind: NodeKind, detail: UInt8 = 0) -> Node {
        Node(kind: kind, detail: detail, start: start, next: nodes.take())
    }

    /// Ends a node behind the last token that was read.
    @inline(__always)
    mutating func close(_ open: Node) {
        var node = open
        node.end = previousEnd
        node.next = nodes.count
        nodes.fill(open.next, with: node)
    }

    /// Whether anything was read below an open node.
    func hasChildren(_ open: Node) -> Bool { nodes.count > open.next + 1 }

    /// The current token as a node without children.
    mutating func parseLeaf(_ kind: NodeKind, detail: UInt8 = 0) throws(GraphQLError) {
        let node = open(kind, detail: detail)
        try lexer.advance()
        close(node)
    }

    // MARK: - Shared productions

    /// Reads the name of an open node.
    @inline(__always)
    mutating func parseName(of open: inout Node) throws(GraphQLError) {
        guard lexer.kind == .name else { throw expected(TokenKind.name.description) }
        open.name = lexer.number(in: &names)
        open.nameStart = start
        try lexer.advance()
    }

    /// A node that is only its name.
    mutating func parseNamed(_ kind: NodeKind) throws(GraphQLError) {
        var node = open(kind)
        try parseName(of: &node)
        close(node)
    }

    /// Reads on behind what turns out to be the alias of an open field, its first child.
    mutating func parseAlias(of field: inout Node) throws(GraphQLError) {
        var alias = open(.alias)
        alias.start = field.start
        alias.name = field.name
        alias.nameStart = field.nameStart
        close(alias)
        try lexer.advance()
        try parseName(of: &field)
    }

    /// Description :: StringValue
    ///
    /// - Returns: whether there was one.
    mutating func parseDescription() throws(GraphQLError) -> Bool {
        guard isAt(.string) || isAt(.blockString) else { return false }
        try parseString(.description)
        return true
    }

    mutating func parseString(_ kind: NodeKind) throws(GraphQLError) {
        var string = open(kind, detail: isAt(.blockString) ? 1 : 0)
        if let value = lexer.stringValue {
            string.name = Int32(truncatingIfNeeded: strings.count)
            strings.append(value)
        }
        try lexer.advance()
        close(string)
    }

    /// One node or more between `open` and `close`.
    @inline(__always)
    mutating func many(
        _ open: TokenKind, _ close: TokenKind, _ parse: (inout Parser) throws(GraphQLError) -> Void
    ) throws(GraphQLError) {
        try expect(open)
        repeat { try parse(&self) } while try !skip(close)
    }

    /// Nothing at all, or one node or more between `open` and `close`.
    @inline(__always)
    mutating func optionalMany(
        _ open: TokenKind, _ close: TokenKind, _ parse: (inout Parser) throws(GraphQLError) -> Void
    ) throws(GraphQLError) {
        if isAt(open) { try many(open, close, parse) }
    }

    /// One node or more between delimiters, the first of which may be left out.
    mutating func delimited(
        by delimiter: TokenKind, _ parse: (inout Parser) throws(GraphQLError) -> Void
    ) throws(GraphQLError) {
        _ = try skip(delimiter)
        repeat { try parse(&self) } while try skip(delimiter)
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

    /// The current token, which is a name, is none that fits. A token behind it that is none at all counts first.
    mutating func unexpectedName() throws(GraphQLError) -> GraphQLError {
        let error = unexpected()
        try advance()
        return error
    }

    func error(at offset: Int32, _ message: String) -> GraphQLError {
        lexer.source.syntaxError(at: Int(offset), message)
    }

    /// The value of the current token, which is a string.
    private var stringText: String {
        lexer.stringValue ?? lexer.source.text(lexer.start + 1..<lexer.end - 1)
    }

    func expected(_ what: String) -> GraphQLError {
        error(at: start, "Expected \(what), found \(tokenDescription).")
    }

    /// The current token as it reads in an error: `Name "a"`, `"}"`, `<EOF>`.
    var tokenDescription: String {
        switch kind {
        case .name, .int, .float: "\(kind.description) \"\(tokenText)\""
        case .string, .blockString: "\(kind.description) \"\(stringText)\""
        default: kind.description
        }
    }
}
