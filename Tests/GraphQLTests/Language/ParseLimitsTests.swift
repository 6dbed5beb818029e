import GraphQL
import Glibc
import Testing

@Suite struct ParseLimitsTests {
    static let nestings: [(open: String, close: String, before: String)] = [
        ("{a", "}", ""), ("[", "]", "{a(b:"), ("{c:", "}", "{a(b:"),
        ("[{c:", "}]", "{a(b:"), ("[", "]", "query($a:"), ("...{", "}", "{"),
        ("[", "]", "type A{a:"), ("[", "]", "type A{a(b:C="), ("[", "]", "type A@b(c:"),
    ]

    @Test(arguments: nestings)
    func rejectsDeepNestingWithoutStackOverflow(open: String, close: String, before: String) {
        let source = Source(before + String(repeating: open, count: 1_500_000))
        for limits in [ParseLimits(sourceBytesMax: .max), .trusted] {
            let error = errorOnSmallStack(source, limits, stackKilobytes: 128)
            #expect(error?.code == "OPERATION_TOO_COMPLEX")
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
        do throws(GraphQLError) {
            _ = try parse(Source("{ a b c d }"), limits: limits)
            Issue.record("six tokens were taken")
        } catch {
            #expect(
                error.message
                    == "Syntax Error: Document contains more than 5 tokens. Parsing aborted.")
            #expect(error.locations == [GraphQL.SourceLocation(line: 1, column: 11)])
            #expect(error.extensions[1] == .init("limit", .string("tokensMax")))
        }
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
        do throws(GraphQLError) {
            _ = try parse(Source("{ abcde }"), limits: limits)
            Issue.record("nine bytes were taken")
        } catch {
            #expect(error.code == "OPERATION_TOO_COMPLEX")
            #expect(error.extensions[1] == .init("limit", .string("sourceBytesMax")))
        }
    }
}

/// Returns the error of parsing on a thread with the given stack size.
func errorOnSmallStack(
    _ source: Source, _ limits: ParseLimits, stackKilobytes: Int
) -> GraphQLError? {
    final class Job {
        let source: Source
        let limits: ParseLimits
        var error: GraphQLError?
        init(_ source: Source, _ limits: ParseLimits) {
            self.source = source
            self.limits = limits
        }
        func run() {
            do throws(GraphQLError) { _ = try parse(source, limits: limits) } catch {
                self.error = error
            }
        }
    }
    let job = Job(source, limits)
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    pthread_attr_setstacksize(&attributes, stackKilobytes * 1_024)
    var thread = pthread_t()
    let created = pthread_create(
        &thread, &attributes,
        { pointer in
            if let pointer { Unmanaged<Job>.fromOpaque(pointer).takeUnretainedValue().run() }
            return nil
        }, Unmanaged.passUnretained(job).toOpaque())
    precondition(created == 0)
    pthread_join(thread, nil)
    return job.error
}
