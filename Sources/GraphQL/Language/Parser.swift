/// A recursive-descent parser; one method a grammar production, one token of lookahead.
///
/// A production opens its node, which puts it into the tree before its children, and closes it behind them.
///
/// What can stand in itself (selection sets, values, list types) is read in a loop, which enters such a node and leaves it
/// at its end, instead of recursion: so no text overflows the stack of the thread.
///
/// Where a method is not inlined it is `mutating`, even if it only reads: what is borrowed the compiler copies, whole, for
/// each call. For the same reason what reads the text belongs to `MarkedText`, which is four words and never changes.
struct Parser: ~Copyable {
    private(set) var lexer: Lexer
    var nodes: Nodes
    private var names: NameTable
    private var strings: [String] = []
    private let nestingMax: Int
    private var nesting = 0

    /// Takes a text that `Source.check` let pass; `begin` reads the first token.
    init(_ source: Source, limits: ParseLimits) {
        lexer = Lexer(source, tokensMax: limits.tokensMax)
        // More are rare: a name and the blanks around it are one node.
        nodes = Nodes(capacity: source.bytes.count / 6 + 8)
        names = NameTable(bytesCount: source.bytes.count)
        nestingMax = limits.nestingMax
    }

    mutating func begin() throws(SyntaxFailure) { try lexer.begin() }

    /// The tree of what was read.
    consuming func finish() -> SyntaxTree {
        SyntaxTree(source: lexer.text.source, nodes: nodes, names: names.names, strings: strings)
    }

    // MARK: - Tokens

    /// Where the current token starts.
    @inline(__always)
    var start: Int32 { Int32(truncatingIfNeeded: lexer.start) }

    /// Whether the current token is that punctuator, or begins with that character.
    @inline(__always)
    func isAt(_ character: Unicode.Scalar) -> Bool { lexer.first == UInt8(ascii: character) }

    @inline(__always)
    mutating func expect(_ punctuator: Unicode.Scalar) throws(SyntaxFailure) {
        guard _fastPath(isAt(punctuator)) else { throw expected("\"\(punctuator)\"") }
        try advance()
    }

    /// Takes the current token if it is that punctuator.
    @inline(__always)
    mutating func skip(_ punctuator: Unicode.Scalar) throws(SyntaxFailure) -> Bool {
        guard isAt(punctuator) else { return false }
        try advance()
        return true
    }

    /// Goes over the current token, which is a punctuator of one character.
    @inline(__always)
    mutating func advance() throws(SyntaxFailure) { try lexer.advance(behind: lexer.start &+ 1) }

    @inline(__always)
    mutating func advance(over name: NameToken) throws(SyntaxFailure) {
        try lexer.advance(behind: name.end)
    }

    mutating func advanceOverSpread() throws(SyntaxFailure) {
        guard lexer.text.isSpread(at: lexer.start) else { throw unexpected() }
        try lexer.advance(to: lexer.start + 3)
    }

    mutating func expectEnd() throws(SyntaxFailure) {
        guard lexer.isAtEnd else { throw expected(Source.endOfFile) }
    }

    mutating func expectKeyword(_ word: StaticString) throws(SyntaxFailure) {
        guard try skipKeyword(word) else { throw expected("\"\(word)\"") }
    }

    @inline(__always)
    mutating func skipKeyword(_ word: StaticString) throws(SyntaxFailure) -> Bool {
        guard let name = lexer.name, name.isKeyword(word) else { return false }
        try advance(over: name)
        return true
    }

    // MARK: - Nodes

    /// A node that starts with the current token.
    @inline(__always)
    mutating func open(_ kind: NodeKind, detail: UInt8 = 0) -> Nodes.Place {
        nodes.open(kind, detail: detail, start: start)
    }

    /// Ends a node behind the last token that was read.
    @inline(__always)
    mutating func close(_ node: Nodes.Place) {
        nodes.close(node, end: Int32(truncatingIfNeeded: lexer.previousEnd))
    }

    /// Takes the current token as the name of an open node.
    @inline(__always)
    mutating func parseName(of node: Nodes.Place) throws(SyntaxFailure) {
        nodes[node].setName(try takeName())
    }

