extension Parser {
    /// TypeSystemDefinition :: SchemaDefinition | TypeDefinition | DirectiveDefinition
    ///
    /// The description was read, and `node` opened before it.
    ///
    /// - Returns: false, with nothing read, where another definition follows.
    ///
    /// Spec: https://spec.graphql.org/September2025/#TypeSystemDefinition
    mutating func parseTypeSystemDefinition(
        _ node: Nodes.Place, _ keyword: NameToken, _ at: inout Cursor
    ) throws(SyntaxFailure) -> Bool {
        if keyword.isKeyword("schema") {
            nodes[node].kind = .schemaDefinition
            try advance(&at, behind: keyword.end)
            try parseDirectives(isConst: true, &at)
            try many("{", "}", &at) { parser, at throws(SyntaxFailure) in
                try parser.parseOperationTypeDefinition(&at)
            }
        } else if keyword.isKeyword("directive") {
            nodes[node].kind = .directiveDefinition
            try advance(&at, behind: keyword.end)
            try parseDirectiveDefinition(node, &at)
        } else if let kind = NodeKind(typeKeyword: keyword) {
            nodes[node].kind = kind
            try advance(&at, behind: keyword.end)
            try parseName(of: node, &at)
            try parseTypeBody(kind, &at)
        } else {
            return false
        }
        close(node)
        return true
    }

    /// TypeSystemExtension :: SchemaExtension | TypeExtension; `extend` was read
    ///
    /// Spec: https://spec.graphql.org/September2025/#TypeSystemExtension
    mutating func parseTypeSystemExtension(
        _ node: Nodes.Place, _ at: inout Cursor
    ) throws(SyntaxFailure) {
        guard let keyword = at.name else { throw unexpected(at) }
        nodes[node].detail = 1
        if keyword.isKeyword("schema") {
            nodes[node].kind = .schemaDefinition
            try advance(&at, behind: keyword.end)
            try parseDirectives(isConst: true, &at)
            try optionalMany("{", "}", &at) { parser, at throws(SyntaxFailure) in
                try parser.parseOperationTypeDefinition(&at)
            }
        } else if let kind = NodeKind(typeKeyword: keyword) {
            nodes[node].kind = kind
            try advance(&at, behind: keyword.end)
            try parseName(of: node, &at)
            try parseTypeBody(kind, &at)
        } else {
            throw unexpected(at)
        }
        // An extension adds something.
        guard nodes.hasChildren(node) else { throw unexpected(at) }
        close(node)
    }

    /// RootOperationTypeDefinition :: OperationType `:` NamedType
    private mutating func parseOperationTypeDefinition(_ at: inout Cursor) throws(SyntaxFailure) {
        guard let keyword = at.name else { throw expected("Name", at) }
        guard let kind = OperationKind(keyword) else { throw unexpected(keyword, at) }
        let node = open(.operationType, detail: kind.detail, at)
        try advance(&at, behind: keyword.end)
        try expect(":", &at)
        try parseNamed(.namedType, &at)
        close(node)
    }

    /// What stands after the name of a type, in its definition and in its extensions.
    private mutating func parseTypeBody(
        _ kind: NodeKind, _ at: inout Cursor
    ) throws(SyntaxFailure) {
        switch kind {
        case .objectType, .interfaceType:
            try parseImplementsInterfaces(&at)
            try parseDirectives(isConst: true, &at)
            try optionalMany("{", "}", &at) { parser, at throws(SyntaxFailure) in
                try parser.parseFieldDefinition(&at)
            }
        case .unionType:
            try parseDirectives(isConst: true, &at)
            try parseUnionMembers(&at)
        case .enumType:
            try parseDirectives(isConst: true, &at)
            try optionalMany("{", "}", &at) { parser, at throws(SyntaxFailure) in
                try parser.parseEnumValueDefinition(&at)
            }
        case .inputObjectType:
            try parseDirectives(isConst: true, &at)
            try optionalMany("{", "}", &at) { parser, at throws(SyntaxFailure) in
                try parser.parseInputValueDefinition(&at)
            }
        default:
            try parseDirectives(isConst: true, &at)
        }
    }

