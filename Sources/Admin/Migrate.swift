import ArgumentParser
import Config
import GraphQL
import Postgres

/// `bookplate-admin migrate`: the database's schema.
struct Migrate: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Brings the database's schema up to date.",
        subcommands: [Up.self, Status.self, Verify.self])

    struct FolderOptions: ParsableArguments {
        @Option(help: "The folder of the migration files.")
        var migrations = "migrations"

        func migrator() throws -> Migrator {
            let connection = try connect(try Configuration.load())
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
                holds; interrupted at any point, the same command goes on from there.

                Examples:
                  bookplate-admin migrate up
                  bookplate-admin migrate up --dry-run
                  bookplate-admin migrate up --to 20261121080000
                """)

        @OptionGroup var folder: FolderOptions
        @OptionGroup var output: OutputOptions
        @Option(help: "The last version to run.")
        var to: Int64?
        @Flag(help: "Say what would be run, and run nothing.")
        var dryRun = false

        func run() throws {
            let migrator = try folder.migrator()
            if dryRun {
                let pending = try Migrate.failing { () throws(MigrationError) in
                    try migrator.pending(to: to)
                }
                output.print(
                    .object([.init("pending", .list(pending.map { .string($0.fileName) }))]),
                    lines: pending.map { "would run \($0.fileName): \($0.reason)" })
                return
            }
            let applied = try Migrate.failing { () throws(MigrationError) in
                try migrator.up(to: to) { record in
                    tell("ran \(record.version)_\(record.name) in \(record.milliseconds) ms")
                }
            }
            output.print(
                .object([.init("applied", .list(applied.map { .int(Int($0.version)) }))]),
                lines: applied.isEmpty ? ["up to date"] : ["\(applied.count) run, up to date"])
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
            guard findings.isEmpty else { throw ExitCode(2) }
        }
    }

    private static func failing<Value>(
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
