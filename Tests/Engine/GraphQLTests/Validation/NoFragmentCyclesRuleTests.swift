import Testing

@testable import GraphQL

/// Fragments do not spread themselves, directly or indirectly.
struct NoFragmentCyclesRuleTests {
    @Test(arguments: [
        "fragment A on Author { ...B ...C } fragment B on Author { ...D } fragment C on Author { ...D } fragment D on Author { id }",
        "fragment A on Author { ...Unknown }",
    ])
    func acceptsTreesAndDiamonds(source: String) throws {
        #expect(try errors(of: NoFragmentCyclesRule(), in: source).isEmpty)
    }

    @Test(
        arguments: [
            (
                "fragment A on Author { friend { ...A } }",
                [
                    #"Cannot spread fragment "A" within itself. @1:33"#
                ]
            ),
            (
                "fragment A on Author { ...B }\nfragment B on Author { ...A }",
                [
                    #"Cannot spread fragment "A" within itself via "B". @1:24 2:24"#
                ]
            ),
            (
                "fragment A on Author { ...B ...B ...C } fragment B on Author { ...C } fragment C on Author { ...A ...B }",
                [
                    #"Cannot spread fragment "A" within itself via "B", "C". @1:24 1:64 1:94"#,
                    #"Cannot spread fragment "B" within itself via "C". @1:64 1:99"#,
                ]
            ),
            (
                "fragment A on Author { ... { ...A } friend { ... on Author { ...A } } }",
                [
                    #"Cannot spread fragment "A" within itself. @1:62"#,
                    #"Cannot spread fragment "A" within itself. @1:30"#,
                ]
            ),
        ] as [(String, [String])])
    func rejectsCycles(source: String, expected: [String]) throws {
        #expect(try errors(of: NoFragmentCyclesRule(), in: source) == expected)
    }
}
