import Testing

/// Comments, documentation, and messages are in plain English.
///
/// The patterns find habits that make technical English hard to read. A sentence that matches one is not always wrong, so
/// up to 2 % of the sentences may match. Rewrite a sentence because it is hard to read, not to avoid a pattern.
@Suite struct ProseTests {
    /// The habits and their patterns.
    private static let habits: [(name: String, pattern: String)] = [
        (
            "'is no X' instead of 'is not an X'",
            #"(?i)(^|\b(?!t?here )\w+\W+)(is|are|was|were) no (?!longer|more|less|later|such|one\b)[a-z]"#
        ),
        (
            "a clause as the subject",
            #"^(What|Whatever|Who|Whoever|Whom|Whose|Of (a|an|each|one|all|the)|So many|As many|Those (that|who|of|behind)|One (that|of|who)|That (which|of)) "#
        ),
        (
            "a program that tells or says",
            #"(?i)\b(tells?|told) (of|apart|that|what|who|which|its|the|it)\b|\bsays? (of|nothing)\b"#
        ),
        ("'had' instead of 'found' or 'obtained'", #"(?i)\b(is|are|was|be) had\b"#),
        (
            "'behind' instead of 'after'",
            #"(?i)\bbehind (the|a|an|each|it|its|this|that|them|those)\b"#
        ),
        (
            "people instead of parts of a program",
            #"(?i)\b(nobody|somebody|anybody|everybody|whom|whoever)\b"#
        ),
        (
            "'so many' and archaic compounds",
            #"(?i)\b(so many|so much|so few|thereof|therefrom|thereby|whereof)\b"#
        ),
        (
            "vague states",
            #"(?i)\b(is|are) of (now|then|it|its)\b|\b(is|are|was|were) there (again|when|already|too|then)\b|\bstands? (at|in|on|for|beside|behind)\b"#
        ),
        (
            "words with a standard alternative",
            #"(?i)\b(sought|wish(es|ed)?|anew|hence|thence|mend(s|ed|ing)?|hinders?|foreseen?)\b"#
        ),
        (
            "a sentence that continues the one before",
            #"^(And|But|Or|Nor|So|For|Else|Again|Then) [a-z]"#
        ),
    ]

    private let regexes: [(name: String, regex: Regex<AnyRegexOutput>)]

    init() throws {
        regexes = try Self.habits.map { habit in
            (habit.name, try Regex(habit.pattern).wordBoundaryKind(.simple))
        }
    }

    struct Sentence {
        let file: String
        let line: Int
        let text: String
    }

    @Test func thePatternsFindWhatTheyDescribe() {
        for sentence in [
            "A row that is no book is skipped.", "What is asked for is sent.",
            "It tells the reader who waits.", "A connection is had from the pool.",
            "The rows behind the cursor come next.", "The job is nobody's.",
            "At once so many may run.", "The time is of now when it is missing.",
            "The page is sought by its key.", "But a late result counts.",
        ] {
            #expect(habits(of: sentence) != [], "\(sentence)")
        }
        #expect(habits(of: "The server returns the rows after the cursor.") == [])
    }

    @Test(arguments: [
        ["Sources", "Examples"], ["Tests"],
        ["docs", "README.md", "CONTRIBUTING.md", "CHANGELOG.md"], ["scripts"],
        ["schema.graphql"], ["migrations"],
    ])
    func atMostTwoPercentOfTheSentencesMatch(_ paths: [String]) throws {
        var count = 0
        var flagged: [String] = []
        for file in try Project.files(
            paths, [".swift", ".h", ".c", ".js", ".md", ".graphql", ".sh", ".py", ".sql"])
        where !file.contains("codemirror") && !file.contains("Fixtures")
            && !file.contains("Tests/Product/Requests") && !file.hasSuffix("migrations/schema.sql")
            && !file.hasSuffix("ProseTests.swift")
        {
            for sentence in Self.sentences(of: try Project.text(file), file) {
                count += 1
                let habits = habits(of: sentence.text)
                if !habits.isEmpty {
                    flagged.append("\(file):\(sentence.line): [\(habits[0])] \(sentence.text)")
                }
            }
        }
        #expect(count > 0)
        #expect(
            flagged.count * 50 <= count,
            "\(flagged.count) of \(count) sentences:\n\(flagged.joined(separator: "\n"))")
    }

    /// Returns the names of the habits that a sentence has.
    private func habits(of sentence: String) -> [String] {
        regexes.filter { sentence.contains($0.regex) }.map(\.name)
    }

    /// The sentences of at least four words in a file's comments, or in a document's paragraphs.
    static func sentences(of text: String, _ file: String) -> [Sentence] {
        let isDocument = file.hasSuffix(".md") || file.hasSuffix(".graphql")
        let mark =
            file.hasSuffix(".sql")
            ? "--" : file.hasSuffix(".py") || !file.contains(".") ? "#" : "//"
        var sentences: [Sentence] = []
        var block = ""
        var isCode = false
        func finish(_ line: Int) {
            let plain = block.replacing(/`[^`]*`|https?:\S+/, with: "X")
                .replacing(/\[([^\]]*)\]\([^)]*\)/, with: \.1)
            for part in plain.split(separator: /[.!?;:] +(?=[A-Z"'`(])/)
            where part.split(separator: " ").count >= 4 {
                sentences.append(Sentence(file: file, line: line, text: String(part)))
            }
            block = ""
        }
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false)
            .enumerated()
        {
            let content = line.drop { $0 == " " }
            if content.hasPrefix("```") { isCode.toggle() }
            var prose: Substring?
            if isDocument {
                let isSchema = file.hasSuffix(".graphql")
                if isSchema ? !content.contains(/[:{}()]/) || content.hasPrefix("\"") : !isCode {
                    prose = content
                }
                if content.contains(/^([-*|#]|\d+\.)/) { finish(index) }
            } else if content.hasPrefix(mark) {
                prose = content.drop { $0 == "/" || $0 == "#" || $0 == "!" || $0 == "-" }
            }
            let words = prose?.trimmingPrefix(/[ *#>|"-]+/) ?? ""
            if words.isEmpty {
                finish(index)
            } else {
                block += (block.isEmpty ? "" : " ") + words
            }
        }
        finish(text.count)
        return sentences
    }
}
