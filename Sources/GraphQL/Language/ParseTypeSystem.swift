extension Parser {
    /// TypeSystemDefinition :: SchemaDefinition | TypeDefinition | DirectiveDefinition
    ///
    /// The description was read, and `node` opened before it.
    ///
    /// - Returns: false, with nothing read, where another definition follows.
    ///
    /// Spec: https://spec.graphql.org/September2025/#TypeSystemDefinition
    mutating func parseTypeSystemDefinition(
        _ node: Nodes.Place, _ keyword: NameToken
    ) throws(SyntaxFailure) -> Bool {
        if keyword.isKeyword("schema") {
            nodes[node].kind = .schemaDefinition
            try advance(over: keyword)
            try parseDirectives(isConst: true)
            try many("{", "}") { parser throws(SyntaxFailure) in
                try parser.parseOperationTypeDefinition()
            }
        } else if keyword.isKeyword("directive") {
            nodes[node].kind = .directiveDefinition
            try advance(over: keyword)
            try parseDirectiveDefinition(node)
        } else if let kind = NodeKind(typeKeyword: keyword) {
            nodes[node].kind = kind
            try advance(over: keyword)
            try parseName(of: node)
            try parseTypeBody(kind)
        } else {
            return false
        }
        close(node)
        return true
    }

    /// TypeSystemExtension :: SchemaExtension | TypeExtension; `extend` was read
    ///
    /// Spec: https://spec.graphql.org/September2025/#TypeSystemExtension
    mutating func parseTypeSystemExtension(_ node: Nodes.Place) throws(SyntaxFailure) {
        guard let keyword = lexer.name else { throw unexpected() }
        nodes[node].detail = 1
        if keyword.isKeyword("schema") {
            nodes[node].kind = .schemaDefinition
            try advance(over: keyword)
            try parseDirectives(isConst: true)
            try optionalMany("{", "}") { parser throws(SyntaxFailure) in
                try parser.parseOperationTypeDefinition()
            }
        } else if let kind = NodeKind(typeKeyword: keyword) {
            nodes[node].kind = kind
            try advance(over: keyword)
            try parseName(of: node)
            try parseTypeBody(kind)
        } else {
            throw unexpected()
        }
        // An extension adds something.
        guard nodes.hasChildren(node) else { throw unexpected() }
        close(node)
    }

    /// RootOperationTypeDefinition :: OperationType `:` NamedType
    private mutating func parseOperationTypeDefinition() throws(SyntaxFailure) {
        guard let keyword = lexer.name else { throw expected("Name") }
        guard let kind = OperationKind(keyword) else { throw unexpected(keyword) }
        let node = open(.operationType, detail: kind.detail)
        try advance(over: keyword)
        try expect(":")
        try parseNamed(.namedType)
        close(node)
    }

    /// What stands after the name of a type, in its definition and in its extensions.
    private mutating func parseTypeBody(_ kind: NodeKind) throws(SyntaxFailure) {
        switch kind {
        case .objectType, .interfaceType:
            try parseImplementsInterfaces()
            try parseDirectives(isConst: true)
            try optionalMany("{", "}") { parser throws(SyntaxFailure) in
                try parser.parseFieldDefinition()
            }
        case .unionType:
            try parseDirectives(isConst: true)
            try parseUnionMembers()
        case .enumType:
            try parseDirectives(isConst: true)
            try optionalMany("{", "}") { parser throws(SyntaxFailure) in
                try parser.parseEnumValueDefinition()
            }
        case .inputObjectType:
            try parseDirectives(isConst: true)
            try optionalMany("{", "}") { parser throws(SyntaxFailure) in
                try parser.parseInputValueDefinition()
            }
        default:
            try parseDirectives(isConst: true)
        }
    }

    /// ImplementsInterfaces :: `implements` `&`? NamedType | ImplementsInterfaces `&` NamedType
    private mutating func parseImplementsInterfaces() throws(SyntaxFailure) {
        guard try skipKeyword("implements") else { return }
        try delimited(by: "&") { parser throws(SyntaxFailure) in
            try parser.parseNamed(.namedType)
        }
    }

    /// UnionMemberTypes :: `=` `|`? NamedType | UnionMemberTypes `|` NamedType
    private mutating func parseUnionMembers() throws(SyntaxFailure) {
        guard try skip("=") else { return }
        try delimited(by: "|") { parser throws(SyntaxFailure) in
            try parser.parseNamed(.namedType)
        }
    }

    /// FieldDefinition :: Description? Name ArgumentsDefinition? `:` Type Directives[Const]?
    private mutating func parseFieldDefinition() throws(SyntaxFailure) {
        let node = open(.fieldDefinition)
        _ = try parseDescription()
        try parseName(of: node)
        try parseArgumentsDefinition()
        try expect(":")
        try parseTypeReference()
        try parseDirectives(isConst: true)
        close(node)
    }

    /// ArgumentsDefinition :: `(` InputValueDefinition+ `)`
    private mutating func parseArgumentsDefinition() throws(SyntaxFailure) {
        try optionalMany("(", ")") { parser throws(SyntaxFailure) in
            try parser.parseInputValueDefinition()
        }
    }

    /// InputValueDefinition :: Description? Name `:` Type DefaultValue? Directives[Const]?
    private mutating func parseInputValueDefinition() throws(SyntaxFailure) {
        let node = open(.inputValueDefinition)
        _ = try parseDescription()
        try parseName(of: node)
        try expect(":")
        try parseTypeReference()
        if try skip("=") { try parseValue(isConst: true) }
        try parseDirectives(isConst: true)
        close(node)
    }

    /// EnumValueDefinition :: Description? EnumValue Directives[Const]?
    private mutating func parseEnumValueDefinition() throws(SyntaxFailure) {
        let node = open(.enumValueDefinition)
        _ = try parseDescription()
        guard let name = lexer.name else { throw expected("Name") }
        if name.isKeyword("true") || name.isKeyword("false") || name.isKeyword("null") {
            throw failure { token in "\(token) is reserved and cannot be used for an enum value." }
        }
        nodes[node].setName(try take(name))
        try parseDirectives(isConst: true)
        close(node)
    }

    /// DirectiveDefinition ::
    /// Description? `directive` `@` Name ArgumentsDefinition? `repeatable`? `on` DirectiveLocations
    ///
    /// The keyword was read.
    private mutating func parseDirectiveDefinition(_ node: Nodes.Place) throws(SyntaxFailure) {
        try expect("@")
        try parseName(of: node)
        try parseArgumentsDefinition()
        nodes[node].detail = try skipKeyword("repeatable") ? 1 : 0
        try expectKeyword("on")
        try delimited(by: "|") { parser throws(SyntaxFailure) in
            try parser.parseDirectiveLocation()
        }
    }

    /// DirectiveLocation :: ExecutableDirectiveLocation | TypeSystemDirectiveLocation
    private mutating func parseDirectiveLocation() throws(SyntaxFailure) {
        guard let name = lexer.name else { throw expected("Name") }
        let text = lexer.text.source.text(name.start..<name.end)
        guard DirectiveLocation(rawValue: text) != nil else { throw unexpected(name) }
        try parseNamed(.directiveLocation)
    }

    /// The current token is a name that is none of those that fit. A text behind it that is no token counts first.
    @inline(never)
    private mutating func unexpected(_ name: NameToken) -> SyntaxFailure {
        let failure = unexpected()
        do throws(SyntaxFailure) {
            try advance(over: name)
            _ = try lexer.text.describeToken(at: lexer.start)
        } catch {
            return error
        }
        return failure
    }
}

extension NodeKind {
    /// The kind of type that a keyword begins.
    fileprivate init?(typeKeyword keyword: NameToken) {
        if keyword.isKeyword("type") {
            self = .objectType
        } else if keyword.isKeyword("input") {
            self = .inputObjectType
        } else if keyword.isKeyword("enum") {
            self = .enumType
        } else if keyword.isKeyword("interface") {
            self = .interfaceType
        } else if keyword.isKeyword("scalar") {
            self = .scalarType
        } else if keyword.isKeyword("union") {
            self = .unionType
        } else {
            return nil
        }
    }
}
