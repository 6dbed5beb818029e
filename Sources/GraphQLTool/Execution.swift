import GraphQL

/// Executes an operation on a JSON value: parses and validates the document, coerces the variables,
/// and executes it.
///
/// - Throws: the errors that prevent the execution.
func executeOverJSON(
    _ source: String, operationName: String?, variables: Value, root: Value, schema: Schema
) async throws(RequestErrors) -> ExecutionResult {
    let cache = DocumentCache(
        schema: schema, resolvers: JSONResolvers(schema: schema), limits: .trusted)
    let document = try cache.document(Array(source.utf8))
    let (plan, values, _) = try document.plan(operationName: operationName, variables: variables)
    return await execute(
        plan, variables: values, root: JSONBatch([root]), context: EmptyContext(), errorsMax: .max)
}
