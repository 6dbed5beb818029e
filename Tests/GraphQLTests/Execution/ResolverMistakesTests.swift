import GraphQL
import Testing

/// What the engine says to who binds a schema wrongly.
@Suite struct ResolverMistakesTests {
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
    func fieldsThatCannotBeResolvedAreNotPlanned(text: String, message: String) throws {
        let cache = DocumentCache(
            schema: try buildSchema(Source(Self.schema)), resolvers: Resolvers(),
            limits: RequestLimits())
        let document = try cache.document(Array(text.utf8))
        do throws(RequestErrors) {
            _ = try document.plan(operationName: nil, variables: .null)
            Issue.record("it was planned")
        } catch {
            #expect(error.errors.map(\.message) == [message])
            #expect(error.errors.map(\.code) == ["INTERNAL_SERVER_ERROR"])
        }
    }

    @Test(arguments: ["Dat", "Int", "Query"])
    func inputOfAScalarThatIsNotThereIsNotCoerced(name: String) throws {
        let asItIs: ScalarInput = { value throws(CoercionError) in value }
        _ = try buildSchema(Source(Self.schema), scalars: ["Date": asItIs])
        do throws(RequestErrors) {
            _ = try buildSchema(Source(Self.schema), scalars: ["Date": asItIs, name: asItIs])
            Issue.record("it was built")
        } catch {
            #expect(
                error.errors.map(\.message) == [
                    "Input coercion was given for \"\(name)\", which is not a custom scalar of the schema."
                ])
        }
    }
}
