import Testing

@testable import GraphQL

/// Fields of leaf types have no selection set, and all other fields have one.
struct ScalarLeafsRuleTests {
    @Test(arguments: [
        "{ author { id name } matrix }",
        "{ book(id: 1) { tags } }",
    ])
    func acceptsLeaves(source: String) throws {
        #expect(try errors(of: ScalarLeafsRule(), in: source).isEmpty)
    }

    @Test(
        arguments: [
            (
                "{ author { name { length } } }",
                [
                    #"Field "name" must not have a selection since type "String" has no subfields. @1:17"#
                ]
            ),
            (
                "{ matrix(rows: []) @onField { a } }",
                [
                    #"Field "matrix" must not have a selection since type "[[Float]]" has no subfields. @1:29"#
                ]
            ),
        ] as [(String, [String])])
    func rejectsSelectionsOfLeaves(source: String, expected: [String]) throws {
        #expect(try errors(of: ScalarLeafsRule(), in: source) == expected)
    }

    @Test(
        arguments: [
            (
                "{ author }",
                [
                    #"Field "author" of type "Author" must have a selection of subfields. Did you mean "author { ... }"? @1:3"#
                ]
            ),
            (
                "{ items }",
                [
                    #"Field "items" of type "[Item!]!" must have a selection of subfields. Did you mean "items { ... }"? @1:3"#
                ]
            ),
        ] as [(String, [String])])
    func rejectsObjectsWithoutSelections(source: String, expected: [String]) throws {
        #expect(try errors(of: ScalarLeafsRule(), in: source) == expected)
    }
}
