import Testing

@testable import GraphQL
import GraphQLServing

private let sdl = """
    input Point { x: Int!  y: Int = 7  inner: Point  tags: [String] }
    input Choice @oneOf { a: Int  b: String }
    enum Mode { FAST SLOW }
    scalar Any
    scalar Even
    type Arguments {
      int(v: Int): Int  intDefault(v: Int = 4): Int  intRequired(v: Int!): Int
      intRequiredDefault(v: Int! = 4): Int
      float(v: Float): Int  string(v: String): Int  boolean(v: Boolean): Int  id(v: ID): Int
      mode(v: Mode): Int  list(v: [Int]): Int  lists(v: [[Int]]): Int  strict(v: [Int!]): Int
      point(v: Point): Int  points(v: [Point]): Int  choice(v: Choice): Int
      any(v: Any): Int  even(v: Even): Int  several(a: Int = 1, b: Int, v: Int, c: Int): Int
    }
    """

/// Tests CoerceArgumentValues.
///
/// Spec: https://spec.graphql.org/September2025/#CoerceArgumentValues()
@Suite struct CoerceArgumentValuesTests {
    let schema: Schema

    init() throws {
        schema = try inputSchema(
            sdl,
            scalars: [
                "Even": { value throws(CoercionError) in
                    guard let number = value.int, number.isMultiple(of: 2) else {
                        throw CoercionError("Even cannot represent odd value")
                    }
                    return value
                }
            ])
    }

