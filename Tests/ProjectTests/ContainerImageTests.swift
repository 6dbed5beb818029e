import FoundationEssentials
import Testing
import Version

/// The Dockerfile, as far as it can be checked without Docker. `scripts/image` runs its steps.
@Suite struct ContainerImageTests {
    /// The sources of the COPY instructions that copy files of the project.
    private static func copiedPaths() throws -> [String] {
        try Project.text("Dockerfile").split(separator: "\n")
            .filter { $0.hasPrefix("COPY ") && !$0.contains("--from=") }
            .flatMap { $0.split(separator: " ").dropFirst().dropLast().map(String.init) }
    }

    @Test func copiesOnlyPathsOfTheBuildContext() throws {
        let included = Set(
            try Project.text(".dockerignore").split(separator: "\n")
                .filter { $0.hasPrefix("!") }.map { String($0.dropFirst()) })
        let copied = try Self.copiedPaths()
        #expect(!copied.isEmpty)
        for path in copied {
            // A path with an asterisk may be missing.
            let isOptional = path.hasSuffix("*")
            let exists = FileManager.default.fileExists(atPath: "\(Project.root)/\(path)")
            #expect(exists || isOptional, "\(path)")
            let name = isOptional ? String(path.dropLast()) : path
            #expect(included.contains { name == $0 || name.hasPrefix("\($0)/") }, "\(path)")
        }
        // It is not part of the repository.
        #expect(!copied.contains("Package.resolved"))
        #expect(!included.contains("Tests"))
    }

    @Test func hasTheVersionAsALabel() throws {
        let label = "org.opencontainers.image.version=\"\(bookplateVersion)\""
        #expect(try Project.text("Dockerfile").contains(label))
    }

    @Test func runsAsANumericUser() throws {
        #expect(try Project.text("Dockerfile").contains("\nUSER 10001:10001\n"))
    }
}
