import GraphQL
import Testing

/// Invalid texts with the messages and locations of graphql-js.
@Suite struct SyntaxErrorTests {
    @Test(arguments: [
        ("", "Unexpected <EOF>.", 1, 1),
        ("{", "Expected Name, found <EOF>.", 1, 2),
        ("{}", "Expected Name, found \"}\".", 1, 2),
        ("query [", "Expected \"{\", found \"[\".", 1, 7),
        (
            "\n  { ...MissingOn }\n  fragment MissingOn Type",
            "Expected \"on\", found Name \"Type\".", 3, 22
        ),
        ("{ field: {} }", "Expected Name, found \"{\".", 1, 10),
        ("notAnOperation Foo { field }", "Unexpected Name \"notAnOperation\".", 1, 1),
        ("...", "Unexpected \"...\".", 1, 1),
        ("{ \"\"", "Expected Name, found String \"\".", 1, 3),
        (
            "{ a(b: \"\"\" x\n y \"\"\" \"\"\"\n q\n\"\"\") }",
            "Expected Name, found BlockString \"q\".", 2, 8
        ),
        ("query", "Expected \"{\", found <EOF>.", 1, 6),
        ("query { a } 5", "Unexpected Int \"5\".", 1, 13),
        ("query ($x: Int = $y) { a }", "Unexpected variable \"$y\" in constant value.", 1, 18),
        ("query ($x: Int = $) { a }", "Unexpected \"$\".", 1, 18),
        ("query ($x: Int @d(a: $y)) { a }", "Unexpected variable \"$y\" in constant value.", 1, 22),
        ("query () { a }", "Expected \"$\", found \")\".", 1, 8),
        ("{ a() }", "Expected Name, found \")\".", 1, 5),
        ("{ a(b: ) }", "Unexpected \")\".", 1, 8),
        ("fragment on on on { on }", "Unexpected Name \"on\".", 1, 10),
        ("{ ...on }", "Expected Name, found \"}\".", 1, 9),
        ("{ a @ }", "Expected Name, found \"}\".", 1, 7),
        ("{ a: }", "Expected Name, found \"}\".", 1, 6),
        (
            "\"d\" { a }",
            "Unexpected description, descriptions are not supported on shorthand queries.", 1, 1
        ),
        (
            "\"d\" extend type A @d",
            "Unexpected description, only GraphQL definitions support descriptions.", 1, 1
        ),
        ("\"d\" 5", "Unexpected Int \"5\".", 1, 5),
        ("extend \"d\" type A @d", "Unexpected String \"d\".", 1, 8),
        ("extend type A", "Unexpected <EOF>.", 1, 14),
        ("extend scalar A", "Unexpected <EOF>.", 1, 16),
        ("extend schema", "Unexpected <EOF>.", 1, 14),
        ("extend query", "Unexpected Name \"query\".", 1, 8),
        ("schema {}", "Expected Name, found \"}\".", 1, 9),
        ("schema { other: Q }", "Unexpected Name \"other\".", 1, 10),
        ("type A {}", "Expected Name, found \"}\".", 1, 9),
        ("type A implements { a: B }", "Expected Name, found \"{\".", 1, 19),
        ("union A =", "Expected Name, found <EOF>.", 1, 10),
        ("union A = || B", "Expected Name, found \"|\".", 1, 12),
        (
            "enum A { true }", "Name \"true\" is reserved and cannot be used for an enum value.", 1,
            10
        ),
        ("directive @a on FIELD | NOWHERE", "Unexpected Name \"NOWHERE\".", 1, 25),
        ("directive @a repeatable FIELD", "Expected \"on\", found Name \"FIELD\".", 1, 25),
        ("type A { a: [B }", "Expected \"]\", found \"}\".", 1, 16),
        ("type A { a: B!! }", "Expected Name, found \"!\".", 1, 15),
    ])
    func parserRejects(text: String, message: String, line: Int, column: Int) {
        expectSyntaxError(Source(text), message, line, column)
    }

