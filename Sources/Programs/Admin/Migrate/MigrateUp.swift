import ArgumentParser
import GraphQL
import Postgres

extension Migrate {
    struct Up: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Apply the pending migrations in order.",
            discussion: """
                Each migration and its record are committed in one transaction. The changed files of the subfolder functions \
                are applied together with the last migration, or in one transaction of their own. With an earlier version \
                as --to they are not applied. An advisory lock prevents concurrent runs. After an interruption, the same \
                command continues. A migration that does not get a lock on a table in time is rolled back, so that other \
                transactions can continue, and is tried again.

                A dry run applies the migrations in one transaction, prints the tables that it locks, and rolls back. The \
                tables are locked until the end of the dry run. A file that cannot run in a transaction is \
                not tried, and neither are all later files.

                Examples:
                  bookplate-admin migrate up
                  bookplate-admin migrate up --dry-run
                  bookplate-admin migrate up --to 20261128220000
                """)

        @OptionGroup var folder: FolderOptions
        @OptionGroup var output: OutputOptions
        @Option(help: "The last version to apply (default: the latest).")
        var to: Int64?
        @Option(help: "Number of seconds that a statement waits for a lock.")
        var lockTimeout = 5
        @Option(help: "Maximum number of retries of a migration that does not get a lock.")
        var lockRetries = 5
        @Flag(
            help:
                "Apply functions that the database had before it got newer ones, instead of refusing them."
        )
        var allowEarlierFunctions = false
        @Flag(help: "Apply the migrations, print the locked tables, and roll the changes back.")
        var dryRun = false

        func validate() throws {
            guard (1...3600).contains(lockTimeout) else {
                throw ValidationError("--lock-timeout must be from 1 to 3600.")
            }
            guard (0...20).contains(lockRetries) else {
                throw ValidationError("--lock-retries must be from 0 to 20.")
            }
        }

        func run() throws {
            var migrator = try folder.migrator()
            migrator.lockTimeout = .seconds(lockTimeout)
            migrator.lockRetriesMax = lockRetries
            migrator.allowsEarlierFunctions = allowEarlierFunctions
            if dryRun { return try runDry(migrator) }
            let applied = try Progress.showing("applying the migrations") {
                try up(migrator)
            }
            output.print(
                .object([
                    .init(
                        "applied", .list(applied.migrations.map { .int(Int($0.version)) })),
                    .init("functions", .list(applied.functions.map { .string($0.name) })),
                ]),
                lines: [
                    applied.isEmpty
                        ? "up to date"
                        : "\(applied.migrations.count + applied.functions.count) applied, up to date"
                ])
        }

        private func up(_ migrator: Migrator) throws -> Migrator.Applied {
            try migrator.up(to: to) { applied in
                for record in applied.migrations {
                    printError(
                        "applied \(record.version)_\(record.name) in \(record.milliseconds) ms")
                }
                for file in applied.functions { printError("applied \(file.fileName)") }
            } onRetry: { fileName, delay in
                printError(
                    "\(fileName) did not get a lock: retrying in \(delay.components.seconds) s")
            }
        }

        private func runDry(_ migrator: Migrator) throws {
            let (trials, untried) = try Progress.showing("trying the migrations") {
                try migrator.dryRun(to: to)
            }
            let pending = trials.map(\.file) + untried
            output.print(
                .object([
                    .init("pending", .list(pending.map { .string($0.fileName) })),
                    .init("tried", .list(trials.map(json))),
                    .init("untried", .list(untried.map { .string($0.fileName) })),
                    .init("dryRun", .boolean(true)),
                ]),
                lines: trials.flatMap(lines) + untried.map(\.untriedLine)
                    + (pending.isEmpty
                        ? ["up to date"] : ["(dry run: all changes were rolled back)"]))
        }

        private func json(_ trial: Migrator.Trial) -> Value {
            .object([
                .init("file", .string(trial.file.fileName)),
                .init("milliseconds", .int(Int(trial.milliseconds))),
                .init("locks", .list(trial.locks.map(\.json))),
            ])
        }

        private func lines(_ trial: Migrator.Trial) -> [String] {
            let reason =
                switch trial.file {
                case .versioned(let file): ": \(file.reason)"
                case .repeatable: ""
                }
            return ["tried \(trial.file.fileName) in \(trial.milliseconds) ms\(reason)"]
                + trial.locks.map { "  locked \($0)" }
        }
    }
}
