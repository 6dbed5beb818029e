import Testing

@testable import GraphQL

extension SchemaErrorsTests {
    /// The names of built-in types are reserved. A definition of a built-in scalar is accepted and
    /// refers to that scalar.
    @Test func rejectsTypesNamedLikeBuiltInScalars() throws {
        #expect(
            try errors(
                in:
                    "type Query { a: Int }\ntype Int { a: Float } input ID { a: Int } type __Type { a: Int }"
            )
                == [
                    #"Name "__Type" must not begin with "__", which is reserved by GraphQL introspection. @2:43"#,
                    #"Type "ID" is a built-in scalar and cannot be defined as another type. @2:29"#,
                    #"Type "Int" is a built-in scalar and cannot be defined as another type. @2:6"#,
                ])
        #expect(try errors(in: "type Query { a: Int } scalar Int").isEmpty)
    }

    @Test func rejectsSchemaWithoutQueryType() throws {
        #expect(try errors(in: "type T { a: Int }") == ["Query root type must be provided. @"])
        #expect(
            try errors(in: "schema { mutation: T } type T { a: Int }")
                == ["Query root type must be provided. @1:1"])
    }

    @Test func rejectsOperations() throws {
        #expect(
            try errors(in: "type Query { a: Int } query A { a } fragment F on Query { a }") == [
                "The \"A\" operation is not a type-system definition. @1:23",
                "The \"F\" fragment is not a type-system definition. @1:37",
            ])
    }

    /// Tests a chain of references as long as the document, and a cycle.
    @Test func longChainsDoNotOverflowStack() throws {
        let chain = (0..<5_000).map { "input I\($0) { a: I\($0 + 1)! } " }.joined()
        #expect(try errors(in: "type Query { a: Int } " + chain + "input I5000 { a: Int }").isEmpty)
        let found = try errors(in: "type Query { a: Int } " + chain + "input I5000 { a: I0! }")
        #expect(found.count == 1)
    }

    /// The default value of each field uses the default value of the field inside it. Each
    /// reference adds a level to the coerced value.
    @Test func limitsChainsOfDefaultValues() throws {
        func schema(_ count: Int, levels: Int = 1) -> String {
            let chain = (0..<count).map { "input I\($0) { a: I\($0 + 1) = {} } " }.joined()
            let inside =
                String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
            return "type Query { a(i: I0 = {}): Int } scalar V " + chain
                + "input I\(count) { v: V = \(inside) }"
        }
        #expect(try errors(in: schema(199)).isEmpty)
        #expect(try errors(in: schema(50, levels: 150)).isEmpty)
        #expect(
            try errors(in: schema(200)) == [
                "The default value of Input Object field I0.a has 201 levels including the default values "
                    + "it references; at most 200 are allowed. @1:63"
            ])
        #expect(try errors(in: schema(51, levels: 150)).count == 1)
        #expect(try errors(in: schema(4_000)).count == 19)
    }
}
