import GraphQL
import GraphQLServing
import Testing

/// Arguments as Swift values.
@Suite struct InputValueTests {
    private enum Genre: String, InputValue { case novel = "NOVEL" }

    @Test func convertsArguments() async throws {
        let response = try await respond(
            "{ inputs(int: 1, float: 2, flag: true, text: \"a\", genre: NOVEL, list: [1, null], any: {a: [1]}) }"
        )
        #expect(
            response == #"{"data":{"inputs":"1 2.0 true a novel [Optional(1), nil] 1 nil"}}"#)
    }

    @Test func absentAndNullArgumentsAreNil() async throws {
        let response = try await respond(
            "{ inputs(int: 1, float: 1e3, flag: false, text: null, list: []) }")
        #expect(response == #"{"data":{"inputs":"1 1000.0 false nil nil [] nil nil"}}"#)
    }

    @Test func valuesOfAnotherTypeAreErrors() async throws {
        let response = try await respond("{ genre(name: \"POEM\") }")
        #expect(
            response.contains(
                #"Argument \"name\" has an invalid value. Genre cannot represent the value \"POEM\"."#
            ))
        #expect(response.contains(#""extensions":{"code":"BAD_USER_INPUT"}"#))
    }

    @Test(
        arguments: [
            (Value.int(3), 3), (.float(0.5), 0.5), (.bigInt("9223372036854775808"), 0x1p63),
        ])
    func numbersAreDoubles(value: Value, expected: Double) throws {
        #expect(try Double(input: value) == expected)
    }

    @Test func fieldsOfInputObjectsNameTheirErrors() throws {
        let value = Value.object([.init("stars", .string("five"))])
        #expect(
            throws: CoercionError(
                "Field \"stars\" is invalid. Int cannot represent the value \"five\".")
        ) {
            _ = try value.field("stars", as: Int.self)
        }
        #expect(try value.field("text", as: String?.self) == nil)
    }

    @Test func inputCoercionOfAScalarKeepsTheValue() throws {
        #expect(try Genre.scalarInput(.string("NOVEL")) == .string("NOVEL"))
        #expect(throws: CoercionError.self) { _ = try Genre.scalarInput(.string("POEM")) }
    }

    /// The error names neither the Swift type nor the type of its raw value. A message of the program is not changed.
    @Test(
        arguments: [
            (
                "{ books(kind: \"POEM\") }", nil,
                "Expected value of type \"Kind\", found \"POEM\"; "
                    + "Kind cannot represent the value \"POEM\"."
            ),
            (
                "query($kind: Kind) { books(kind: $kind) }", .int(1),
                "Variable \"$kind\" got invalid value 1; Kind cannot represent the value 1."
            ),
            (
                "{ books(kind: \"\") }", nil,
                "Expected value of type \"Kind\", found \"\"; Genre must not be empty."
            ),
        ] as [(String, Value?, String)])
    func errorsOfCustomScalarsNameTheScalar(
        query: String, kind: Value?, message: String
    ) async throws {
        let kinds: ScalarInput = { value throws(CoercionError) in
            if value.string == "" { throw CoercionError("Genre must not be empty.") }
            return try Genre.scalarInput(value)
        }
        let schema = try ExecutableSchema(
            "type Query { books(kind: Kind): Int } scalar Kind", scalars: ["Kind": kinds]
        ) { resolvers in
            resolvers.query.field("books") { _ in 1 }
        }
        let service = SchemaService(schema) { _ in NoContext() }
        let response = await service.respond(
            to: GraphQLRequest(
                query: query, variables: kind.map { Value.object([.init("kind", $0)]) }))
        let errors = try parseJSON(response.body)["errors"]?.list
        #expect(errors?.first?["message"]?.string == message)
    }

    private func respond(_ query: String) async throws -> String {
        let schema = try ExecutableSchema(
            """
            type Query {
              inputs(
                int: Int!, float: Float!, flag: Boolean!, text: String, genre: Genre, list: [Int]!
                any: Any, absent: ID
              ): String!
              genre(name: String!): String!
            }
            enum Genre { NOVEL }
            scalar Any
            """
        ) { resolvers in
            resolvers.query.field("inputs") { request in
                let arguments = request.arguments
                let int: Int = try arguments.value("int")
                let float: Double = try arguments.value("float")
                let flag: Bool = try arguments.value("flag")
                let text: String? = try arguments.value("text")
                let genre: Genre? = try arguments.value("genre")
                let list: [Int?] = try arguments.value("list")
                let any: Value? = try arguments.value("any")
                let absent: String? = try arguments.value("absent")
                let number = any?["a"]?.list?.first?.int
                return [
                    "\(int)", "\(float)", "\(flag)", text ?? "nil",
                    genre.map { "\($0)" } ?? "nil", "\(list)", number.map { "\($0)" } ?? "nil",
                    absent ?? "nil",
                ].joined(separator: " ")
            }
            resolvers.query.field("genre") { request in
                let genre: Genre = try request.arguments.value("name")
                return "\(genre)"
            }
        }
        let cache = DocumentCache(
            schema: schema.schema, resolvers: schema, limits: RequestLimits(), errorCodes: .apollo)
        let (plan, variables, _) = try await cache.document(Array(query.utf8)).plan(
            operationName: nil, variables: .null)
        let result = await execute(plan, variables: variables, context: NoContext())
        return String(decoding: result.body, as: UTF8.self)
    }
}
