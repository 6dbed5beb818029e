import Testing

@testable import Postgres

@Suite struct FoldWhitespaceTests {
    @Test(arguments: [
        ("SELECT 1", "SELECT 1"),
        ("\n    SELECT id,\n           name\n    FROM shelves\n", "SELECT id, name FROM shelves"),
        ("SELECT\t1\r\n + 2", "SELECT 1 + 2"),
        ("SELECT 1 -- one\n+ 2", "SELECT 1 + 2"),
        ("SELECT 1--one\n+ 2 -- two", "SELECT 1 + 2"),
        ("SELECT 1 /* a /* nested */ comment */ + 2", "SELECT 1 + 2"),
        ("SELECT 1/**/+ 2", "SELECT 1 + 2"),
        ("SELECT 5 - 3, 6 / 2", "SELECT 5 - 3, 6 / 2"),
    ])
    func blanksAndCommentsBecomeOneSpace(_ text: String, _ folded: String) {
        #expect(foldWhitespace(inSQL: text) == folded)
    }

    @Test(arguments: [
        "SELECT 'two  blanks -- no comment'",
        "SELECT 'it''s  quoted', \"a  column\"",
        "SELECT E'a\\'  b', e'\\\\'",
        "SELECT 'no escape\\', 'two  blanks'",
        "SELECT $$two  blanks$$, $tag$it  $$ has$tag$",
        "SELECT $1  'x'".replacing("  ", with: " "),
        "SELECT type'two  blanks\\'",
    ])
    func quotedTextStaysAsItIs(_ text: String) {
        #expect(foldWhitespace(inSQL: text) == text)
    }

    @Test(arguments: [
        ("'open  ", "'open "), ("\"open  ", "\"open "), ("$a$open  ", "$a$open "),
        ("/* open  ", ""),
        ("E'open\\", "E'open\\"), ("$", "$"), ("-", "-"), ("/", "/"),
    ])
    func textThatEndsTooSoonIsReadToItsEnd(_ text: String, folded: String) {
        #expect(foldWhitespace(inSQL: text) == folded)
    }

    @Test func parametersAreNotDollarQuotes() {
        #expect(
            foldWhitespace(inSQL: "SELECT $1,\n  $2::int  AND a$b$  c")
                == "SELECT $1, $2::int AND a$b$ c")
    }
}
