import GraphQL
import Testing

@Suite struct PrinterTests {
    /// Texts and their canonical form, which is what graphql-js prints.
    @Test(arguments: [
        ("query{a}", "{\n  a\n}"),
        ("query Q{a}", "query Q {\n  a\n}"),
        ("query($a:Int=1@d,$b:[X!]!)@e{a}", "query ($a: Int = 1 @d, $b: [X!]!) @e {\n  a\n}"),
        ("\"q\" query ($a: Int) {a}", "\"q\"\nquery ($a: Int) {\n  a\n}"),
        ("query Q(\"d\" $a: Int, $b: B) {a}", "query Q(\n\"d\"\n$a: Int\n$b: B\n) {\n  a\n}"),
        (
            "{x:a(b:{c:[1,2.5e3,E,null,true,$v,\"s\"]})@d(e:1)@f{...F@g ...on T{b}...{c}...@h{d}}}",
            """
            {
              x: a(b: {c: [1, 2.5e3, E, null, true, $v, "s"]}) @d(e: 1) @f {
                ...F @g
                ... on T {
                  b
                }
                ... {
                  c
                }
                ... @h {
                  d
                }
              }
            }
            """
        ),
        (
            "{ aFieldWithALongName(first: \"0123456789012345678901234567890123456789\", second: \"abcdefgh\") }",
            """
            {
              aFieldWithALongName(
                first: "0123456789012345678901234567890123456789"
                second: "abcdefgh"
              )
            }
            """
        ),
        (
            "\"f\" fragment F on T @d {a} subscription {b}",
            "\"f\"\nfragment F on T @d {\n  a\n}\n\nsubscription {\n  b\n}"
        ),
        (
            "\"\"\"s\"\"\" schema @d {query:Q mutation:M} extend schema @e extend schema {subscription:S}",
            "\"\"\"s\"\"\"\nschema @d {\n  query: Q\n  mutation: M\n}\n\nextend schema @e\n\nextend schema {\n  subscription: S\n}"
        ),
        (
            "scalar S @specifiedBy(url:\"u\") extend scalar S @d",
            "scalar S @specifiedBy(url: \"u\")\n\nextend scalar S @d"
        ),
        (
            "type T implements &A&B @d {\"x\" f(a:Int=1 b:[I!]!):T! @deprecated g(\"d\" a:I):I}",
            """
            type T implements A & B @d {
              "x"
              f(a: Int = 1, b: [I!]!): T! @deprecated
              g(
                "d"
                a: I
              ): I
            }
            """
        ),
        (
            "type T extend type T implements A interface I implements J",
            "type T\n\nextend type T implements A\n\ninterface I implements J"
        ),
        (
            "union U = |A|B extend union U @d union V",
            "union U = A | B\n\nextend union U @d\n\nunion V"
        ),
        ("enum E {\"a\" A B@d}", "enum E {\n  \"a\"\n  A\n  B @d\n}"),
        (
            "input I @oneOf {a:Int=1 @d \"b\" b:B}",
            "input I @oneOf {\n  a: Int = 1 @d\n  \"b\"\n  b: B\n}"
        ),
        (
            "directive @a(b:C)repeatable on |FIELD|QUERY",
            "directive @a(b: C) repeatable on FIELD | QUERY"
        ),
    ])
    func printsInCanonicalForm(text: String, expected: String) throws {
        let printed = print(try parse(Source(text)))
        #expect(printed == expected)
        #expect(print(try parse(Source(printed))) == printed)
    }

    @Test(arguments: [
        "type T\n\nquery {\n  a\n}\n\n{\n  b\n}", "scalar S\n\n{\n  a\n}",
        "union U = A\n\n{\n  a\n}",
        "extend schema @a\n\nquery {\n  a\n}",
    ])
    func usesQueryKeywordWhereShorthandIsAmbiguous(text: String) throws {
        #expect(print(try parse(Source(text))) == text)
    }

    @Test func longFieldWithoutArgumentsHasNoParentheses() throws {
        let text = "{\n  " + String(repeating: "a", count: 81) + "\n}"
        #expect(print(try parse(Source(text))) == text)
    }

    @Test(arguments: [
        (#""\u0000\b\t\n\f\r\"\\\/é😀\u007F""#, #""\u0000\b\t\n\f\r\"\\/é😀\u007F""#),
        ("\"\"\"\"\"\"", "\"\"\"\"\"\""),
        ("\"\"\"a\"\"\"", "\"\"\"a\"\"\""),
        ("\"\"\" a \n  b\n \n c\"\"\"", "\"\"\"\n a \n b\n\nc\n\"\"\""),
        ("\"\"\"\n\n    a\n\n      b\n    c\n\n\"\"\"", "\"\"\"\na\n\n  b\nc\n\"\"\""),
        ("\"\"\"a\r\nb\rc\"\"\"", "\"\"\"\na\nb\nc\n\"\"\""),
        ("\"\"\"\n\t a\n\t b\"\"\"", "\"\"\"\na\nb\n\"\"\""),
        ("\"\"\"a \\\"\"\" b \\n\"\"\"", "\"\"\"a \\\"\"\" b \\n\"\"\""),
        ("\"\"\"a\\\"\"\"\"\"\"", "\"\"\"\na\\\"\"\"\n\"\"\""),
        ("\"\"\"a\"b\\\\\n\"\"\"", "\"\"\"\na\"b\\\\\n\"\"\""),
        ("\"\"\" a\"\"\"", "\"\"\" a\"\"\""),
        ("\"\"\"   \n \t \n\"\"\"", "\"\"\"\"\"\""),
    ])
    func printsStrings(literal: String, expected: String) throws {
        let value = try parseValue(Source(literal))
        #expect(print(value) == expected)
        guard case .string(let first) = value.kind,
            case .string(let second) = try parseValue(Source(print(value))).kind
        else { return #expect(Bool(false)) }
        #expect(first.value == second.value)
    }

    @Test(arguments: ["A", "A!", "[A]", "[A!]!", "[[[A]!]]!"])
    func printsTypes(text: String) throws {
        #expect(print(try parseType(Source(" " + text + ","))) == text)
    }
}
