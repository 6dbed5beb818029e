import Testing

@testable import GraphQL

/// Documents that violate one rule for schemas and are otherwise valid.
struct SchemaErrorsTests {
    /// Returns the errors, sorted because the order of the rules does not matter.
    func errors(in sdl: String) throws -> [String] {
        let document = try parse(Source(sdl), limits: .trusted)
        do throws(RequestErrors) {
            _ = try buildSchema(document)
            return []
        } catch {
            return error.errors.map(\.described).sorted()
        }
    }

    @Test(
        arguments: [
            (
                "type Query { a: Int }\nschema { query: Query } schema { query: Query }",
                [
                    "Must provide only one schema definition. @2:25",
                    "There can be only one query type in schema. @2:10 2:34",
                ]
            ),
            (
                "type Query { a: Int }\nschema { query: Query query: Query }",
                [
                    "There can be only one query type in schema. @2:10 2:23"
                ]
            ),
            (
                "type Query { a: Int }\nschema { query: Query } extend schema { query: Query }",
                [
                    "There can be only one query type in schema. @2:10 2:41"
                ]
            ),
            (
                "type Query { a: Int }\ntype Query { b: Int }",
                [
                    #"There can be only one type named "Query". @1:6 2:6"#
                ]
            ),
            (
                "type Query { a: Int }\ntype T { a: Int a: Int }\nextend type T { a: Int }",
                [
                    #"Field "T.a" can only be defined once. @2:10 2:17"#,
                    #"Field "T.a" can only be defined once. @2:10 3:17"#,
                ]
            ),
            (
                "type Query { a: Int }\ninput I { a: Int a: Int } interface F { b: Int b: Int }",
                [
                    #"Field "I.a" can only be defined once. @2:11 2:18"#,
                    #"Field "F.b" can only be defined once. @2:41 2:48"#,
                ]
            ),
            (
                "type Query { a: Int }\nenum E { A B A } extend enum E { B }",
                [
                    #"Enum value "E.A" can only be defined once. @2:10 2:14"#,
                    #"Enum value "E.B" can only be defined once. @2:12 2:34"#,
                ]
            ),
            (
                "type Query { a: Int }\ndirective @d on FIELD\ndirective @d on FIELD",
                [
                    #"There can be only one directive named "@d". @2:12 3:12"#
                ]
            ),
            (
                "type Query { a: Int }\ntype T { a(b: Int, b: Int, c: Int, c: Int): Int } directive @d(x: Int, x: Int) on FIELD",
                [
                    #"Argument "T.a(b:)" can only be defined once. @2:12 2:20"#,
                    #"Argument "T.a(c:)" can only be defined once. @2:28 2:36"#,
                    #"Argument "@d(x:)" can only be defined once. @2:64 2:72"#,
                ]
            ),
        ] as [(String, [String])])
    func rejectsDuplicateNames(sdl: String, expected: [String]) throws {
        #expect(try errors(in: sdl) == expected.sorted())
    }

    @Test(
        arguments: [
            (
                "type Query { a: Int }\ntype T { a: Bok b(c: [Nope!]): [Int] } type Book implements Nod { a: Int }",
                [
                    #"Unknown type "Bok". Did you mean "Book"? @2:13"#,
                    #"Unknown type "Nope". @2:23"#,
                    #"Unknown type "Nod". Did you mean "ID"? @2:61"#,
                ]
            ),
            (
                "type Query { a: Int }\nunion U = Query | Nope input I { a: Strin }",
                [
                    #"Unknown type "Nope". @2:19"#,
                    #"Unknown type "Strin". Did you mean "String"? @2:37"#,
                ]
            ),
            (
                "type Query { a: Int }\nschema { query: Qeury }",
                [
                    #"Unknown type "Qeury". Did you mean "Query"? @2:17"#
                ]
            ),
            (
                "type Query { a: Int }\ndirective @d(a: Nope) on FIELD",
                [
                    #"Unknown type "Nope". @2:17"#
                ]
            ),
        ] as [(String, [String])])
    func rejectsUnknownTypes(sdl: String, expected: [String]) throws {
        #expect(try errors(in: sdl) == expected.sorted())
    }

