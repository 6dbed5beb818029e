import Testing

@testable import GraphQL

private func repeated(_ count: Int, _ text: (Int) -> String) -> String {
    (0..<count).map(text).joined()
}

/// Validates documents that are designed to be slow, and checks that they take little time and do
/// not overflow the stack.
@Suite(.serialized) struct ValidationWorkTests {
    private func seconds(_ source: String) throws -> (seconds: Double, messages: [String]) {
        let document = try parse(Source(source), limits: .trusted)
        var errors: [GraphQLError] = []
        let duration = ContinuousClock().measure {
            errors = validate(document, against: harnessSchema)
        }
        return (duration / .seconds(1), errors.map(\.message))
    }

    /// Much longer than a debug build needs, and much shorter than quadratic work would take.
    private let secondsMax = 10.0

    @Test(
        arguments: [
            ("repeated leaves", "{ author { " + String(repeating: "name ", count: 20_000) + "} }"),
            (
                "repeated fields with selections",
                "{ " + String(repeating: "author { friend { name } } ", count: 5_000) + "}"
            ),
            (
                "inline fragments",
                "{ author { "
                    + String(
                        repeating: "... on Author { " + String(repeating: "name ", count: 100)
                            + "} ",
                        count: 200) + "} }"
            ),
            (
                "reused fragments",
                "{ author { ...F0 ...F0 } } "
                    + repeated(100) {
                        "fragment F\($0) on Author { ...F\($0 + 1) friend { ...F\($0 + 1) } name } "
                    } + "fragment F100 on Author { name }"
            ),
            (
                "doubling fragments",
                "{ author { ...F0 } } "
                    + repeated(50) {
                        "fragment F\($0) on Author { a: friend { ...F\($0 + 1) } b: friend { ...F\($0 + 1) } } "
                    } + "fragment F50 on Author { name }"
            ),
            (
                "a chain of fragments",
                "{ author { ...F0 } } "
                    + repeated(7_500) { "fragment F\($0) on Author { friend { ...F\($0 + 1) } } " }
                    + "fragment F7500 on Author { name }"
            ),
            (
                "many aliases", "{ author { " + repeated(5_000) { "a\($0): name " } + "} }"
            ),
        ] as [(String, String)])
    func validatesLargeDocumentsQuickly(name: String, source: String) throws {
        let (seconds, messages) = try seconds(source)
        #expect(messages.isEmpty)
        #expect(seconds < secondsMax)
    }

    @Test(
        arguments: [
            (
                "a ring of fragments",
                "{ author { ...F0 } } "
                    + repeated(7_500) { "fragment F\($0) on Author { ...F\(($0 + 1) % 7_500) } " },
                "Cannot spread fragment \"F0\" within itself"
            ),
            (
                "repeated fields that conflict",
                "{ author { "
                    + repeated(3_000) { "a: nick(style: \($0 % 2 == 0 ? "SHORT" : "LONG")) " }
                    + "} }", "Fields \"a\" conflict because they have differing arguments."
            ),
            (
                "nested fields that conflict in the end",
                "{ "
                    + String(
                        repeating:
                            "author { friend { friend { name } } } author { friend { friend { name: age } } } ",
                        count: 700) + "}", "Fields \"author\" conflict because"
            ),
            (
                "unknown directives",
                "{ author { name " + repeated(5_000) { "@d\($0) " } + "} }",
                "Unknown directive \"@d0\"."
            ),
            (
                "an unknown name as long as the document",
                "{ \(String(repeating: "a", count: 100_000)) }", "Cannot query field"
            ),
        ] as [(String, String, String)])
    func rejectsLargeInvalidDocumentsQuickly(name: String, source: String, message: String) throws {
        let (seconds, messages) = try seconds(source)
        #expect(messages.first?.hasPrefix(message) == true)
        #expect(messages.count <= 101)
        #expect(seconds < secondsMax)
    }

    @Test func rejectsExcessiveFieldComparisons() throws {
        // The fields differ on mutually exclusive types, so all pairs have to be compared.
        let fields = (0..<2_000).map { _ in
            "... on Book { a: author { x: name } } ... on Author { a: friend { x: nick } } "
        }
        let document = try parse(
            Source("{ items { " + fields.joined() + "} }"), limits: .trusted)
        let errors = validate(document, against: harnessSchema)
        #expect(errors.map(\.code) == ["OPERATION_TOO_COMPLEX"])
    }
}
