import GraphQL
import GraphQLServing
import Testing

/// Errors for resolvers that do not match the schema.
@Suite struct InvalidResolverTests {
    private struct Resolvers: ResolverSource {
        func resolver(for field: FieldDefinition, of type: TypeDefinition) -> FieldResolver? {
            field.name == "nothing" ? nil : .property
        }
    }

    private static let schema = "type Query { nothing: Int q: Query qs: [Query] } scalar Date"

    @Test(
        arguments: [
            ("{ nothing }", "The field Query.nothing has no resolver."),
            (
                "{ __typename q { __typename } }",
                "The field Query.q returns objects, so its resolver must be a loader."
            ),
            (
                "{ qs { nothing } }", "The field Query.nothing has no resolver."
            ),
        ])
    func rejectsFieldsWithoutSuitableResolver(text: String, message: String) async throws {
        let cache = DocumentCache(
            schema: try buildSchema(Source(Self.schema)), resolvers: Resolvers(),
            limits: RequestLimits(), errorCodes: .apollo)
        let document = try await cache.document(Array(text.utf8))
        let error = await #expect(throws: RequestErrors.self) {
            try await document.plan(operationName: nil, variables: .null)
        }
        #expect(error?.errors.map(\.message) == [message])
        #expect(error?.errors.map(\.kind) == [.internalError])
    }

    @Test(arguments: ["Dat", "Int", "Query"])
    func rejectsCoercionOfUndefinedScalar(name: String) throws {
        let identity: ScalarInput = { value throws(CoercionError) in value }
        _ = try buildSchema(Source(Self.schema), scalars: ["Date": identity])
        let error = #expect(throws: RequestErrors.self) {
            try buildSchema(Source(Self.schema), scalars: ["Date": identity, name: identity])
        }
        #expect(
            error?.errors.map(\.message) == [
                "Input coercion was given for \"\(name)\", which is not a custom scalar of the schema."
            ])
    }
}
