import Testing

@testable import GraphQL

/// Fragments are spread only where objects of their type can occur.
struct PossibleFragmentSpreadsRuleTests {
    @Test(arguments: [
        "{ node(id: 1) { ... on Book { id } ...N } } fragment N on Named { id }",
        "{ items { ... on Named { id } ...A } } fragment A on Author { id }",
        "{ author { ... on Author { id } ... { id } ... on Unknown { id } } }",
        "{ named { ... on Item { __typename } } }",
    ])
    func acceptsPossibleTypes(source: String) throws {
        #expect(try errors(of: PossibleFragmentSpreadsRule(), in: source).isEmpty)
    }

    @Test(
        arguments: [
            (
                "{ author { ... on Book { id } } }",
                [
                    #"Fragment cannot be spread here as objects of type "Author" can never be of type "Book". @1:12"#
                ]
            ),
            (
                "{ items { ...S } } fragment S on Shelf { id }",
                [
                    #"Fragment "S" cannot be spread here as objects of type "Item" can never be of type "Shelf". @1:11"#
                ]
            ),
            (
                "{ named { ... on Shelf { id } } }",
                [
                    #"Fragment cannot be spread here as objects of type "Named" can never be of type "Shelf". @1:11"#
                ]
            ),
            (
                "{ shelf { ...I } } fragment I on Item { __typename }",
                [
                    #"Fragment "I" cannot be spread here as objects of type "Shelf" can never be of type "Item". @1:11"#
                ]
            ),
        ] as [(String, [String])])
    func rejectsImpossibleTypes(source: String, expected: [String]) throws {
        #expect(try errors(of: PossibleFragmentSpreadsRule(), in: source) == expected)
    }
}
