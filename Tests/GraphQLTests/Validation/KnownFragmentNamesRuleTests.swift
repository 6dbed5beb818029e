import Testing

@testable import GraphQL

/// Fragments that are spread exist.
struct KnownFragmentNamesRuleTests {
    @Test(arguments: [
        "{ ...A } fragment A on Query { author { id } }"
    ])
    func takesKnownFragments(source: String) throws {
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
    func refusesOthers(source: String, expected: [String]) throws {
        #expect(try errors(of: KnownFragmentNamesRule(), in: source) == expected)
    }
}
