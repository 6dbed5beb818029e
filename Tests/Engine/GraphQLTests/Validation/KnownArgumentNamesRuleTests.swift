import Testing

@testable import GraphQL

/// Arguments are defined by their field or directive.
struct KnownArgumentNamesRuleTests {
    @Test(arguments: [
        #"{ book(id: 1) { similar(first: 1, filter: {}) @onField(note: "a", level: 2) { id } } }"#,
        "{ author { unknown(a: 1) id @unknown(a: 1) } }",
        #"{ __type(name: "a") { fields(includeDeprecated: true) { name } } }"#,
    ])
    func acceptsKnownArguments(source: String) throws {
        #expect(try errors(of: KnownArgumentNamesRule(), in: source).isEmpty)
    }

    @Test(
        arguments: [
            (
                "{ book(id: 1, idd: 2) { similar(frist: 1) { id } } }",
                [
                    #"Unknown argument "idd" on field "Query.book". Did you mean "id"? @1:15"#,
                    #"Unknown argument "frist" on field "Book.similar". Did you mean "first"? @1:33"#,
                ]
            ),
            (
                #"{ author @onField(notes: "a") @skip(if: true, unless: 1) { __typename(a: 1) } }"#,
                [
                    #"Unknown argument "notes" on directive "@onField". Did you mean "note"? @1:19"#,
                    #"Unknown argument "unless" on directive "@skip". @1:47"#,
                    #"Unknown argument "a" on field "Author.__typename". @1:71"#,
                ]
            ),
        ] as [(String, [String])])
    func rejectsUnknownArguments(source: String, expected: [String]) throws {
        #expect(try errors(of: KnownArgumentNamesRule(), in: source) == expected)
    }
}
