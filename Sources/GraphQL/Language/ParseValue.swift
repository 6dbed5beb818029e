extension Parser {
    /// Value[Const] :: [~Const] Variable | IntValue | FloatValue | StringValue | BooleanValue | NullValue |
    /// EnumValue | ListValue[?Const] | ObjectValue[?Const]
    ///
    /// Spec: https://spec.graphql.org/September2025/#Value
    mutating func parseValue(isConst: Bool) throws(SyntaxFailure) {
        let outside = nodes.innermost
        repeat {
            switch lexer.first {
            case UInt8(ascii: "["): try openBracket(.list)
            case UInt8(ascii: "{"): try openBracket(.object)
            default: try parseLeafValue(isConst: isConst)
            }
            while nodes.innermost != outside, try !isAtNextValue() {}
        } while nodes.innermost != outside
    }

    private mutating func openBracket(_ kind: NodeKind) throws(SyntaxFailure) {
        try descend()
        nodes.enter(open(kind))
        try advance()
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
    private mutating func isAtNextValue() throws(SyntaxFailure) -> Bool {
        let kind = nodes[nodes.innermost].kind
        if kind == .objectField {
            close(nodes.leave())
            return false
        }
        if kind == .list ? try skip("]") : try skip("}") {
            close(nodes.leave())
            ascend()
            return false
        }
        if kind == .object {
            let field = open(.objectField)
            try parseName(of: field)
            try expect(":")
            nodes.enter(field)
        }
        return true
    }

    @inline(__always)
    private mutating func parseLeafValue(isConst: Bool) throws(SyntaxFailure) {
        switch lexer.first {
        case UInt8(ascii: "$"): try parseVariable(isConst: isConst)
        case UInt8(ascii: "\""): try parseString(.string)
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): try parseNumber()
        default: try parseWord()
        }
    }

    /// BooleanValue :: one of `true` `false`
    ///
    /// NullValue :: `null`
    ///
    /// EnumValue :: Name but not `true` or `false` or `null`
    private mutating func parseWord() throws(SyntaxFailure) {
        guard let name = lexer.name else { throw unexpected() }
        let node = open(.enumeration)
        if name.isKeyword("true") {
            nodes[node].kind = .boolean
            nodes[node].detail = 1
        } else if name.isKeyword("false") {
            nodes[node].kind = .boolean
        } else if name.isKeyword("null") {
            nodes[node].kind = .null
        } else {
            nodes[node].setName(try take(name))
            return close(node)
        }
        try advance(over: name)
        close(node)
    }

    /// Variable :: `$` Name
    private mutating func parseVariable(isConst: Bool) throws(SyntaxFailure) {
        let start = lexer.start
        let node = open(.variable)
        try advance()
        guard isConst else {
            try parseName(of: node)
            return close(node)
        }
        throw unexpectedVariable(at: start)
    }

    /// The current token is what stands behind a `$` at `start`.
    @inline(never)
    private mutating func unexpectedVariable(at start: Int) -> SyntaxFailure {
        do throws(SyntaxFailure) {
            _ = try lexer.text.describeToken(at: lexer.start)
        } catch {
            return error
        }
        guard let name = lexer.name else {
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
    mutating func parseTypeReference() throws(SyntaxFailure) {
        let outside = nodes.innermost
        while isAt("[") { try openBracket(.listType) }
        let named = open(.namedType)
        try parseName(of: named)
        try closeType(named)
        while nodes.innermost != outside {
            try expect("]")
            ascend()
            try closeType(nodes.leave())
        }
    }

    private mutating func closeType(_ node: Nodes.Place) throws(SyntaxFailure) {
        if isAt("!") {
            // The type ends before its non-null; only a list needs to know where.
            if nodes[node].kind == .listType {
                nodes[node].nameStart = Int32(truncatingIfNeeded: lexer.previousEnd)
            }
            nodes[node].detail = 1
            try advance()
        }
        close(node)
    }
}
