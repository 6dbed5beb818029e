import Testing

@testable import Bookplate
@testable import Requests

@Suite struct TextInputTests {
    @Test(
        arguments: [
            ("a", "a"), ("  a b  ", "a b"), ("\u{3000}\u{2003}a\n", "a"), ("\t", nil), ("", nil),
            // A zero-width joiner is not white space.
            ("👩\u{200D}🚀", "👩\u{200D}🚀"),
        ] as [(String, String?)])
    func textIsTrimmed(text: String, expected: String?) throws {
        #expect(try TextInput.optional(text, field: "title", charactersMax: 10) == expected)
        if let expected {
            #expect(try TextInput.line(text, field: "title", charactersMax: 10) == expected)
        } else {
            #expect(throws: BookplateError.badUserInput(field: "title", .init(.empty))) {
                try TextInput.line(text, field: "title", charactersMax: 10)
            }
        }
    }

    @Test func limitCountsScalarsAfterTrimming() throws {
        let longest = String(repeating: "é", count: 10)
        #expect(try TextInput.line("  \(longest)  ", field: "title", charactersMax: 10) == longest)
        let tooLong = BookplateError.badUserInput(
            field: "displayName", .init(.tooLong, max: 10))
        for text in [
            longest + "x", String(repeating: "e\u{301}", count: 6),
            String(repeating: " ", count: 1000),
        ] {
            #expect(throws: tooLong) {
                try TextInput.line(text, field: "displayName", charactersMax: 10)
            }
        }
    }
}
