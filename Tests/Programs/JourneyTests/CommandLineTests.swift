import TestSupport
import Testing
import Version

/// The options `--version` and `--help`, and unknown options, in every program.
@Suite struct CommandLineTests {
    private static let programs = [
        "bookplate", "bookplate-admin", "bookplate-imager", "graphql-tool", "ranking-tool",
    ]

    /// Runs a program with an empty environment, because these options need no configuration.
    private static func outcome(
        _ name: String, _ argument: String
    ) async throws -> Program.Outcome {
        try await Program(
            name: name, environment: ["PATH": "/usr/bin:/bin"], folder: try Program.makeFolder()
        ).run(argument)
    }

    @Test(arguments: programs)
    func printsTheVersion(name: String) async throws {
        let outcome = try await Self.outcome(name, "--version")
        #expect(outcome.code == 0)
        #expect(outcome.output == "\(name) \(bookplateVersion)\n")
        #expect(outcome.errors == "")
    }

    @Test(arguments: programs)
    func printsHelp(name: String) async throws {
        let outcome = try await Self.outcome(name, "--help")
        #expect(outcome.code == 0)
        #expect(outcome.output.lowercased().contains("usage: \(name)"))
        for line in outcome.output.split(separator: "\n") {
            #expect(line.count <= 80, "\(line)")
        }
        #expect(outcome.errors == "")
    }

    @Test(arguments: programs)
    func reportsUnknownOptionsAsUsageErrors(name: String) async throws {
        let outcome = try await Self.outcome(name, "--nonsense")
        #expect(outcome.code == 64)
        #expect(outcome.output == "")
        #expect(outcome.errors != "")
    }

    @Test func helpOfTheServerListsVariables() async throws {
        let help = try await Self.outcome("bookplate", "--help").output
        for name in ["DATABASE_URL", "BOOKPLATE_PORT", "BOOKPLATE_SESSION_KEYS"] {
            #expect(help.contains(name), "\(name)")
        }
    }
}
