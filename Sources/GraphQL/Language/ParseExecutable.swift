extension Parser {
    /// Definition :: ExecutableDefinition | TypeSystemDefinitionOrExtension
    ///
    /// Spec: https://spec.graphql.org/September2025/#Definition
    mutating func parseDefinition() throws(SyntaxFailure) {
        let start = lexer.start
        // What it is, its keyword tells, which may stand behind a description.
        let node = open(.operation)
        if isAt("{") { return try parseShorthand(node) }
        let hasDescription = try parseDescription()
        guard let keyword = lexer.name else {
            guard hasDescription, isAt("{") else { throw unexpected() }
            throw lexer.text.failure(
                at: start,
                "Unexpected description, descriptions are not supported on shorthand queries.")
        }
        if let kind = OperationKind(keyword) {
            try advance(over: keyword)
            try parseOperation(node, kind)
        } else if keyword.isKeyword("fragment") {
            try advance(over: keyword)
            try parseFragmentDefinition(node)
        } else if try parseTypeSystemDefinition(node, keyword) {
            return
        } else if hasDescription {
            throw lexer.text.failure(
                at: start, "Unexpected description, only GraphQL definitions support descriptions.")
        } else {
            guard keyword.isKeyword("extend") else { throw unexpected() }
            try advance(over: keyword)
            try parseTypeSystemExtension(node)
        }
    }

    /// OperationDefinition :: SelectionSet
    private mutating func parseShorthand(_ node: Nodes.Place) throws(SyntaxFailure) {
        nodes[node].detail = OperationKind.query.detail | OperationDefinition.shorthandDetail
        try parseSelectionSet(of: node)
    }

    /// OperationDefinition ::
    /// Description? OperationType Name? VariablesDefinition? Directives? SelectionSet
    ///
    /// The type was read.
    private mutating func parseOperation(
        _ node: Nodes.Place, _ kind: OperationKind
    ) throws(SyntaxFailure) {
        nodes[node].detail = kind.detail
        if let name = lexer.name { nodes[node].setName(try take(name)) }
        try optionalMany("(", ")") { parser throws(SyntaxFailure) in
            try parser.parseVariableDefinition()
        }
        try parseDirectives(isConst: false)
        try parseSelectionSet(of: node)
    }

    /// VariableDefinition :: Description? Variable `:` Type DefaultValue? Directives[Const]?
    private mutating func parseVariableDefinition() throws(SyntaxFailure) {
        let node = open(.variableDefinition)
        _ = try parseDescription()
        let variable = open(.variable)
        try expect("$")
        let name = try takeName()
        nodes[variable].setName(name)
        nodes[node].setName(name)
        close(variable)
        try expect(":")
        try parseTypeReference()
        if try skip("=") { try parseValue(isConst: true) }
        try parseDirectives(isConst: true)
        close(node)
    }

    /// SelectionSet :: `{` Selection+ `}`
    ///
    /// It is the last part of a definition, which ends with it.
    @inline(never)
    private mutating func parseSelectionSet(of definition: Nodes.Place) throws(SyntaxFailure) {
        try openSelectionSet(of: definition)
        repeat {
            let selection = open(.field)
            let hasSelectionSet =
                isAt(".") ? try parseFragment(selection) : try parseField(selection)
            if hasSelectionSet {
                try openSelectionSet(of: selection)
            } else {
                close(selection)
                while nodes.innermost != Nodes.outside, try skip("}") { closeSelectionSet() }
            }
        } while nodes.innermost != Nodes.outside
    }

    @inline(__always)
    private mutating func openSelectionSet(of owner: Nodes.Place) throws(SyntaxFailure) {
        guard isAt("{") else { throw expected("\"{\"") }
        try descend()
        nodes.enter(owner)
        nodes.enter(open(.selectionSet))
        try advance()
    }

    /// Ends a selection set with the definition, field or fragment that it belongs to.
    @inline(__always)
    private mutating func closeSelectionSet() {
        close(nodes.leave())
        close(nodes.leave())
        ascend()
    }

    /// Field :: Alias? Name Arguments? Directives? SelectionSet?
    ///
    /// - Returns: whether the selection set follows, which is still to be read.
    @inline(__always)
    private mutating func parseField(_ field: Nodes.Place) throws(SyntaxFailure) -> Bool {
        let name = try takeName()
        nodes[field].setName(name)
        if isAt(":") { try parseAlias(name, of: field) }
        if isAt("(") { try parseArguments(isConst: false) }
        if isAt("@") { try parseDirectives(isConst: false) }
        return isAt("{")
    }

    /// Reads on behind what turns out to be the alias of an open field, its first child.
    private mutating func parseAlias(
        _ name: NumberedName, of field: Nodes.Place
    ) throws(SyntaxFailure) {
        let alias = nodes.open(.alias, start: name.start)
        nodes[alias].setName(name)
        close(alias)
        try advance()
        try parseName(of: field)
    }

    /// Arguments :: `(` Argument+ `)`
    private mutating func parseArguments(isConst: Bool) throws(SyntaxFailure) {
        try many("(", ")") { parser throws(SyntaxFailure) in
            try parser.parseArgument(isConst: isConst)
        }
    }

    /// Argument :: Name `:` Value
    @inline(__always)
    private mutating func parseArgument(isConst: Bool) throws(SyntaxFailure) {
        let node = open(.argument)
        try parseName(of: node)
        try expect(":")
        try parseValue(isConst: isConst)
        close(node)
    }

    /// Directives :: Directive+; Directive :: `@` Name Arguments?
    mutating func parseDirectives(isConst: Bool) throws(SyntaxFailure) {
        while isAt("@") {
            let node = open(.directive)
            try advance()
            try parseName(of: node)
            if isAt("(") { try parseArguments(isConst: isConst) }
            close(node)
        }
    }

    /// FragmentSpread :: `...` FragmentName Directives?
    ///
    /// InlineFragment :: `...` TypeCondition? Directives? SelectionSet
    ///
    /// - Returns: whether it is an inline fragment, whose selection set is still to be read.
    private mutating func parseFragment(_ node: Nodes.Place) throws(SyntaxFailure) -> Bool {
        try advanceOverSpread()
        let name = lexer.name
        if let name, !name.isKeyword("on") {
            nodes[node].kind = .fragmentSpread
            nodes[node].setName(try take(name))
            try parseDirectives(isConst: false)
            return false
        }
        nodes[node].kind = .inlineFragment
        if let on = name { try parseTypeCondition(on) }
        try parseDirectives(isConst: false)
        return true
    }

    /// TypeCondition :: `on` NamedType
    private mutating func parseTypeCondition(_ on: NameToken) throws(SyntaxFailure) {
        try advance(over: on)
        try parseNamed(.namedType)
    }

    /// FragmentDefinition ::
    /// Description? `fragment` FragmentName TypeCondition Directives? SelectionSet
    ///
    /// The keyword was read.
    private mutating func parseFragmentDefinition(_ node: Nodes.Place) throws(SyntaxFailure) {
        nodes[node].kind = .fragmentDefinition
        guard let name = lexer.name else { throw expected("Name") }
        guard !name.isKeyword("on") else { throw unexpected() }
        nodes[node].setName(try take(name))
        try expectKeyword("on")
        try parseNamed(.namedType)
        try parseDirectives(isConst: false)
        try parseSelectionSet(of: node)
    }
}

extension OperationKind {
    /// OperationType :: one of `query` `mutation` `subscription`
    init?(_ keyword: NameToken) {
        if keyword.isKeyword("query") {
            self = .query
        } else if keyword.isKeyword("mutation") {
            self = .mutation
        } else if keyword.isKeyword("subscription") {
            self = .subscription
        } else {
            return nil
        }
    }
}
