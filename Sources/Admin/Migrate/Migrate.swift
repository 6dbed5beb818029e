import ArgumentParser
import GraphQL
import Postgres

/// `bookplate-admin migrate`: manages the schema of the database.
struct Migrate: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Manage the schema of the database.",
        subcommands: [Up.self, Status.self, Verify.self, New.self])

    struct FolderOptions: ParsableArguments {
        @Option(help: "Folder with the migration files.")
        var migrations = "migrations"

        func migrator() throws -> Migrator {
            try Migrator(try connect(try loadConfiguration()), folder: migrations)
        }
    }

    struct Up: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Apply the pending migrations in order.",
            discussion: """
                Each migration and its record are committed in one transaction. An advisory lock prevents concurrent runs. \
                After an interruption, the same command continues. A migration that does not get a lock on a table in time is \
                rolled back, so that other transactions can continue, and is tried again.

                A dry run applies the migrations in one transaction, prints the tables that it locks, and rolls back. The \
                tables are locked until the end of the dry run. Files that cannot run in a transaction are not tried.

                Examples:
                  bookplate-admin migrate up
                  bookplate-admin migrate up --dry-run
                  bookplate-admin migrate up --to 20261121080000
                """)

        @OptionGroup var folder: FolderOptions
        @OptionGroup var output: OutputOptions
        @Option(help: "The last version to apply (default: the latest).")
        var to: Int64?
        @Option(help: "Number of seconds that a statement waits for a lock.")
        var lockTimeout = 5
        @Option(help: "Maximum number of retries of a migration that does not get a lock.")
        var lockRetries = 5
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
            if dryRun { return try runDry(migrator) }
            let applied = try migrator.up(to: to) { record in
                printError(
                    "applied \(record.version)_\(record.name) in \(record.milliseconds) ms")
            } onRetry: { file, delay in
                printError(
                    "\(file.fileName) did not get a lock: retrying in \(delay.components.seconds) s"
                )
            }
            output.print(
                .object([.init("applied", .list(applied.map { .int(Int($0.version)) }))]),
                lines: applied.isEmpty
                    ? ["up to date"] : ["\(applied.count) applied, up to date"])
        }

        private func runDry(_ migrator: Migrator) throws {
            let (trials, untried) = try migrator.dryRun(to: to)
            let pending = trials.map(\.file) + untried
            output.print(
                .object([
                    .init("pending", .list(pending.map { .string($0.fileName) })),
                    .init(
                        "tried",
                        .list(
                            trials.map { trial in
                                .object([
                                    .init("file", .string(trial.file.fileName)),
                                    .init("milliseconds", .int(Int(trial.milliseconds))),
                                    .init("locks", .list(trial.locks.map(\.json))),
                                ])
                            })),
                    .init("untried", .list(untried.map { .string($0.fileName) })),
                    .init("dryRun", .boolean(true)),
                ]),
                lines: trials.flatMap { trial in
                    [
                        "tried \(trial.file.fileName) in \(trial.milliseconds) ms: \(trial.file.reason)"
                    ]
                        + trial.locks.map { "  locked \($0)" }
                }
                    + untried.map {
                        "not tried: \($0.fileName) "
                            + ($0.isTransactional
                                ? "(follows a migration that was not tried)"
                                : "(does not run in a transaction)")
                    }
                    + (pending.isEmpty
                        ? ["up to date"] : ["(dry run: all changes were rolled back)"]))
        }
    }

    struct Status: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the migrations and whether they have been applied.",
            discussion: "Examples:\n  bookplate-admin migrate status --json")

        @OptionGroup var folder: FolderOptions
        @OptionGroup var output: OutputOptions

        func run() throws {
            let migrator = try folder.migrator()
            let plan = try migrator.status()
            output.print(
                .object([
                    .init(
                        "migrations",
                        .list(
                            plan.entries.map { entry in
                                .object([
                                    .init("version", .int(Int(entry.version))),
                                    .init("name", .string(entry.name)),
                                    .init("applied", .boolean(entry.record != nil)),
                                ])
                            })),
                    .init("problems", .list(plan.problems.map { .string("\($0)") })),
                ]),
                lines: plan.entries.map { entry in
                    "\(entry.record == nil ? "pending" : "applied")  \(entry.version)_\(entry.name)"
                } + plan.problems.map { "problem: \($0)" })
        }
    }

    struct Verify: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Compare the records in the database with the migration files.",
            discussion: """
                Exits with 2 if they differ or if migrations are pending.

                Examples:
                  bookplate-admin migrate verify
                """)

        @OptionGroup var folder: FolderOptions
        @OptionGroup var output: OutputOptions

        func run() throws {
            let migrator = try folder.migrator()
            let plan = try migrator.status()
            let pending = plan.entries.filter { $0.record == nil }.map {
                "pending: \($0.version)_\($0.name)"
            }
            let findings = plan.problems.map { "\($0)" } + pending
            output.print(
                .object([.init("findings", .list(findings.map { .string($0) }))]),
                lines: findings.isEmpty
                    ? ["all migrations are applied and unchanged"] : findings)
            guard findings.isEmpty else { throw ExitStatus.found.code }
        }
    }
}
