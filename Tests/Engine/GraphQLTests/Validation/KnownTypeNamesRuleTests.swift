import Testing

@testable import GraphQL

/// Referenced types are defined.
struct KnownTypeNamesRuleTests {
    @Test(arguments: [
        "query ($a: String, $b: [ID!]!) { node(id: 1) { ... on Book { id } } }"
    ])
    func acceptsKnownTypes(source: String) throws {
        #expect(try errors(of: KnownTypeNamesRule(), in: source).isEmpty)
    }

    @Test(
        arguments: [
            (
                "query ($a: JumbledUp) { author { ... on Autor { id } } }\nfragment F on Boook { id }",
                [
                    #"Unknown type "JumbledUp". @1:12"#,
                    #"Unknown type "Autor". Did you mean "Author"? @1:41"#,
                    #"Unknown type "Boook". Did you mean "Book"? @2:15"#,
                ]
            ),
            (
                "query ($a: [Strin!]!) { author { id } }",
                [
                    #"Unknown type "Strin". Did you mean "String" or "Style"? @1:13"#
                ]
            ),
        ] as [(String, [String])])
    func rejectsUnknownTypes(source: String, expected: [String]) throws {
        #expect(try errors(of: KnownTypeNamesRule(), in: source) == expected)
    }
}
