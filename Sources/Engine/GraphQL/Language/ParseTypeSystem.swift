extension Parser {
    /// TypeSystemDefinition :: SchemaDefinition | TypeDefinition | DirectiveDefinition
    ///
    /// The description has been consumed, and `node` was opened before it.
    ///
    /// - Returns: false, without consuming anything, if another kind of definition follows.
    ///
    /// Spec: https://spec.graphql.org/September2025/#TypeSystemDefinition
    mutating func parseTypeSystemDefinition(
        _ node: Nodes.Index, _ keyword: NameToken, _ cursor: inout Cursor
    ) throws(SyntaxFailure) -> Bool {
        if keyword.isKeyword("schema") {
            nodes[node].kind = .schemaDefinition
            try advance(&cursor, tokenEnd: keyword.end)
            try parseDirectives(isConst: true, &cursor)
            try many("{", "}", &cursor) { parser, cursor throws(SyntaxFailure) in
                try parser.parseOperationTypeDefinition(&cursor)
            }
        } else if keyword.isKeyword("directive") {
            nodes[node].kind = .directiveDefinition
            try advance(&cursor, tokenEnd: keyword.end)
            try parseDirectiveDefinition(node, &cursor)
        } else if let kind = NodeKind(typeKeyword: keyword) {
            nodes[node].kind = kind
            try advance(&cursor, tokenEnd: keyword.end)
            try parseName(of: node, &cursor)
            try parseTypeBody(kind, &cursor)
        } else {
            return false
        }
        close(node)
        return true
    }

    /// TypeSystemExtension :: SchemaExtension | TypeExtension
    ///
    /// `extend` has been consumed.
    ///
    /// Spec: https://spec.graphql.org/September2025/#TypeSystemExtension
    mutating func parseTypeSystemExtension(
        _ node: Nodes.Index, _ cursor: inout Cursor
    ) throws(SyntaxFailure) {
        guard let keyword = cursor.name else { throw unexpected(cursor) }
        nodes[node].detail = 1
        if keyword.isKeyword("schema") {
            nodes[node].kind = .schemaDefinition
            try advance(&cursor, tokenEnd: keyword.end)
            try parseDirectives(isConst: true, &cursor)
            try optionalMany("{", "}", &cursor) { parser, cursor throws(SyntaxFailure) in
                try parser.parseOperationTypeDefinition(&cursor)
            }
        } else if let kind = NodeKind(typeKeyword: keyword) {
            nodes[node].kind = kind
            try advance(&cursor, tokenEnd: keyword.end)
            try parseName(of: node, &cursor)
            try parseTypeBody(kind, &cursor)
        } else {
            throw unexpected(cursor)
        }
        // An extension must add something.
        guard nodes.hasChildren(node) else { throw unexpected(cursor) }
        close(node)
    }

    /// RootOperationTypeDefinition :: OperationType `:` NamedType
    private mutating func parseOperationTypeDefinition(_ cursor: inout Cursor) throws(SyntaxFailure)
    {
        guard let keyword = cursor.name else { throw expected("Name", cursor) }
        guard let kind = OperationKind(keyword) else { throw unexpected(keyword, cursor) }
        let node = open(.operationType, detail: kind.detail, cursor)
        try advance(&cursor, tokenEnd: keyword.end)
        try expect(":", &cursor)
        try parseNamed(.namedType, &cursor)
        close(node)
    }

    /// Parses what follows the name of a type, in a definition or an extension.
    private mutating func parseTypeBody(
        _ kind: NodeKind, _ cursor: inout Cursor
    ) throws(SyntaxFailure) {
        switch kind {
        case .objectType, .interfaceType:
            try parseImplementsInterfaces(&cursor)
            try parseDirectives(isConst: true, &cursor)
            try optionalMany("{", "}", &cursor) { parser, cursor throws(SyntaxFailure) in
                try parser.parseFieldDefinition(&cursor)
            }
        case .unionType:
            try parseDirectives(isConst: true, &cursor)
            try parseUnionMembers(&cursor)
        case .enumType:
            try parseDirectives(isConst: true, &cursor)
            try optionalMany("{", "}", &cursor) { parser, cursor throws(SyntaxFailure) in
                try parser.parseEnumValueDefinition(&cursor)
            }
        case .inputObjectType:
            try parseDirectives(isConst: true, &cursor)
            try optionalMany("{", "}", &cursor) { parser, cursor throws(SyntaxFailure) in
                try parser.parseInputValueDefinition(&cursor)
            }
        default:
            try parseDirectives(isConst: true, &cursor)
        }
    }

    /// ImplementsInterfaces :: `implements` `&`? NamedType | ImplementsInterfaces `&` NamedType
    private mutating func parseImplementsInterfaces(_ cursor: inout Cursor) throws(SyntaxFailure) {
        guard try skipKeyword("implements", &cursor) else { return }
        try delimited(by: "&", &cursor) { parser, cursor throws(SyntaxFailure) in
            try parser.parseNamed(.namedType, &cursor)
        }
    }

    /// UnionMemberTypes :: `=` `|`? NamedType | UnionMemberTypes `|` NamedType
    private mutating func parseUnionMembers(_ cursor: inout Cursor) throws(SyntaxFailure) {
        guard try skip("=", &cursor) else { return }
        try delimited(by: "|", &cursor) { parser, cursor throws(SyntaxFailure) in
            try parser.parseNamed(.namedType, &cursor)
        }
    }

    /// FieldDefinition :: Description? Name ArgumentsDefinition? `:` Type Directives[Const]?
    private mutating func parseFieldDefinition(_ cursor: inout Cursor) throws(SyntaxFailure) {
        let node = open(.fieldDefinition, cursor)
        _ = try parseDescription(&cursor)
        try parseName(of: node, &cursor)
        try parseArgumentsDefinition(&cursor)
        try expect(":", &cursor)
        try parseTypeReference(&cursor)
        try parseDirectives(isConst: true, &cursor)
        close(node)
    }

    /// ArgumentsDefinition :: `(` InputValueDefinition+ `)`
    private mutating func parseArgumentsDefinition(_ cursor: inout Cursor) throws(SyntaxFailure) {
        try optionalMany("(", ")", &cursor) { parser, cursor throws(SyntaxFailure) in
            try parser.parseInputValueDefinition(&cursor)
        }
    }

    /// InputValueDefinition :: Description? Name `:` Type DefaultValue? Directives[Const]?
    private mutating func parseInputValueDefinition(_ cursor: inout Cursor) throws(SyntaxFailure) {
        let node = open(.inputValueDefinition, cursor)
        _ = try parseDescription(&cursor)
        try parseName(of: node, &cursor)
        try expect(":", &cursor)
        try parseTypeReference(&cursor)
        if try skip("=", &cursor) { try parseValue(isConst: true, &cursor) }
        try parseDirectives(isConst: true, &cursor)
        close(node)
    }

    /// EnumValueDefinition :: Description? EnumValue Directives[Const]?
    private mutating func parseEnumValueDefinition(_ cursor: inout Cursor) throws(SyntaxFailure) {
        let node = open(.enumValueDefinition, cursor)
        _ = try parseDescription(&cursor)
        guard let name = cursor.name else { throw expected("Name", cursor) }
        if name.isKeyword("true") || name.isKeyword("false") || name.isKeyword("null") {
            throw failure(cursor) { token in
                "\(token) is reserved and cannot be used for an enum value."
            }
        }
        try parseName(of: node, &cursor)
        try parseDirectives(isConst: true, &cursor)
        close(node)
    }

    /// DirectiveDefinition ::
    ///     Description? `directive` `@` Name ArgumentsDefinition? `repeatable`? `on` DirectiveLocations
    ///
    /// The keyword has been consumed.
    private mutating func parseDirectiveDefinition(
        _ node: Nodes.Index, _ cursor: inout Cursor
    ) throws(SyntaxFailure) {
        try expect("@", &cursor)
        try parseName(of: node, &cursor)
        try parseArgumentsDefinition(&cursor)
        nodes[node].detail = try skipKeyword("repeatable", &cursor) ? 1 : 0
        try expectKeyword("on", &cursor)
        try delimited(by: "|", &cursor) { parser, cursor throws(SyntaxFailure) in
            try parser.parseDirectiveLocation(&cursor)
        }
    }

    /// DirectiveLocation :: ExecutableDirectiveLocation | TypeSystemDirectiveLocation
    private mutating func parseDirectiveLocation(_ cursor: inout Cursor) throws(SyntaxFailure) {
        guard let name = cursor.name else { throw expected("Name", cursor) }
        let text = lexer.text.source.text(name.start..<name.end)
        guard DirectiveLocation(rawValue: text) != nil else { throw unexpected(name, cursor) }
        try parseNamed(.directiveLocation, &cursor)
    }

    /// Returns the error for a name that is not allowed here. As in graphql-js, a lexical error of
    /// the next token takes precedence.
    @inline(never)
    private mutating func unexpected(_ name: NameToken, _ start: Cursor) -> SyntaxFailure {
        let failure = unexpected(start)
        var cursor = start
        do throws(SyntaxFailure) {
            try advance(&cursor, tokenEnd: name.end)
            _ = try lexer.text.describeToken(at: cursor.start)
        } catch {
            return error
        }
        return failure
    }
}

extension NodeKind {
    /// Returns the kind of type definition that begins with a keyword.
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
