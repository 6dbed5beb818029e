import GraphQL
import GraphQLServing
import Testing

/// A request with its data, and the response that it must have.
struct ExecutionCase: CustomTestStringConvertible, Sendable {
    /// The behavior that the case shows.
    let name: String
    let source: String
    /// The value of the root object as JSON. See `JSONDataSource`.
    var root = "{}"
    var variables = "{}"
    var operationName: String?
    /// The response as JSON, with any white space. The order of the members matters.
    let response: String

    var testDescription: String { name }

    /// Executes the request with each way of loading and expects the same response every time.
    func check(against schema: Schema, at location: Testing.SourceLocation = #_sourceLocation)
        async throws
    {
        let expected = jsonText(try json(response))
        for loading in JSONDataSource.Loading.allCases {
            let found = try await respond(
                to: source, root: root, variables: variables, operationName: operationName,
                schema: schema, loading: loading)
            #expect(found == expected, "loading: \(loading)", sourceLocation: location)
        }
    }
}

/// Executes a request on a JSON value.
///
/// - Returns: the response. A request error is a response too.
func respond(
    to source: String, root: String = "{}", variables: String = "{}",
    operationName: String? = nil, schema: Schema, loading: JSONDataSource.Loading = .immediate,
    context: RecordingContext = RecordingContext(), onError: ErrorBehavior = .propagate,
    errorsMax: Int = 100
) async throws -> String {
    let cache = DocumentCache(
        schema: schema, resolvers: JSONDataSource(schema: schema, loading: loading),
        limits: .trusted, errorCodes: .apollo)
    let (root, variables) = (try json(root), try json(variables))
    do throws(RequestErrors) {
        let (plan, values, _) = try await cache.document(Array(source.utf8))
            .plan(operationName: operationName, variables: variables)
        let result = await execute(
            plan, variables: values, root: JSONBatch([root], selection: plan.root),
            context: context, onError: onError, errorsMax: errorsMax)
        return String(decoding: result.body, as: UTF8.self)
    } catch {
        return String(decoding: error.body, as: UTF8.self)
    }
}

/// Returns a value as JSON without white space.
func jsonText(_ value: Value) -> String {
    var writer = ResponseWriter()
    writer.write(value)
    return String(decoding: writer.bytes, as: UTF8.self)
}

/// Parses a JSON text.
func json(_ text: String) throws -> Value {
    try parseJSON(Array(text.utf8), limits: JSONLimits(nestingMax: 200))
}
