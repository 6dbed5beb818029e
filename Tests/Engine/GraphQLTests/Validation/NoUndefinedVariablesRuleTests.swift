import Testing

@testable import GraphQL

/// Used variables are defined.
struct NoUndefinedVariablesRuleTests {
    @Test(arguments: [
        "query A($id: ID!) { book(id: $id) { id } }",
        "query A($id: ID!) { ...F } query B($id: ID!) { ...F } fragment F on Query { book(id: $id) { id } }",
        "query A($a: Int) { items(filter: {range: {min: $a}, ids: [$a]}) { __typename } }",
    ])
    func acceptsDefinedVariables(source: String) throws {
        #expect(try errors(of: NoUndefinedVariablesRule(), in: source).isEmpty)
    }

    @Test(
        arguments: [
            (
                "{ book(id: $id) { id } }",
                [
                    #"Variable "$id" is not defined. @1:12 1:1"#
                ]
            ),
            (
                "query A { ...F }\nquery B($id: ID!) { ...F }\nfragment F on Query { book(id: $id) { ...G } } fragment G on Book { nick(style: $style) }",
                [
                    #"Variable "$id" is not defined by operation "A". @3:32 1:1"#,
                    #"Variable "$style" is not defined by operation "A". @3:81 1:1"#,
                    #"Variable "$style" is not defined by operation "B". @3:81 2:1"#,
                ]
            ),
            (
                "query A { author { id @include(if: $a) } count(of: [1, $b]) }",
                [
                    #"Variable "$a" is not defined by operation "A". @1:36 1:1"#,
                    #"Variable "$b" is not defined by operation "A". @1:56 1:1"#,
                ]
            ),
        ] as [(String, [String])])
    func rejectsUndefinedVariables(source: String, expected: [String]) throws {
        #expect(try errors(of: NoUndefinedVariablesRule(), in: source) == expected)
    }
}
