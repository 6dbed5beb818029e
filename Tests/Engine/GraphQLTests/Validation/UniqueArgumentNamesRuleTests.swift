import Testing

@testable import GraphQL

/// Argument names are unique.
struct UniqueArgumentNamesRuleTests {
    @Test(arguments: [
        #"{ book(id: 1) { similar(first: 1, filter: {}) { id @onField(note: "a", level: 1) } } }"#
    ])
    func acceptsDistinctNames(source: String) throws {
        #expect(try errors(of: UniqueArgumentNamesRule(), in: source).isEmpty)
    }

    @Test(
        arguments: [
            (
                "{ book(id: 1, id: 2) { similar(first: 1, filter: {}, first: 2, first: 3) { id @skip(if: true, if: false) } } }",
                [
                    #"There can be only one argument named "id". @1:8 1:15"#,
                    #"There can be only one argument named "first". @1:32 1:54 1:64"#,
                    #"There can be only one argument named "if". @1:85 1:95"#,
                ]
            )
        ] as [(String, [String])])
    func rejectsDuplicateNames(source: String, expected: [String]) throws {
        #expect(try errors(of: UniqueArgumentNamesRule(), in: source) == expected)
    }
}
