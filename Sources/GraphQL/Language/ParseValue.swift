extension Parser {
    /// Value[Const] :: [~Const] Variable | IntValue | FloatValue | StringValue | BooleanValue | NullValue |
    /// EnumValue | ListValue[?Const] | ObjectValue[?Const]
    ///
    /// Spec: https://spec.graphql.org/September2025/#Value
    @inline(always)
    mutating func parseValue(isConst: Bool, _ at: inout Cursor) throws(SyntaxFailure) {
        if try parseLeafValue(isConst: isConst, &at) { return }
        at = try parseNestedValue(isConst: isConst, from: at)
    }

    /// A list or an object, with all that is in it.
    @inline(never)
    private mutating func parseNestedValue(
        isConst: Bool, from cursor: Cursor
    ) throws(SyntaxFailure) -> Cursor {
        var at = cursor
        let outside = nodes.innermost
        repeat {
            if try !parseLeafValue(isConst: isConst, &at) {
                try openBracket(at.isAt("[") ? .list : .object, &at)
            }
            while nodes.innermost != outside, try !stepToNextValue(&at) {}
        } while nodes.innermost != outside
        return at
    }

    @inline(always)
    private mutating func openBracket(
        _ kind: NodeKind, _ at: inout Cursor
    ) throws(SyntaxFailure) {
        try descend(at)
        nodes.enter(open(kind, at))
        try advance(&at)
    }

    /// Closes the innermost list, object or object field where it ends.
    ///
    /// ListValue[Const] :: `[` `]` | `[` Value[?Const]+ `]`
    ///
    /// ObjectValue[Const] :: `{` `}` | `{` ObjectField[?Const]+ `}`
    ///
    /// ObjectField[Const] :: Name `:` Value[?Const]
    ///
    /// - Returns: whether it goes on, with a value.
    @inline(always)
    private mutating func stepToNextValue(_ at: inout Cursor) throws(SyntaxFailure) -> Bool {
        let kind = nodes[nodes.innermost].kind
        if kind == .objectField {
            close(nodes.leave())
            return false
        }
        if at.isAt(kind == .list ? "]" : "}") {
            try advance(&at)
            close(nodes.leave())
            ascend()
            return false
        }
        if kind == .object {
            let field = try stepOverName(.objectField, &at)
            try stepOver(":", &at)
            nodes.enter(field)
        }
        return true
    }

    /// - Returns: false, with nothing read, for a list or an object.
    @inline(always)
    private mutating func parseLeafValue(
        isConst: Bool, _ at: inout Cursor
    ) throws(SyntaxFailure) -> Bool {
        if !at.isAtLetter, !at.isAt("\"") { settle(&at) }
        switch at.first {
        case UInt8(ascii: "$"):
            try parseVariable(isConst: isConst, &at)
        case UInt8(ascii: "\""):
            try parseString(.string, &at)
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
            try parseNumber(&at)
        case UInt8(ascii: "["), UInt8(ascii: "{"):
            return false
        default:
            try parseWord(&at)
        }
        return true
    }

    /// BooleanValue :: one of `true` `false`
    ///
    /// NullValue :: `null`
    ///
    /// EnumValue :: Name but not `true` or `false` or `null`
    @inline(always)
    private mutating func parseWord(_ at: inout Cursor) throws(SyntaxFailure) {
        guard let name = at.name else { throw unexpected(at) }
        let node: Nodes.Place
        if name.isKeyword("true") {
            node = open(.boolean, detail: 1, at)
        } else if name.isKeyword("false") {
            node = open(.boolean, at)
        } else if name.isKeyword("null") {
            node = open(.null, at)
        } else {
            node = open(.enumeration, at)
            nodes[node].setName(number(of: name, at))
        }
        try advance(&at, behind: name.end)
        close(node)
    }

    /// Variable :: `$` Name
    @inline(always)
    private mutating func parseVariable(
        isConst: Bool, _ at: inout Cursor
    ) throws(SyntaxFailure) {
        let start = at.start
        try step(&at)
        guard !isConst else { throw unexpectedVariable(at: start, at) }
        let name = try expectName(&at)
        _ = try stepOver(name, .variable, start: start, &at)
        settle(&at)
    }

    /// The current token is what stands behind a `$` at `start`.
    @inline(never)
    private mutating func unexpectedVariable(at start: Int, _ cursor: Cursor) -> SyntaxFailure {
        var at = cursor
        settle(&at)
        do throws(SyntaxFailure) {
            _ = try lexer.text.describeToken(at: at.start)
        } catch {
            return error
        }
        guard let name = at.name else {
            return lexer.text.failure(at: start, "Unexpected \"$\".")
        }
        let text = lexer.text.source.text(start..<name.end)
        return lexer.text.failure(at: start, "Unexpected variable \"\(text)\" in constant value.")
    }

    /// Type :: NamedType | ListType | NonNullType
    ///
    /// A non-null is no node of its own, for it is known only behind its type.
    ///
    /// Spec: https://spec.graphql.org/September2025/#Type
    mutating func parseTypeReference(_ at: inout Cursor) throws(SyntaxFailure) {
        let outside = nodes.innermost
        while at.isAt("[") { try openBracket(.listType, &at) }
        let named = open(.namedType, at)
        try parseName(of: named, &at)
        try closeType(named, &at)
        while nodes.innermost != outside {
            try expect("]", &at)
            ascend()
            try closeType(nodes.leave(), &at)
        }
    }

    private mutating func closeType(
        _ node: Nodes.Place, _ at: inout Cursor
    ) throws(SyntaxFailure) {
        if at.isAt("!") {
            // The type ends before its non-null; only a list needs to know where.
            if nodes[node].kind == .listType {
                nodes[node].nameStart = Int32(truncatingIfNeeded: lexer.previousEnd)
            }
            nodes[node].detail = 1
            try advance(&at)
        }
        close(node)
    }
}
