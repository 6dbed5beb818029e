/// A recursive-descent parser; one method a grammar production, one token of lookahead.
///
/// A production takes the cursor where it begins, and leaves it where it ends. It opens its node, which puts it into the
/// tree before its children, and closes it behind them.
///
/// What can stand in itself (selection sets, values, list types) is read in a loop, which enters such a node and leaves it
/// at its end, instead of recursion: so no text overflows the stack of the thread.
///
/// What every request has to read is made of a few big methods, and small ones that are inlined into these. A big one is
/// given a cursor and returns another, for `inout` would keep the caller's in memory. It is `mutating` even if it only
/// reads: what is borrowed the compiler copies, whole, for each call.
struct Parser: ~Copyable {
    var lexer: Lexer
    var nodes: Nodes
    private var names: NameTable
    private var strings: [String] = []
    private let nestingMax: Int
    private var nesting = 0

    /// Takes a text that `Source.check` let pass.
    init(_ source: consuming Source, limits: ParseLimits) {
        let bytesCount = source.bytes.count
        lexer = Lexer(
            source, tokensMax: limits.tokensMax, room: NameTable.room(bytesCount: bytesCount))
        // More are rare: a name and the blanks around it are one node.
        nodes = Nodes(capacity: bytesCount / 6 + 8)
        names = NameTable(bytesCount: bytesCount, room: lexer.text.bytes.room)
        nestingMax = limits.nestingMax
    }

    /// The tree of what was read.
    consuming func finish() -> SyntaxTree {
        var strings: [String] = []
        swap(&strings, &self.strings)
        return SyntaxTree(
            source: lexer.text.takeSource(), nodes: nodes, names: names.takeNames(),
            strings: strings)
    }

    // MARK: - Nodes

    /// A node that starts with the current token.
    @inline(always)
    mutating func open(_ kind: NodeKind, detail: UInt8 = 0, _ at: Cursor) -> Nodes.Place {
        nodes.open(kind, detail: detail, start: at.start)
    }

    /// Ends a node behind the last token that was read.
    @inline(always)
    mutating func close(_ node: Nodes.Place) { nodes.close(node, end: lexer.previousEnd) }

    @inline(always)
    mutating func number(of name: NameToken, _ at: Cursor) -> NumberedName {
        NumberedName(
            number: names.number(of: name, in: at.text),
            start: Int32(truncatingIfNeeded: name.start))
    }

    /// Gives an open node the value of a string.
    mutating func setValue(_ value: String, of node: Nodes.Place) {
        nodes[node].name = Int32(truncatingIfNeeded: strings.count)
        strings.append(value)
    }

    // MARK: - Lists and levels

    /// One node or more between `open` and `close`.
    @inline(always)
    mutating func many(
        _ open: Unicode.Scalar, _ close: Unicode.Scalar, _ at: inout Cursor,
        _ parse: (inout Parser, inout Cursor) throws(SyntaxFailure) -> Void
    ) throws(SyntaxFailure) {
        try expect(open, &at)
        repeat { try parse(&self, &at) } while try !skip(close, &at)
    }

    /// Nothing at all, or one node or more between `open` and `close`.
    @inline(always)
    mutating func optionalMany(
        _ open: Unicode.Scalar, _ close: Unicode.Scalar, _ at: inout Cursor,
        _ parse: (inout Parser, inout Cursor) throws(SyntaxFailure) -> Void
    ) throws(SyntaxFailure) {
        if at.isAt(open) { try many(open, close, &at, parse) }
    }

    /// One node or more between delimiters, the first of which may be left out.
    mutating func delimited(
        by delimiter: Unicode.Scalar, _ at: inout Cursor,
        _ parse: (inout Parser, inout Cursor) throws(SyntaxFailure) -> Void
    ) throws(SyntaxFailure) {
        _ = try skip(delimiter, &at)
        repeat { try parse(&self, &at) } while try skip(delimiter, &at)
    }

    /// Counts one level more; every `descend` is followed by an `ascend`, or the parse has failed.
    @inline(always)
    mutating func descend(_ at: Cursor) throws(SyntaxFailure) {
        guard _fastPath(nesting < nestingMax) else { throw nestedTooDeep(at) }
        nesting &+= 1
    }

    @inline(always)
    mutating func ascend() { nesting &-= 1 }

    // MARK: - Errors

    /// The current token is none that fits.
    @inline(never)
    mutating func unexpected(_ at: Cursor) -> SyntaxFailure {
        failure(at) { token in "Unexpected \(token)." }
    }

    @inline(never)
    mutating func expected(_ what: String, _ at: Cursor) -> SyntaxFailure {
        failure(at) { token in "Expected \(what), found \(token)." }
    }

    /// An error of the current token, or that it is no token at all.
    mutating func failure(_ at: Cursor, _ message: (_ token: String) -> String) -> SyntaxFailure {
        do throws(SyntaxFailure) {
            let token = try lexer.text.describeToken(at: at.start)
            return lexer.text.failure(at: at.start, message(token))
        } catch {
            return error
        }
    }

    @inline(never)
    private mutating func nestedTooDeep(_ at: Cursor) -> SyntaxFailure {
        SyntaxFailure(
            lexer.text.source.limitExceeded(
                at: at.start, "Document is nested deeper than \(nestingMax) levels.",
                limit: "nestingMax", max: nestingMax))
    }
}
