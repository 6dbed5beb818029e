import Testing

@testable import GraphQL

struct CompareSchemasTests {
    private func changes(_ old: String, _ new: String) throws -> [String] {
        let query = "type Query { z: Int zs: String } "
        let schemas = try [old, new].map { try buildSchema(try parse(Source(query + $0))) }
        return compareSchemas(schemas[0], schemas[1]).map {
            "\($0.severity) \($0.coordinate): \($0.message)"
        }
    }

    @Test(arguments: [
        ("type A { a: Int }", "", ["breaking A: Type A was removed."]),
        (
            "type A { a: Int }", "interface A { a: Int }",
            ["breaking A: Type A changed from an object type to an interface type."]
        ),
        ("type A { a: Int b: Int }", "type A { a: Int }", ["breaking A.b: Field A.b was removed."]),
        (
            "type A { a: Int! b: [Int] c: Int d: Int }",
            "type A { a: Int b: Int c: String d: [Int] }",
            [
                "breaking A.a: Field A.a changed type from Int! to Int.",
                "breaking A.b: Field A.b changed type from [Int] to Int.",
                "breaking A.c: Field A.c changed type from Int to String.",
                "breaking A.d: Field A.d changed type from Int to [Int].",
            ]
        ),
        (
            "interface I { a: Int } type A implements I { a: Int }",
            "interface I { a: Int } type A { a: Int }",
            ["breaking A: A no longer implements interface I."]
        ),
        (
            "type A { a(x: Int, y: Int!, z: Int): Int }",
            "type A { a(y: Int, z: Int!, w: Int!): Int }",
            [
                "breaking A.a(x:): The argument A.a(x:) was removed.",
                "safe A.a(y:): The argument A.a(y:) changed type from Int! to Int.",
                "breaking A.a(z:): The argument A.a(z:) changed type from Int to Int!.",
                "breaking A.a(w:): A required argument A.a(w:) was added.",
            ]
        ),
        (
            "enum E { A B } union U = Query | T type T { a: Int }",
            "enum E { A } union U = T type T { a: Int }",
            [
                "breaking E.B: Enum value E.B was removed.",
                "breaking U: Query was removed from union type U.",
            ]
        ),
        (
            "input I { a: Int b: Int }", "input I @oneOf { a: Int }",
            [
                "breaking I: Input type I became a OneOf.",
                "breaking I.b: The input field I.b was removed.",
            ]
        ),
        (
            "input I { a: Int! = 1 }", "input I { a: Int! b: Int! }",
            [
                "breaking I.a: The default value of I.a was removed.",
                "breaking I.b: A required input field I.b was added.",
            ]
        ),
        (
            "directive @a on FIELD directive @b(x: Int) repeatable on FIELD | QUERY",
            "directive @b(y: Int!) on FIELD",
            [
                "breaking @a: Directive @a was removed.",
                "breaking @b(x:): The argument @b(x:) was removed.",
                "breaking @b(y:): A required argument @b(y:) was added.",
                "breaking @b: @b is no longer repeatable.",
                "breaking @b: @b may no longer be used on QUERY.",
            ]
        ),
        (
            "type Mutation { a: Int }", "schema { query: Query } type Mutation { a: Int }",
            ["breaking Mutation: The mutation root type was removed."]
        ),
    ])
    func findsBreakingChanges(old: String, new: String, expected: [String]) throws {
        #expect(try changes(old, new) == expected)
    }

    @Test(arguments: [
        (
            "enum E { A } union U = T type T { a(x: Int = 1, y: Int = 1): Int } input I { a: Int }",
            """
            enum E { A B } union U = T | Query input I { a: Int b: Int c: Int! = 1 }
            interface N { a: Int } type T implements N { a(x: Int = 2, y: Int, z: Int): Int }
            """,
            [
                "dangerous E.B: Enum value E.B was added.",
                "dangerous U: Query was added to union type U.",
                "dangerous T.a(x:): The default value of T.a(x:) changed from 1 to 2.",
                "dangerous T.a(y:): The default value of T.a(y:) was removed.",
                "dangerous T.a(z:): An optional argument T.a(z:) was added.",
                "dangerous T: T now implements interface N.",
                "dangerous I.b: An optional input field I.b was added.",
                "dangerous I.c: An optional input field I.c was added.",
                "safe N: Type N was added.",
            ]
        )
    ])
    func findsDangerousChanges(old: String, new: String, expected: [String]) throws {
        #expect(try changes(old, new) == expected)
    }

    @Test(arguments: [
        ("", "scalar S", ["safe S: Type S was added."]),
        (
            "type A { a: [Int] } input I { a: Int! }",
            "type A { a: [Int!]! b: Int } input I { a: Int @deprecated }",
            [
                "safe A.a: Field A.a changed type from [Int] to [Int!]!.",
                "safe A.b: Field A.b was added.",
                "safe I.a: The input field I.a changed type from Int! to Int.",
                "safe I.a: I.a is now deprecated.",
            ]
        ),
        (
            "directive @a on FIELD",
            "directive @a repeatable on FIELD | QUERY directive @b on FIELD",
            [
                "safe @a: @a is now repeatable.",
                "safe @a: @a may now be used on QUERY.",
                "safe @b: Directive @b was added.",
            ]
        ),
        ("\"old\" scalar S scalar T", "scalar T \"new\" scalar S", []),
    ])
    func findsSafeChanges(old: String, new: String, expected: [String]) throws {
        #expect(try changes(old, new) == expected)
    }
}
