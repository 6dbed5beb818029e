extension Parser {
    /// Value[Const] :: [~Const] Variable | IntValue | FloatValue | StringValue | BooleanValue | NullValue |
    /// EnumValue | ListValue[?Const] | ObjectValue[?Const]
    ///
    /// Spec: https://spec.graphql.org/September2025/#Value
    mutating func parseValue(isConst: Bool) throws(GraphQLError) -> ValueNode {
        let start = self.start
        let value: ValueNode.Kind
        switch kind {
        case .leftBracket: value = .list(try parseList(isConst: isConst))
        case .leftBrace: value = .object(try parseObject(isConst: isConst))
        case .int:
            value = .int(tokenText)
            try advance()
        case .float:
            value = .float(tokenText)
            try advance()
        case .string, .blockString: value = .string(try parseStringValue())
        case .name:
            value =
                switch nameText {
                case "true": .boolean(true)
                case "false": .boolean(false)
                case "null": .null
                case let name: .enumeration(name)
                }
            try advance()
        case .dollar: value = .variable(try parseVariable(isConst: isConst))
        default: throw unexpected()
        }
        return ValueNode(value, range: range(from: start))
    }

    /// Variable :: `$` Name
    private mutating func parseVariable(isConst: Bool) throws(GraphQLError) -> String {
        let start = self.start
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
        try descend()
        try advance()
        var values: [ValueNode] = []
        while try !skip(.rightBracket) { values.append(try parseValue(isConst: isConst)) }
        ascend()
        return values
    }

    /// ObjectValue[Const] :: `{` `}` | `{` ObjectField[?Const]+ `}`
    private mutating func parseObject(isConst: Bool) throws(GraphQLError) -> [ObjectField] {
        try descend()
        try advance()
        var fields: [ObjectField] = []
        while try !skip(.rightBrace) { fields.append(try parseObjectField(isConst: isConst)) }
        ascend()
        return fields
    }

    /// ObjectField[Const] :: Name `:` Value[?Const]
    private mutating func parseObjectField(isConst: Bool) throws(GraphQLError) -> ObjectField {
        let name = try parseName()
        try expect(.colon)
        let value = try parseValue(isConst: isConst)
        return ObjectField(name: name, value: value, range: range(from: name.range.start))
    }

    /// Type :: NamedType | ListType | NonNullType
    ///
    /// Spec: https://spec.graphql.org/September2025/#Type
    mutating func parseTypeReference() throws(GraphQLError) -> TypeReference {
        let start = self.start
        var type: TypeReference
        if isAt(.leftBracket) {
            try descend()
            try advance()
            let item = try parseTypeReference()
            try expect(.rightBracket)
            ascend()
            type = .list(item, range: range(from: start))
        } else {
            type = .named(try parseName())
        }
        if try skip(.bang) { type = .nonNull(type, range: range(from: start)) }
        return type
    }
}
