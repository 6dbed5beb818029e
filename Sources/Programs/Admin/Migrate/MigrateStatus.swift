import ArgumentParser
import GraphQL
import Operations
import Postgres
import Requests

extension Migrate {
    struct Status: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the migrations and whether they have been applied.",
            discussion: """
                Files in the subfolder functions are applied, pending, changed since they were applied, or missing although \
                they were applied.

                Examples:
                  bookplate-admin migrate status --json
                """)

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
                    .init(
                        "functions",
                        .list(
                            plan.repeatable.entries.map { entry in
                                .object([
                                    .init("name", .string(entry.name)),
                                    .init("state", .string(entry.state.rawValue)),
                                ])
                            })),
                    .init("problems", .list(plan.problems.map { .string("\($0)") })),
                ]),
                lines: plan.entries.map { entry in
                    "\(entry.record == nil ? "pending" : "applied")  \(entry.version)_\(entry.name)"
                }
                    + plan.repeatable.entries.map { "\($0.state)  \($0.fileName)" }
                    + plan.problems.map { "problem: \($0)" })
        }
    }

    struct Verify: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Compare the database with the migration files.",
            discussion: """
                Compares the records of applied migrations, and the triggers, functions, constraints, indexes, and columns of the \
                database with those that the migrations of this version create. Exits with 2 if they differ or if migrations \
                are pending. With --migrations, it compares only the records.

                Examples:
                  bookplate-admin migrate verify
                """)

        @OptionGroup var folder: FolderOptions
        @OptionGroup var output: OutputOptions

        func run() throws {
            let migrator = try folder.migrator()
            let plan = try migrator.status()
            var findings =
                plan.problems.map { "\($0)" } + plan.pendingFileNames.map { "pending: \($0)" }
            if findings.isEmpty, folder.migrations == nil {
                let connection = try connect(try loadConfiguration())
                if try DatabaseCheck.schema(connection).version == schemaVersion {
                    findings = try ObjectChecks.differences(connection).map(\.description)
                }
            }
            output.print(
                .object([.init("findings", .list(findings.map { .string($0) }))]),
                lines: findings.isEmpty
                    ? ["all migrations are applied and unchanged"] : findings)
            guard findings.isEmpty else { throw ExitStatus.found.code }
        }
    }
}
