extension Parser {
    /// Definition :: ExecutableDefinition | TypeSystemDefinitionOrExtension
    ///
    /// Spec: https://spec.graphql.org/September2025/#Definition
    mutating func parseDefinition() throws(GraphQLError) -> Definition {
        let start = self.start
        if isAt(.leftBrace) { return .operation(try parseShorthand()) }
        let description = try parseDescription()
        guard isAt(.name) else {
            guard description != nil, isAt(.leftBrace) else { throw unexpected() }
            throw error(
                at: start,
                "Unexpected description, descriptions are not supported on shorthand queries.")
        }
        switch nameText {
        case "query": return .operation(try parseOperation(.query, description, start))
        case "mutation": return .operation(try parseOperation(.mutation, description, start))
        case "subscription":
            return .operation(try parseOperation(.subscription, description, start))
        case "fragment": return .fragment(try parseFragmentDefinition(description, start))
        default:
            if let definition = try parseTypeSystemDefinition(description, start) {
                return .typeSystem(definition)
            }
            guard description == nil else {
                throw error(
                    at: start,
                    "Unexpected description, only GraphQL definitions support descriptions.")
            }
            guard try skipKeyword("extend") else { throw unexpected() }
            return .typeSystem(try parseTypeSystemExtension(start))
        }
    }

    /// OperationDefinition :: SelectionSet
    private mutating func parseShorthand() throws(GraphQLError) -> OperationDefinition {
        let selectionSet = try parseSelectionSet()
        return OperationDefinition(
            kind: .query, name: nil, variables: [], directives: [], selectionSet: selectionSet,
            range: selectionSet.range, isShorthand: true)
    }

    /// OperationDefinition ::
    /// Description? OperationType Name? VariablesDefinition? Directives? SelectionSet
    private mutating func parseOperation(
        _ kind: OperationKind, _ description: StringValue?, _ start: Int32
    ) throws(GraphQLError) -> OperationDefinition {
        try advance()
        let name = isAt(.name) ? try parseName() : nil
        let variables = try optionalMany(.leftParenthesis, .rightParenthesis) {
            parser throws(GraphQLError) in try parser.parseVariableDefinition()
        }
        let directives = try parseDirectives(isConst: false)
        let selectionSet = try parseSelectionSet()
        return OperationDefinition(
            description: description, kind: kind, name: name, variables: variables,
            directives: directives, selectionSet: selectionSet, range: range(from: start))
    }

    /// VariableDefinition :: Description? Variable `:` Type DefaultValue? Directives[Const]?
    private mutating func parseVariableDefinition() throws(GraphQLError) -> VariableDefinition {
        let start = self.start
        let description = try parseDescription()
        let variableStart = self.start
        try expect(.dollar)
        var name = try parseName()
        name.range.start = variableStart
        try expect(.colon)
        let type = try parseTypeReference()
        let defaultValue = try skip(.equals) ? try parseValue(isConst: true) : nil
        let directives = try parseDirectives(isConst: true)
        return VariableDefinition(
            description: description, name: name, type: type, defaultValue: defaultValue,
            directives: directives, range: range(from: start))
    }

    /// SelectionSet :: `{` Selection+ `}`
    mutating func parseSelectionSet() throws(GraphQLError) -> SelectionSet {
        let start = self.start
        try descend()
        try expect(.leftBrace)
        var selections: [Selection] = []
        selections.reserveCapacity(4)
        repeat {
            if isAt(.spread) {
                selections.append(try parseFragment())
            } else {
                try parseField(into: &selections)
            }
        } while try !skip(.rightBrace)
        ascend()
        return SelectionSet(selections: selections, range: range(from: start))
    }

    /// Field :: Alias? Name Arguments? Directives? SelectionSet?
    ///
    /// It appends instead of returning: a field is large, and this way it is not copied.
    private mutating func parseField(into selections: inout [Selection]) throws(GraphQLError) {
        let nameOrAlias = try parseName()
        let hasAlias = try skip(.colon)
        let name = hasAlias ? try parseName() : nameOrAlias
        let arguments = try parseArguments(isConst: false)
        let directives = try parseDirectives(isConst: false)
        let selectionSet = isAt(.leftBrace) ? try parseSelectionSet() : nil
        selections.append(
            .field(
                Field(
                    alias: hasAlias ? nameOrAlias : nil, name: name, arguments: arguments,
                    directives: directives, selectionSet: selectionSet,
                    range: range(from: nameOrAlias.range.start))))
    }

    /// Arguments :: `(` Argument+ `)`
    mutating func parseArguments(isConst: Bool) throws(GraphQLError) -> [Argument] {
        try optionalMany(.leftParenthesis, .rightParenthesis) { parser throws(GraphQLError) in
            try parser.parseArgument(isConst: isConst)
        }
    }

    /// Argument :: Name `:` Value
    private mutating func parseArgument(isConst: Bool) throws(GraphQLError) -> Argument {
        let name = try parseName()
        try expect(.colon)
        let value = try parseValue(isConst: isConst)
        return Argument(name: name, value: value, range: range(from: name.range.start))
    }

    /// Directives :: Directive+; Directive :: `@` Name Arguments?
    mutating func parseDirectives(isConst: Bool) throws(GraphQLError) -> [Directive] {
        var directives: [Directive] = []
        while isAt(.at) {
            let start = self.start
            try advance()
            let name = try parseName()
            let arguments = try parseArguments(isConst: isConst)
            directives.append(
                Directive(name: name, arguments: arguments, range: range(from: start)))
        }
        return directives
    }

    /// FragmentSpread :: `...` FragmentName Directives?
    ///
    /// InlineFragment :: `...` TypeCondition? Directives? SelectionSet
    private mutating func parseFragment() throws(GraphQLError) -> Selection {
        let start = self.start
        try advance()
        let hasTypeCondition = try skipKeyword("on")
        if !hasTypeCondition, isAt(.name) {
            let name = try parseName()
            let directives = try parseDirectives(isConst: false)
            return .fragmentSpread(
                FragmentSpread(name: name, directives: directives, range: range(from: start)))
        }
        let typeCondition = hasTypeCondition ? try parseName() : nil
        let directives = try parseDirectives(isConst: false)
        let selectionSet = try parseSelectionSet()
        return .inlineFragment(
            InlineFragment(
                typeCondition: typeCondition, directives: directives, selectionSet: selectionSet,
                range: range(from: start)))
    }

    /// FragmentDefinition ::
    /// Description? `fragment` FragmentName TypeCondition Directives? SelectionSet
    private mutating func parseFragmentDefinition(
        _ description: StringValue?, _ start: Int32
    ) throws(GraphQLError) -> FragmentDefinition {
        try advance()
        guard !isAtKeyword("on") else { throw unexpected() }
        let name = try parseName()
        try expectKeyword("on")
        let typeCondition = try parseName()
        let directives = try parseDirectives(isConst: false)
        let selectionSet = try parseSelectionSet()
        return FragmentDefinition(
            description: description, name: name, typeCondition: typeCondition,
            directives: directives, selectionSet: selectionSet, range: range(from: start))
    }
}
