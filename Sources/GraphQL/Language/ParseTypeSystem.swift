extension Parser {
    /// TypeSystemDefinition :: SchemaDefinition | TypeDefinition | DirectiveDefinition
    ///
    /// The description was read; nil, and nothing read, where another definition follows.
    ///
    /// Spec: https://spec.graphql.org/September2025/#TypeSystemDefinition
    mutating func parseTypeSystemDefinition(
        _ description: StringValue?, _ start: Int32
    ) throws(GraphQLError) -> TypeSystemDefinition? {
        let keyword = nameText
        switch keyword {
        case "schema":
            try advance()
            let directives = try parseDirectives(isConst: true)
            let operationTypes = try many(.leftBrace, .rightBrace) {
                parser throws(GraphQLError) in try parser.parseOperationTypeDefinition()
            }
            return .schema(
                SchemaDefinition(
                    description: description, directives: directives,
                    operationTypes: operationTypes, isExtension: false, range: range(from: start)))
        case "directive":
            try advance()
            return .directive(try parseDirectiveDefinition(description, start))
        case "scalar", "type", "interface", "union", "enum", "input":
            try advance()
            let name = try parseName()
            let (directives, body) = try parseTypeBody(keyword)
            return .type(
                TypeDefinitionNode(
                    description: description, name: name, directives: directives, body: body,
                    isExtension: false, range: range(from: start)))
        default:
            return nil
        }
    }

    /// TypeSystemExtension :: SchemaExtension | TypeExtension; `extend` was read
    ///
    /// Spec: https://spec.graphql.org/September2025/#TypeSystemExtension
    mutating func parseTypeSystemExtension(
        _ start: Int32
    ) throws(GraphQLError) -> TypeSystemDefinition {
        guard isAt(.name) else { throw unexpected() }
        let keyword = nameText
        switch keyword {
        case "schema":
            try advance()
            let directives = try parseDirectives(isConst: true)
            let operationTypes = try optionalMany(.leftBrace, .rightBrace) {
                parser throws(GraphQLError) in try parser.parseOperationTypeDefinition()
            }
            guard !directives.isEmpty || !operationTypes.isEmpty else { throw unexpected() }
            return .schema(
                SchemaDefinition(
                    description: nil, directives: directives, operationTypes: operationTypes,
                    isExtension: true, range: range(from: start)))
        case "scalar", "type", "interface", "union", "enum", "input":
            try advance()
            let name = try parseName()
            let (directives, body) = try parseTypeBody(keyword)
            guard !directives.isEmpty || !body.isEmpty else { throw unexpected() }
            return .type(
                TypeDefinitionNode(
                    description: nil, name: name, directives: directives, body: body,
                    isExtension: true, range: range(from: start)))
        default:
            throw unexpected()
        }
    }

    /// RootOperationTypeDefinition :: OperationType `:` NamedType
    private mutating func parseOperationTypeDefinition() throws(GraphQLError) -> (
        kind: OperationKind, type: Name, range: SourceRange
    ) {
        let keyword = try parseName()
        guard let kind = OperationKind(rawValue: keyword.value) else { throw unexpected(keyword) }
        try expect(.colon)
        let type = try parseName()
        return (kind, type, range(from: keyword.range.start))
    }

    /// What stands after the name of a type, in its definition and in its extensions.
    private mutating func parseTypeBody(
        _ keyword: String
    ) throws(GraphQLError) -> ([Directive], TypeDefinitionNode.Body) {
        switch keyword {
        case "type", "interface":
            let interfaces = try parseImplementsInterfaces()
            let directives = try parseDirectives(isConst: true)
            let fields = try optionalMany(.leftBrace, .rightBrace) {
                parser throws(GraphQLError) in try parser.parseFieldDefinition()
            }
            return (
                directives,
                keyword == "type"
                    ? .object(interfaces: interfaces, fields: fields)
                    : .interface(interfaces: interfaces, fields: fields)
            )
        case "union":
            let directives = try parseDirectives(isConst: true)
            return (directives, .union(members: try parseUnionMembers()))
        case "enum":
            let directives = try parseDirectives(isConst: true)
            let values = try optionalMany(.leftBrace, .rightBrace) {
                parser throws(GraphQLError) in try parser.parseEnumValueDefinition()
            }
            return (directives, .enumeration(values: values))
        case "input":
            let directives = try parseDirectives(isConst: true)
            let fields = try optionalMany(.leftBrace, .rightBrace) {
                parser throws(GraphQLError) in try parser.parseInputValueDefinition()
            }
            return (directives, .inputObject(fields: fields))
        default:
            return (try parseDirectives(isConst: true), .scalar)
        }
    }

    /// ImplementsInterfaces :: `implements` `&`? NamedType | ImplementsInterfaces `&` NamedType
    private mutating func parseImplementsInterfaces() throws(GraphQLError) -> [Name] {
        guard try skipKeyword("implements") else { return [] }
        return try delimited(by: .ampersand) { parser throws(GraphQLError) in
            try parser.parseName()
        }
    }

    /// UnionMemberTypes :: `=` `|`? NamedType | UnionMemberTypes `|` NamedType
    private mutating func parseUnionMembers() throws(GraphQLError) -> [Name] {
        guard try skip(.equals) else { return [] }
        return try delimited(by: .pipe) { parser throws(GraphQLError) in try parser.parseName() }
    }

    /// FieldDefinition :: Description? Name ArgumentsDefinition? `:` Type Directives[Const]?
    private mutating func parseFieldDefinition() throws(GraphQLError) -> FieldDefinitionNode {
        let start = self.start
        let description = try parseDescription()
        let name = try parseName()
        let arguments = try parseArgumentsDefinition()
        try expect(.colon)
        let type = try parseTypeReference()
        let directives = try parseDirectives(isConst: true)
        return FieldDefinitionNode(
            description: description, name: name, arguments: arguments, type: type,
            directives: directives, range: range(from: start))
    }

    /// ArgumentsDefinition :: `(` InputValueDefinition+ `)`
    private mutating func parseArgumentsDefinition() throws(GraphQLError)
        -> [InputValueDefinitionNode]
    {
        try optionalMany(.leftParenthesis, .rightParenthesis) {
            parser throws(GraphQLError) in try parser.parseInputValueDefinition()
        }
    }

    /// InputValueDefinition :: Description? Name `:` Type DefaultValue? Directives[Const]?
    private mutating func parseInputValueDefinition() throws(GraphQLError)
        -> InputValueDefinitionNode
    {
        let start = self.start
        let description = try parseDescription()
        let name = try parseName()
        try expect(.colon)
        let type = try parseTypeReference()
        let defaultValue = try skip(.equals) ? try parseValue(isConst: true) : nil
        let directives = try parseDirectives(isConst: true)
        return InputValueDefinitionNode(
            description: description, name: name, type: type, defaultValue: defaultValue,
            directives: directives, range: range(from: start))
    }

    /// EnumValueDefinition :: Description? EnumValue Directives[Const]?
    private mutating func parseEnumValueDefinition() throws(GraphQLError)
        -> EnumValueDefinitionNode
    {
        let start = self.start
        let description = try parseDescription()
        if isAtKeyword("true") || isAtKeyword("false") || isAtKeyword("null") {
            throw error(
                at: start,
                "\(tokenDescription) is reserved and cannot be used for an enum value.")
        }
        let name = try parseName()
        let directives = try parseDirectives(isConst: true)
        return EnumValueDefinitionNode(
            description: description, name: name, directives: directives,
            range: range(from: start))
    }

    /// DirectiveDefinition ::
    /// Description? `directive` `@` Name ArgumentsDefinition? `repeatable`? `on` DirectiveLocations
    ///
    /// The keyword was read.
    private mutating func parseDirectiveDefinition(
        _ description: StringValue?, _ start: Int32
    ) throws(GraphQLError) -> DirectiveDefinitionNode {
        try expect(.at)
        let name = try parseName()
        let arguments = try parseArgumentsDefinition()
        let isRepeatable = try skipKeyword("repeatable")
        try expectKeyword("on")
        let locations = try delimited(by: .pipe) { parser throws(GraphQLError) in
            try parser.parseDirectiveLocation()
        }
        return DirectiveDefinitionNode(
            description: description, name: name, arguments: arguments,
            isRepeatable: isRepeatable, locations: locations, range: range(from: start))
    }

    /// DirectiveLocation :: ExecutableDirectiveLocation | TypeSystemDirectiveLocation
    private mutating func parseDirectiveLocation() throws(GraphQLError) -> Name {
        let name = try parseName()
        guard DirectiveLocation(rawValue: name.value) != nil else { throw unexpected(name) }
        return name
    }
}

extension TypeDefinitionNode.Body {
    /// Nothing that an extension could add.
    fileprivate var isEmpty: Bool {
        switch self {
        case .scalar: true
        case .object(let interfaces, let fields), .interface(let interfaces, let fields):
            interfaces.isEmpty && fields.isEmpty
        case .union(let members): members.isEmpty
        case .enumeration(let values): values.isEmpty
        case .inputObject(let fields): fields.isEmpty
        }
    }
}
