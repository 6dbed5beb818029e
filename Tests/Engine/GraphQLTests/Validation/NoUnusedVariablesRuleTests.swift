import Testing

@testable import GraphQL

/// Defined variables are used.
struct NoUnusedVariablesRuleTests {
    @Test(arguments: [
        "query ($a: Boolean!, $b: ID!) { author @skip(if: $a) { id } ...F } fragment F on Query { book(id: $b) { id } }"
    ])
    func acceptsUsedVariables(source: String) throws {
        #expect(try errors(of: NoUnusedVariablesRule(), in: source).isEmpty)
    }

    @Test(
        arguments: [
            (
                "query ($a: Int, $b: Int) { author { id } }",
                [
                    #"Variable "$a" is never used. @1:8"#,
                    #"Variable "$b" is never used. @1:17"#,
                ]
            ),
            (
                "query A($a: Int) { ...F }\nquery B($a: ID!, $b: Int) { ...F } fragment F on Query { book(id: $a) { id } }\nquery C($a: Int) { author { id } }",
                [
                    #"Variable "$b" is never used in operation "B". @2:18"#,
                    #"Variable "$a" is never used in operation "C". @3:9"#,
                ]
            ),
        ] as [(String, [String])])
    func rejectsUnusedVariables(source: String, expected: [String]) throws {
        #expect(try errors(of: NoUnusedVariablesRule(), in: source) == expected)
    }
}
