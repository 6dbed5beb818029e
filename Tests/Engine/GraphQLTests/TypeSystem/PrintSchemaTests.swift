import Testing

@testable import GraphQL

struct PrintSchemaTests {
    @Test(arguments: [
        // A minimal schema.
        """
        type Query {
          a: Int
        }

        """,
        // A schema with all kinds of definitions.
        #"""
        """The schema."""
        schema @about(text: "all") {
          query: Root
          mutation: Change
        }

        """What something is about."""
        directive @about(text: String! = "x", more: [Int!] = [1, 2]) repeatable on SCHEMA | OBJECT | FIELD_DEFINITION | ARGUMENT_DEFINITION | ENUM_VALUE | SCALAR

        """
        Two lines,
          the second indented; and "quotes".
        """
        type Root implements Node & Named @about(text: "a") @about(text: "b") {
          id: ID!
          name: String

          """With a description."""
          books(first: Int = 10, filter: Filter = {text: "a", style: [LONG]}): [Book!]! @deprecated(reason: "old") @about(text: "c")
          plain: Int

          """Arguments that are described."""
          described(
            """The first."""
            first: Int = 1
            second: Int @deprecated

            """The third."""
            third: Int
          ): Int
        }

        interface Node {
          id: ID!
        }

        interface Named implements Node {
          id: ID!
          name: String
        }

        type Change {
          a: Int
        }

        type Book {
          a: Date
        }

        union Any = Book | Change

        enum Style {
          """Not long."""
          SHORT
          LONG @deprecated(reason: "too \"long\"")
        }

        scalar Date @specifiedBy(url: "https://example.com/date")

        input Filter {
          text: String = "é😀\t"

          """Styles."""
          style: [Style!] @deprecated
        }

        input Pick @oneOf {
          a: Int
          b: Filter
        }

        """#,
        // A type that has the default name of a root type but is not one.
        """
        schema {
          query: Query
        }

        type Query {
          a: Int
        }

        type Mutation {
          a: Int
        }

        """,
        // Descriptions that a block string would not preserve.
        """
        " Leading space.\\n\\n Of every line."
        type Query {
          "\\u0007"
          a: Int
        }

        """,
    ])
    func canonicalTextRoundTrips(sdl: String) throws {
        let schema = try buildSchema(try parse(Source(sdl), limits: .trusted))
        #expect(printSchema(schema) == sdl)
    }

    @Test func descriptionsRoundTrip() throws {
        for description in [
            "", " ", "a\n\n  b", "\n", "ends in \"", "\\", "a\"\"\"b", "a\r\nb", "\ta\n\tb",
        ] {
            let quoted = print(StringValue(description))
            let first = try buildSchema(try parse(Source("\(quoted) type Query { a: Int }")))
            let second = try buildSchema(try parse(Source(printSchema(first))))
            #expect(second.queryType.description == description)
        }
    }

    @Test func printsExtensionsMergedIntoTypes() throws {
        let schema = try buildSchema(
            try parse(
                Source(
                    "extend type Query @d { b: Int } type Query { a: Int } directive @d on OBJECT"))
        )
        #expect(
            printSchema(schema) == """
                directive @d on OBJECT

                type Query @d {
                  a: Int
                  b: Int
                }

                """)
    }
}
