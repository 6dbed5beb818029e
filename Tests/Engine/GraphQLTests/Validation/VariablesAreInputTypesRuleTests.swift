import Testing

@testable import GraphQL

/// The types of variables are input types.
struct VariablesAreInputTypesRuleTests {
    @Test(arguments: [
        "query ($a: String, $b: [Filter!]!, $c: Style, $d: Anything, $e: Unknown) { author { id } }"
    ])
    func acceptsInputTypes(source: String) throws {
        #expect(try errors(of: VariablesAreInputTypesRule(), in: source).isEmpty)
    }

    @Test(
        arguments: [
            (
                "query ($a: Book, $b: [[Item!]]!, $c: Node) { author { id } }",
                [
                    #"Variable "$a" cannot be non-input type "Book". @1:12"#,
                    #"Variable "$b" cannot be non-input type "[[Item!]]!". @1:22"#,
                    #"Variable "$c" cannot be non-input type "Node". @1:38"#,
                ]
            )
        ] as [(String, [String])])
    func rejectsOutputTypes(source: String, expected: [String]) throws {
        #expect(try errors(of: VariablesAreInputTypesRule(), in: source) == expected)
    }
}
