import ArgumentParser
import Bookplate
import Config
import GraphQL

/// `bookplate-admin doctor`: whether this installation is sound.
struct Doctor: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Looks at everything a server needs, and says what is wrong and what to do.",
        discussion: """
            It prints one line for each check: the configuration, the two databases and their roles, row-level security,
            migrations, the clock, the session keys, the cover storage, the imager, the daily budgets of external sources,
            and whether external services can be reached. It changes nothing. It exits with 2 if something is wrong;
            warnings do not change the exit code.

            Examples:
              bookplate-admin doctor
              bookplate-admin doctor --offline --json
            """)

    @OptionGroup var output: OutputOptions
    @Flag(help: "Ask nobody outside.")
    var offline = false
    @Option(help: "The folder of the migration files.")
    var migrations = "migrations"

    func run() async throws {
        var findings: [Finding] = []
        do throws(ConfigError) {
            let configuration = try Configuration.load()
            findings.append(
                .ok("configuration", "read, for \(configuration.environment.rawValue)"))
            findings += configuration.unknownVariables.map { variable in
                .warning(
                    "configuration", "\(variable.name) is not a known variable and is ignored",
                    variable.suggestion.map { "did you mean \($0)?" }
                        ?? "remove it, or correct its name")
            }
            findings += DatabaseExamination(configuration, migrations: migrations).findings()
            findings.append(KeysExamination.finding(configuration))
            findings.append(StorageExamination.finding(configuration))
            findings.append(await ImagerExamination.finding())
            findings += BudgetExamination.findings(configuration)
            findings += await OutsideExamination.findings(configuration, isOffline: offline)
        } catch {
            findings.append(
                .wrong(
                    "configuration", "\(error)", "mend it; docs/operations.md lists all variables"))
        }
        output.print(
            .object([
                .init("isSound", .boolean(!findings.contains { $0.state == .wrong })),
                .init("findings", .list(findings.map(\.json))),
            ]), lines: findings.map(\.line))
        if findings.contains(where: { $0.state == .wrong }) { throw ExitStatus.found.code }
    }
}
