// Helpers of the productions for consuming tokens.
//
// After a method whose name begins with `step`, the cursor may be at ignored text. The caller must
// continue with a method that looks for a certain token, or with `skipIgnored`. After every other
// method, the cursor is at a token.
extension Parser {
    /// Consumes a name or a one-character punctuator that ends at `end`.
    @inline(always)
    mutating func step(_ cursor: inout Cursor, tokenEnd end: Int) throws(SyntaxFailure) {
        try lexer.step(&cursor, tokenEnd: end)
    }

    /// Consumes the current token, a one-character punctuator.
    @inline(always)
    mutating func step(_ cursor: inout Cursor) throws(SyntaxFailure) {
        try lexer.step(&cursor, tokenEnd: cursor.start &+ 1)
    }

    @inline(always)
    mutating func stepPast(
        _ punctuator: Unicode.Scalar, _ cursor: inout Cursor
    ) throws(SyntaxFailure) {
        if _slowPath(!cursor.isAt(punctuator)) {
            skipIgnored(&cursor)
            guard cursor.isAt(punctuator) else { throw expected("\"\(punctuator)\"", cursor) }
        }
        try step(&cursor)
    }

    @inline(always)
    mutating func stepPastSpread(_ cursor: inout Cursor) throws(SyntaxFailure) {
        guard cursor.isAtSpread else { throw unexpected(cursor) }
        let end = cursor.start &+ 3
        // Each of the three periods is a token start.
        cursor.advance()
        cursor.advance()
        try lexer.step(&cursor, tokenEnd: end)
    }

    @inline(always)
    mutating func skipIgnored(_ cursor: inout Cursor) { lexer.skipIgnored(&cursor) }

    @inline(always)
    mutating func advance(_ cursor: inout Cursor, tokenEnd end: Int) throws(SyntaxFailure) {
        try step(&cursor, tokenEnd: end)
        skipIgnored(&cursor)
    }

    /// Consumes the current token, a one-character punctuator.
    @inline(always)
    mutating func advance(_ cursor: inout Cursor) throws(SyntaxFailure) {
        try step(&cursor)
        skipIgnored(&cursor)
    }

    @inline(always)
    mutating func expect(
        _ punctuator: Unicode.Scalar, _ cursor: inout Cursor
    ) throws(SyntaxFailure) {
        try stepPast(punctuator, &cursor)
        skipIgnored(&cursor)
    }

    /// Consumes the current token if it is `punctuator`.
    ///
    /// - Returns: whether it was consumed.
    @inline(always)
    mutating func skip(
        _ punctuator: Unicode.Scalar, _ cursor: inout Cursor
    ) throws(SyntaxFailure) -> Bool {
        guard cursor.isAt(punctuator) else { return false }
        try advance(&cursor)
        return true
    }

    mutating func expectEnd(_ cursor: Cursor) throws(SyntaxFailure) {
        guard lexer.isAtEnd(cursor) else { throw expected(Source.endOfFile, cursor) }
    }

    mutating func expectKeyword(
        _ word: StaticString, _ cursor: inout Cursor
    ) throws(SyntaxFailure) {
        guard try skipKeyword(word, &cursor) else { throw expected("\"\(word)\"", cursor) }
    }

    mutating func skipKeyword(
        _ word: StaticString, _ cursor: inout Cursor
    ) throws(SyntaxFailure) -> Bool {
        guard let name = cursor.name, name.isKeyword(word) else { return false }
        try advance(&cursor, tokenEnd: name.end)
        return true
    }

    // MARK: - Names

    /// Returns the current token, after any ignored text, which must be a name.
    @inline(always)
    mutating func expectName(_ cursor: inout Cursor) throws(SyntaxFailure) -> NameToken {
        if let name = cursor.name { return name }
        skipIgnored(&cursor)
        guard let name = cursor.name else { throw expected("Name", cursor) }
        return name
    }

    /// Consumes a name and appends a node for it. The node ends with the name unless it is closed
    /// later.
    @inline(always)
    mutating func stepPastName(
        _ kind: NodeKind, _ cursor: inout Cursor
    ) throws(SyntaxFailure) -> Nodes.Index {
        let name = try expectName(&cursor)
        return try stepPast(name, kind, start: name.start, &cursor)
    }

    /// Consumes `name` and appends a node for it that starts at `start`. The node ends with the
    /// name unless it is closed later.
    @inline(always)
    mutating func stepPast(
        _ name: NameToken, _ kind: NodeKind, start: Int, _ cursor: inout Cursor
    ) throws(SyntaxFailure) -> Nodes.Index {
        let node = nodes.append(kind, intern(name, cursor), start: start, end: name.end)
        try step(&cursor, tokenEnd: name.end)
        return node
    }

    /// Consumes a name and makes it the name of an open node.
    @inline(always)
    mutating func parseName(of node: Nodes.Index, _ cursor: inout Cursor) throws(SyntaxFailure) {
        let name = try expectName(&cursor)
        nodes[node].setName(intern(name, cursor))
        try advance(&cursor, tokenEnd: name.end)
    }

    /// Consumes a name and appends a node for it.
    mutating func parseNamed(_ kind: NodeKind, _ cursor: inout Cursor) throws(SyntaxFailure) {
        _ = try stepPastName(kind, &cursor)
        skipIgnored(&cursor)
    }

    // MARK: - Strings and numbers

    /// Description :: StringValue
    ///
    /// - Returns: whether there was a description.
    mutating func parseDescription(_ cursor: inout Cursor) throws(SyntaxFailure) -> Bool {
        guard cursor.isAt("\"") else { return false }
        try parseString(.description, &cursor)
        return true
    }

    @inline(always)
    mutating func parseString(_ kind: NodeKind, _ cursor: inout Cursor) throws(SyntaxFailure) {
        let node = open(kind, cursor)
        let end: Int
        if let plainEnd = lexer.text.endOfPlainString(at: cursor.start) {
            end = plainEnd
        } else {
            end = try parseStringValue(of: node, cursor)
        }
        try lexer.jump(&cursor, tokenEnd: end)
        skipIgnored(&cursor)
        close(node)
    }

    /// Reads a string with escapes or a block string, and stores its value in the tree.
    ///
    /// - Returns: the offset at which the string ends.
    @inline(never)
    private mutating func parseStringValue(
        of node: Nodes.Index, _ cursor: Cursor
    ) throws(SyntaxFailure) -> Int {
        let string = try lexer.text.scanString(at: cursor.start)
        nodes[node].detail = string.isBlock ? 1 : 0
        setValue(string.value, of: node)
        return string.end
    }

    @inline(always)
    mutating func parseNumber(_ cursor: inout Cursor) throws(SyntaxFailure) {
        let number = try lexer.text.scanNumber(at: cursor.start)
        let node = open(number.isFloat ? .float : .int, cursor)
        try lexer.jump(&cursor, tokenEnd: number.end)
        skipIgnored(&cursor)
        close(node)
    }
}
