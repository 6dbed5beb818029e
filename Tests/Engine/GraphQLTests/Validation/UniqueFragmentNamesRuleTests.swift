import Testing

@testable import GraphQL

/// Fragment names are unique.
struct UniqueFragmentNamesRuleTests {
    @Test(arguments: [
        "{ ...A ...B } fragment A on Query { author { id } } fragment B on Query { author { id } }",
        "query A { ...A } fragment A on Query { author { id } }",
    ])
    func acceptsDistinctNames(source: String) throws {
        #expect(try errors(of: UniqueFragmentNamesRule(), in: source).isEmpty)
    }

    @Test(
        arguments: [
            (
                "{ ...A }\nfragment A on Query { author { id } }\nfragment A on Query { shelf { id } }",
                [
                    #"There can be only one fragment named "A". @2:10 3:10"#
                ]
            )
        ] as [(String, [String])])
    func rejectsDuplicateNames(source: String, expected: [String]) throws {
        #expect(try errors(of: UniqueFragmentNamesRule(), in: source) == expected)
    }
}
