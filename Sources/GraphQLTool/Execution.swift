import GraphQL

/// Runs an operation over JSON: parses, validates, coerces the variables, executes.
///
/// - Throws: what stops a request before it is executed.
func executeOverJSON(
    _ source: String, operationName: String?, variables: Value, root: Value, schema: Schema
) async throws(RequestErrors) -> ExecutionResult {
    let cache = DocumentCache(
        schema: schema, resolvers: JSONResolvers(schema: schema), limits: .trusted)
    let document = try cache.document(Array(source.utf8))
    let (plan, values, _) = try document.plan(operationName: operationName, variables: variables)
    return await execute(
        plan, variables: values, root: JSONBatch([root]), context: NoContext(), errorsMax: .max)
}
