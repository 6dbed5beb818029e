import Testing

@testable import GraphQL

/// Fields with the same response key can be merged.
struct OverlappingFieldsCanBeMergedRuleTests {
    @Test(arguments: [
        "{ author { name name } author { name } }",
        "{ book(id: 1) { a: title b: title } }",
        "{ author { ...A ...B } } fragment A on Author { name } fragment B on Author { name friend { name } }",
        "{ items { ... on Book { a: name } ... on Author { a: nick } } }",
        "{ items { ... on Book { nick(style: LONG) } ... on Author { nick(style: SHORT) } } }",
        #"{ items(filter: {text: "a", limit: 1}) { __typename } items(filter: {limit: 1, text: "a"}) { __typename } }"#,
        "{ author { unknown unknown } }",
        "{ items { ... on Book { author { a: name } } ... on Author { author: friend { a: nick } } } }",
        "fragment A on Author { ...A friend { ...A } name }",
    ])
    func acceptsMergeableFields(source: String) throws {
        #expect(try errors(of: OverlappingFieldsCanBeMergedRule(), in: source).isEmpty)
    }

    @Test(
        arguments: [
            (
                "{ author { a: name\na: nick } }",
                [
                    #"Fields "a" conflict because "name" and "nick" are different fields. Use different aliases on the fields to fetch both if this was intentional. @1:12 2:1"#
                ]
            ),
            (
                "{ author { ...A ...B } } fragment A on Author { x: name } fragment B on Author { x: nick }",
                [
                    #"Fields "x" conflict because "name" and "nick" are different fields. Use different aliases on the fields to fetch both if this was intentional. @1:49 1:82"#
                ]
            ),
            (
                "{ a: author { id } a: shelf { id } }",
                [
                    #"Fields "a" conflict because "author" and "shelf" are different fields. Use different aliases on the fields to fetch both if this was intentional. @1:3 1:20"#
                ]
            ),
            (
                "{ author { ... { a: id } ... { a: name } } }",
                [
                    #"Fields "a" conflict because "id" and "name" are different fields. Use different aliases on the fields to fetch both if this was intentional. @1:18 1:32"#
                ]
            ),
            (
                "{ named { a: name ... on Book { a: title } } }",
                [
                    #"Fields "a" conflict because "name" and "title" are different fields. Use different aliases on the fields to fetch both if this was intentional. @1:11 1:33"#
                ]
            ),
        ] as [(String, [String])])
    func rejectsDifferentFields(source: String, expected: [String]) throws {
        #expect(try errors(of: OverlappingFieldsCanBeMergedRule(), in: source) == expected)
    }

    @Test(
        arguments: [
            (
                "{ book(id: 1) { id } book(id: 2) { id } }",
                [
                    #"Fields "book" conflict because they have differing arguments. Use different aliases on the fields to fetch both if this was intentional. @1:3 1:22"#
                ]
            ),
            (
                "{ author { nick nick(style: LONG) } }",
                [
                    #"Fields "nick" conflict because they have differing arguments. Use different aliases on the fields to fetch both if this was intentional. @1:12 1:17"#
                ]
            ),
            (
                "query ($a: ID!, $b: ID!) { book(id: $a) { id } book(id: $b) { id } }",
                [
                    #"Fields "book" conflict because they have differing arguments. Use different aliases on the fields to fetch both if this was intentional. @1:28 1:48"#
                ]
            ),
            (
                #"{ book(id: 1) { id } book(id: "1") { id } }"#,
                [
                    #"Fields "book" conflict because they have differing arguments. Use different aliases on the fields to fetch both if this was intentional. @1:3 1:22"#
                ]
            ),
            (
                #"{ items(filter: {text: "a"}) { __typename } items(filter: {text: """a"""}) { __typename } }"#,
                [
                    #"Fields "items" conflict because they have differing arguments. Use different aliases on the fields to fetch both if this was intentional. @1:3 1:45"#
                ]
            ),
        ] as [(String, [String])])
    func rejectsDifferentArguments(source: String, expected: [String]) throws {
        #expect(try errors(of: OverlappingFieldsCanBeMergedRule(), in: source) == expected)
    }

