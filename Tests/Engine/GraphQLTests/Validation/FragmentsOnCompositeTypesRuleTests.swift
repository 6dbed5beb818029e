import Testing

@testable import GraphQL

/// The type condition of a fragment is a composite type.
struct FragmentsOnCompositeTypesRuleTests {
    @Test(arguments: [
        "fragment F on Book { id }",
        "fragment F on Named { id }",
        "fragment F on Item { ... on Book { id } ... { __typename } }",
    ])
    func acceptsCompositeTypes(source: String) throws {
        #expect(try errors(of: FragmentsOnCompositeTypesRule(), in: source).isEmpty)
    }

    @Test(
        arguments: [
            (
                "fragment F on Filter { bad }",
                [
                    #"Fragment "F" cannot condition on non composite type "Filter". @1:15"#
                ]
            ),
            (
                "fragment F on Style { bad }",
                [
                    #"Fragment "F" cannot condition on non composite type "Style". @1:15"#
                ]
            ),
            (
                "{ author { ... on String { bad } } }",
                [
                    #"Fragment cannot condition on non composite type "String". @1:19"#
                ]
            ),
        ] as [(String, [String])])
    func rejectsOtherTypes(source: String, expected: [String]) throws {
        #expect(try errors(of: FragmentsOnCompositeTypesRule(), in: source) == expected)
    }
}
