import Testing

@testable import GraphQL

private let sdl = """
    input Point { x: Int!  y: Int = 7  tags: [[String!]]  inner: Point  mode: Mode = FAST  any: Any }
    input Choice @oneOf { a: Int  b: String }
    input Dated { at: Date }
    enum Mode { FAST SLOW }
    scalar Any
    scalar Date
    """

/// Tests CoerceVariableValues. The messages are those of graphql-js.
///
/// Spec: https://spec.graphql.org/September2025/#CoerceVariableValues()
@Suite struct CoerceVariableValuesTests {
    let schema: Schema

    init() throws {
        schema = try inputSchema(
            sdl,
            scalars: [
                "Date": { value throws(CoercionError) in
                    guard let text = value.string, text.utf8.count == 10 else {
                        throw CoercionError("Date cannot represent value: \(inspect(value))")
                    }
                    return .string("day " + text)
                }
            ])
    }

    private func coerce(
        _ declarations: String, _ variables: String, errorsMax: Int = 50,
        hasSuggestions: Bool = true
    ) async throws -> VariableValues {
        let source = Source("query (\(declarations)) { a }")
        guard case .operation(let operation)? = try parse(source).definitions.first else {
            throw RequestErrors([])
        }
        return try await coerceVariableValues(
            operation.variables, given: try json(variables), schema: schema, source: source,
            errorsMax: errorsMax, hasSuggestions: hasSuggestions)
    }