    @Test(
        arguments: [
            (
                "type Query { a: Int }\nextend type Qury { a: Int }",
                [
                    #"Cannot extend type "Qury" because it is not defined. Did you mean "Query"? @2:13"#
                ]
            ),
            (
                "type Query { a: Int }\nextend input Query { b: Int }",
                [
                    #"Cannot extend non-input object type "Query". @1:1 2:1"#
                ]
            ),
            (
                "type Query { a: Int }\nscalar S extend enum S { A } extend union Query = Query",
                [
                    #"Cannot extend non-enum type "S". @2:1 2:10"#,
                    #"Cannot extend non-union type "Query". @1:1 2:30"#,
                ]
            ),
            (
                "type Query { a: Int }\nextend interface Nope { a: Int }",
                [
                    #"Cannot extend type "Nope" because it is not defined. @2:18"#
                ]
            ),
        ] as [(String, [String])])
    func rejectsInvalidExtensions(sdl: String, expected: [String]) throws {
        #expect(try errors(in: sdl) == expected.sorted())
    }

    @Test(
        arguments: [
            (
                "type Query { a: Int }\ntype T @nope { a: Int @skip(if: true) b(c: Int @deprecated @deprecated): Int }",
                [
                    #"Unknown directive "@nope". @2:8"#,
                    #"Directive "@skip" may not be used on FIELD_DEFINITION. @2:23"#,
                    #"The directive "@deprecated" can only be used once at this location. @2:48 2:60"#,
                ]
            ),
            (
                #"type Query { a: Int }\#nenum E @deprecated { A @specifiedBy(url: "a") }"#,
                [
                    #"Directive "@deprecated" may not be used on ENUM. @2:8"#,
                    #"Directive "@specifiedBy" may not be used on ENUM_VALUE. @2:24"#,
                ]
            ),
            (
                #"type Query { a: Int }\#nscalar S @specifiedBy scalar T @specifiedBy(urll: "a", url: "b", url: "c")"#,
                [
                    #"Directive "@specifiedBy" argument "url" of type "String!" is required, but it was not provided. @2:10"#,
                    #"Unknown argument "urll" on directive "@specifiedBy". Did you mean "url"? @2:45"#,
                    #"There can be only one argument named "url". @2:56 2:66"#,
                ]
            ),
            (
                "type Query { a: Int }\ndirective @d(a: Int!) on OBJECT | SCHEMA type T @d @d(a: 1) { a: Int } extend schema @d(a: 1) @d(a: 1)",
                [
                    #"The directive "@d" can only be used once at this location. @2:49 2:52"#,
                    #"Directive "@d" argument "a" of type "Int!" is required, but it was not provided. @2:49"#,
                    #"The directive "@d" can only be used once at this location. @2:86 2:95"#,
                ]
            ),
            (
                "type Query { a: Int }\ndirective @d(a: I) on OBJECT input I { x: Int y: I } type T @d(a: {x: 1, x: 2}) { a: Int }",
                [
                    #"There can be only one input field named "x". @2:68 2:74"#
                ]
            ),
            (
                #"type Query { a: Int }\#ndirective @d(a: [Int]) on OBJECT type T @d(a: ["x"]) { a: Int }"#,
                [
                    #"Int cannot represent non-integer value: "x" @2:48"#
                ]
            ),
        ] as [(String, [String])])
    func rejectsMisusedDirectives(sdl: String, expected: [String]) throws {
        #expect(try errors(in: sdl) == expected.sorted())
    }

    @Test(
        arguments: [
            (
                "type Query { a: Int }\nschema { query: E } enum E { A }",
                [
                    "Query root type must be Object type, it cannot be E. @2:17"
                ]
            ),
            (
                "type Query { a: Int }\ninterface Mutation { a: Int }",
                [
                    "Mutation root type must be Object type if provided, it cannot be Mutation. @2:1"
                ]
            ),
            (
                "type Query { a: Int }\nschema { query: Query mutation: I subscription: U } input I { a: Int } union U = Query",
                [
                    "Mutation root type must be Object type if provided, it cannot be I. @2:33",
                    "Subscription root type must be Object type if provided, it cannot be U. @2:49",
                ]
            ),
            (
                "type Query { a: Int }\nschema { query: Query mutation: Query subscription: Query }",
                [
                    #"All root types must be different, "Query" type is used as query, mutation, and subscription root types. @2:17 2:33 2:53"#
                ]
            ),
        ] as [(String, [String])])
    func rejectsInvalidRootTypes(sdl: String, expected: [String]) throws {
        #expect(try errors(in: sdl) == expected.sorted())
    }

