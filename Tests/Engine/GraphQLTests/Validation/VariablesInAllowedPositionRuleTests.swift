import Testing

@testable import GraphQL

/// Variables have a type that is allowed at each position where they are used.
struct VariablesInAllowedPositionRuleTests {
    @Test(arguments: [
        "query ($a: ID!, $b: [Int!]!, $c: Boolean!) { book(id: $a) { id } count(of: $b, flag: $c) }",
        "query ($a: Boolean) { count(of: [1], flag: $a) items(filter: {ids: null}) { __typename } }",
        #"query ($a: ID = "x") { book(id: $a) { id } }"#,
        "query ($a: Int) { items(filter: {limit: $a, text: $unknown}) { __typename } }",
        "query ($a: [[Int]], $b: [Int]) { matrix(rows: $a) m: matrix(rows: [$b]) }",
        "query ($a: String!) { items(pick: {name: $a}) { __typename } }",
        "query ($a: Pick!) { needs(pick: $a) { __typename } }",
    ])
    func acceptsMatchingVariables(source: String) throws {
        #expect(try errors(of: VariablesInAllowedPositionRule(), in: source).isEmpty)
    }

    @Test(
        arguments: [
            (
                "query ($a: ID) { book(id: $a) { id } }",
                [
                    #"Variable "$a" of type "ID" used in position expecting type "ID!". @1:8 1:27"#
                ]
            ),
            (
                "query A($a: Int!) { book(id: $a) { id } author { ...F } } fragment F on Author { nick(style: $a) }",
                [
                    #"Variable "$a" of type "Int!" used in position expecting type "ID!". @1:9 1:30"#,
                    #"Variable "$a" of type "Int!" used in position expecting type "Style". @1:9 1:94"#,
                ]
            ),
            (
                "query ($a: [Int]!, $b: Int) { count(of: $a) c: count(of: [$b]) }",
                [
                    #"Variable "$a" of type "[Int]!" used in position expecting type "[Int!]!". @1:8 1:41"#,
                    #"Variable "$b" of type "Int" used in position expecting type "Int!". @1:20 1:59"#,
                ]
            ),
            (
                "query ($a: ID = null) { book(id: $a) { id } }",
                [
                    #"Variable "$a" of type "ID" used in position expecting type "ID!". @1:8 1:34"#
                ]
            ),
            (
                "query ($a: [Int]) { matrix(rows: $a) }",
                [
                    #"Variable "$a" of type "[Int]" used in position expecting type "[[Int]]". @1:8 1:34"#
                ]
            ),
            (
                "query ($a: String) { author @skip(if: $a) { id @onField(level: $a) } }",
                [
                    #"Variable "$a" of type "String" used in position expecting type "Boolean!". @1:8 1:39"#,
                    #"Variable "$a" of type "String" used in position expecting type "Int!". @1:8 1:64"#,
                ]
            ),
        ] as [(String, [String])])
    func rejectsMismatchedVariables(source: String, expected: [String]) throws {
        #expect(try errors(of: VariablesInAllowedPositionRule(), in: source) == expected)
    }

    @Test(
        arguments: [
            (
                "query ($a: String) { items(pick: {name: $a}) { __typename } }",
                [
                    #"Variable "$a" is of type "String" but must be non-nullable to be used for OneOf Input Object "Pick". @1:8 1:41"#
                ]
            ),
            (
                #"query ($a: String = "x") { needs(pick: {name: $a}) { __typename } }"#,
                [
                    #"Variable "$a" is of type "String" but must be non-nullable to be used for OneOf Input Object "Pick". @1:8 1:47"#
                ]
            ),
        ] as [(String, [String])])
    func rejectsNullableOneOfMembers(source: String, expected: [String]) throws {
        #expect(try errors(of: VariablesInAllowedPositionRule(), in: source) == expected)
    }
}
