import Testing

@testable import GraphQL

/// Operation names are unique.
struct UniqueOperationNamesRuleTests {
    @Test(arguments: [
        "{ author { id } }",
        "query A { author { id } } query B { author { id } }",
        "query A { ...A } fragment A on Query { author { id } }",
    ])
    func acceptsDistinctNames(source: String) throws {
        #expect(try errors(of: UniqueOperationNamesRule(), in: source).isEmpty)
    }

    @Test(
        arguments: [
            (
                "query A { author { id } }\nquery A { author { id } }",
                [
                    #"There can be only one operation named "A". @1:7 2:7"#
                ]
            ),
            (
                "query A { author { id } } subscription A { ticked } query A { author { id } }",
                [
                    #"There can be only one operation named "A". @1:7 1:40"#,
                    #"There can be only one operation named "A". @1:7 1:59"#,
                ]
            ),
        ] as [(String, [String])])
    func rejectsDuplicateNames(source: String, expected: [String]) throws {
        #expect(try errors(of: UniqueOperationNamesRule(), in: source) == expected)
    }
}
