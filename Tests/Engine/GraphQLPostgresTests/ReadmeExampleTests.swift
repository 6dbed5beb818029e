import FoundationEssentials
import Testing

/// Checks that the examples in `Sources/Engine/GraphQLPostgres/README.md` are code that these tests compile and run.
@Suite struct ReadmeExampleTests {
    @Test func examplesAreCompiled() throws {
        let tests = URL(filePath: #filePath).deletingLastPathComponent()
        let readme = try String(
            contentsOf: tests.appending(path: "../../../Sources/Engine/GraphQLPostgres/README.md"),
            encoding: .utf8)
        let examples = readme.split(separator: "```swift\n").dropFirst().map { part in
            part.split(separator: "```", maxSplits: 1)[0]
        }
        #expect(examples.count == 3)
        let code = try ["LibraryTypes.swift", "LibraryContext.swift"].map { name in
            try String(contentsOf: tests.appending(path: "Support/\(name)"), encoding: .utf8)
        }
        for example in examples {
            #expect(code.contains { $0.contains(example) }, "\(example)")
        }
    }
}
