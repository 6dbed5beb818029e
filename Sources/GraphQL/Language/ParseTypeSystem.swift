extension Parser {
    /// TypeSystemDefinition :: SchemaDefinition | TypeDefinition | DirectiveDefinition
    ///
    /// The description was read, and `node` opened before it.
    ///
    /// - Returns: false, with nothing read, where another definition follows.
    ///
    /// Spec: https://spec.graphql.org/September2025/#TypeSystemDefinition
    mutating func parseTypeSystemDefinition(_ node: Int) throws(GraphQLError) -> Bool {
        if isAtKeyword("schema") {
            set(node, .schemaDefinition)
            try advance()
            try parseDirectives(isConst: true)
            try many(.leftBrace, .rightBrace) { parser throws(GraphQLError) in
                try parser.parseOperationTypeDefinition()
            }
            close(node)
        } else if isAtKeyword("directive") {
            try parseDirectiveDefinition(node)
        } else if let kind = typeKind() {
            set(node, kind)
            try advance()
            try parseName(of: node)
            try parseTypeBody(kind)
            close(node)
        } else {
            return false
        }
        return true
    }

    /// TypeSystemExtension :: SchemaExtension | TypeExtension; `extend` was read
    ///
    /// Spec: https://spec.graphql.org/September2025/#TypeSystemExtension
    mutating func parseTypeSystemExtension(_ node: Int) throws(GraphQLError) {
        if isAtKeyword("schema") {
            set(node, .schemaDefinition, detail: 1)
            try advance()
            try parseDirectives(isConst: true)
            try optionalMany(.leftBrace, .rightBrace) { parser throws(GraphQLError) in
                try parser.parseOperationTypeDefinition()
            }
        } else if let kind = typeKind() {
            set(node, kind, detail: 1)
            try advance()
            try parseName(of: node)
            try parseTypeBody(kind)
        } else {
            throw unexpected()
        }
        // An extension adds something.
        guard hasChildren(node) else { throw unexpected() }
        close(node)
    }

    /// The kind of type whose keyword the current token is.
    private mutating func typeKind() -> NodeKind? {
        if isAtKeyword("type") { return .objectType }
        if isAtKeyword("input") { return .inputObjectType }
        if isAtKeyword("enum") { return .enumType }
        if isAtKeyword("interface") { return .interfaceType }
        if isAtKeyword("scalar") { return .scalarType }
        if isAtKeyword("union") { return .unionType }
        return nil
    }

    /// RootOperationTypeDefinition :: OperationType `:` NamedType
    private mutating func parseOperationTypeDefinition() throws(GraphQLError) {
        let node = open(.operationType)
        guard isAt(.name) else { throw expected(TokenKind.name.description) }
        guard let kind = operationKind() else { throw try unexpectedName() }
        set(node, .operationType, detail: kind.detail)
        try advance()
        try expect(.colon)
        try parseNamed(.namedType)
        close(node)
    }

    /// What stands after the name of a type, in its definition and in its extensions.
    private mutating func parseTypeBody(_ kind: NodeKind) throws(GraphQLError) {
        switch kind {
        case .objectType, .interfaceType:
            try parseImplementsInterfaces()
            try parseDirectives(isConst: true)
            try optionalMany(.leftBrace, .rightBrace) { parser throws(GraphQLError) in
                try parser.parseFieldDefinition()
            }
        case .unionType:
            try parseDirectives(isConst: true)
            try parseUnionMembers()
        case .enumType:
            try parseDirectives(isConst: true)
            try optionalMany(.leftBrace, .rightBrace) { parser throws(GraphQLError) in
                try parser.parseEnumValueDefinition()
            }
        case .inputObjectType:
            try parseDirectives(isConst: true)
            try optionalMany(.leftBrace, .rightBrace) { parser throws(GraphQLError) in
                try parser.parseInputValueDefinition()
            }
        default:
            try parseDirectives(isConst: true)
        }
    }

    /// ImplementsInterfaces :: `implements` `&`? NamedType | ImplementsInterfaces `&` NamedType
    private mutating func parseImplementsInterfaces() throws(GraphQLError) {
        guard try skipKeyword("implements") else { return }
        try delimited(by: .ampersand) { parser throws(GraphQLError) in
            try parser.parseNamed(.namedType)
        }
    }

    /// UnionMemberTypes :: `=` `|`? NamedType | UnionMemberTypes `|` NamedType
    private mutating func parseUnionMembers() throws(GraphQLError) {
        guard try skip(.equals) else { return }
        try delimited(by: .pipe) { parser throws(GraphQLError) in
            try parser.parseNamed(.namedType)
        }
    }

    /// FieldDefinition :: Description? Name ArgumentsDefinition? `:` Type Directives[Const]?
    private mutating func parseFieldDefinition() throws(GraphQLError) {
        let node = open(.fieldDefinition)
        _ = try parseDescription()
        try parseName(of: node)
        try parseArgumentsDefinition()
        try expect(.colon)
        try parseTypeReference()
        try parseDirectives(isConst: true)
        close(node)
    }

    /// ArgumentsDefinition :: `(` InputValueDefinition+ `)`
    private mutating func parseArgumentsDefinition() throws(GraphQLError) {
        try optionalMany(.leftParenthesis, .rightParenthesis) { parser throws(GraphQLError) in
            try parser.parseInputValueDefinition()
        }
    }

    /// InputValueDefinition :: Description? Name `:` Type DefaultValue? Directives[Const]?
    private mutating func parseInputValueDefinition() throws(GraphQLError) {
        let node = open(.inputValueDefinition)
        _ = try parseDescription()
        try parseName(of: node)
        try expect(.colon)
        try parseTypeReference()
        if try skip(.equals) { try parseValue(isConst: true) }
        try parseDirectives(isConst: true)
        close(node)
    }

    /// EnumValueDefinition :: Description? EnumValue Directives[Const]?
    private mutating func parseEnumValueDefinition() throws(GraphQLError) {
        let node = open(.enumValueDefinition)
        _ = try parseDescription()
        if isAtKeyword("true") || isAtKeyword("false") || isAtKeyword("null") {
            throw error(
                at: start,
                "\(tokenDescription) is reserved and cannot be used for an enum value.")
        }
        try parseName(of: node)
        try parseDirectives(isConst: true)
        close(node)
    }

    /// DirectiveDefinition ::
    /// Description? `directive` `@` Name ArgumentsDefinition? `repeatable`? `on` DirectiveLocations
    private mutating func parseDirectiveDefinition(_ node: Int) throws(GraphQLError) {
        try advance()
        try expect(.at)
        try parseName(of: node)
        try parseArgumentsDefinition()
        set(node, .directiveDefinition, detail: try skipKeyword("repeatable") ? 1 : 0)
        try expectKeyword("on")
        try delimited(by: .pipe) { parser throws(GraphQLError) in
            try parser.parseDirectiveLocation()
        }
        close(node)
    }

    /// DirectiveLocation :: ExecutableDirectiveLocation | TypeSystemDirectiveLocation
    private mutating func parseDirectiveLocation() throws(GraphQLError) {
        guard !isAt(.name) || DirectiveLocation(rawValue: tokenText) != nil else {
            throw try unexpectedName()
        }
        try parseNamed(.directiveLocation)
    }
}
