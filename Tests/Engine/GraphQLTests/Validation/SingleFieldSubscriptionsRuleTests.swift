import Testing

@testable import GraphQL

/// A subscription has exactly one root field, unconditionally.
struct SingleFieldSubscriptionsRuleTests {
    @Test(arguments: [
        "subscription { ticked }",
        "subscription { a: ticked a: ticked }",
        "subscription { ...F } fragment F on Subscription { ticked }",
        "query { author { id } shelf { id } }",
        "subscription { changed { ... on Book { id title } } }",
    ])
    func acceptsOneRootField(source: String) throws {
        #expect(try errors(of: SingleFieldSubscriptionsRule(), in: source).isEmpty)
    }

    @Test(
        arguments: [
            (
                "subscription S { ticked changed { __typename } }",
                [
                    #"Subscription "S" must select only one top level field. @1:25"#
                ]
            ),
            (
                "subscription { ticked a: ticked b: ticked }",
                [
                    "Anonymous Subscription must select only one top level field. @1:23 1:33"
                ]
            ),
            (
                "subscription S { ...F ticked } fragment F on Subscription { a: ticked ...G } fragment G on Subscription { b: ticked ...F }",
                [
                    #"Subscription "S" must select only one top level field. @1:107 1:23"#
                ]
            ),
            (
                "subscription S { ... on Subscription { ticked } x: ticked }",
                [
                    #"Subscription "S" must select only one top level field. @1:49"#
                ]
            ),
        ] as [(String, [String])])
    func rejectsMultipleFields(source: String, expected: [String]) throws {
        #expect(try errors(of: SingleFieldSubscriptionsRule(), in: source) == expected)
    }

    @Test(
        arguments: [
            (
                "subscription { __typename }",
                [
                    "Anonymous Subscription must not select an introspection top level field. @1:16"
                ]
            ),
            (
                "subscription S { ticked t: __typename }",
                [
                    #"Subscription "S" must select only one top level field. @1:25"#,
                    #"Subscription "S" must not select an introspection top level field. @1:25"#,
                ]
            ),
        ] as [(String, [String])])
    func rejectsIntrospection(source: String, expected: [String]) throws {
        #expect(try errors(of: SingleFieldSubscriptionsRule(), in: source) == expected)
    }

    @Test(
        arguments: [
            (
                "subscription S($if: Boolean!) { ticked @skip(if: $if) }",
                [
                    #"Subscription "S" must not use `@skip` or `@include` directives in the top level selection. @1:40"#
                ]
            ),
            (
                "subscription { ...F @include(if: true) } fragment F on Subscription { a: ticked @skip(if: false) }",
                [
                    "Anonymous Subscription must not use `@skip` or `@include` directives in the top level selection. @1:21 1:81"
                ]
            ),
        ] as [(String, [String])])
    func rejectsConditions(source: String, expected: [String]) throws {
        #expect(try errors(of: SingleFieldSubscriptionsRule(), in: source) == expected)
    }
}
