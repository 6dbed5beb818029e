import Testing

@testable import GraphQL

/// An anonymous operation is the only operation of its document.
struct LoneAnonymousOperationRuleTests {
    @Test(arguments: [
        "{ author { id } }",
        "query A { author { id } } query B { author { id } }",
        "{ ...F } fragment F on Query { author { id } }",
    ])
    func acceptsLoneAnonymousOperation(source: String) throws {
        #expect(try errors(of: LoneAnonymousOperationRule(), in: source).isEmpty)
    }

    @Test(
        arguments: [
            (
                "{ author { id } } { shelf { id } }",
                [
                    "This anonymous operation must be the only defined operation. @1:1",
                    "This anonymous operation must be the only defined operation. @1:19",
                ]
            ),
            (
                "{ author { id } }\nquery A { shelf { id } }",
                [
                    "This anonymous operation must be the only defined operation. @1:1"
                ]
            ),
        ] as [(String, [String])])
    func rejectsAnonymousOperationAmongOthers(source: String, expected: [String]) throws {
        #expect(try errors(of: LoneAnonymousOperationRule(), in: source) == expected)
    }
}
