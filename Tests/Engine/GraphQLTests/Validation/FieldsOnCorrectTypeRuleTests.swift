import Testing

@testable import GraphQL

/// Selected fields are defined by their parent type.
struct FieldsOnCorrectTypeRuleTests {
    @Test(arguments: [
        "{ author { __typename alias: id } }",
        #"{ __schema { types { name } } __type(name: "Book") { name } }"#,
        "{ items { __typename } }",
        "fragment F on Unknown { anything }",
    ])
    func acceptsExistingFields(source: String) throws {
        #expect(try errors(of: FieldsOnCorrectTypeRule(), in: source).isEmpty)
    }

    @Test(
        arguments: [
            (
                "{ author { agee } }",
                [
                    #"Cannot query field "agee" on type "Author". Did you mean "age"? @1:12"#
                ]
            ),
            (
                "{ author { unknown { deeper } } }",
                [
                    #"Cannot query field "unknown" on type "Author". @1:12"#
                ]
            ),
            (
                "{ book(id: 1) { __schema } }",
                [
                    #"Cannot query field "__schema" on type "Book". @1:17"#
                ]
            ),
            (
                "{ author { ... { kind: titel } } }",
                [
                    #"Cannot query field "titel" on type "Author". Did you mean "title"? @1:18"#
                ]
            ),
        ] as [(String, [String])])
    func rejectsUnknownFields(source: String, expected: [String]) throws {
        #expect(try errors(of: FieldsOnCorrectTypeRule(), in: source) == expected)
    }

    @Test(
        arguments: [
            (
                "{ node(id: 1) { title } }",
                [
                    #"Cannot query field "title" on type "Node". Did you mean to use an inline fragment on "Author" or "Book"? @1:17"#
                ]
            ),
            (
                "{ items { nick } }",
                [
                    #"Cannot query field "nick" on type "Item". Did you mean to use an inline fragment on "Named", "Author", or "Book"? @1:11"#
                ]
            ),
            (
                "{ named { pages } }",
                [
                    #"Cannot query field "pages" on type "Named". Did you mean to use an inline fragment on "Book"? @1:11"#
                ]
            ),
            (
                "{ node(id: 1) { name } }",
                [
                    #"Cannot query field "name" on type "Node". Did you mean to use an inline fragment on "Named", "Author", or "Book"? @1:17"#
                ]
            ),
        ] as [(String, [String])])
    func suggestsTypesThatHaveTheField(source: String, expected: [String]) throws {
        #expect(try errors(of: FieldsOnCorrectTypeRule(), in: source) == expected)
    }
}
