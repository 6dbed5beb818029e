extension Parser {
    /// Definition :: ExecutableDefinition | TypeSystemDefinitionOrExtension
    ///
    /// Spec: https://spec.graphql.org/September2025/#Definition
    mutating func parseDefinition() throws(GraphQLError) {
        let start = self.start
        // What it is, its keyword tells, which may stand behind a description.
        var node = open(.operation)
        if isAt(.leftBrace) { return try parseShorthand(&node) }
        let hasDescription = try parseDescription()
        guard isAt(.name) else {
            guard hasDescription, isAt(.leftBrace) else { throw unexpected() }
            throw error(
                at: start,
                "Unexpected description, descriptions are not supported on shorthand queries.")
        }
        if let kind = operationKind() {
            try parseOperation(&node, kind)
        } else if isAtKeyword("fragment") {
            try parseFragmentDefinition(&node)
        } else if try parseTypeSystemDefinition(&node) {
            return
        } else if hasDescription {
            throw error(
                at: start, "Unexpected description, only GraphQL definitions support descriptions.")
        } else {
            guard try skipKeyword("extend") else { throw unexpected() }
            try parseTypeSystemExtension(&node)
        }
    }

    /// OperationType :: one of `query` `mutation` `subscription`
    mutating func operationKind() -> OperationKind? {
        if isAtKeyword("query") { return .query }
        if isAtKeyword("mutation") { return .mutation }
        if isAtKeyword("subscription") { return .subscription }
        return nil
    }

    /// OperationDefinition :: SelectionSet
    private mutating func parseShorthand(_ node: inout Node) throws(GraphQLError) {
        node.kind = .operation
        node.detail = OperationKind.query.detail | OperationDefinition.shorthandDetail
        try parseSelectionSet()
        close(node)
    }

    /// OperationDefinition ::
    /// Description? OperationType Name? VariablesDefinition? Directives? SelectionSet
    private mutating func parseOperation(
        _ node: inout Node, _ kind: OperationKind
    ) throws(GraphQLError) {
        node.kind = .operation
        node.detail = kind.detail
        try advance()
        if isAt(.name) { try parseName(of: &node) }
        try optionalMany(.leftParenthesis, .rightParenthesis) { parser throws(GraphQLError) in
            try parser.parseVariableDefinition()
        }
        try parseDirectives(isConst: false)
        try parseSelectionSet()
        close(node)
    }

    /// VariableDefinition :: Description? Variable `:` Type DefaultValue? Directives[Const]?
    private mutating func parseVariableDefinition() throws(GraphQLError) {
        var node = open(.variableDefinition)
        _ = try parseDescription()
        var variable = open(.variable)
        try expect(.dollar)
        try parseName(of: &variable)
        close(variable)
        node.name = variable.name
        node.nameStart = variable.nameStart
        try expect(.colon)
        try parseTypeReference()
        if try skip(.equals) { try parseValue(isConst: true) }
        try parseDirectives(isConst: true)
        close(node)
    }

    /// SelectionSet :: `{` Selection+ `}`
    mutating func parseSelectionSet() throws(GraphQLError) {
        try openSelectionSet()
        while true {
            var selection = open(.field)
            let hasSelectionSet =
                isAt(.spread) ? try parseFragment(&selection) : try parseField(&selection)
            if hasSelectionSet {
                unclosed.append(selection)
                try openSelectionSet()
                continue
            }
            close(selection)
            while try skip(.rightBrace) {
                close(unclosed.removeLast())
                ascend()
                guard let selection = unclosed.popLast() else { return }
                close(selection)
            }
        }
    }

    private mutating func openSelectionSet() throws(GraphQLError) {
        try descend()
        unclosed.append(open(.selectionSet))
        try expect(.leftBrace)
    }

    /// Field :: Alias? Name Arguments? Directives? SelectionSet?
    ///
    /// - Returns: whether the selection set follows, which is still to be read.
    private mutating func parseField(_ node: inout Node) throws(GraphQLError) -> Bool {
        try parseName(of: &node)
        if isAt(.colon) { try parseAlias(of: &node) }
        if isAt(.leftParenthesis) { try parseArguments(isConst: false) }
        if isAt(.at) { try parseDirectives(isConst: false) }
        return isAt(.leftBrace)
    }

    /// Arguments :: `(` Argument+ `)`
    mutating func parseArguments(isConst: Bool) throws(GraphQLError) {
        try expect(.leftParenthesis)
        repeat { try parseArgument(isConst: isConst) } while try !skip(.rightParenthesis)
    }

    /// Argument :: Name `:` Value
    private mutating func parseArgument(isConst: Bool) throws(GraphQLError) {
        var node = open(.argument)
        try parseName(of: &node)
        try expect(.colon)
        try parseValue(isConst: isConst)
        close(node)
    }

    /// Directives :: Directive+; Directive :: `@` Name Arguments?
    mutating func parseDirectives(isConst: Bool) throws(GraphQLError) {
        while isAt(.at) {
            var node = open(.directive)
            try advance()
            try parseName(of: &node)
            if isAt(.leftParenthesis) { try parseArguments(isConst: isConst) }
            close(node)
        }
    }

    /// FragmentSpread :: `...` FragmentName Directives?
    ///
    /// InlineFragment :: `...` TypeCondition? Directives? SelectionSet
    ///
    /// - Returns: whether it is an inline fragment, whose selection set is still to be read.
    private mutating func parseFragment(_ node: inout Node) throws(GraphQLError) -> Bool {
        try advance()
        let hasTypeCondition = try skipKeyword("on")
        let isSpread = !hasTypeCondition && isAt(.name)
        node.kind = isSpread ? .fragmentSpread : .inlineFragment
        if isSpread {
            try parseName(of: &node)
        } else if hasTypeCondition {
            try parseNamed(.namedType)
        }
        try parseDirectives(isConst: false)
        return !isSpread
    }

    /// FragmentDefinition ::
    /// Description? `fragment` FragmentName TypeCondition Directives? SelectionSet
    private mutating func parseFragmentDefinition(_ node: inout Node) throws(GraphQLError) {
        node.kind = .fragmentDefinition
        try advance()
        guard !isAtKeyword("on") else { throw unexpected() }
        try parseName(of: &node)
        try expectKeyword("on")
        try parseNamed(.namedType)
        try parseDirectives(isConst: false)
        try parseSelectionSet()
        close(node)
    }
}
