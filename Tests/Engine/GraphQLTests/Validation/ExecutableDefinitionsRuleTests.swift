import Testing

@testable import GraphQL

/// A document contains only operations and fragments.
struct ExecutableDefinitionsRuleTests {
    @Test(arguments: [
        "{ author { id } }",
        "query A { ...F } fragment F on Query { author { id } }",
    ])
    func acceptsOperationsAndFragments(source: String) throws {
        #expect(try errors(of: ExecutableDefinitionsRule(), in: source).isEmpty)
    }

    @Test(
        arguments: [
            (
                "{ author { id } } type Cow { name: String }",
                [
                    #"The "Cow" definition is not executable. @1:19"#
                ]
            ),
            (
                "schema { query: Query } extend schema { mutation: Query }",
                [
                    "The schema definition is not executable. @1:1",
                    "The schema definition is not executable. @1:25",
                ]
            ),
            (
                "directive @d on FIELD\nscalar S",
                [
                    #"The "d" definition is not executable. @1:1"#,
                    #"The "S" definition is not executable. @2:1"#,
                ]
            ),
        ] as [(String, [String])])
    func rejectsTypeSystemDefinitions(source: String, expected: [String]) throws {
        #expect(try errors(of: ExecutableDefinitionsRule(), in: source) == expected)
    }
}
