extension Parser {
    /// Definition :: ExecutableDefinition | TypeSystemDefinitionOrExtension
    ///
    /// Spec: https://spec.graphql.org/September2025/#Definition
    mutating func parseDefinition(_ at: inout Cursor) throws(SyntaxFailure) {
        let start = at.start
        // What it is, its keyword tells, which may stand behind a description.
        let node = open(.operation, at)
        if at.isAt("{") { return try parseShorthand(node, &at) }
        let hasDescription = try parseDescription(&at)
        guard let keyword = at.name else {
            guard hasDescription, at.isAt("{") else { throw unexpected(at) }
            throw lexer.text.failure(
                at: start,
                "Unexpected description, descriptions are not supported on shorthand queries.")
        }
        if let kind = OperationKind(keyword) {
            try advance(&at, behind: keyword.end)
            try parseOperation(node, kind, &at)
        } else if keyword.isKeyword("fragment") {
            try advance(&at, behind: keyword.end)
            try parseFragmentDefinition(node, &at)
        } else if try parseTypeSystemDefinition(node, keyword, &at) {
            return
        } else if hasDescription {
            throw lexer.text.failure(
                at: start, "Unexpected description, only GraphQL definitions support descriptions.")
        } else {
            guard keyword.isKeyword("extend") else { throw unexpected(at) }
            try advance(&at, behind: keyword.end)
            try parseTypeSystemExtension(node, &at)
        }
    }

    /// OperationDefinition :: SelectionSet
    private mutating func parseShorthand(
        _ node: Nodes.Place, _ at: inout Cursor
    ) throws(SyntaxFailure) {
        nodes[node].detail = OperationKind.query.detail | OperationDefinition.shorthandDetail
        at = try parseSelectionSet(of: node, from: at)
    }

    /// OperationDefinition ::
    /// Description? OperationType Name? VariablesDefinition? Directives? SelectionSet
    ///
    /// The type was read.
    private mutating func parseOperation(
        _ node: Nodes.Place, _ kind: OperationKind, _ at: inout Cursor
    ) throws(SyntaxFailure) {
        nodes[node].detail = kind.detail
        if at.name != nil { try parseName(of: node, &at) }
        try optionalMany("(", ")", &at) { parser, at throws(SyntaxFailure) in
            try parser.parseVariableDefinition(&at)
        }
        try parseDirectives(isConst: false, &at)
        at = try parseSelectionSet(of: node, from: at)
    }

    /// VariableDefinition :: Description? Variable `:` Type DefaultValue? Directives[Const]?
    private mutating func parseVariableDefinition(_ at: inout Cursor) throws(SyntaxFailure) {
        let node = open(.variableDefinition, at)
        _ = try parseDescription(&at)
        let variable = open(.variable, at)
        try expect("$", &at)
        try parseName(of: variable, &at)
        close(variable)
        nodes[node].setName(nodes[variable].numberedName)
        try expect(":", &at)
        try parseTypeReference(&at)
        if try skip("=", &at) { try parseValue(isConst: true, &at) }
        try parseDirectives(isConst: true, &at)
        close(node)
    }

    /// SelectionSet :: `{` Selection+ `}`
    ///
    /// It is the last part of a definition, which ends with it.
    @inline(never)
    private mutating func parseSelectionSet(
        of definition: Nodes.Place, from cursor: Cursor
    ) throws(SyntaxFailure) -> Cursor {
        var at = cursor
        try stepIntoSelectionSet(of: definition, &at)
        while true {
            if !at.isAtLetter { settle(&at) }
            if at.isAt(".") {
                let (fragment, isInline) = try parseFragment(&at)
                if isInline {
                    try stepIntoSelectionSet(of: fragment, &at)
                    continue
                }
            } else {
                var field: Nodes.Place
                repeat { field = try parseField(&at) } while at.isAtLetter
                if at.isAt("{") {
                    try stepIntoSelectionSet(of: field, &at)
                    continue
                }
            }
            while at.isAt("}") {
                if try closeSelectionSet(&at) { return at }
            }
        }
    }

    @inline(always)
    private mutating func stepIntoSelectionSet(
        of owner: Nodes.Place, _ at: inout Cursor
    ) throws(SyntaxFailure) {
        guard at.isAt("{") else { throw expected("\"{\"", at) }
        try descend(at)
        nodes.enterSelectionSet(of: owner, start: at.start)
        try step(&at)
    }

    /// Ends a selection set with the definition, field or fragment that it belongs to.
    ///
    /// - Returns: whether that is the definition.
    @inline(always)
    private mutating func closeSelectionSet(_ at: inout Cursor) throws(SyntaxFailure) -> Bool {
        nodes.leaveSelectionSet(end: at.start &+ 1)
        ascend()
        try advance(&at)
        return nodes.innermost == Nodes.outside
    }

