extension Parser {
    /// Value[Const] :: [~Const] Variable | IntValue | FloatValue | StringValue | BooleanValue | NullValue |
    /// EnumValue | ListValue[?Const] | ObjectValue[?Const]
    ///
    /// Spec: https://spec.graphql.org/September2025/#Value
    @inline(always)
    mutating func parseValue(isConst: Bool, _ cursor: inout Cursor) throws(SyntaxFailure) {
        if try parseLeafValue(isConst: isConst, &cursor) { return }
        cursor = try parseNestedValue(isConst: isConst, from: cursor)
    }

    /// Parses a list or an object with everything inside it. Nested ones are entered and left in a
    /// loop instead of by recursion.
    @inline(never)
    private mutating func parseNestedValue(
        isConst: Bool, from start: Cursor
    ) throws(SyntaxFailure) -> Cursor {
        var cursor = start
        let enclosing = nodes.innermost
        repeat {
            if try !parseLeafValue(isConst: isConst, &cursor) {
                try openBracket(cursor.isAt("[") ? .list : .object, &cursor)
            }
            while nodes.innermost != enclosing, try !stepToNextValue(&cursor) {}
        } while nodes.innermost != enclosing
        return cursor
    }

    @inline(always)
    private mutating func openBracket(
        _ kind: NodeKind, _ cursor: inout Cursor
    ) throws(SyntaxFailure) {
        try descend(cursor)
        nodes.enter(open(kind, cursor))
        try advance(&cursor)
    }

    /// Closes the innermost list, object, or object field if it ends here.
    ///
    /// ListValue[Const] :: `[` `]` | `[` Value[?Const]+ `]`
    ///
    /// ObjectValue[Const] :: `{` `}` | `{` ObjectField[?Const]+ `}`
    ///
    /// ObjectField[Const] :: Name `:` Value[?Const]
    ///
    /// - Returns: whether a value follows; false if a node was closed.
    @inline(always)
    private mutating func stepToNextValue(_ cursor: inout Cursor) throws(SyntaxFailure) -> Bool {
        let kind = nodes[nodes.innermost].kind
        if kind == .objectField {
            close(nodes.leave())
            return false
        }
        if cursor.isAt(kind == .list ? "]" : "}") {
            try advance(&cursor)
            close(nodes.leave())
            ascend()
            return false
        }
        if kind == .object {
            let field = try stepPastName(.objectField, &cursor)
            try stepPast(":", &cursor)
            nodes.enter(field)
        }
        return true
    }

    /// Parses a value that is not a list or an object.
    ///
    /// - Returns: false, without consuming anything, for a list or an object.
    @inline(always)
    private mutating func parseLeafValue(
        isConst: Bool, _ cursor: inout Cursor
    ) throws(SyntaxFailure) -> Bool {
        if !cursor.isAtLetter, !cursor.isAt("\"") { skipIgnored(&cursor) }
        switch cursor.firstByte {
        case UInt8(ascii: "$"):
            try parseVariable(isConst: isConst, &cursor)
        case UInt8(ascii: "\""):
            try parseString(.string, &cursor)
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
            try parseNumber(&cursor)
        case UInt8(ascii: "["), UInt8(ascii: "{"):
            return false
        default:
            try parseWord(&cursor)
        }
        return true
    }

    /// BooleanValue :: one of `true` `false`
    ///
    /// NullValue :: `null`
    ///
    /// EnumValue :: Name but not `true` or `false` or `null`
    @inline(always)
    private mutating func parseWord(_ cursor: inout Cursor) throws(SyntaxFailure) {
        guard let name = cursor.name else { throw unexpected(cursor) }
        let node: Nodes.Index
        if name.isKeyword("true") {
            node = open(.boolean, detail: 1, cursor)
        } else if name.isKeyword("false") {
            node = open(.boolean, cursor)
        } else if name.isKeyword("null") {
            node = open(.null, cursor)
        } else {
            node = open(.enumeration, cursor)
            nodes[node].setName(intern(name, cursor))
        }
        try advance(&cursor, tokenEnd: name.end)
        close(node)
    }

    /// Variable :: `$` Name
    @inline(always)
    private mutating func parseVariable(
        isConst: Bool, _ cursor: inout Cursor
    ) throws(SyntaxFailure) {
        let start = cursor.start
        try step(&cursor)
        guard !isConst else { throw unexpectedVariable(at: start, cursor) }
        let name = try expectName(&cursor)
        _ = try stepPast(name, .variable, start: start, &cursor)
        skipIgnored(&cursor)
    }

    /// Returns the error for a variable in a constant value. `start` is the cursor after the `$`.
    @inline(never)
    private mutating func unexpectedVariable(at dollar: Int, _ start: Cursor) -> SyntaxFailure {
        var cursor = start
        skipIgnored(&cursor)
        do throws(SyntaxFailure) {
            _ = try lexer.text.describeToken(at: cursor.start)
        } catch {
            return error
        }
        guard let name = cursor.name else {
            return lexer.text.failure(at: dollar, "Unexpected \"$\".")
        }
        let text = lexer.text.source.text(dollar..<name.end)
        return lexer.text.failure(at: dollar, "Unexpected variable \"\(text)\" in constant value.")
    }

    /// Type :: NamedType | ListType | NonNullType
    ///
    /// A non-null type does not have a node of its own, because the `!` follows the type. It is
    /// stored as `detail` of the node of the nullable type.
    ///
    /// Spec: https://spec.graphql.org/September2025/#Type
    mutating func parseTypeReference(_ cursor: inout Cursor) throws(SyntaxFailure) {
        let enclosing = nodes.innermost
        while cursor.isAt("[") { try openBracket(.listType, &cursor) }
        let named = open(.namedType, cursor)
        try parseName(of: named, &cursor)
        try closeType(named, &cursor)
        while nodes.innermost != enclosing {
            try expect("]", &cursor)
            ascend()
            try closeType(nodes.leave(), &cursor)
        }
    }

    private mutating func closeType(
        _ node: Nodes.Index, _ cursor: inout Cursor
    ) throws(SyntaxFailure) {
        if cursor.isAt("!") {
            // Keep the end of the list type without the `!` in `nameStart`, because a list type has
            // no name. A named type does not need it, because it ends with its name.
            if nodes[node].kind == .listType {
                nodes[node].nameStart = Int32(truncatingIfNeeded: lexer.previousEnd)
            }
            nodes[node].detail = 1
            try advance(&cursor)
        }
        close(node)
    }
}
