import ArgumentParser
import Bookplate
import Config
import GraphQL

/// `bookplate-admin doctor`: checks the installation.
struct Doctor: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Check everything that a server needs, and report problems and remedies.",
        discussion: """
            Prints one line for each check: the configuration, the two databases and their roles, row-level security, \
            migrations, the clock, the session keys, the cover storage, the imager, the daily budgets of external sources, \
            and whether external services can be reached. The command changes nothing. It exits with 2 if a check fails. \
            Warnings do not affect the exit code.

            Examples:
              bookplate-admin doctor
              bookplate-admin doctor --offline --json
            """)

    @OptionGroup var output: OutputOptions
    @Flag(help: "Do not connect to external services.")
    var offline = false
    @OptionGroup var migrations: Migrate.FolderOptions

    func run() async throws {
        var results: [CheckResult] = []
        do throws(ConfigError) {
            let configuration = try Configuration.load()
            results.append(
                .ok("configuration", "valid, for \(configuration.environment.rawValue)"))
            results += configuration.unknownVariables.map { variable in
                .warning(
                    "configuration", "\(variable.name) is not a known variable and is ignored",
                    variable.suggestion.map { "did you mean \($0)?" }
                        ?? "remove it, or correct its name")
            }
            results += DatabaseChecks(configuration, migrations: migrations).results()
            results.append(KeysCheck.result(configuration))
            results.append(StorageCheck.result(configuration))
            results.append(await ImagerCheck.result())
            results += BudgetChecks.results(configuration)
            results += await ExternalServiceChecks.results(configuration, isOffline: offline)
        } catch {
            results.append(
                .wrong(
                    "configuration", "\(error)",
                    "correct it; docs/operations.md lists all variables"))
        }
        output.print(
            .object([
                .init("isSound", .boolean(!results.contains { $0.state == .wrong })),
                .init("findings", .list(results.map(\.json))),
            ]), lines: results.map(\.line))
        if results.contains(where: { $0.state == .wrong }) { throw ExitStatus.found.code }
    }
}
