/// Parses a document, which may contain executable definitions, type-system definitions and
/// extensions, or both.
///
/// - Throws: the first syntax error, of the kind `invalidSyntax` and the message of
///   graphql-js. If the text exceeds one of `limits`, the kind is `limitExceeded`, and
///   `extensions.limit` is the name of the limit.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Document
public func parse(
    _ source: Source, limits: ParseLimits = ParseLimits()
) throws(GraphQLError) -> Document {
    Document(
        tree: try parseTree(source, limits) { parser, cursor throws(SyntaxFailure) in
            repeat { try parser.parseDefinition(&cursor) } while !parser.lexer.isAtEnd(cursor)
        })
}

/// Parses a text that consists of one value, such as a default value that is passed to a tool.
///
/// Spec: https://spec.graphql.org/September2025/#Value
package func parseValue(
    _ source: Source, limits: ParseLimits = ParseLimits()
) throws(GraphQLError) -> ValueNode {
    let tree = try parseTree(source, limits) { parser, cursor throws(SyntaxFailure) in
        try parser.parseValue(isConst: false, &cursor)
        try parser.expectEnd(cursor)
    }
    return ValueNode(NodeReference(tree: tree, index: 0))
}

/// Parses a text that consists of one type reference, such as `[Book!]!`.
///
/// Spec: https://spec.graphql.org/September2025/#Type
package func parseType(
    _ source: Source, limits: ParseLimits = ParseLimits()
) throws(GraphQLError) -> TypeReference {
    let tree = try parseTree(source, limits) { parser, cursor throws(SyntaxFailure) in
        try parser.parseTypeReference(&cursor)
        try parser.expectEnd(cursor)
    }
    return NodeReference(tree: tree, index: 0).typeReference
}

/// Runs one production on a text and returns the syntax tree.
private func parseTree(
    _ source: Source, _ limits: ParseLimits,
    _ parse: (inout Parser, inout Cursor) throws(SyntaxFailure) -> Void
) throws(GraphQLError) -> SyntaxTree {
    try source.check(limits)
    var parser = Parser(source, limits: limits)
    do throws(SyntaxFailure) {
        var cursor = try parser.lexer.begin()
        try parse(&parser, &cursor)
    } catch {
        throw error.error
    }
    return parser.finish()
}
