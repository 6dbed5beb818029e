import Testing

@testable import GraphQL

/// Literals match the expected type.
struct ValuesOfCorrectTypeRuleTests {
    @Test(arguments: [
        #"{ count(of: [1, -2], flag: true) items(filter: {text: "a", style: LONG, limit: 2, any: {b: [C, 1.5, null]}, not: null, range: {min: 1, max: 1}, ids: [1, "a"]}) { __typename } }"#,
        "{ count(of: 1) matrix(rows: 1) m: matrix(rows: [1, [2, null], null]) }",
        "{ items(pick: {id: 1}) { __typename } author { nick(style: null) } }",
        "query ($a: Int = 1, $b: [Filter] = [{limit: 1}], $c: Float = 1) { author { id } }",
        #"{ items(filter: {any: $a, text: """block"""}) { __typename } }"#,
    ])
    func acceptsValidValues(source: String) throws {
        #expect(try errors(of: ValuesOfCorrectTypeRule(), in: source).isEmpty)
    }

    @Test(
        arguments: [
            (
                #"{ count(of: ["1", 1.0, true, ABC, 2147483648, -2147483649, [1], {a: 1}], flag: 1) }"#,
                [
                    #"Int cannot represent non-integer value: "1" @1:14"#,
                    "Int cannot represent non-integer value: 1.0 @1:19",
                    "Int cannot represent non-integer value: true @1:24",
                    "Int cannot represent non-integer value: ABC @1:30",
                    "Int cannot represent non 32-bit signed integer value: 2147483648 @1:35",
                    "Int cannot represent non 32-bit signed integer value: -2147483649 @1:47",
                    "Int cannot represent non-integer value: [1] @1:60",
                    "Int cannot represent non-integer value: {a: 1} @1:65",
                    "Boolean cannot represent a non boolean value: 1 @1:80",
                ]
            ),
            (
                "{ book(id: 1.5) { id } b: book(id: true) { id } c: book(id: ABC) { id } }",
                [
                    "ID cannot represent a non-string and non-integer value: 1.5 @1:12",
                    "ID cannot represent a non-string and non-integer value: true @1:36",
                    "ID cannot represent a non-string and non-integer value: ABC @1:61",
                ]
            ),
            (
                #"{ items(filter: {text: 1, range: {min: "1", max: "a"}}) { __typename } }"#,
                [
                    "String cannot represent a non string value: 1 @1:24",
                    #"Int cannot represent non-integer value: "1" @1:40"#,
                    #"Float cannot represent non numeric value: "a" @1:50"#,
                ]
            ),
            (
                "{ items(filter: {text: ABC, limit: null}) { __typename } count(of: null) }",
                [
                    "String cannot represent a non string value: ABC @1:24",
                    #"Expected value of type "Int!", found null. @1:36"#,
                    #"Expected value of type "[Int!]!", found null. @1:68"#,
                ]
            ),
        ] as [(String, [String])])
    func rejectsInvalidScalars(source: String, expected: [String]) throws {
        #expect(try errors(of: ValuesOfCorrectTypeRule(), in: source) == expected)
    }

    @Test(
        arguments: [
            (
                #"{ author { nick(style: SHRT) a: nick(style: "SHORT") b: nick(style: 1) c: nick(style: [SHORT]) d: nick(style: short) } }"#,
                [
                    #"Value "SHRT" does not exist in "Style" enum. Did you mean the enum value "SHORT"? @1:24"#,
                    #"Enum "Style" cannot represent non-enum value: "SHORT". Did you mean the enum value "SHORT"? @1:45"#,
                    #"Enum "Style" cannot represent non-enum value: 1. @1:69"#,
                    #"Enum "Style" cannot represent non-enum value: [SHORT]. Did you mean the enum value "SHORT"? @1:87"#,
                    #"Value "short" does not exist in "Style" enum. Did you mean the enum value "SHORT"? @1:111"#,
                ]
            )
        ] as [(String, [String])])
    func rejectsInvalidEnums(source: String, expected: [String]) throws {
        #expect(try errors(of: ValuesOfCorrectTypeRule(), in: source) == expected)
    }

    @Test(
        arguments: [
            (
                "{ items(filter: {limitt: 1, range: {max: 1.0}, not: 5}) { __typename } }",
                [
                    #"Field "limitt" is not defined by type "Filter". Did you mean "limit"? @1:18"#,
                    #"Field "Range.min" of required type "Int!" was not provided. @1:36"#,
                    #"Expected value of type "Filter", found 5. @1:53"#,
                ]
            ),
            (
                #"{ items(filter: "a") { __typename } a: items(filter: [{}]) { __typename } b: items(filter: {range: {}}) { __typename } }"#,
                [
                    #"Expected value of type "Filter", found "a". @1:17"#,
                    #"Expected value of type "Filter", found [{}]. @1:54"#,
                    #"Field "Range.min" of required type "Int!" was not provided. @1:100"#,
                ]
            ),
            (
                #"{ matrix(rows: [[["a"]]]) m: matrix(rows: ["a", [1.5]]) }"#,
                [
                    #"Int cannot represent non-integer value: ["a"] @1:18"#,
                    #"Int cannot represent non-integer value: "a" @1:44"#,
                    "Int cannot represent non-integer value: 1.5 @1:50",
                ]
            ),
        ] as [(String, [String])])
    func rejectsInvalidObjects(source: String, expected: [String]) throws {
        #expect(try errors(of: ValuesOfCorrectTypeRule(), in: source) == expected)
    }

    @Test(
        arguments: [
            (
                #"{ items(pick: {}) { __typename } a: items(pick: {id: 1, name: "a"}) { __typename } b: items(pick: {id: null}) { __typename } c: items(pick: {name: 1}) { __typename } }"#,
                [
                    #"OneOf Input Object "Pick" must specify exactly one key. @1:15"#,
                    #"OneOf Input Object "Pick" must specify exactly one key. @1:49"#,
                    #"Field "Pick.id" must be non-null. @1:99"#,
                    "String cannot represent a non string value: 1 @1:148",
                ]
            )
        ] as [(String, [String])])
    func rejectsInvalidOneOfs(source: String, expected: [String]) throws {
        #expect(try errors(of: ValuesOfCorrectTypeRule(), in: source) == expected)
    }

    @Test(
        arguments: [
            (
                #"query ($a: Int = "1", $b: [Int!] = [null], $c: Filter = {limit: "a"}, $d: Boolean! = null) { author { id } }"#,
                [
                    #"Int cannot represent non-integer value: "1" @1:18"#,
                    #"Expected value of type "Int!", found null. @1:37"#,
                    #"Int cannot represent non-integer value: "a" @1:65"#,
                    #"Expected value of type "Boolean!", found null. @1:86"#,
                ]
            )
        ] as [(String, [String])])
    func rejectsInvalidDefaults(source: String, expected: [String]) throws {
        #expect(try errors(of: ValuesOfCorrectTypeRule(), in: source) == expected)
    }

    @Test(
        arguments: [
            (
                #"{ items(filter: {even: 3}) { __typename } a: items(filter: {even: "2"}) { __typename } b: items(filter: {even: 2}) { __typename } }"#,
                [
                    #"Expected value of type "Even", found 3; Not an even number. @1:24"#,
                    #"Expected value of type "Even", found "2"; Not an even number. @1:67"#,
                ]
            )
        ] as [(String, [String])])
    func callsCustomScalars(source: String, expected: [String]) throws {
        #expect(try errors(of: ValuesOfCorrectTypeRule(), in: source) == expected)
    }
}