    @Test(
        arguments: [
            (
                "type Query { a: Int }\ntype __T { __a(__b: Int): Int } directive @__d(__a: Int) on FIELD enum E { __A } input I { __a: Int }",
                [
                    #"Name "__d" must not begin with "__", which is reserved by GraphQL introspection. @2:33"#,
                    #"Name "__a" must not begin with "__", which is reserved by GraphQL introspection. @2:48"#,
                    #"Name "__T" must not begin with "__", which is reserved by GraphQL introspection. @2:1"#,
                    #"Name "__a" must not begin with "__", which is reserved by GraphQL introspection. @2:12"#,
                    #"Name "__b" must not begin with "__", which is reserved by GraphQL introspection. @2:16"#,
                    #"Name "__A" must not begin with "__", which is reserved by GraphQL introspection. @2:76"#,
                    #"Name "__a" must not begin with "__", which is reserved by GraphQL introspection. @2:92"#,
                ]
            )
        ] as [(String, [String])])
    func rejectsReservedNames(sdl: String, expected: [String]) throws {
        #expect(try errors(in: sdl) == expected.sorted())
    }

    @Test(
        arguments: [
            (
                "type Query { a: Int }\ninput I { a: Int } type T { a: I b(c: Query, d: [U!]): Int } union U = Query",
                [
                    "The type of T.a must be Output Type but got: I. @2:32",
                    "The type of T.b(c:) must be Input Type but got: Query. @2:39",
                    "The type of T.b(d:) must be Input Type but got: [U!]. @2:49",
                ]
            ),
            (
                "type Query { a: Int }\ninput I { a: Query } directive @d(a: Query) on FIELD",
                [
                    "The type of @d(a:) must be Input Type but got: Query. @2:35",
                    "The type of I.a must be Input Type but got: Query. @2:14",
                ]
            ),
        ] as [(String, [String])])
    func rejectsTypesInInvalidPositions(sdl: String, expected: [String]) throws {
        #expect(try errors(in: sdl) == expected.sorted())
    }

    @Test(
        arguments: [
            (
                #"type Query { a: Int }\#ninput I { a: Int! @deprecated b: Int! = 1 @deprecated } type T { a(b: Int! @deprecated(reason: "x"), c: Int @deprecated): Int } directive @d(a: Int! @deprecated) on FIELD"#,
                [
                    "Required argument @d(a:) cannot be deprecated. @2:150 2:145",
                    "Required input field I.a cannot be deprecated. @2:19 2:14",
                    "Required argument T.a(b:) cannot be deprecated. @2:76 2:71",
                ]
            )
        ] as [(String, [String])])
    func rejectsDeprecatedRequiredInputs(sdl: String, expected: [String]) throws {
        #expect(try errors(in: sdl) == expected.sorted())
    }

    @Test(
        arguments: [
            (
                "type Query { a: Int }\ninterface I { a: Int } type T implements I { b: Int }",
                [
                    "Interface field I.a expected but T does not provide it. @2:15 2:24"
                ]
            ),
            (
                "type Query { a: Int }\ninterface I { a: [Query!] b: I } type T implements I { a: [Query] b: T c: Int } type O implements I { a: [Query!]! b: Query }",
                [
                    "Interface field I.a expects type [Query!] but T.a is type [Query]. @2:18 2:59",
                    "Interface field I.b expects type I but O.b is type Query. @2:30 2:119",
                ]
            ),
            (
                "type Query { a: Int }\ninterface I { a(x: Int, y: Int!): Int } type T implements I { a(x: Int!, z: Int!, w: Int): Int }",
                [
                    "Interface field argument I.a(x:) expects type Int but T.a(x:) is type Int!. @2:20 2:68",
                    "Interface field argument I.a(y:) expected but T.a does not provide it. @2:25 2:63",
                    "Object field T.a includes required argument z that is missing from the Interface field I.a. @2:74 2:15",
                ]
            ),
            (
                "type Query { a: Int }\ntype T implements Query & E { a: Int } enum E { A }",
                [
                    "Type T must only implement Interface types, it cannot implement Query. @2:19",
                    "Type T must only implement Interface types, it cannot implement E. @2:27",
                ]
            ),
            (
                "type Query { a: Int }\ninterface I implements I { a: Int }",
                [
                    "Type I cannot implement itself because it would create a circular reference. @2:24"
                ]
            ),
            (
                "type Query { a: Int }\ninterface I { a: Int } type T implements I & I { a: Int }",
                [
                    "Type T can only implement I once. @2:42 2:46"
                ]
            ),
            (
                "type Query { a: Int }\ninterface I { a: Int } interface J implements I { a: Int } type T implements J { a: Int }",
                [
                    "Type T must implement I because it is implemented by J. @2:47 2:78"
                ]
            ),
            (
                "type Query { a: Int }\ninterface I implements J { a: Int } interface J implements I { a: Int }",
                [
                    "Type I cannot implement J because it would create a circular reference. @2:60 2:24",
                    "Type J cannot implement I because it would create a circular reference. @2:24 2:60",
                ]
            ),
            (
                "type Query { a: Int }\ninterface I { a: Int } type T implements I { a: Int @deprecated }",
                [
                    "Interface field I.a is not deprecated, so implementation field T.a must not be deprecated. @2:53 2:49"
                ]
            ),
        ] as [(String, [String])])
    func rejectsInvalidImplementations(sdl: String, expected: [String]) throws {
        #expect(try errors(in: sdl) == expected.sorted())
    }

