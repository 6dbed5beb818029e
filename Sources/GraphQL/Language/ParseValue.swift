extension Parser {
    /// Value[Const] :: [~Const] Variable | IntValue | FloatValue | StringValue | BooleanValue | NullValue |
    /// EnumValue | ListValue[?Const] | ObjectValue[?Const]
    ///
    /// Spec: https://spec.graphql.org/September2025/#Value
    mutating func parseValue(isConst: Bool) throws(GraphQLError) {
        switch kind {
        case .leftBracket: try parseList(isConst: isConst)
        case .leftBrace: try parseObject(isConst: isConst)
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
        let node = open(.variable)
        try advance()
        guard isConst else {
            try parseName(of: node)
            return close(node)
        }
        throw error(
            at: start,
            isAt(.name)
                ? "Unexpected variable \"$\(tokenText)\" in constant value."
                : "Unexpected \(TokenKind.dollar.description).")
    }

    /// ListValue[Const] :: `[` `]` | `[` Value[?Const]+ `]`
    private mutating func parseList(isConst: Bool) throws(GraphQLError) {
        try descend()
        let node = open(.list)
        try advance()
        while try !skip(.rightBracket) { try parseValue(isConst: isConst) }
        close(node)
        ascend()
    }

    /// ObjectValue[Const] :: `{` `}` | `{` ObjectField[?Const]+ `}`
    private mutating func parseObject(isConst: Bool) throws(GraphQLError) {
        try descend()
        let node = open(.object)
        try advance()
        while try !skip(.rightBrace) { try parseObjectField(isConst: isConst) }
        close(node)
        ascend()
    }

    /// ObjectField[Const] :: Name `:` Value[?Const]
    private mutating func parseObjectField(isConst: Bool) throws(GraphQLError) {
        let node = open(.objectField)
        try parseName(of: node)
        try expect(.colon)
        try parseValue(isConst: isConst)
        close(node)
    }

    /// Type :: NamedType | ListType | NonNullType
    ///
    /// A non-null is no node of its own, for it is known only behind its type.
    ///
    /// Spec: https://spec.graphql.org/September2025/#Type
    mutating func parseTypeReference() throws(GraphQLError) {
        let node: Int
        if isAt(.leftBracket) {
            try descend()
            node = open(.listType)
            try advance()
            try parseTypeReference()
            try expect(.rightBracket)
            ascend()
        } else {
            node = open(.namedType)
            try parseName(of: node)
        }
        close(node)
        if try skip(.bang) { closeNonNull(node) }
    }
}
