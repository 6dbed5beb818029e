import GraphQL

/// Executes an operation on a JSON value like `executeOverJSON`, for a client that accepts a response in several parts.
///
/// - Returns: all parts, each a JSON object.
func executeIncrementallyOverJSON(
    _ source: String, variables: Value, root: Value, schema: Schema
) async throws(RequestErrors) -> [[UInt8]] {
    let cache = DocumentCache(
        schema: schema, resolvers: JSONResolvers(schema: schema), limits: .trusted)
    let (plan, values, _) = try await cache.document(Array(source.utf8))
        .plan(operationName: nil, variables: variables, isIncremental: true)
    let (first, rest) = await executeIncrementally(
        plan, variables: values, root: JSONBatch([root]), context: EmptyContext(), errorsMax: .max)
    var parts = [first.body]
    while let part = try await rest?.next() { parts.append(part.body) }
    return parts
}

/// Executes an operation on a JSON value: parses and validates the document, coerces the variables,
/// and executes it.
///
/// - Throws: the errors that prevent the execution.
func executeOverJSON(
    _ source: String, operationName: String?, variables: Value, root: Value, schema: Schema
) async throws(RequestErrors) -> ExecutionResult {
    let cache = DocumentCache(
        schema: schema, resolvers: JSONResolvers(schema: schema), limits: .trusted)
    let document = try await cache.document(Array(source.utf8))
    let (plan, values, _) = try await document.plan(
        operationName: operationName, variables: variables)
    return await execute(
        plan, variables: values, root: JSONBatch([root]), context: EmptyContext(), errorsMax: .max)
}