    @Test(
        arguments: [
            (
                "type Query { a: Int }\nunion U = Query | E | Query enum E { A } union V = Query | Int",
                [
                    "Union type U can only include Object types, it cannot include E. @2:19",
                    "Union type U can only include type Query once. @2:11 2:23",
                    "Union type V can only include Object types, it cannot include Int. @2:60",
                ]
            )
        ] as [(String, [String])])
    func rejectsInvalidUnions(sdl: String, expected: [String]) throws {
        #expect(try errors(in: sdl) == expected.sorted())
    }

    @Test(
        arguments: [
            (
                "type Query { a: Int }\ninput I { a: I! }",
                [
                    #"Cannot reference Input Object "I" within itself through a series of non-null fields: "a". @2:11"#
                ]
            ),
            (
                "type Query { a: Int }\ninput I { a: J! } input J { b: K! c: Int } input K { c: I! d: K! }",
                [
                    #"Cannot reference Input Object "I" within itself through a series of non-null fields: "a.b.c". @2:11 2:29 2:54"#,
                    #"Cannot reference Input Object "K" within itself through a series of non-null fields: "d". @2:60"#,
                ]
            ),
            (
                "type Query { a: Int }\ninput I @oneOf { a: J b: I } input J { c: I! }",
                [
                    "Input Object I cannot be provided a finite value because it references itself through fields: I.a, J.c. @2:18 2:40",
                    "Input Object I cannot be provided a finite value because it references itself through fields: I.b. @2:23",
                ]
            ),
        ] as [(String, [String])])
    func rejectsInputObjectsThatRequireThemselves(sdl: String, expected: [String]) throws {
        #expect(try errors(in: sdl) == expected.sorted())
    }

    @Test(
        arguments: [
            (
                "type Query { a: Int }\ninput I @oneOf { a: Int! b: Int = 1 c: Int }",
                [
                    "OneOf input field I.a must be nullable. @2:21",
                    "OneOf input field I.b cannot have a default value. @2:26",
                ]
            )
        ] as [(String, [String])])
    func rejectsInvalidOneOfs(sdl: String, expected: [String]) throws {
        #expect(try errors(in: sdl) == expected.sorted())
    }

    @Test(
        arguments: [
            (
                #"type Query { a: Int }\#ntype T { a(b: Int = "1", c: [E!] = [A, C], d: I = {x: 1, z: 2}): Int } enum E { A B } input I { x: Int! y: Int! = null z: Int }"#,
                [
                    #"T.a(b:) has invalid default value: Int cannot represent non-integer value: "1" @2:21"#,
                    #"T.a(c:) has invalid default value: Value "C" does not exist in "E" enum. Did you mean the enum value "A" or "B"? @2:40"#,
                    #"I.y has invalid default value: Expected value of type "Int!", found null. @2:115"#,
                ]
            ),
            (
                "type Query { a: Int }\ninput I { a: I = {} b: Int } input J { k: K = {} } input K { j: [J] = [{}] }",
                [
                    "Invalid circular reference. The default value of Input Object field I.a references itself. @2:18",
                    "Invalid circular reference. The default value of Input Object field J.k references itself via the default values of: K.j. @2:47 2:71",
                ]
            ),
        ] as [(String, [String])])
    func rejectsInvalidDefaults(sdl: String, expected: [String]) throws {
        #expect(try errors(in: sdl) == expected.sorted())
    }

    @Test(
        arguments: [
            (
                "type Query { a: Int }\ndirective @d(a: Int @d) on ARGUMENT_DEFINITION",
                [
                    #"Directive "@d" must not reference itself, directly or indirectly. @2:21"#
                ]
            ),
            (
                "type Query { a: Int }\ndirective @d(a: I) on INPUT_FIELD_DEFINITION | ARGUMENT_DEFINITION input I { a: Int @e } directive @e(b: Int @d) on INPUT_FIELD_DEFINITION | ARGUMENT_DEFINITION",
                [
                    #"Directive "@d" must not reference itself, directly or indirectly. @2:17 2:85 2:110"#
                ]
            ),
        ] as [(String, [String])])
    func rejectsDirectivesThatReferenceThemselves(sdl: String, expected: [String]) throws {
        #expect(try errors(in: sdl) == expected.sorted())
    }
}
