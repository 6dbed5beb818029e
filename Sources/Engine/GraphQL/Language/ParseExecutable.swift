extension Parser {
    /// Definition :: ExecutableDefinition | TypeSystemDefinitionOrExtension
    ///
    /// Spec: https://spec.graphql.org/September2025/#Definition
    mutating func parseDefinition(_ cursor: inout Cursor) throws(SyntaxFailure) {
        let start = cursor.start
        // The keyword determines the kind of the node. A description may precede it, so the node is
        // opened with a provisional kind.
        let node = open(.operation, cursor)
        if cursor.isAt("{") { return try parseShorthand(node, &cursor) }
        let hasDescription = try parseDescription(&cursor)
        guard let keyword = cursor.name else {
            guard hasDescription, cursor.isAt("{") else { throw unexpected(cursor) }
            throw lexer.text.failure(
                at: start,
                "Unexpected description, descriptions are not supported on shorthand queries.")
        }
        if let kind = OperationKind(keyword) {
            try advance(&cursor, tokenEnd: keyword.end)
            try parseOperation(node, kind, &cursor)
        } else if keyword.isKeyword("fragment") {
            try advance(&cursor, tokenEnd: keyword.end)
            try parseFragmentDefinition(node, &cursor)
        } else if try parseTypeSystemDefinition(node, keyword, &cursor) {
            return
        } else if hasDescription {
            throw lexer.text.failure(
                at: start, "Unexpected description, only GraphQL definitions support descriptions.")
        } else {
            guard keyword.isKeyword("extend") else { throw unexpected(cursor) }
            try advance(&cursor, tokenEnd: keyword.end)
            try parseTypeSystemExtension(node, &cursor)
        }
    }

    /// OperationDefinition :: SelectionSet
    private mutating func parseShorthand(
        _ node: Nodes.Index, _ cursor: inout Cursor
    ) throws(SyntaxFailure) {
        nodes[node].detail = OperationKind.query.detail
        cursor = try parseSelectionSet(of: node, from: cursor)
    }

    /// OperationDefinition ::
    ///     Description? OperationType Name? VariablesDefinition? Directives? SelectionSet
    ///
    /// The operation type has been consumed.
    private mutating func parseOperation(
        _ node: Nodes.Index, _ kind: OperationKind, _ cursor: inout Cursor
    ) throws(SyntaxFailure) {
        nodes[node].detail = kind.detail
        if cursor.name != nil { try parseName(of: node, &cursor) }
        try optionalMany("(", ")", &cursor) { parser, cursor throws(SyntaxFailure) in
            try parser.parseVariableDefinition(&cursor)
        }
        try parseDirectives(isConst: false, &cursor)
        cursor = try parseSelectionSet(of: node, from: cursor)
    }

    /// VariableDefinition :: Description? Variable `:` Type DefaultValue? Directives[Const]?
    private mutating func parseVariableDefinition(_ cursor: inout Cursor) throws(SyntaxFailure) {
        let node = open(.variableDefinition, cursor)
        _ = try parseDescription(&cursor)
        let variable = open(.variable, cursor)
        try expect("$", &cursor)
        try parseName(of: variable, &cursor)
        close(variable)
        nodes[node].setName(nodes[variable].internedName)
        try expect(":", &cursor)
        try parseTypeReference(&cursor)
        if try skip("=", &cursor) { try parseValue(isConst: true, &cursor) }
        try parseDirectives(isConst: true, &cursor)
        close(node)
    }

    /// SelectionSet :: `{` Selection+ `}`
    ///
    /// Parses the selection set of a definition and closes the definition, which ends with it.
    /// Selection sets within it are entered and left in a loop instead of by recursion.
    @inline(never)
    private mutating func parseSelectionSet(
        of definition: Nodes.Index, from start: Cursor
    ) throws(SyntaxFailure) -> Cursor {
        var cursor = start
        try stepIntoSelectionSet(of: definition, &cursor)
        while true {
            if !cursor.isAtLetter { skipIgnored(&cursor) }
            if cursor.isAt(".") {
                let (fragment, isInline) = try parseFragment(&cursor)
                if isInline {
                    try stepIntoSelectionSet(of: fragment, &cursor)
                    continue
                }
            } else {
                var field: Nodes.Index
                repeat { field = try parseField(&cursor) } while cursor.isAtLetter
                if cursor.isAt("{") {
                    try stepIntoSelectionSet(of: field, &cursor)
                    continue
                }
            }
            while cursor.isAt("}") {
                if try closeSelectionSet(&cursor) { return cursor }
            }
        }
    }

    @inline(always)
    private mutating func stepIntoSelectionSet(
        of owner: Nodes.Index, _ cursor: inout Cursor
    ) throws(SyntaxFailure) {
        guard cursor.isAt("{") else { throw expected("\"{\"", cursor) }
        try descend(cursor)
        nodes.enterSelectionSet(of: owner, start: cursor.start)
        try step(&cursor)
    }

    /// Closes a selection set together with the definition, field, or fragment that it belongs to.
    ///
    /// - Returns: whether that was the definition.
    @inline(always)
    private mutating func closeSelectionSet(_ cursor: inout Cursor) throws(SyntaxFailure) -> Bool {
        nodes.leaveSelectionSet(end: cursor.start &+ 1)
        ascend()
        try advance(&cursor)
        return nodes.innermost == Nodes.none
    }

    /// Field :: Alias? Name Arguments? Directives? SelectionSet?
    ///
    /// Parses everything but the selection set.
    @inline(always)
    private mutating func parseField(_ cursor: inout Cursor) throws(SyntaxFailure) -> Nodes.Index {
        guard let token = cursor.name else { throw expected("Name", cursor) }
        let name = intern(token, cursor)
        let field = nodes.append(.field, name, start: token.start, end: token.end)
        try step(&cursor, tokenEnd: token.end)
        // Most fields consist of a name and are followed by another field.
        if cursor.isAtLetter { return field }
        skipIgnored(&cursor)
        if cursor.isAt(":") {
            _ = nodes.append(.alias, name, start: token.start, end: token.end)
            try step(&cursor)
            let name = try expectName(&cursor)
            nodes[field].setName(intern(name, cursor))
            try advance(&cursor, tokenEnd: name.end)
            close(field)
        }
        if cursor.isAt("(") {
            cursor = try parseArguments(isConst: false, from: cursor)
            close(field)
        }
        if cursor.isAt("@") {
            cursor = try parseDirectives(isConst: false, from: cursor)
            close(field)
        }
        return field
    }

    /// Arguments :: `(` Argument+ `)`; Argument :: Name `:` Value
    @inline(never)
    private mutating func parseArguments(
        isConst: Bool, from start: Cursor
    ) throws(SyntaxFailure) -> Cursor {
        var cursor = start
        try step(&cursor)
        repeat {
            let argument = try stepPastName(.argument, &cursor)
            try stepPast(":", &cursor)
            try parseValue(isConst: isConst, &cursor)
            close(argument)
        } while !cursor.isAt(")")
        try advance(&cursor)
        return cursor
    }

    /// Directives :: Directive+; Directive :: `@` Name Arguments?
    @inline(never)
    private mutating func parseDirectives(
        isConst: Bool, from start: Cursor
    ) throws(SyntaxFailure) -> Cursor {
        var cursor = start
        while cursor.isAt("@") {
            let directive = open(.directive, cursor)
            try step(&cursor)
            try parseName(of: directive, &cursor)
            if cursor.isAt("(") { cursor = try parseArguments(isConst: isConst, from: cursor) }
            close(directive)
        }
        return cursor
    }

    @inline(always)
    mutating func parseDirectives(isConst: Bool, _ cursor: inout Cursor) throws(SyntaxFailure) {
        if cursor.isAt("@") { cursor = try parseDirectives(isConst: isConst, from: cursor) }
    }

    /// FragmentSpread :: `...` FragmentName Directives?
    ///
    /// InlineFragment :: `...` TypeCondition? Directives? SelectionSet
    ///
    /// - Returns: the node, and whether it is an inline fragment. The selection set of an inline
    ///   fragment has not been parsed yet.
    @inline(always)
    private mutating func parseFragment(
        _ cursor: inout Cursor
    ) throws(SyntaxFailure) -> (Nodes.Index, isInline: Bool) {
        let start = cursor.start
        try stepPastSpread(&cursor)
        if !cursor.isAtLetter { skipIgnored(&cursor) }
        let name = cursor.name
        if let name, !name.isKeyword("on") {
            let spread = try stepPast(name, .fragmentSpread, start: start, &cursor)
            skipIgnored(&cursor)
            if cursor.isAt("@") {
                cursor = try parseDirectives(isConst: false, from: cursor)
                close(spread)
            }
            return (spread, false)
        }
        let fragment = nodes.open(.inlineFragment, start: start)
        if let on = name { try parseTypeCondition(on, &cursor) }
        try parseDirectives(isConst: false, &cursor)
        return (fragment, true)
    }

    /// TypeCondition :: `on` NamedType
    @inline(always)
    private mutating func parseTypeCondition(
        _ on: NameToken, _ cursor: inout Cursor
    ) throws(SyntaxFailure) {
        try step(&cursor, tokenEnd: on.end)
        _ = try stepPastName(.namedType, &cursor)
        skipIgnored(&cursor)
    }

    /// FragmentDefinition ::
    ///     Description? `fragment` FragmentName TypeCondition Directives? SelectionSet
    ///
    /// The keyword has been consumed.
    private mutating func parseFragmentDefinition(
        _ node: Nodes.Index, _ cursor: inout Cursor
    ) throws(SyntaxFailure) {
        nodes[node].kind = .fragmentDefinition
        let name = try expectName(&cursor)
        guard !name.isKeyword("on") else { throw unexpected(cursor) }
        try parseName(of: node, &cursor)
        guard let on = cursor.name, on.isKeyword("on") else { throw expected("\"on\"", cursor) }
        try parseTypeCondition(on, &cursor)
        try parseDirectives(isConst: false, &cursor)
        cursor = try parseSelectionSet(of: node, from: cursor)
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
