import Testing

@testable import GraphQL

/// Spread fragments are defined.
struct KnownFragmentNamesRuleTests {
    @Test(arguments: [
        "{ ...A } fragment A on Query { author { id } }"
    ])
    func acceptsKnownFragments(source: String) throws {
        #expect(try errors(of: KnownFragmentNamesRule(), in: source).isEmpty)
    }

    @Test(
        arguments: [
            (
                "{ ...A author { ...B ... { ...C } } }",
                [
                    #"Unknown fragment "A". @1:6"#,
                    #"Unknown fragment "B". @1:20"#,
                    #"Unknown fragment "C". @1:31"#,
                ]
            )
        ] as [(String, [String])])
    func rejectsUnknownFragments(source: String, expected: [String]) throws {
        #expect(try errors(of: KnownFragmentNamesRule(), in: source) == expected)
    }
}
