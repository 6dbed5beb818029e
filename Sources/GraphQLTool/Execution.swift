import GraphQL

/// Runs an operation over JSON: parses, validates, coerces the variables, executes.
///
/// - Returns: the members `data` and, where there are any, `errors`.
/// - Throws: what stops a request before it is executed.
func executeOverJSON(
    _ source: String, operationName: String?, variables: Value, root: Value, schema: Schema
) async throws(RequestErrors) -> [Value.Member] {
    var limits = RequestLimits()
    limits.parsing = .trusted
    limits.plannedFieldsMax = 1_000_000
    let cache = DocumentCache(
        schema: schema, resolvers: JSONResolvers(schema: schema), limits: limits)
    let document = try cache.document(Array(source.utf8))
    let (plan, values, _) = try document.plan(operationName: operationName, variables: variables)
    let result = await execute(
        plan, variables: values, root: JSONBatch([root]), context: NoContext())
    let body: Value
    do throws(JSONError) {
        body = try parseJSON(result.body, limits: JSONLimits(bytesMax: .max, nestingMax: 1_000))
    } catch {
        throw RequestErrors([GraphQLError("The response is no JSON. \(error.message)")])
    }
    var members = [Value.Member("data", body["data"] ?? .null)]
    if !result.errors.isEmpty { members.append(.errors(result.errors)) }
    return members
}

/// Everything introspection can tell, deprecated members included.
let introspectionQuery = """
    query IntrospectionQuery {
      __schema {
        description
        queryType { name kind }
        mutationType { name kind }
        subscriptionType { name kind }
        types { ...FullType }
        directives {
          name
          description
          isRepeatable
          locations
          args(includeDeprecated: true) { ...InputValue }
        }
      }
    }

    fragment FullType on __Type {
      kind
      name
      description
      specifiedByURL
      isOneOf
      fields(includeDeprecated: true) {
        name
        description
        args(includeDeprecated: true) { ...InputValue }
        type { ...TypeRef }
        isDeprecated
        deprecationReason
      }
      inputFields(includeDeprecated: true) { ...InputValue }
      interfaces { ...TypeRef }
      enumValues(includeDeprecated: true) { name description isDeprecated deprecationReason }
      possibleTypes { ...TypeRef }
    }

    fragment InputValue on __InputValue {
      name
      description
      type { ...TypeRef }
      defaultValue
      isDeprecated
      deprecationReason
    }

    fragment TypeRef on __Type {
      kind
      name
      ofType { kind name ofType { kind name ofType { kind name ofType { kind name
        ofType { kind name ofType { kind name ofType { kind name ofType { kind name
          ofType { kind name } } } } } } } } }
    }
    """
