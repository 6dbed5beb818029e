// What productions are made of: going over tokens.
//
// A method that begins with `step` leaves the cursor at what may yet be ignored. Behind it comes one that looks for a
// certain token, or `settle`; behind every other the cursor is at a token.
extension Parser {
    /// Goes over a name or a punctuator of one character.
    @inline(always)
    mutating func step(_ at: inout Cursor, behind end: Int) throws(SyntaxFailure) {
        try lexer.step(&at, behind: end)
    }

    /// Goes over the current token, a punctuator of one character.
    @inline(always)
    mutating func step(_ at: inout Cursor) throws(SyntaxFailure) {
        try lexer.step(&at, behind: at.start &+ 1)
    }

    @inline(always)
    mutating func stepOver(
        _ punctuator: Unicode.Scalar, _ at: inout Cursor
    ) throws(SyntaxFailure) {
        if _slowPath(!at.isAt(punctuator)) {
            settle(&at)
            guard at.isAt(punctuator) else { throw expected("\"\(punctuator)\"", at) }
        }
        try step(&at)
    }

    @inline(always)
    mutating func stepOverSpread(_ at: inout Cursor) throws(SyntaxFailure) {
        guard at.isAtSpread else { throw unexpected(at) }
        let end = at.start &+ 3
        // Each of its bytes has a mark.
        at.advance()
        at.advance()
        try lexer.step(&at, behind: end)
    }

    @inline(always)
    mutating func settle(_ at: inout Cursor) { lexer.settle(&at) }

    @inline(always)
    mutating func advance(_ at: inout Cursor, behind end: Int) throws(SyntaxFailure) {
        try step(&at, behind: end)
        settle(&at)
    }

    /// Goes over the current token, a punctuator of one character.
    @inline(always)
    mutating func advance(_ at: inout Cursor) throws(SyntaxFailure) {
        try step(&at)
        settle(&at)
    }

    @inline(always)
    mutating func expect(
        _ punctuator: Unicode.Scalar, _ at: inout Cursor
    ) throws(SyntaxFailure) {
        try stepOver(punctuator, &at)
        settle(&at)
    }

    /// Goes over the current token if it is that punctuator.
    @inline(always)
    mutating func skip(
        _ punctuator: Unicode.Scalar, _ at: inout Cursor
    ) throws(SyntaxFailure) -> Bool {
        guard at.isAt(punctuator) else { return false }
        try advance(&at)
        return true
    }

    mutating func expectEnd(_ at: Cursor) throws(SyntaxFailure) {
        guard lexer.isAtEnd(at) else { throw expected(Source.endOfFile, at) }
    }

    mutating func expectKeyword(
        _ word: StaticString, _ at: inout Cursor
    ) throws(SyntaxFailure) {
        guard try skipKeyword(word, &at) else { throw expected("\"\(word)\"", at) }
    }

    mutating func skipKeyword(
        _ word: StaticString, _ at: inout Cursor
    ) throws(SyntaxFailure) -> Bool {
        guard let name = at.name, name.isKeyword(word) else { return false }
        try advance(&at, behind: name.end)
        return true
    }

    // MARK: - Names

    /// The current token, or what stands behind what is ignored: a name.
    @inline(always)
    mutating func expectName(_ at: inout Cursor) throws(SyntaxFailure) -> NameToken {
        if let name = at.name { return name }
        settle(&at)
        guard let name = at.name else { throw expected("Name", at) }
        return name
    }

    /// A node that starts with its name, and ends with it as far as is known.
    @inline(always)
    mutating func stepOverName(
        _ kind: NodeKind, _ at: inout Cursor
    ) throws(SyntaxFailure) -> Nodes.Place {
        let name = try expectName(&at)
        return try stepOver(name, kind, start: name.start, &at)
    }

    /// A node that ends with its name, as far as is known.
    @inline(always)
    mutating func stepOver(
        _ name: NameToken, _ kind: NodeKind, start: Int, _ at: inout Cursor
    ) throws(SyntaxFailure) -> Nodes.Place {
        let node = nodes.append(kind, number(of: name, at), start: start, end: name.end)
        try step(&at, behind: name.end)
        return node
    }

    /// Takes the current token as the name of an open node.
    @inline(always)
    mutating func parseName(of node: Nodes.Place, _ at: inout Cursor) throws(SyntaxFailure) {
        let name = try expectName(&at)
        nodes[node].setName(number(of: name, at))
        try advance(&at, behind: name.end)
    }

    /// A node that is only its name.
    mutating func parseNamed(_ kind: NodeKind, _ at: inout Cursor) throws(SyntaxFailure) {
        _ = try stepOverName(kind, &at)
        settle(&at)
    }

    // MARK: - Strings and numbers

    /// Description :: StringValue
    ///
    /// - Returns: whether there was one.
    mutating func parseDescription(_ at: inout Cursor) throws(SyntaxFailure) -> Bool {
        guard at.isAt("\"") else { return false }
        try parseString(.description, &at)
        return true
    }

    @inline(always)
    mutating func parseString(_ kind: NodeKind, _ at: inout Cursor) throws(SyntaxFailure) {
        let node = open(kind, at)
        let end: Int
        if let plainEnd = lexer.text.endOfPlainString(at: at.start) {
            end = plainEnd
        } else {
            end = try parseStringValue(of: node, at)
        }
        try lexer.jump(&at, behind: end)
        settle(&at)
        close(node)
    }

    /// - Returns: where the string ends.
    @inline(never)
    private mutating func parseStringValue(
        of node: Nodes.Place, _ at: Cursor
    ) throws(SyntaxFailure) -> Int {
        let string = try lexer.text.scanString(at: at.start)
        nodes[node].detail = string.isBlock ? 1 : 0
        setValue(string.value, of: node)
        return string.end
    }

    @inline(always)
    mutating func parseNumber(_ at: inout Cursor) throws(SyntaxFailure) {
        let number = try lexer.text.scanNumber(at: at.start)
        let node = open(number.isFloat ? .float : .int, at)
        try lexer.jump(&at, behind: number.end)
        settle(&at)
        close(node)
    }
}
