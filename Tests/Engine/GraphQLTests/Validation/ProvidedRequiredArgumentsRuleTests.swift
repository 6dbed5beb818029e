import Testing

@testable import GraphQL

/// Required arguments are provided.
struct ProvidedRequiredArgumentsRuleTests {
    @Test(arguments: [
        "{ book(id: 1) { id } count(of: []) author { books(first: null) { id } unknown } }",
        "{ author @onField @skip(if: true) { id } }",
    ])
    func acceptsProvidedArguments(source: String) throws {
        #expect(try errors(of: ProvidedRequiredArgumentsRule(), in: source).isEmpty)
    }

    @Test(
        arguments: [
            (
                "{ book { id } }",
                [
                    #"Field "book" argument "id" of type "ID!" is required, but it was not provided. @1:3"#
                ]
            ),
            (
                "{ count author { books(filter: {}) { id @skip } } }",
                [
                    #"Field "count" argument "of" of type "[Int!]!" is required, but it was not provided. @1:3"#,
                    #"Directive "@skip" argument "if" of type "Boolean!" is required, but it was not provided. @1:41"#,
                    #"Field "books" argument "first" of type "Int!" is required, but it was not provided. @1:18"#,
                ]
            ),
            (
                "query @onQuery { author @tag { id } }",
                [
                    #"Directive "@onQuery" argument "if" of type "Boolean!" is required, but it was not provided. @1:7"#,
                    #"Directive "@tag" argument "name" of type "String!" is required, but it was not provided. @1:25"#,
                ]
            ),
        ] as [(String, [String])])
    func rejectsMissingArguments(source: String, expected: [String]) throws {
        #expect(try errors(of: ProvidedRequiredArgumentsRule(), in: source) == expected)
    }
}
