import Testing

@testable import GraphQL

/// Introspection disabled by the validation options.
struct NoSchemaIntrospectionRuleTests {
    private static let off = ValidationOptions(introspectionDisabledReason: "Ask for it.")

    private static func message(_ field: String) -> String {
        "Cannot query field \"\(field)\": introspection is disabled. Ask for it."
    }

    @Test(
        arguments: [
            ("{ __schema { types { name fields { name } } } }", [message("__schema") + " @1:3"]),
            ("{ a: __schema { types { name } } }", [message("__schema") + " @1:3"]),
            (#"{ __type(name: "Book") { name } }"#, [message("__type") + " @1:3"]),
            ("{ __schema }", [message("__schema") + " @1:3"]),
            (
                "{ ...F } fragment F on Query { __schema { types { name } } }",
                [message("__schema") + " @1:32"]
            ),
            (
                "{ ... { ... on Query { __schema @skip(if: true) { types { name } } } } }",
                [message("__schema") + " @1:24"]
            ),
            (
                "{ __schema { types { name } } x: __schema { types { name } } }",
                [message("__schema") + " @1:3", message("__schema") + " @1:31"]
            ),
        ] as [(String, [String])])
    func rejectsIntrospectionFields(
        source: String, expected: [String]
    ) throws {
        #expect(
            try errors(of: NoSchemaIntrospectionRule(), in: source, options: Self.off) == expected)
        #expect(try errors(of: NoSchemaIntrospectionRule(), in: source).isEmpty)
    }

    @Test(arguments: [
        "{ __typename author { __typename } }",
        "{ items { __typename ... on Book { t: __typename } } }",
        "subscription { ticked }",
    ])
    func allowsTypename(source: String) throws {
        #expect(
            try errors(of: NoSchemaIntrospectionRule(), in: source, options: Self.off).isEmpty)
    }

    @Test func validateAppliesTheRule() throws {
        let document = try parse(Source("{ __schema { types { name } } }"))
        let found = validate(document, against: harnessSchema, options: Self.off)
        #expect(found.map(\.message) == [Self.message("__schema")])
        #expect(found.first?.kind == .invalidDocument)
        #expect(validate(document, against: harnessSchema).isEmpty)
    }
}
