extension Parser {
    /// Value[Const] :: [~Const] Variable | IntValue | FloatValue | StringValue | BooleanValue | NullValue |
    /// EnumValue | ListValue[?Const] | ObjectValue[?Const]
    ///
    /// Spec: https://spec.graphql.org/September2025/#Value
    mutating func parseValue(isConst: Bool) throws(GraphQLError) {
        let outermost = unclosed.count
        repeat {
            switch kind {
            case .leftBracket: try openBracket(.list)
            case .leftBrace: try openBracket(.object)
            default: try parseLeafValue(isConst: isConst)
            }
            while unclosed.count > outermost, try !isAtNextValue() {}
        } while unclosed.count > outermost
    }

    private mutating func openBracket(_ kind: NodeKind) throws(GraphQLError) {
        try descend()
        unclosed.append(open(kind))
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
    private mutating func isAtNextValue() throws(GraphQLError) -> Bool {
        let innermost = unclosed[unclosed.count - 1]
        if innermost.kind == .objectField {
            close(unclosed.removeLast())
            return false
        }
        if try skip(innermost.kind == .list ? .rightBracket : .rightBrace) {
            close(unclosed.removeLast())
            ascend()
            return false
        }
        if innermost.kind == .object {
            var field = open(.objectField)
            try parseName(of: &field)
            try expect(.colon)
            unclosed.append(field)
        }
        return true
    }

    private mutating func parseLeafValue(isConst: Bool) throws(GraphQLError) {
        switch kind {
        case .int: try parseLeaf(.int)
        case .float: try parseLeaf(.float)
        case .string, .blockString: try parseString(.string)
        case .name:
            if isAtKeyword("true") {
                try parseLeaf(.boolean, detail: 1)
            } else if isAtKeyword("false") {
                try parseLeaf(.boolean)
            } else if isAtKeyword("null") {
                try parseLeaf(.null)
            } else {
                try parseNamed(.enumeration)
            }
        case .dollar: try parseVariable(isConst: isConst)
        default: throw unexpected()
        }
    }

    /// Variable :: `$` Name
    private mutating func parseVariable(isConst: Bool) throws(GraphQLError) {
        let start = self.start
        var node = open(.variable)
        try advance()
        guard isConst else {
            try parseName(of: &node)
            return close(node)
        }
        throw error(
            at: start,
            isAt(.name)
                ? "Unexpected variable \"$\(tokenText)\" in constant value."
                : "Unexpected \(TokenKind.dollar.description).")
    }

    /// Type :: NamedType | ListType | NonNullType
    ///
    /// A non-null is no node of its own, for it is known only behind its type.
    ///
    /// Spec: https://spec.graphql.org/September2025/#Type
    mutating func parseTypeReference() throws(GraphQLError) {
        let outermost = unclosed.count
        while isAt(.leftBracket) { try openBracket(.listType) }
        var named = open(.namedType)
        try parseName(of: &named)
        try closeType(named)
        while unclosed.count > outermost {
            try expect(.rightBracket)
            ascend()
            try closeType(unclosed.removeLast())
        }
    }

    private mutating func closeType(_ open: Node) throws(GraphQLError) {
        guard isAt(.bang) else { return close(open) }
        var node = open
        // The type ends before its non-null; only a list needs to know where.
        if node.kind == .listType { node.nameStart = previousEnd }
        node.detail = 1
        try advance()
        close(node)
    }
}
