import Testing

@testable import GraphQL

/// Variable names are unique.
struct UniqueVariableNamesRuleTests {
    @Test(arguments: [
        "query A($a: Int, $b: Int) { author { id } } query B($a: Int) { author { id } }"
    ])
    func acceptsDistinctNames(source: String) throws {
        #expect(try errors(of: UniqueVariableNamesRule(), in: source).isEmpty)
    }

    @Test(
        arguments: [
            (
                "query A($a: Int, $a: Int, $b: ID, $a: ID) { author { id } }",
                [
                    #"There can be only one variable named "$a". @1:10 1:19 1:36"#
                ]
            )
        ] as [(String, [String])])
    func rejectsDuplicateNames(source: String, expected: [String]) throws {
        #expect(try errors(of: UniqueVariableNamesRule(), in: source) == expected)
    }
}
