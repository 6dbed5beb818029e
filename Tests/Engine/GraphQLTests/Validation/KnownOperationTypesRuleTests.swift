import Testing

@testable import GraphQL

/// The schema has a root type for each operation.
struct KnownOperationTypesRuleTests {
    @Test(arguments: [
        "{ author { id } }",
        "subscription { ticked }",
    ])
    func acceptsSupportedOperations(source: String) throws {
        #expect(try errors(of: KnownOperationTypesRule(), in: source).isEmpty)
    }

    @Test(
        arguments: [
            (
                "{ author { id } } mutation M { drop }",
                [
                    "The mutation operation is not supported by the schema. @1:19"
                ]
            )
        ] as [(String, [String])])
    func rejectsUnsupportedOperations(source: String, expected: [String]) throws {
        #expect(try errors(of: KnownOperationTypesRule(), in: source) == expected)
    }
}