    @Test(arguments: [
        (
            "'a'",
            "Unexpected single quote character ('), did you mean to use a double quote (\")?", 1, 1
        ),
        ("?", "Unexpected character: \"?\".", 1, 1),
        ("..", "Unexpected character: \".\".", 1, 1),
        (".5", "Unexpected character: \".\".", 1, 1),
        ("é", "Unexpected character: U+00E9.", 1, 1),
        ("{ a😀", "Unexpected character: U+1F600.", 1, 4),
        ("\u{0}", "Unexpected character: U+0000.", 1, 1),
        ("\u{7}", "Unexpected character: U+0007.", 1, 1),
        ("\u{2028}", "Unexpected character: U+2028.", 1, 1),
        ("\"", "Unterminated string.", 1, 2),
        ("\"\"\"", "Unterminated string.", 1, 4),
        ("\"\"\"\"", "Unterminated string.", 1, 5),
        ("\"no end quote", "Unterminated string.", 1, 14),
        ("\"multi\nline\"", "Unterminated string.", 1, 7),
        ("\"multi\rline\"", "Unterminated string.", 1, 7),
        ("\"😀\n\"", "Unterminated string.", 1, 4),
        ("\"bad \\z esc\"", "Invalid character escape sequence: \"\\z\".", 1, 6),
        ("\"bad \\😀\"", "Invalid character escape sequence: \"\\😀\".", 1, 6),
        ("\"bad \\", "Invalid character escape sequence: \"\\\".", 1, 6),
        ("\"bad \\u1 esc\"", "Invalid Unicode escape sequence: \"\\u1 es\".", 1, 6),
        ("\"bad \\u00G1\"", "Invalid Unicode escape sequence: \"\\u00G1\".", 1, 6),
        ("\"\\uD83D\"", "Invalid Unicode escape sequence: \"\\uD83D\".", 1, 2),
        ("\"\\uDE00\\uD83D\"", "Invalid Unicode escape sequence: \"\\uDE00\".", 1, 2),
        ("\"\\uD83D\\uD83D\"", "Invalid Unicode escape sequence: \"\\uD83D\".", 1, 2),
        ("\"\\u{}\"", "Invalid Unicode escape sequence: \"\\u{}\".", 1, 2),
        ("\"\\u{D800}\"", "Invalid Unicode escape sequence: \"\\u{D800}\".", 1, 2),
        ("\"\\u{110000}\"", "Invalid Unicode escape sequence: \"\\u{110000}\".", 1, 2),
        ("\"\\u{FFFFFFFF}\"", "Invalid Unicode escape sequence: \"\\u{FFFFFFFF\".", 1, 2),
        ("\"\\u{000000000}\"", "Invalid Unicode escape sequence: \"\\u{000000000\".", 1, 2),
        ("\"\\u{0", "Invalid Unicode escape sequence: \"\\u{0\".", 1, 2),
        ("00", "Invalid number, unexpected digit after 0: \"0\".", 1, 2),
        ("+1", "Unexpected character: \"+\".", 1, 1),
        ("1.", "Invalid number, expected digit but got: <EOF>.", 1, 3),
        ("1e", "Invalid number, expected digit but got: <EOF>.", 1, 3),
        ("1eA", "Invalid number, expected digit but got: \"A\".", 1, 3),
        ("1.a", "Invalid number, expected digit but got: \"a\".", 1, 3),
        ("-", "Invalid number, expected digit but got: <EOF>.", 1, 2),
        ("-a", "Invalid number, expected digit but got: \"a\".", 1, 2),
        ("0x1", "Invalid number, expected digit but got: \"x\".", 1, 2),
        ("1a", "Invalid number, expected digit but got: \"a\".", 1, 2),
        ("1.5_", "Invalid number, expected digit but got: \"_\".", 1, 4),
        ("1.2.3", "Invalid number, expected digit but got: \".\".", 1, 4),
        ("1e\"", "Invalid number, expected digit but got: '\"'.", 1, 3),
    ])
    func lexerRejects(text: String, message: String, line: Int, column: Int) {
        expectSyntaxError(Source(text), message, line, column)
    }

    @Test(arguments: [
        ("\n\r\n\r?", 4, 1), ("\n\n\r\r?", 5, 1), ("\u{FEFF}?", 1, 2), ("# 😀\n ,\t?", 2, 4),
        ("\"\"\"\n\r\n\r\"\"\" ?", 4, 5), ("\u{FEFF}\u{FEFF} ?", 1, 4),
    ])
    func computesLinesAndColumns(text: String, line: Int, column: Int) {
        expectSyntaxError(
            Source(text), text.contains("\"") ? nil : "Unexpected character: \"?\".", line, column)
    }

    @Test(
        arguments: [
            ([0x22, 0xFF, 0x22], 1, 2),
            ([0x0A, 0xED, 0xA0, 0x80], 2, 1),
            ([0x23, 0xC0, 0x80], 1, 2),
            ([0x20, 0xF4, 0x90, 0x80, 0x80], 1, 2),
            ([0x22, 0xE2, 0x82], 1, 2),
        ] as [([UInt8], Int, Int)])
    func rejectsInvalidUTF8(bytes: [UInt8], line: Int, column: Int) {
        expectSyntaxError(Source(bytes), "Document is not valid UTF-8.", line, column)
    }
}

func expectSyntaxError(
    _ source: Source, _ message: String?, _ line: Int, _ column: Int,
    _ testLocation: Testing.SourceLocation = #_sourceLocation
) {
    do throws(GraphQLError) {
        _ = try parse(source)
        Issue.record("The text was parsed without an error.", sourceLocation: testLocation)
    } catch {
        if let message {
            #expect(error.message == "Syntax Error: " + message, sourceLocation: testLocation)
        }
        #expect(
            error.locations == [GraphQL.SourceLocation(line: line, column: column)],
            sourceLocation: testLocation)
        #expect(error.kind == .invalidSyntax, sourceLocation: testLocation)
        #expect(error.path == nil, sourceLocation: testLocation)
    }
}
