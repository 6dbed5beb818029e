import Testing

@testable import GraphQL

/// Directives are defined and used at allowed locations.
struct KnownDirectivesRuleTests {
    @Test(arguments: [
        "query @onQuery(if: true) { author @onField @skip(if: true) { ...F @include(if: true) ... @onField { id } } } fragment F on Author @onQuery(if: true) { id }",
        "query ($a: Int @onQuery(if: true)) { count(of: [$a]) }",
    ])
    func acceptsKnownDirectives(source: String) throws {
        #expect(try errors(of: KnownDirectivesRule(), in: source).isEmpty)
    }

    @Test(
        arguments: [
            (
                "{ author @unknown { id @nope } }",
                [
                    #"Unknown directive "@unknown". @1:10"#,
                    #"Unknown directive "@nope". @1:24"#,
                ]
            )
        ] as [(String, [String])])
    func rejectsUnknownDirectives(source: String, expected: [String]) throws {
        #expect(try errors(of: KnownDirectivesRule(), in: source) == expected)
    }

    @Test(
        arguments: [
            (
                #"query ($a: Int @skip(if: true)) @onField { author @onQuery(if: true) { ...F @onQuery(if: true) ... @tag(name: "a") { id @deprecated } } } fragment F on Author @skip(if: true) { id } subscription @include(if: true) { ticked }"#,
                [
                    #"Directive "@skip" may not be used on VARIABLE_DEFINITION. @1:16"#,
                    #"Directive "@onField" may not be used on QUERY. @1:33"#,
                    #"Directive "@onQuery" may not be used on FIELD. @1:51"#,
                    #"Directive "@onQuery" may not be used on FRAGMENT_SPREAD. @1:77"#,
                    #"Directive "@tag" may not be used on INLINE_FRAGMENT. @1:100"#,
                    #"Directive "@deprecated" may not be used on FIELD. @1:121"#,
                    #"Directive "@skip" may not be used on FRAGMENT_DEFINITION. @1:160"#,
                    #"Directive "@include" may not be used on SUBSCRIPTION. @1:196"#,
                ]
            ),
            (
                "query @skip(if: true) { author { id } } subscription S @onQuery(if: true) { ticked }",
                [
                    #"Directive "@skip" may not be used on QUERY. @1:7"#,
                    #"Directive "@onQuery" may not be used on SUBSCRIPTION. @1:56"#,
                ]
            ),
        ] as [(String, [String])])
    func rejectsMisplacedDirectives(source: String, expected: [String]) throws {
        #expect(try errors(of: KnownDirectivesRule(), in: source) == expected)
    }
}
