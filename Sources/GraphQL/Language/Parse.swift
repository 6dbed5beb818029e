/// Parses a document: executable definitions, type-system definitions and extensions, or both.
///
/// - Throws: the first error of the text, with `GRAPHQL_PARSE_FAILED` as its code; or `OPERATION_TOO_COMPLEX`
///   with the name of the limit where the text exceeds one of `limits`. Messages are those of graphql-js.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Document
public func parse(
    _ source: Source, limits: ParseLimits = ParseLimits()
) throws(GraphQLError) -> Document {
    Document(
        tree: try parseTree(source, limits) { parser, at throws(SyntaxFailure) in
            repeat { try parser.parseDefinition(&at) } while !parser.lexer.isAtEnd(at)
        })
}

/// Parses a text that is one value, such as a default value given to a tool.
///
/// Spec: https://spec.graphql.org/September2025/#Value
public func parseValue(
    _ source: Source, limits: ParseLimits = ParseLimits()
) throws(GraphQLError) -> ValueNode {
    let tree = try parseTree(source, limits) { parser, at throws(SyntaxFailure) in
        try parser.parseValue(isConst: false, &at)
        try parser.expectEnd(at)
    }
    return ValueNode(NodeReference(tree: tree, index: 0))
}

/// Parses a text that is one type reference.
///
/// Spec: https://spec.graphql.org/September2025/#Type
public func parseType(
    _ source: Source, limits: ParseLimits = ParseLimits()
) throws(GraphQLError) -> TypeReference {
    let tree = try parseTree(source, limits) { parser, at throws(SyntaxFailure) in
        try parser.parseTypeReference(&at)
        try parser.expectEnd(at)
    }
    return NodeReference(tree: tree, index: 0).typeReference
}

/// The tree of what `parse` reads of a text.
private func parseTree(
    _ source: Source, _ limits: ParseLimits,
    _ parse: (inout Parser, inout Cursor) throws(SyntaxFailure) -> Void
) throws(GraphQLError) -> SyntaxTree {
    try source.check(limits)
    var parser = Parser(source, limits: limits)
    do throws(SyntaxFailure) {
        var at = try parser.lexer.begin()
        try parse(&parser, &at)
    } catch {
        throw error.error
    }
    return parser.finish()
}