    /// The selection set of a leaf field has no parent type when it is checked directly, but has
    /// one when the fields are compared. Both comparisons are made.
    @Test func comparesASelectionOnceForEachParentType() throws {
        let source = """
            fragment G on Author { title } fragment F on Shelf { id { ... on Book { title } ...G } }
            { items { ... on Book { id { ...G title: author } ...F } } }
            """
        let advice = "Use different aliases on the fields to fetch both if this was intentional."
        let types = "they return conflicting types \"String!\" and \"Int\""
        #expect(
            try errors(of: OverlappingFieldsCanBeMergedRule(), in: source) == [
                "Fields \"title\" conflict because \(types). \(advice) @1:73 1:24",
                "Fields \"id\" conflict because subfields \"title\" conflict because \(types). "
                    + "\(advice) @2:25 1:73 1:54 1:24",
                "Fields \"title\" conflict because \"author\" and \"title\" are different fields. "
                    + "\(advice) @2:35 1:24",
            ])
    }

    @Test(
        arguments: [
            (
                "{ items { ... on Book { title } ... on Author { title } } }",
                [
                    #"Fields "title" conflict because they return conflicting types "String!" and "Int". Use different aliases on the fields to fetch both if this was intentional. @1:25 1:49"#
                ]
            ),
            (
                "{ items { ... on Book { a: tags } ... on Author { a: name } } }",
                [
                    #"Fields "a" conflict because they return conflicting types "[String!]!" and "String". Use different aliases on the fields to fetch both if this was intentional. @1:25 1:51"#
                ]
            ),
            (
                "{ items { ... on Book { a: title } ... on Author { a: name } } }",
                [
                    #"Fields "a" conflict because they return conflicting types "String!" and "String". Use different aliases on the fields to fetch both if this was intentional. @1:25 1:52"#
                ]
            ),
            (
                "{ items { ... on Book { a: similar { id } } ... on Author { a: books(first: 1) { id } } } }",
                [
                    #"Fields "a" conflict because they return conflicting types "[Book!]!" and "[Book]". Use different aliases on the fields to fetch both if this was intentional. @1:25 1:61"#
                ]
            ),
        ] as [(String, [String])])
    func rejectsDifferentShapes(source: String, expected: [String]) throws {
        #expect(try errors(of: OverlappingFieldsCanBeMergedRule(), in: source) == expected)
    }

    @Test(
        arguments: [
            (
                "{ a: author { x: name } a: author { x: nick } }",
                [
                    #"Fields "a" conflict because subfields "x" conflict because "name" and "nick" are different fields. Use different aliases on the fields to fetch both if this was intentional. @1:3 1:15 1:25 1:37"#
                ]
            ),
            (
                "{ a: author { x: name y: id } a: author { x: nick y: age } }",
                [
                    #"Fields "a" conflict because subfields "x" conflict because "name" and "nick" are different fields and subfields "y" conflict because "id" and "age" are different fields. Use different aliases on the fields to fetch both if this was intentional. @1:3 1:15 1:23 1:31 1:43 1:51"#
                ]
            ),
            (
                "{ author { friend { a: name } } author { friend { a: age } } }",
                [
                    #"Fields "author" conflict because subfields "friend" conflict because subfields "a" conflict because "name" and "age" are different fields. Use different aliases on the fields to fetch both if this was intentional. @1:3 1:12 1:21 1:33 1:42 1:51"#
                ]
            ),
            (
                "{ author { ...A friend { x: age } } }\nfragment A on Author { friend { ...B } }\nfragment B on Author { x: name }",
                [
                    #"Fields "friend" conflict because subfields "x" conflict because "age" and "name" are different fields. Use different aliases on the fields to fetch both if this was intentional. @1:17 1:26 2:24 3:24"#
                ]
            ),
        ] as [(String, [String])])
    func reportsConflictingSubfields(source: String, expected: [String]) throws {
        #expect(try errors(of: OverlappingFieldsCanBeMergedRule(), in: source) == expected)
    }

    @Test(
        arguments: [
            (
                "{ author { ...X friend { ...Y } } } fragment X on Author { friend { ...Z name: nick } } fragment Y on Author { ...Z } fragment Z on Author { name }",
                [
                    #"Fields "friend" conflict because subfields "name" conflict because "nick" and "name" are different fields. Use different aliases on the fields to fetch both if this was intentional. @1:17 1:74 1:60 1:142"#
                ]
            )
        ] as [(String, [String])])
    func comparesFragmentsWithEveryFieldSet(source: String, expected: [String]) throws {
        #expect(try errors(of: OverlappingFieldsCanBeMergedRule(), in: source) == expected)
    }

    /// Fragments are compared in pairs. If there are too many, the document is rejected before the
    /// pairs are created.
    @Test(arguments: [
        "{ author { x: name \(spreads("A")) } author { x: nick \(spreads("B")) } }",
        "{ a: author { id } a: shelf { id } \(spreads("A")) \(spreads("B")) }",
    ])
    func rejectsTooManyFragmentPairs(source: String) throws {
        let errors = try errors(of: OverlappingFieldsCanBeMergedRule(), in: source)
        #expect(
            errors.last?.hasPrefix(
                "Checking whether the fields can be merged takes more than 200000 comparisons.")
                == true)
    }

    private static func spreads(_ prefix: String) -> String {
        (0..<1200).map { "...\(prefix)\($0)" }.joined(separator: " ")
    }
}
