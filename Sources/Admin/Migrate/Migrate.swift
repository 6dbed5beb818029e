import ArgumentParser
import GraphQL
import Postgres

/// `bookplate-admin migrate`: the database's schema.
struct Migrate: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Brings the database's schema up to date.",
        subcommands: [Up.self, Status.self, Verify.self, New.self])

    struct FolderOptions: ParsableArguments {
        @Option(help: "The folder of the migration files.")
        var migrations = "migrations"

        func migrator() throws -> Migrator {
            let connection = try connect(try loadConfiguration())
            return try Migrate.failing { () throws(MigrationError) in
                try Migrator(connection, folder: migrations)
            }
        }
    }

    struct Up: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Runs the migrations that have not been run, in order.",
            discussion: """
                Each is run in a transaction with its record, under a lock that only one migration at a time
                holds; interrupted at any point, the same command goes on from there. One that does not get
                a table's lock in time lets the others through and tries again.

                A dry run does the same in one transaction and undoes it. It holds its locks meanwhile, and
                says which; a file that runs in no transaction cannot be tried.

                Examples:
                  bookplate-admin migrate up
                  bookplate-admin migrate up --dry-run
                  bookplate-admin migrate up --to 20261121080000
                """)

        @OptionGroup var folder: FolderOptions
        @OptionGroup var output: OutputOptions
        @Option(help: "The last version to run.")
        var to: Int64?
        @Option(help: "Seconds that a statement waits for a lock.")
        var lockTimeout = 5
        @Option(help: "How often a migration that got no lock is tried again.")
        var lockRetries = 5
        @Flag(help: "Run them, say what they locked, and undo it.")
        var dryRun = false

        func validate() throws {
            guard (1...3600).contains(lockTimeout) else {
                throw ValidationError("--lock-timeout is 1 to 3600.")
            }
            guard (0...20).contains(lockRetries) else {
                throw ValidationError("--lock-retries is 0 to 20.")
            }
        }

        func run() throws {
            var migrator = try folder.migrator()
            migrator.lockTimeout = .seconds(lockTimeout)
            migrator.lockRetriesMax = lockRetries
            if dryRun { return try tryIt(migrator) }
            let applied = try Migrate.failing { () throws(MigrationError) in
                try migrator.up(to: to) { record in
                    tell("ran \(record.version)_\(record.name) in \(record.milliseconds) ms")
                } onRetry: { file, delay in
                    tell("\(file.fileName) got no lock: again in \(delay.components.seconds) s")
                }
            }
            output.print(
                .object([.init("applied", .list(applied.map { .int(Int($0.version)) }))]),
                lines: applied.isEmpty ? ["up to date"] : ["\(applied.count) run, up to date"])
        }

        private func tryIt(_ migrator: Migrator) throws {
            let (trials, untried) = try Migrate.failing { () throws(MigrationError) in
                try migrator.dryRun(to: to)
            }
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
                        + trial.locks.map { "  it locked \($0)" }
                }
                    + untried.map {
                        "not tried: \($0.fileName) "
                            + ($0.isTransactional
                                ? "(after one that cannot be)" : "(no transaction)")
                    }
                    + (pending.isEmpty ? ["up to date"] : ["(a dry run: all of it is undone)"]))
        }
    }

    struct Status: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Lists the migrations and whether they have been run.",
            discussion: "Examples:\n  bookplate-admin migrate status --json")

        @OptionGroup var folder: FolderOptions
        @OptionGroup var output: OutputOptions

        func run() throws {
            let migrator = try folder.migrator()
            let plan = try Migrate.failing { () throws(MigrationError) in try migrator.status() }
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
            abstract:
                "Compares the database's records with the files; exits with 2 when they differ.",
            discussion: "Examples:\n  bookplate-admin migrate verify")

        @OptionGroup var folder: FolderOptions
        @OptionGroup var output: OutputOptions

        func run() throws {
            let migrator = try folder.migrator()
            let plan = try Migrate.failing { () throws(MigrationError) in try migrator.status() }
            let pending = plan.entries.filter { $0.record == nil }.map {
                "pending: \($0.version)_\($0.name)"
            }
            let findings = plan.problems.map { "\($0)" } + pending
            output.print(
                .object([.init("findings", .list(findings.map { .string($0) }))]),
                lines: findings.isEmpty ? ["all migrations are run and unchanged"] : findings)
            guard findings.isEmpty else { throw ExitStatus.found.code }
        }
    }

    static func failing<Value>(
        _ work: () throws(MigrationError) -> Value
    ) throws(Failure) -> Value {
        do throws(MigrationError) {
            return try work()
        } catch {
            if case .database(let error) = error { throw Failure(error) }
            throw Failure("\(error)")
        }
    }
}
