import GraphQL
import Testing

@Suite struct ParseLimitsTests {
    /// The start of each document, and the text that is repeated after it.
    @Test(arguments: [
        ("", "{a"), ("{", "...{"), ("{", "...on A{"), ("{a(b:", "["), ("{a(b:", "{c:"),
        ("{a(b:", "[{c:"), ("query($a:", "["), ("query($a:B=", "["), ("{a@b(c:", "{d:"),
        ("type A{a:", "["), ("type A{a(b:C=", "["), ("type A{a(b:C=", "{d:"), ("type A@b(c:", "["),
    ])
    func rejectsDeepNestingWithoutStackOverflow(start: String, repeated: String) async throws {
        let source = start + String(repeating: repeated, count: 200_000)
        for limits in [ParseLimits(sourceBytesMax: .max), .trusted] {
            let error = await #expect(throws: GraphQLError.self) {
                try await withStack(kilobytes: 128) {
                    _ = try parse(Source(source), limits: limits)
                }
            }
            #expect(error?.kind == .limitExceeded)
            #expect(
                error?.message
                    == "Syntax Error: Document is nested deeper than \(limits.nestingMax) levels. Parsing aborted."
            )
            #expect(error?.extensions.last == .init("max", .int(limits.nestingMax)))
        }
    }

    @Test func acceptsNestingUpToLimit() throws {
        func document(_ depth: Int) -> Source {
            Source(String(repeating: "{a", count: depth) + String(repeating: "}", count: depth))
        }
        _ = try parse(document(64))
        _ = try parse(document(200), limits: .trusted)
        #expect(throws: GraphQLError.self) { try parse(document(65)) }
        #expect(throws: GraphQLError.self) { try parse(document(201), limits: .trusted) }
    }

    @Test func siblingsDoNotCountAsNesting() throws {
        let fields = String(repeating: "a(b: [[1]]) { c } ", count: 200)
        _ = try parse(Source("{ \(fields) }"))
    }

    @Test func limitsTokens() throws {
        let limits = ParseLimits(tokensMax: 5)
        _ = try parse(Source("{ a b c } # d e f"), limits: limits)
        let error = #expect(throws: GraphQLError.self) {
            try parse(Source("{ a b c d }"), limits: limits)
        }
        #expect(
            error?.message
                == "Syntax Error: Document contains more than 5 tokens. Parsing aborted.")
        #expect(error?.locations == [GraphQL.SourceLocation(line: 1, column: 11)])
        #expect(error?.extensions[0] == .init("limit", .string("tokensMax")))
    }

    @Test(arguments: [
        ("{ a b c }", nil), ("{ a b c }#d\u{FEFF}", nil), ("{ a b c }\u{FEFF},\n", nil),
        ("{ \"a\" }", "Expected Name, found String \"a\"."),
        ("{ a b c #c\n\u{FEFF}d }", "Document contains more than 5 tokens. Parsing aborted."),
        ("{ a b c d", "Expected Name, found <EOF>."),
        ("{ a b c d e", "Document contains more than 5 tokens. Parsing aborted."),
        ("{ a b c } d", "Document contains more than 5 tokens. Parsing aborted."),
        ("{ a b c } ?", "Unexpected character: \"?\"."),
    ])
    func reportsFirstExcessToken(text: String, message: String?) {
        do throws(GraphQLError) {
            _ = try parse(Source(text), limits: ParseLimits(tokensMax: 5))
            #expect(message == nil)
        } catch {
            #expect(error.message == message.map { "Syntax Error: " + $0 })
        }
    }

    @Test func limitsBytes() throws {
        let limits = ParseLimits(sourceBytesMax: 8)
        _ = try parse(Source("{ é }".replacing("é", with: "abcd")), limits: limits)
        let error = #expect(throws: GraphQLError.self) {
            try parse(Source("{ abcde }"), limits: limits)
        }
        #expect(error?.kind == .limitExceeded)
        #expect(error?.extensions[0] == .init("limit", .string("sourceBytesMax")))
    }
}
