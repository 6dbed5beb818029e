import Testing

@testable import GraphQL

/// The field names of an input object are unique.
struct UniqueInputFieldNamesRuleTests {
    @Test(arguments: [
        #"{ items(filter: {text: "a", not: {text: "b"}, any: {a: {a: 1}}}) { __typename } }"#
    ])
    func acceptsDistinctNames(source: String) throws {
        #expect(try errors(of: UniqueInputFieldNamesRule(), in: source).isEmpty)
    }

    @Test(
        arguments: [
            (
                #"{ items(filter: {text: "a", text: "b", text: "c"}) { __typename } }"#,
                [
                    #"There can be only one input field named "text". @1:18 1:29"#,
                    #"There can be only one input field named "text". @1:18 1:40"#,
                ]
            ),
            (
                "{ items(filter: {any: [{a: 1, a: 2}], not: {limit: 1, limit: 1}}) { __typename } }",
                [
                    #"There can be only one input field named "a". @1:25 1:31"#,
                    #"There can be only one input field named "limit". @1:45 1:55"#,
                ]
            ),
        ] as [(String, [String])])
    func rejectsDuplicateNames(source: String, expected: [String]) throws {
        #expect(try errors(of: UniqueInputFieldNamesRule(), in: source) == expected)
    }
}
