import Testing

@testable import GraphQL

struct ValidateTests {
    private func validated(
        _ source: String, _ options: ValidationOptions = ValidationOptions()
    ) throws -> [GraphQLError] {
        validate(try parse(Source(source)), against: harnessSchema, options: options)
    }

    @Test func errorsHaveOrderOfDocument() throws {
        let errors = try validated(
            """
            query A($unused: Int) { author { nope } }
            query B { author { id @nope } book { id } }
            fragment F on Author { id }
            """)
        #expect(
            errors.map(\.described) == [
                "Cannot query field \"nope\" on type \"Author\". Did you mean \"name\"? @1:34",
                "Variable \"$unused\" is never used in operation \"A\". @1:9",
                "Unknown directive \"@nope\". @2:23",
                "Field \"book\" argument \"id\" of type \"ID!\" is required, but it was not provided. @2:31",
                "Fragment \"F\" is never used. @3:1",
            ])
        #expect(errors.allSatisfy { $0.kind == .invalidDocument })
    }

    @Test func stopsAfterErrorsMax() throws {
        let source = "{ author { " + (0..<50).map { "nope\($0) " }.joined() + "} }"
        let errors = try validated(source, ValidationOptions(errorsMax: 3))
        #expect(errors.count == 4)
        #expect(
            errors.last?.message
                == "Too many validation errors, error limit reached. Validation aborted.")
        #expect(try validated(source).count == 50)
    }

    @Test(arguments: [
        "{ author { nam } }", "{ items { title } }", "{ book(idd: 1) { id } }",
        "{ author { nick(style: SHRT) } }", "query ($a: Styl) { author { id } }", "{ author }",
        "{ items(filter: {limitt: 1}) { __typename } }",
    ])
    func suggestionsCanBeDisabled(source: String) throws {
        let withSuggestions = try validated(source).map(\.message)
        #expect(withSuggestions.contains { $0.contains("Did you mean") })
        let withoutSuggestions = try validated(source, ValidationOptions(hasSuggestions: false))
            .map(\.message)
        #expect(!withoutSuggestions.contains { $0.contains("Did you mean") })
        #expect(withoutSuggestions.count == withSuggestions.count)
    }

    @Test func columnsCountUTF16AndLinesEndInThreeWays() throws {
        let errors = try validated(
            "{ author { # é😀\r\n a: nick(style: \"😀é\") nope\r nope\n nope } }")
        let positions = errors.flatMap(\.locations).map { "\($0.line):\($0.column)" }
        #expect(positions == ["2:17", "2:24", "3:2", "4:2"])
    }
}

struct SuggestionTests {
    @Test(arguments: [
        ("", ["a"], ["a"]),
        ("sample", ["example", "samples", "simple", "other"], ["samples", "simple", "example"]),
        ("NAME", ["name", "names"], ["name", "names"]),
        ("a10", ["a2", "a1", "a100"], ["a1", "a100", "a2"]),
        ("abcd", ["abdc", "zzzz"], ["abdc"]),
        ("abc", ["ab", "ab", "ca"], ["ab"]),
    ])
    func sortsSuggestionsBySimilarity(input: String, options: [String], expected: [String]) {
        #expect(suggestionList(input, options) == expected)
    }

    @Test(
        arguments: [
            ([], ""),
            (["a"], " Did you mean \"a\"?"),
            (["a", "b"], " Did you mean \"a\" or \"b\"?"),
            (
                ["a", "b", "c", "d", "e", "f"],
                " Did you mean \"a\", \"b\", \"c\", \"d\", or \"e\"?"
            ),
        ] as [([String], String)])
    func listsAtMostFiveNames(names: [String], expected: String) {
        #expect(didYouMean(names) == expected)
    }
}