    /// Field :: Alias? Name Arguments? Directives? SelectionSet?
    ///
    /// The selection set is still to be read.
    @inline(always)
    private mutating func parseField(_ at: inout Cursor) throws(SyntaxFailure) -> Nodes.Place {
        guard let token = at.name else { throw expected("Name", at) }
        let name = number(of: token, at)
        let field = nodes.append(.field, name, start: token.start, end: token.end)
        try step(&at, behind: token.end)
        // Most are only their names, and followed by others.
        if at.isAtLetter { return field }
        settle(&at)
        if at.isAt(":") {
            _ = nodes.append(.alias, name, start: token.start, end: token.end)
            try step(&at)
            let name = try expectName(&at)
            nodes[field].setName(number(of: name, at))
            try advance(&at, behind: name.end)
            close(field)
        }
        if at.isAt("(") {
            at = try parseArguments(isConst: false, from: at)
            close(field)
        }
        if at.isAt("@") {
            at = try parseDirectives(isConst: false, from: at)
            close(field)
        }
        return field
    }

    /// Arguments :: `(` Argument+ `)`; Argument :: Name `:` Value
    @inline(never)
    private mutating func parseArguments(
        isConst: Bool, from cursor: Cursor
    ) throws(SyntaxFailure) -> Cursor {
        var at = cursor
        try step(&at)
        repeat {
            let argument = try stepOverName(.argument, &at)
            try stepOver(":", &at)
            try parseValue(isConst: isConst, &at)
            close(argument)
        } while !at.isAt(")")
        try advance(&at)
        return at
    }

    /// Directives :: Directive+; Directive :: `@` Name Arguments?
    @inline(never)
    private mutating func parseDirectives(
        isConst: Bool, from cursor: Cursor
    ) throws(SyntaxFailure) -> Cursor {
        var at = cursor
        while at.isAt("@") {
            let directive = open(.directive, at)
            try step(&at)
            try parseName(of: directive, &at)
            if at.isAt("(") { at = try parseArguments(isConst: isConst, from: at) }
            close(directive)
        }
        return at
    }

    @inline(always)
    mutating func parseDirectives(isConst: Bool, _ at: inout Cursor) throws(SyntaxFailure) {
        if at.isAt("@") { at = try parseDirectives(isConst: isConst, from: at) }
    }

    /// FragmentSpread :: `...` FragmentName Directives?
    ///
    /// InlineFragment :: `...` TypeCondition? Directives? SelectionSet
    ///
    /// - Returns: whether it is an inline fragment, whose selection set is still to be read.
    @inline(always)
    private mutating func parseFragment(
        _ at: inout Cursor
    ) throws(SyntaxFailure) -> (Nodes.Place, isInline: Bool) {
        let start = at.start
        try stepOverSpread(&at)
        if !at.isAtLetter { settle(&at) }
        let name = at.name
        if let name, !name.isKeyword("on") {
            let spread = try stepOver(name, .fragmentSpread, start: start, &at)
            settle(&at)
            if at.isAt("@") {
                at = try parseDirectives(isConst: false, from: at)
                close(spread)
            }
            return (spread, false)
        }
        let fragment = nodes.open(.inlineFragment, start: start)
        if let on = name { try parseTypeCondition(on, &at) }
        try parseDirectives(isConst: false, &at)
        return (fragment, true)
    }

    /// TypeCondition :: `on` NamedType
    @inline(always)
    private mutating func parseTypeCondition(
        _ on: NameToken, _ at: inout Cursor
    ) throws(SyntaxFailure) {
        try step(&at, behind: on.end)
        _ = try stepOverName(.namedType, &at)
        settle(&at)
    }

    /// FragmentDefinition ::
    /// Description? `fragment` FragmentName TypeCondition Directives? SelectionSet
    ///
    /// The keyword was read.
    private mutating func parseFragmentDefinition(
        _ node: Nodes.Place, _ at: inout Cursor
    ) throws(SyntaxFailure) {
        nodes[node].kind = .fragmentDefinition
        let name = try expectName(&at)
        guard !name.isKeyword("on") else { throw unexpected(at) }
        try parseName(of: node, &at)
        guard let on = at.name, on.isKeyword("on") else { throw expected("\"on\"", at) }
        try parseTypeCondition(on, &at)
        try parseDirectives(isConst: false, &at)
        at = try parseSelectionSet(of: node, from: at)
    }
}

extension OperationKind {
    /// OperationType :: one of `query` `mutation` `subscription`
    @inline(always)
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
