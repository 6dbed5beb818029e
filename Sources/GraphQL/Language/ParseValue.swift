extension Parser {
    /// Value[Const] :: [~Const] Variable | IntValue | FloatValue | StringValue | BooleanValue | NullValue |
    /// EnumValue | ListValue[?Const] | ObjectValue[?Const]
    ///
    /// Spec: https://spec.graphql.org/September2025/#Value
    mutating func parseValue(isConst: Bool) throws(GraphQLError) -> ValueNode {
        let start = token.start
        let kind: ValueNode.Kind
        switch token.kind {
        case .leftBracket: kind = .list(try parseList(isConst: isConst))
        case .leftBrace: kind = .object(try parseObject(isConst: isConst))
        case .int:
            kind = .int(tokenText)
            try advance()
        case .float:
            kind = .float(tokenText)
            try advance()
        case .string, .blockString: kind = .string(try parseStringValue())
        case .name:
            kind =
                switch tokenText {
                case "true": .boolean(true)
                case "false": .boolean(false)
                case "null": .null
                case let name: .enumeration(name)
                }
            try advance()
        case .dollar: kind = .variable(try parseVariable(isConst: isConst))
        default: throw unexpected()
        }
        return ValueNode(kind, range: range(from: start))
    }

    /// Variable :: `$` Name
    private mutating func parseVariable(isConst: Bool) throws(GraphQLError) -> String {
        let start = token.start
        try advance()
        guard isConst else { return try parseName().value }
        throw error(
            at: start,
            isAt(.name)
                ? "Unexpected variable \"$\(tokenText)\" in constant value."
                : "Unexpected \(TokenKind.dollar.description).")
    }

    /// ListValue[Const] :: `[` `]` | `[` Value[?Const]+ `]`
    private mutating func parseList(isConst: Bool) throws(GraphQLError) -> [ValueNode] {
        try nested { parser throws(GraphQLError) in
            try parser.advance()
            var values: [ValueNode] = []
            while try !parser.skip(.rightBracket) {
                values.append(try parser.parseValue(isConst: isConst))
            }
            return values
        }
    }

    /// ObjectValue[Const] :: `{` `}` | `{` ObjectField[?Const]+ `}`
    private mutating func parseObject(isConst: Bool) throws(GraphQLError) -> [ObjectField] {
        try nested { parser throws(GraphQLError) in
            try parser.advance()
            var fields: [ObjectField] = []
            while try !parser.skip(.rightBrace) {
                let name = try parser.parseName()
                _ = try parser.expect(.colon)
                let value = try parser.parseValue(isConst: isConst)
                fields.append(
                    ObjectField(
                        name: name, value: value, range: parser.range(from: name.range.start)))
            }
            return fields
        }
    }

    /// Type :: NamedType | ListType | NonNullType
    ///
    /// Spec: https://spec.graphql.org/September2025/#Type
    mutating func parseTypeReference() throws(GraphQLError) -> TypeReference {
        let start = token.start
        var type: TypeReference
        if isAt(.leftBracket) {
            type = try nested { parser throws(GraphQLError) in
                try parser.advance()
                let item = try parser.parseTypeReference()
                _ = try parser.expect(.rightBracket)
                return .list(item, range: parser.range(from: start))
            }
        } else {
            type = .named(try parseName())
        }
        if try skip(.bang) { type = .nonNull(type, range: range(from: start)) }
        return type
    }
}
