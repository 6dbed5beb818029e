import Testing

@testable import GraphQL

/// Defined fragments are used.
struct NoUnusedFragmentsRuleTests {
    @Test(arguments: [
        "{ ...A } fragment A on Query { ...B } fragment B on Query { author { id } }",
        "{ author { ...A } } query B { author { ...A } } fragment A on Author { id }",
    ])
    func acceptsUsedFragments(source: String) throws {
        #expect(try errors(of: NoUnusedFragmentsRule(), in: source).isEmpty)
    }

    @Test(
        arguments: [
            (
                "{ author { id } }\nfragment A on Query { author { id } }",
                [
                    #"Fragment "A" is never used. @2:1"#
                ]
            ),
            (
                "{ ...A } fragment A on Query { author { id } }\nfragment B on Author { ...C } fragment C on Author { ...B }",
                [
                    #"Fragment "B" is never used. @2:1"#,
                    #"Fragment "C" is never used. @2:31"#,
                ]
            ),
        ] as [(String, [String])])
    func rejectsUnusedFragments(source: String, expected: [String]) throws {
        #expect(try errors(of: NoUnusedFragmentsRule(), in: source) == expected)
    }
}
