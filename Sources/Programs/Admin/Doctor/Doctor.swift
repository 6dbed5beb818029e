import ArgumentParser
import Config
import GraphQL

/// `bookplate-admin doctor`: checks the installation.
struct Doctor: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Check everything that a server needs, and report problems and remedies.",
        discussion: """
            Prints one line for each check: the configuration, the public URL and its proxy, the two databases, their roles and \
            settings, triggers, functions, constraints, indexes, columns, privileges, policies, row-level security, migrations, \
            tenants, webhooks, dead jobs, the clock, the session keys, Apple's key, the cover storage, the age of backups, the imager and its fonts, \
            the limit on open files, the daily budgets of external sources, and whether external services can be reached. It \
            exits with 2 if a check fails. Warnings do not affect the exit code.

            The command changes nothing without --fix. With --fix, it makes the corrections that are always safe, and checks \
            again: it restores triggers, functions, privileges, policies, and row-level security, and removes permissions of \
            other users of the machine on the session keys and the cover storage.

            Examples:
              bookplate-admin doctor
              bookplate-admin doctor --offline --json
              bookplate-admin doctor --fix --dry-run
            """)

    @OptionGroup var output: OutputOptions
    @Flag(help: "Do not connect to external services.")
    var offline = false
    @Flag(help: "Correct the problems that can be corrected safely.")
    var fix = false
    @Flag(help: "With --fix, print the corrections without making them.")
    var dryRun = false
    @OptionGroup var migrations: Migrate.FolderOptions

    func validate() throws {
        if dryRun, !fix { throw ValidationError("--dry-run can be used only with --fix.") }
    }

    func run() async throws {
        var results = await check()
        let fixes = fix ? results.compactMap(\.fix) : []
        if !dryRun, !fixes.isEmpty {
            for fix in fixes { try fix.run() }
            results = await check()
        }
        output.print(
            .object(
                [
                    .init("isSound", .boolean(!results.contains { $0.state == .wrong })),
                    .init("findings", .list(results.map(\.json))),
                ]
                    + (fix
                        ? [
                            .init("fixes", .list(fixes.map { .string($0.description) })),
                            .init("dryRun", .boolean(dryRun)),
                        ] : [])),
            lines: results.map(\.line)
                + fixes.map { dryRun ? "would \($0.description)" : "fixed   \($0.description)" })
        if results.contains(where: { $0.state == .wrong }) { throw ExitStatus.found.code }
    }

    private func check() async -> [CheckResult] {
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
            results.append(AddressCheck.result(configuration))
            results += AddressCheck.proxies(configuration)
            results += await AddressCheck.response(configuration, isOffline: offline)
            results += DatabaseChecks(configuration, migrations: migrations).results()
            results.append(KeysCheck.result(configuration))
            results.append(AppleKeyCheck.result(configuration))
            results.append(
                await StorageCheck.result(configuration.storage, isOffline: offline))
            results += BackupCheck.results(configuration)
            results.append(await ImagerCheck.result())
            results.append(DescriptorCheck.result())
            results += BudgetChecks.results(configuration)
            results += await ExternalServiceChecks.results(configuration, isOffline: offline)
        } catch {
            results.append(
                .wrong(
                    "configuration", "\(error)",
                    "correct it; docs/configuration.md lists all variables"))
        }
        return results
    }
}
