import Testing

@testable import GraphQL

/// The schema has the operation's root type.
struct KnownOperationTypesRuleTests {
    @Test(arguments: [
        "{ author { id } }",
        "subscription { ticked }",
    ])
    func takesSupportedOperations(source: String) throws {
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
    func refusesOthers(source: String, expected: [String]) throws {
        #expect(try errors(of: KnownOperationTypesRule(), in: source) == expected)
    }
}