    @inline(__always)
    mutating func takeName() throws(SyntaxFailure) -> NumberedName {
        guard let name = lexer.name else { throw expected("Name") }
        return try take(name)
    }

    /// Goes over the current token, which is a name.
    @inline(__always)
    mutating func take(_ token: NameToken) throws(SyntaxFailure) -> NumberedName {
        let name = NumberedName(
            number: names.number(of: token, in: lexer.text),
            start: Int32(truncatingIfNeeded: token.start))
        try advance(over: token)
        return name
    }

    /// A node that is only its name.
    mutating func parseNamed(_ kind: NodeKind) throws(SyntaxFailure) {
        let node = open(kind)
        try parseName(of: node)
        close(node)
    }

    /// Description :: StringValue
    ///
    /// - Returns: whether there was one.
    mutating func parseDescription() throws(SyntaxFailure) -> Bool {
        guard isAt("\"") else { return false }
        try parseString(.description)
        return true
    }

    mutating func parseString(_ kind: NodeKind) throws(SyntaxFailure) {
        let string = try lexer.text.scanString(at: lexer.start)
        let node = open(kind, detail: string.isBlock ? 1 : 0)
        if let value = string.value {
            nodes[node].name = Int32(truncatingIfNeeded: strings.count)
            strings.append(value)
        }
        try lexer.advance(to: string.end)
        close(node)
    }

    mutating func parseNumber() throws(SyntaxFailure) {
        let number = try lexer.text.scanNumber(at: lexer.start)
        let node = open(number.isFloat ? .float : .int)
        try lexer.advance(to: number.end)
        close(node)
    }

    // MARK: - Lists and levels

    /// One node or more between `open` and `close`.
    @inline(__always)
    mutating func many(
        _ open: Unicode.Scalar, _ close: Unicode.Scalar,
        _ parse: (inout Parser) throws(SyntaxFailure) -> Void
    ) throws(SyntaxFailure) {
        try expect(open)
        repeat { try parse(&self) } while try !skip(close)
    }

    /// Nothing at all, or one node or more between `open` and `close`.
    @inline(__always)
    mutating func optionalMany(
        _ open: Unicode.Scalar, _ close: Unicode.Scalar,
        _ parse: (inout Parser) throws(SyntaxFailure) -> Void
    ) throws(SyntaxFailure) {
        if isAt(open) { try many(open, close, parse) }
    }

    /// One node or more between delimiters, the first of which may be left out.
    mutating func delimited(
        by delimiter: Unicode.Scalar, _ parse: (inout Parser) throws(SyntaxFailure) -> Void
    ) throws(SyntaxFailure) {
        _ = try skip(delimiter)
        repeat { try parse(&self) } while try skip(delimiter)
    }

    /// Counts one level more; every `descend` is followed by an `ascend`, or the parse has failed.
    @inline(__always)
    mutating func descend() throws(SyntaxFailure) {
        guard _fastPath(nesting < nestingMax) else { throw nestedTooDeep() }
        nesting &+= 1
    }

    @inline(__always)
    mutating func ascend() { nesting &-= 1 }

    // MARK: - Errors

    /// The current token is none that fits.
    @inline(never)
    mutating func unexpected() -> SyntaxFailure {
        failure { token in "Unexpected \(token)." }
    }

    @inline(never)
    mutating func expected(_ what: String) -> SyntaxFailure {
        failure { token in "Expected \(what), found \(token)." }
    }

    /// An error of the current token, or that it is no token at all.
    mutating func failure(_ message: (_ token: String) -> String) -> SyntaxFailure {
        do throws(SyntaxFailure) {
            return lexer.text.failure(
                at: lexer.start, message(try lexer.text.describeToken(at: lexer.start)))
        } catch {
            return error
        }
    }

    @inline(never)
    private mutating func nestedTooDeep() -> SyntaxFailure {
        SyntaxFailure(
            lexer.text.source.limitExceeded(
                at: lexer.start, "Document is nested deeper than \(nestingMax) levels.",
                limit: "nestingMax", max: nestingMax))
    }
}
