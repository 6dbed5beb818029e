import Testing

@testable import GraphQL

/// A directive that is not repeatable is used once per location.
struct UniqueDirectivesPerLocationRuleTests {
    @Test(arguments: [
        "query @onQuery(if: true) { author @onField { id @onField @skip(if: false) } }",
        #"{ author @tag(name: "a") @tag(name: "b") { id } }"#,
        "{ author @unknown @unknown { id } }",
    ])
    func acceptsOneOfEach(source: String) throws {
        #expect(try errors(of: UniqueDirectivesPerLocationRule(), in: source).isEmpty)
    }

    @Test(
        arguments: [
            (
                "{ author @onField @onField { id } }",
                [
                    #"The directive "@onField" can only be used once at this location. @1:10 1:19"#
                ]
            ),
            (
                "{ author { id @onField @skip(if: true) @onField @onField ... @skip(if: true) @skip(if: false) { id } } }",
                [
                    #"The directive "@onField" can only be used once at this location. @1:15 1:40"#,
                    #"The directive "@onField" can only be used once at this location. @1:15 1:49"#,
                    #"The directive "@skip" can only be used once at this location. @1:62 1:78"#,
                ]
            ),
        ] as [(String, [String])])
    func rejectsRepeatedDirectives(source: String, expected: [String]) throws {
        #expect(try errors(of: UniqueDirectivesPerLocationRule(), in: source) == expected)
    }
}