    /// Returns the coerced arguments of a field such as `int(v: 5)`. The values of the variables
    /// are `$a = 1`, `$n = null`, and `$l = [1]`.
    private func coerce(_ field: String) async throws -> ArgumentValues {
        let given = "query ($a: Int, $n: Int, $l: [Int], $p: Point) { a }"
        guard case .operation(let operation)? = try parse(Source(given)).definitions.first else {
            throw RequestErrors([])
        }
        let variables = try await coerceVariableValues(
            operation.variables,
            given: try json(#"{"a": 1, "n": null, "l": [1], "p": {"x": 2}}"#), schema: schema,
            source: Source(given), errorsMax: 50)
        let source = Source("{ \(field) }")
        guard case .operation(let query)? = try parse(source).definitions.first,
            case .field(let node)? = query.selectionSet.selections.first,
            let definition = schema.type(named: "Arguments")?.field(named: node.name.value)
        else { throw RequestErrors([]) }
        return try coerceArgumentValues(
            definition.arguments, given: node.arguments, variables: variables, schema: schema,
            source: source)
    }

    @Test(arguments: [
        ("int(v: -0)", "0"), ("int(v: 2147483647)", "2147483647"), ("int(v: null)", "null"),
        ("int(v: $a)", "1"), ("int(v: $n)", "null"),
        ("intDefault", "4"), ("intDefault(v: $absent)", "4"), ("intDefault(v: null)", "null"),
        ("intDefault(v: $n)", "null"), ("intRequiredDefault", "4"),
        ("intRequiredDefault(v: $absent)", "4"),
        ("float(v: 1)", "1.0"), ("float(v: 1.5e2)", "150.0"),
        ("string(v: \"a\")", "\"a\""), ("string(v: \"\"\"\n  a\n  b\"\"\")", "\"a\\nb\""),
        ("boolean(v: true)", "true"), ("id(v: 12)", "\"12\""), ("id(v: \"x\")", "\"x\""),
        ("id(v: 123456789012345678901234567890)", "\"123456789012345678901234567890\""),
        ("mode(v: SLOW)", "\"SLOW\""),
        ("list(v: 5)", "[5]"), ("list(v: [5, null])", "[5,null]"), ("list(v: $l)", "[1]"),
        ("list(v: [$a, $absent, $n])", "[1,null,null]"), ("list(v: [])", "[]"),
        ("lists(v: 5)", "[[5]]"), ("lists(v: [1, [2]])", "[[1],[2]]"),
        ("lists(v: [$l, null])", "[[1],null]"),
        ("point(v: {x: 1})", #"{"x":1,"y":7}"#),
        ("point(v: {y: 2, x: 1})", #"{"x":1,"y":2}"#),
        ("point(v: {x: $a, y: $absent, inner: $absent})", #"{"x":1,"y":7}"#),
        ("point(v: {x: 1, y: $n})", #"{"x":1,"y":null}"#),
        ("point(v: $p)", #"{"x":2,"y":7}"#),
        (
            "point(v: {x: 1, inner: {x: 2, tags: \"t\"}})",
            #"{"x":1,"y":7,"inner":{"x":2,"y":7,"tags":["t"]}}"#
        ),
        ("points(v: {x: 1})", #"[{"x":1,"y":7}]"#),
        ("choice(v: {a: 1})", #"{"a":1}"#), ("choice(v: {a: $a})", #"{"a":1}"#),
        (
            "any(v: [123456789012345678901234567890, -9223372036854775809])",
            "[123456789012345678901234567890,-9223372036854775809]"
        ),
        (
            "any(v: {a: [1, 2.5, E, \"s\", null, true, $a], b: $absent})",
            #"{"a":[1,2.5,"E","s",null,true,1]}"#
        ),
        ("even(v: 4)", "4"),
    ])
    func coercesLiteralsAndVariables(field: String, expected: String) async throws {
        #expect(try await coerce(field)["v"] == (try json(expected)))
    }

    @Test(arguments: ["int", "int(v: $absent)", "point(v: $absent)"])
    func argumentsNotProvidedAreAbsent(field: String) async throws {
        #expect(try await coerce(field)["v"] == nil)
    }

    @Test func argumentsHaveOrderOfDefinitions() async throws {
        let values = try await coerce("several(c: 3, v: 2)")
        #expect(values.members == [.init("a", .int(1)), .init("v", .int(2)), .init("c", .int(3))])
        #expect(values["b"] == nil)
    }

    @Test(
        arguments: [
            ("intRequired", "Argument \"v\" of required type \"Int!\" was not provided.", nil),
            (
                "intRequired(v: null)",
                "Argument \"v\" of non-null type \"Int!\" must not be null.", 18
            ),
            (
                "intRequired(v: $n)", "Argument \"v\" of non-null type \"Int!\" must not be null.",
                18
            ),
            (
                "intRequiredDefault(v: $n)",
                "Argument \"v\" of non-null type \"Int!\" must not be null.", 25
            ),
            (
                "intRequired(v: $absent)",
                "Argument \"v\" of required type \"Int!\" was provided the variable \"$absent\" which was not provided a runtime value.",
                18
            ),
            ("int(v: 2147483648)", "Argument \"v\" has invalid value 2147483648.", 10),
            ("int(v: 1.0)", "Argument \"v\" has invalid value 1.0.", 10),
            ("int(v: \"1\")", "Argument \"v\" has invalid value \"1\".", 10),
            ("int(v: [1])", "Argument \"v\" has invalid value [1].", 10),
            ("float(v: 1e400)", "Argument \"v\" has invalid value 1e400.", 12),
            ("float(v: \"1\")", "Argument \"v\" has invalid value \"1\".", 12),
            ("string(v: 1)", "Argument \"v\" has invalid value 1.", 13),
            ("string(v: E)", "Argument \"v\" has invalid value E.", 13),
            ("boolean(v: 1)", "Argument \"v\" has invalid value 1.", 14),
            ("id(v: 1.5)", "Argument \"v\" has invalid value 1.5.", 9),
            ("id(v: true)", "Argument \"v\" has invalid value true.", 9),
            ("mode(v: \"SLOW\")", "Argument \"v\" has invalid value \"SLOW\".", 11),
            ("mode(v: QUICK)", "Argument \"v\" has invalid value QUICK.", 11),
            ("strict(v: [1, null])", "Argument \"v\" has invalid value [1, null].", 13),
            ("strict(v: [$absent])", "Argument \"v\" has invalid value [$absent].", 13),
            ("strict(v: [$n])", "Argument \"v\" has invalid value [$n].", 13),
            ("point(v: 5)", "Argument \"v\" has invalid value 5.", 12),
            ("point(v: {y: 1})", "Argument \"v\" has invalid value {y: 1}.", 12),
            ("point(v: {x: $absent})", "Argument \"v\" has invalid value {x: $absent}.", 12),
            ("point(v: {x: 1, z: 2})", "Argument \"v\" has invalid value {x: 1, z: 2}.", 12),
            ("choice(v: {})", "Argument \"v\" has invalid value {}.", 13),
            ("choice(v: {a: null})", "Argument \"v\" has invalid value {a: null}.", 13),
            (
                "choice(v: {a: 1, b: $absent})",
                "Argument \"v\" has invalid value {a: 1, b: $absent}.", 13
            ),
            ("choice(v: {a: $absent})", "Argument \"v\" has invalid value {a: $absent}.", 13),
            ("even(v: 3)", "Argument \"v\" has invalid value 3.", 11),
        ] as [(String, String, Int?)])
    func rejectsInvalidValues(field: String, message: String, column: Int?) async throws {
        let error = await #expect(throws: GraphQLError.self) { try await coerce(field) }
        #expect(error?.message == message)
        #expect(
            error?.locations == column.map { [GraphQL.SourceLocation(line: 1, column: $0)] } ?? [])
        #expect(error?.kind == .invalidInput)
    }

    @Test(arguments: [
        ("5", false), ("$a", true), ("[1, [$a]]", true), ("{a: [{b: $a}]}", true),
        ("{a: [{b: a}]}", false), ("\"$a\"", false),
    ])
    func detectsVariablesInLiterals(literal: String, expected: Bool) throws {
        #expect(try parseValue(Source(literal)).containsVariables == expected)
    }

    // MARK: - In execution

    private static let executed = """
        type Query {
          echo(int: Int = 3, list: [[Int]], filter: Filter): String
          must(not: Int!): String sure(int: Int!): String! book: Book
        }
        type Book { length(unit: String): String }
        input Filter { limit: Int! = 5 text: String }
        """
    private static let root = """
        {"echo": {"$arguments": true}, "must": {"$arguments": true}, "sure": {"$arguments": true},
         "book": {"length": {"$arguments": true}}}
        """

    @Test(arguments: [
        ExecutionCase(
            name: "absent arguments have their default values, and null is a value",
            source: """
                query ($absent: Int, $null: Int) {
                  a: echo b: echo(int: null) c: echo(int: $absent) d: echo(int: $null)
                  e: echo(list: [[$absent, 1]]) f: echo(filter: {text: "x"}) g: echo(list: 1)
                }
                """,
            root: root, variables: #"{"null": null}"#,
            response: #"""
                {"data": {
                    "a": "{\"int\":3}", "b": "{\"int\":null}", "c": "{\"int\":3}", "d": "{\"int\":null}",
                    "e": "{\"int\":3,\"list\":[[null,1]]}",
                    "f": "{\"int\":3,\"filter\":{\"limit\":5,\"text\":\"x\"}}",
                    "g": "{\"int\":3,\"list\":[[1]]}"}}
                """#),
        ExecutionCase(
            name: "the error of an argument is an error of its field, at the location of the value",
            source: """
                query ($s: Int = 1) { a: echo(int: 1) b: echo(filter: {limit: $s}) c: must(not: $s) }
                """,
            root: root, variables: #"{"s": null}"#,
            response: #"""
                {"errors": [
                    {"message": "Argument \"filter\" has invalid value {limit: $s}.",
                     "locations": [{"line": 1, "column": 55}], "path": ["b"],
                     "extensions": {"code": "BAD_USER_INPUT"}},
                    {"message": "Argument \"not\" of non-null type \"Int!\" must not be null.",
                     "locations": [{"line": 1, "column": 81}], "path": ["c"],
                     "extensions": {"code": "BAD_USER_INPUT"}}
                 ],
                 "data": {"a": "{\"int\":1}", "b": null, "c": null}}
                """#),
        ExecutionCase(
            name: "the error of an argument of a non-nullable field propagates",
            source: "query ($s: Int = 1) { sure(int: $s) echo }", root: root,
            variables: #"{"s": null}"#,
            response: #"""
                {"errors": [
                    {"message": "Argument \"int\" of non-null type \"Int!\" must not be null.",
                     "locations": [{"line": 1, "column": 33}], "path": ["sure"],
                     "extensions": {"code": "BAD_USER_INPUT"}}
                 ],
                 "data": null}
                """#),
        ExecutionCase(
            name: "arguments are coerced at every level",
            source: "query ($u: String!) { book { a: length(unit: $u) b: length } }", root: root,
            variables: #"{"u": "cm"}"#,
            response: #"""
                {"data": {"book": {"a": "{\"unit\":\"cm\"}", "b": "{}"}}}
                """#),
    ])
    func fieldsAreResolvedWithCoercedArguments(_ test: ExecutionCase) async throws {
        try await test.check(against: try buildSchema(Source(Self.executed)))
    }

    /// A plan is shared by requests, but arguments with variables belong to the request.
    @Test func argumentsWithVariablesAreCoercedForEachRequest() async throws {
        let schema = try buildSchema(Source(Self.executed))
        let cache = DocumentCache(
            schema: schema, resolvers: JSONDataSource(schema: schema, loading: .immediate),
            limits: RequestLimits(), errorCodes: .apollo)
        let document = try await cache.document(Array("query ($i: Int) { echo(int: $i) }".utf8))
        for (variables, expected) in [
            (#"{"i": 1}"#, #"{\"int\":1}"#), ("{}", #"{\"int\":3}"#),
            (#"{"i": 2}"#, #"{\"int\":2}"#),
        ] {
            let (plan, values, _) = try await document.plan(
                operationName: nil, variables: try json(variables))
            let result = await execute(
                plan, variables: values,
                root: JSONBatch([try json(Self.root)], selection: plan.root),
                context: RecordingContext())
            #expect(
                String(decoding: result.body, as: UTF8.self) == #"{"data":{"echo":"\#(expected)"}}"#
            )
        }
    }
}