    /// ImplementsInterfaces :: `implements` `&`? NamedType | ImplementsInterfaces `&` NamedType
    private mutating func parseImplementsInterfaces(_ at: inout Cursor) throws(SyntaxFailure) {
        guard try skipKeyword("implements", &at) else { return }
        try delimited(by: "&", &at) { parser, at throws(SyntaxFailure) in
            try parser.parseNamed(.namedType, &at)
        }
    }

    /// UnionMemberTypes :: `=` `|`? NamedType | UnionMemberTypes `|` NamedType
    private mutating func parseUnionMembers(_ at: inout Cursor) throws(SyntaxFailure) {
        guard try skip("=", &at) else { return }
        try delimited(by: "|", &at) { parser, at throws(SyntaxFailure) in
            try parser.parseNamed(.namedType, &at)
        }
    }

    /// FieldDefinition :: Description? Name ArgumentsDefinition? `:` Type Directives[Const]?
    private mutating func parseFieldDefinition(_ at: inout Cursor) throws(SyntaxFailure) {
        let node = open(.fieldDefinition, at)
        _ = try parseDescription(&at)
        try parseName(of: node, &at)
        try parseArgumentsDefinition(&at)
        try expect(":", &at)
        try parseTypeReference(&at)
        try parseDirectives(isConst: true, &at)
        close(node)
    }

    /// ArgumentsDefinition :: `(` InputValueDefinition+ `)`
    private mutating func parseArgumentsDefinition(_ at: inout Cursor) throws(SyntaxFailure) {
        try optionalMany("(", ")", &at) { parser, at throws(SyntaxFailure) in
            try parser.parseInputValueDefinition(&at)
        }
    }

    /// InputValueDefinition :: Description? Name `:` Type DefaultValue? Directives[Const]?
    private mutating func parseInputValueDefinition(_ at: inout Cursor) throws(SyntaxFailure) {
        let node = open(.inputValueDefinition, at)
        _ = try parseDescription(&at)
        try parseName(of: node, &at)
        try expect(":", &at)
        try parseTypeReference(&at)
        if try skip("=", &at) { try parseValue(isConst: true, &at) }
        try parseDirectives(isConst: true, &at)
        close(node)
    }

    /// EnumValueDefinition :: Description? EnumValue Directives[Const]?
    private mutating func parseEnumValueDefinition(_ at: inout Cursor) throws(SyntaxFailure) {
        let node = open(.enumValueDefinition, at)
        _ = try parseDescription(&at)
        guard let name = at.name else { throw expected("Name", at) }
        if name.isKeyword("true") || name.isKeyword("false") || name.isKeyword("null") {
            throw failure(at) { token in
                "\(token) is reserved and cannot be used for an enum value."
            }
        }
        try parseName(of: node, &at)
        try parseDirectives(isConst: true, &at)
        close(node)
    }

    /// DirectiveDefinition ::
    /// Description? `directive` `@` Name ArgumentsDefinition? `repeatable`? `on` DirectiveLocations
    ///
    /// The keyword was read.
    private mutating func parseDirectiveDefinition(
        _ node: Nodes.Place, _ at: inout Cursor
    ) throws(SyntaxFailure) {
        try expect("@", &at)
        try parseName(of: node, &at)
        try parseArgumentsDefinition(&at)
        nodes[node].detail = try skipKeyword("repeatable", &at) ? 1 : 0
        try expectKeyword("on", &at)
        try delimited(by: "|", &at) { parser, at throws(SyntaxFailure) in
            try parser.parseDirectiveLocation(&at)
        }
    }

    /// DirectiveLocation :: ExecutableDirectiveLocation | TypeSystemDirectiveLocation
    private mutating func parseDirectiveLocation(_ at: inout Cursor) throws(SyntaxFailure) {
        guard let name = at.name else { throw expected("Name", at) }
        let text = lexer.text.source.text(name.start..<name.end)
        guard DirectiveLocation(rawValue: text) != nil else { throw unexpected(name, at) }
        try parseNamed(.directiveLocation, &at)
    }

    /// The current token is a name that is none of those that fit. A text behind it that is no token counts first.
    @inline(never)
    private mutating func unexpected(_ name: NameToken, _ cursor: Cursor) -> SyntaxFailure {
        let failure = unexpected(cursor)
        var at = cursor
        do throws(SyntaxFailure) {
            try advance(&at, behind: name.end)
            _ = try lexer.text.describeToken(at: at.start)
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
