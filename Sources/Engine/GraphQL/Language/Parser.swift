/// A recursive-descent parser with one method per grammar production and one token of lookahead.
///
/// **Nodes.** A production expects the cursor at its first token and leaves it after its last one.
/// It opens its node before it parses the children, so a parent precedes its children in the tree,
/// and closes it afterwards.
///
/// **Nesting.** Constructs that can contain themselves (selection sets, values, list types) are
/// parsed in a loop instead of by recursion: the loop enters a node at its opening bracket and
/// leaves it at the closing one. No document can overflow the thread's stack.
///
/// **Performance.** The productions that every request needs are a few large methods into which
/// small ones are inlined. A large method takes a cursor and returns a new one, because an `inout`
/// parameter would force the caller to keep its cursor in memory. All methods are `mutating`, even
/// those that only read: for a borrowed `self`, the compiler copies the whole parser on each call.
struct Parser: ~Copyable {
    var lexer: Lexer
    var nodes: Nodes
    private var names: SymbolTable
    private var strings: [String] = []
    private let nestingMax: Int
    private var nesting = 0

    /// Creates a parser for a text that has passed `Source.check`.
    init(_ source: consuming Source, limits: ParseLimits) {
        let bytesCount = source.bytes.count
        lexer = Lexer(
            source, tokensMax: limits.tokensMax,
            scratchSize: SymbolTable.scratchSize(bytesCount: bytesCount))
        // Six bytes per node are enough for most documents: a name and the white space around it
        // make one node.
        nodes = Nodes(capacity: bytesCount / 6 + 8)
        names = SymbolTable(bytesCount: bytesCount, scratch: lexer.text.bytes.scratch)
        nestingMax = limits.nestingMax
    }

    /// Returns the syntax tree of the text parsed so far.
    consuming func finish() -> SyntaxTree {
        var strings: [String] = []
        swap(&strings, &self.strings)
        return SyntaxTree(
            source: lexer.text.takeSource(), nodes: nodes, names: names.takeNames(),
            strings: strings)
    }

    // MARK: - Nodes

    /// Opens a node that starts at the current token.
    @inline(always)
    mutating func open(_ kind: NodeKind, detail: UInt8 = 0, _ cursor: Cursor) -> Nodes.Index {
        nodes.open(kind, detail: detail, start: cursor.start)
    }

    /// Closes a node at the end of the previous token.
    @inline(always)
    mutating func close(_ node: Nodes.Index) { nodes.close(node, end: lexer.previousEnd) }

    @inline(always)
    mutating func intern(_ name: NameToken, _ cursor: Cursor) -> InternedName {
        InternedName(
            id: names.id(of: name, in: cursor.text),
            start: Int32(truncatingIfNeeded: name.start))
    }

    /// Stores a string value in the tree and makes it the value of an open node.
    mutating func setValue(_ value: String, of node: Nodes.Index) {
        nodes[node].name = Int32(truncatingIfNeeded: strings.count)
        strings.append(value)
    }

    // MARK: - Lists and levels

    /// Parses one or more nodes between `open` and `close`.
    @inline(always)
    mutating func many(
        _ open: Unicode.Scalar, _ close: Unicode.Scalar, _ cursor: inout Cursor,
        _ parse: (inout Parser, inout Cursor) throws(SyntaxFailure) -> Void
    ) throws(SyntaxFailure) {
        try expect(open, &cursor)
        repeat { try parse(&self, &cursor) } while try !skip(close, &cursor)
    }

    /// Parses one or more nodes between `open` and `close`, or nothing if `open` does not follow.
    @inline(always)
    mutating func optionalMany(
        _ open: Unicode.Scalar, _ close: Unicode.Scalar, _ cursor: inout Cursor,
        _ parse: (inout Parser, inout Cursor) throws(SyntaxFailure) -> Void
    ) throws(SyntaxFailure) {
        if cursor.isAt(open) { try many(open, close, &cursor, parse) }
    }

    /// Parses one or more nodes separated by `delimiter`, which may also precede the first one.
    mutating func delimited(
        by delimiter: Unicode.Scalar, _ cursor: inout Cursor,
        _ parse: (inout Parser, inout Cursor) throws(SyntaxFailure) -> Void
    ) throws(SyntaxFailure) {
        _ = try skip(delimiter, &cursor)
        repeat { try parse(&self, &cursor) } while try skip(delimiter, &cursor)
    }

    /// Enters one nesting level. Every `descend` is paired with an `ascend` unless parsing fails.
    @inline(always)
    mutating func descend(_ cursor: Cursor) throws(SyntaxFailure) {
        guard _fastPath(nesting < nestingMax) else { throw nestedTooDeep(cursor) }
        nesting &+= 1
    }

    @inline(always)
    mutating func ascend() { nesting &-= 1 }

    // MARK: - Errors

    /// Returns the error for a token that the grammar does not allow here.
    @inline(never)
    mutating func unexpected(_ cursor: Cursor) -> SyntaxFailure {
        failure(cursor) { token in "Unexpected \(token)." }
    }

    @inline(never)
    mutating func expected(_ what: String, _ cursor: Cursor) -> SyntaxFailure {
        failure(cursor) { token in "Expected \(what), found \(token)." }
    }

    /// Returns an error about the current token, or the lexical error if it is not a valid token.
    mutating func failure(_ cursor: Cursor, _ message: (_ token: String) -> String) -> SyntaxFailure
    {
        do throws(SyntaxFailure) {
            let token = try lexer.text.describeToken(at: cursor.start)
            return lexer.text.failure(at: cursor.start, message(token))
        } catch {
            return error
        }
    }

    @inline(never)
    private mutating func nestedTooDeep(_ cursor: Cursor) -> SyntaxFailure {
        SyntaxFailure(
            lexer.text.source.limitExceeded(
                at: cursor.start, "Document is nested deeper than \(nestingMax) levels.",
                limit: "nestingMax", max: nestingMax))
    }
}