    @Test(arguments: [
        ("$x: Int", #"{"x": 5}"#, "5"),
        ("$x: Int", #"{"x": 1e3}"#, "1000"),
        ("$x: Int", #"{"x": 1.0}"#, "1"),
        ("$x: Int", #"{"x": -2147483648}"#, "-2147483648"),
        ("$x: Float", #"{"x": 3}"#, "3.0"),
        ("$x: Float", #"{"x": 1.5e3}"#, "1500.0"),
        ("$x: Float", #"{"x": 123456789012345678901234567890}"#, "1.2345678901234568e29"),
        ("$x: String", #"{"x": "é"}"#, #""é""#),
        ("$x: Boolean", #"{"x": false}"#, "false"),
        ("$x: ID", #"{"x": 5}"#, #""5""#),
        ("$x: ID", #"{"x": 5.0}"#, #""5""#),
        ("$x: ID", #"{"x": "5"}"#, #""5""#),
        ("$x: ID", #"{"x": 1e3}"#, #""1000""#),
        ("$x: ID", #"{"x": -0}"#, #""0""#),
        ("$x: ID", #"{"x": -0.0}"#, #""0""#),
        ("$x: ID", #"{"x": -9223372036854775808}"#, #""-9223372036854775808""#),
        ("$x: ID", #"{"x": 9223372036854775807}"#, #""9223372036854775807""#),
        ("$x: ID", #"{"x": 9223372036854775808}"#, #""9223372036854775808""#),
        ("$x: ID", #"{"x": -9223372036854775809}"#, #""-9223372036854775809""#),
        (
            "$x: ID", #"{"x": 123456789012345678901234567890}"#,
            #""123456789012345678901234567890""#
        ),
        ("$x: ID", #"{"x": 9007199254740991.0}"#, #""9007199254740991""#),
        (
            "$x: [ID!]", #"{"x": [18446744073709551616, "a"]}"#, #"["18446744073709551616","a"]"#
        ),
        (
            "$x: Any", #"{"x": {"a": [123456789012345678901234567890]}}"#,
            #"{"a":[123456789012345678901234567890]}"#
        ),
        ("$x: Mode", #"{"x": "FAST"}"#, #""FAST""#),
        ("$x: [Int]", #"{"x": 1}"#, "[1]"),
        ("$x: [Int]", #"{"x": null}"#, "null"),
        ("$x: [[Int]]", #"{"x": 1}"#, "[[1]]"),
        ("$x: [[Int]]", #"{"x": [1, [2], null]}"#, "[[1],[2],null]"),
        ("$x: Point", #"{"x": {"x": 1}}"#, #"{"x":1,"y":7,"mode":"FAST"}"#),
        ("$x: Point", #"{"x": {"y": null, "x": 1}}"#, #"{"x":1,"y":null,"mode":"FAST"}"#),
        ("$x: Point = {x: 3}", "{}", #"{"x":3,"y":7,"mode":"FAST"}"#),
        ("$x: Point = {x: 3}", "null", #"{"x":3,"y":7,"mode":"FAST"}"#),
        ("$x: Point = {x: 3}", #"{"x": null}"#, "null"),
        ("$x: [Point] = {x: 3, y: 4}", "{}", #"[{"x":3,"y":4,"mode":"FAST"}]"#),
        ("$x: Any", #"{"x": {"deep": [1, {"b": null}]}}"#, #"{"deep":[1,{"b":null}]}"#),
        ("$x: Choice", #"{"x": {"b": "c"}}"#, #"{"b":"c"}"#),
        ("$x: Date", #"{"x": "2025-09-03"}"#, #""day 2025-09-03""#),
        ("$x: Date = \"2025-09-03\"", "{}", #""day 2025-09-03""#),
        ("$x: Date", #"{"x": null}"#, "null"),
    ])
    func coercesToTheDeclaredType(declarations: String, variables: String, expected: String)
        async throws
    {
        let found = try await coerce(declarations, variables)["x"]
        #expect(found == (try json(expected)))
    }

    @Test func distinguishesAbsentFromNull() async throws {
        let values = try await coerce(
            "$a: Int, $b: Int, $c: Int = 1", #"{"b": null, "unknown": 1}"#)
        #expect(values["a"] == nil)
        #expect(values["b"] == .null)
        #expect(values["c"] == .int(1))
        #expect(values["unknown"] == nil)
    }

    @Test(
        arguments: [
            (
                "$x: Int", #"{"x": 1.5}"#,
                ["got invalid value 1.5; Int cannot represent non-integer value: 1.5"]
            ),
            (
                "$x: Int", #"{"x": "abc"}"#,
                [#"got invalid value "abc"; Int cannot represent non-integer value: "abc""#]
            ),
            (
                "$x: Int", #"{"x": 2147483648}"#,
                [
                    "got invalid value 2147483648; Int cannot represent non 32-bit signed integer value: 2147483648"
                ]
            ),
            (
                "$x: Int", #"{"x": 1e30}"#,
                [
                    "got invalid value 1e+30; Int cannot represent non 32-bit signed integer value: 1e+30"
                ]
            ),
            (
                "$x: Int", #"{"x": 1e400}"#,
                ["got invalid value Infinity; Int cannot represent non-integer value: Infinity"]
            ),
            (
                "$x: Int", #"{"x": true}"#,
                ["got invalid value true; Int cannot represent non-integer value: true"]
            ),
            (
                "$x: Int", #"{"x": [1]}"#,
                ["got invalid value [1]; Int cannot represent non-integer value: [1]"]
            ),
            ("$x: Int!", "{}", [#"of required type "Int!" was not provided."#]),
            ("$x: Int!", #"{"x": null}"#, [#"of non-null type "Int!" must not be null."#]),
            (
                "$x: Float", #"{"x": "1"}"#,
                [#"got invalid value "1"; Float cannot represent non numeric value: "1""#]
            ),
            (
                "$x: Float", #"{"x": -1e400}"#,
                ["got invalid value -Infinity; Float cannot represent non numeric value: -Infinity"]
            ),
            (
                "$x: String", #"{"x": 5}"#,
                ["got invalid value 5; String cannot represent a non string value: 5"]
            ),
            (
                "$x: Boolean", #"{"x": 1}"#,
                ["got invalid value 1; Boolean cannot represent a non boolean value: 1"]
            ),
            ("$x: ID", #"{"x": 1.5}"#, ["got invalid value 1.5; ID cannot represent value: 1.5"]),
            (
                "$x: ID", #"{"x": 9007199254740993.0}"#,
                [
                    "got invalid value 9007199254740992; ID cannot represent value: 9007199254740992"
                ]
            ),
            (
                "$x: ID", #"{"x": 1e30}"#,
                ["got invalid value 1e+30; ID cannot represent value: 1e+30"]
            ),
            (
                "$x: Int", #"{"x": 123456789012345678901234567890}"#,
                [
                    "got invalid value 123456789012345678901234567890; Int cannot represent non 32-bit signed integer value: 123456789012345678901234567890"
                ]
            ),
            (
                "$x: String", #"{"x": 12345678901234567890}"#,
                [
                    "got invalid value 12345678901234567890; String cannot represent a non string value: 12345678901234567890"
                ]
            ),
            (
                "$x: ID", #"{"x": true}"#,
                ["got invalid value true; ID cannot represent value: true"]
            ),
            (
                "$x: Mode", #"{"x": "QUICK"}"#,
                [#"got invalid value "QUICK"; Value "QUICK" does not exist in "Mode" enum."#]
            ),
            (
                "$x: Mode", #"{"x": 5}"#,
                [#"got invalid value 5; Enum "Mode" cannot represent non-string value: 5."#]
            ),
            (
                "$x: [Int!]!", #"{"x": [1, "a", null]}"#,
                [
                    #"got invalid value "a" at "x[1]"; Int cannot represent non-integer value: "a""#,
                    #"got invalid value null at "x[2]"; Expected non-nullable type "Int!" not to be null."#,
                ]
            ),
            (
                "$x: Point", #"{"x": 5}"#,
                [#"got invalid value 5; Expected type "Point" to be an object."#]
            ),
            (
                "$x: Point", #"{"x": {}}"#,
                [#"got invalid value {}; Field "x" of required type "Int!" was not provided."#]
            ),
            (
                "$x: Point", #"{"x": {"x": 1, "zoom": 2}}"#,
                [
                    #"got invalid value { x: 1, zoom: 2 }; Field "zoom" is not defined by type "Point"."#
                ]
            ),
            (
                "$x: Point",
                #"{"x": {"x": "a", "tags": ["p", ["q", null]], "inner": {"x": null, "inner": {"inner": 5}}}}"#,
                [
                    #"got invalid value "a" at "x.x"; Int cannot represent non-integer value: "a""#,
                    #"got invalid value null at "x.tags[1][1]"; Expected non-nullable type "String!" not to be null."#,
                    #"got invalid value null at "x.inner.x"; Expected non-nullable type "Int!" not to be null."#,
                    #"got invalid value { inner: 5 } at "x.inner.inner"; Field "x" of required type "Int!" was not provided."#,
                    #"got invalid value 5 at "x.inner.inner.inner"; Expected type "Point" to be an object."#,
                ]
            ),
            (
                "$x: [Point]", #"{"x": [{"x": 1}, {"x": 1.5, "mode": "X"}]}"#,
                [
                    #"got invalid value 1.5 at "x[1].x"; Int cannot represent non-integer value: 1.5"#,
                    #"got invalid value "X" at "x[1].mode"; Value "X" does not exist in "Mode" enum."#,
                ]
            ),
            (
                "$x: Choice", #"{"x": {}}"#,
                [
                    #"got invalid value {}; Exactly one key must be specified for OneOf type "Choice"."#
                ]
            ),
            (
                "$x: Choice", #"{"x": {"a": 1, "b": null}}"#,
                [
                    #"got invalid value { a: 1, b: null }; Exactly one key must be specified for OneOf type "Choice"."#
                ]
            ),
            (
                "$x: Choice", #"{"x": {"zzz": 1}}"#,
                [
                    #"got invalid value { zzz: 1 }; Field "zzz" is not defined by type "Choice"."#,
                    #"got invalid value { zzz: 1 }; Exactly one key must be specified for OneOf type "Choice"."#,
                ]
            ),
            (
                "$x: Choice", #"{"x": {"a": 1, "zzz": 1}}"#,
                [
                    #"got invalid value { a: 1, zzz: 1 }; Field "zzz" is not defined by type "Choice"."#
                ]
            ),
            (
                "$x: Choice", #"{"x": {"a": null}}"#,
                [#"got invalid value null at "x.a"; Field "a" must be non-null."#]
            ),
            (
                "$x: Dated", #"{"x": {"at": 5}}"#,
                [#"got invalid value 5 at "x.at"; Date cannot represent value: 5"#]
            ),
            (
                "$x: Query", #"{"x": 1}"#,
                [#"expected value of type "Query" which cannot be used as an input type."#]
            ),
            (
                "$x: [Nope!]", #"{"x": 1}"#,
                [#"expected value of type "[Nope!]" which cannot be used as an input type."#]
            ),
        ] as [(String, String, [String])])
    func reportsEveryError(declarations: String, variables: String, expected: [String]) async throws
    {
        let error = await #expect(throws: RequestErrors.self) {
            try await coerce(declarations, variables)
        }
        #expect(error?.errors.map(\.message) == expected.map { "Variable \"$x\" " + $0 })
        #expect(error?.errors.allSatisfy { $0.kind == .invalidInput } == true)
    }

    @Test(arguments: [
        ("$x: Mode", #"{"x": "FSAT"}"#, #"in "Mode" enum. Did you mean the enum value "FAST"?"#),
        ("$x: Point", #"{"x": {"x": 1, "z": 2}}"#, #"by type "Point". Did you mean "x" or "y"?"#),
    ])
    func suggestionsCanBeDisabled(
        declarations: String, variables: String, ending: String
    ) async throws {
        let error = await #expect(throws: RequestErrors.self) {
            try await coerce(declarations, variables, hasSuggestions: true)
        }
        #expect(error?.errors[0].message.hasSuffix(ending) == true)
        let other = await #expect(throws: RequestErrors.self) {
            try await coerce(declarations, variables, hasSuggestions: false)
        }
        #expect(other?.errors[0].message.contains("Did you mean") == false)
    }

    @Test func errorsHaveLocationOfDefinition() async throws {
        let error = await #expect(throws: RequestErrors.self) {
            try await coerce("$a: Int,\n $x: Int, $y: Nope", #"{"x": "a", "y": 1}"#)
        }
        #expect(
            error?.errors.flatMap(\.locations) == [
                GraphQL.SourceLocation(line: 2, column: 2),
                GraphQL.SourceLocation(line: 2, column: 15),
            ])
    }

    @Test func numberOfErrorsIsLimited() async throws {
        let error = await #expect(throws: RequestErrors.self) {
            try await coerce("$x: [Int!]", #"{"x": [null, null, null, null]}"#, errorsMax: 2)
        }
        #expect(error?.errors.count == 3)
        #expect(
            error?.errors.last?.message
                == "Too many errors processing variables, error limit reached. Execution aborted.")
    }

    @Test(arguments: [
        ("$x: Int", #"{"x": {"deep": ["LONG", "LONG"]}}"#), ("$x: Mode", #"{"x": "LONG"}"#),
        ("$x: Point", #"{"x": {"x": 1, "LONG": 2}}"#),
    ])
    func truncatesLongValuesInMessages(declarations: String, variables: String) async throws {
        let long = String(repeating: "a", count: 100_000)
        let error = await #expect(throws: RequestErrors.self) {
            try await coerce(declarations, variables.replacing("LONG", with: long))
        }
        #expect((error?.errors[0].message.utf8.count ?? .max) < 2_500)
    }

    @Test func printsValuesLikeGraphQLJS() throws {
        let text =
            #"{"a": [1,2,3,4,5,6,7,8,9,10,11,12], "b": {"c": {"d": 1}}, "s": "q\"\n\u0001é", "e": {}, "l": [], "f": 0.1, "g": 1e21, "h": 1e-7, "i": [1,2,3,4,5,6,7,8,9,10,11]}"#
        #expect(
            inspect(try json(text))
                == #"{ a: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, ... 2 more items], b: { c: [Object] }, s: "q\"\n\u0001é", e: {}, l: [], f: 0.1, g: 1e+21, h: 1e-7, i: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, ... 1 more item] }"#
        )
    }

    @Test(arguments: ["[]", "5", "\"x\""])
    func rejectsVariablesThatAreNotAnObject(variables: String) async {
        await #expect(throws: RequestErrors.self) { try await coerce("$x: Int", variables) }
    }

    /// Every error has the location of its variable, and nothing is executed.
    @Test func errorsPreventTheExecution() async throws {
        let schema = try buildSchema(
            Source(
                """
                type Query { echo(list: [[Int]], choice: Choice, filter: Filter): String }
                input Choice @oneOf { id: ID name: String }
                input Filter { limit: Int! = 5 text: String }
                """))
        try await ExecutionCase(
            name: "",
            source:
                "query ($l: [[Int]], $c: Choice, $f: Filter) { echo(list: $l, choice: $c, filter: $f) }",
            root: #"{"echo": "E"}"#,
            variables:
                #"{"l": [[1], [2, "3"]], "c": {"id": "1", "name": null}, "f": {"limit": null, "txt": ""}}"#,
            response: #"""
                {"errors": [
                    {"message": "Variable \"$l\" got invalid value \"3\" at \"l[1][1]\"; Int cannot represent non-integer value: \"3\"",
                     "locations": [{"line": 1, "column": 8}], "extensions": {"code": "BAD_USER_INPUT"}},
                    {"message": "Variable \"$c\" got invalid value { id: \"1\", name: null }; Exactly one key must be specified for OneOf type \"Choice\".",
                     "locations": [{"line": 1, "column": 21}], "extensions": {"code": "BAD_USER_INPUT"}},
                    {"message": "Variable \"$f\" got invalid value null at \"f.limit\"; Expected non-nullable type \"Int!\" not to be null.",
                     "locations": [{"line": 1, "column": 33}], "extensions": {"code": "BAD_USER_INPUT"}},
                    {"message": "Variable \"$f\" got invalid value { limit: null, txt: \"\" }; Field \"txt\" is not defined by type \"Filter\". Did you mean \"text\"?",
                     "locations": [{"line": 1, "column": 33}], "extensions": {"code": "BAD_USER_INPUT"}}
                ]}
                """#
        ).check(against: schema)
    }
}
