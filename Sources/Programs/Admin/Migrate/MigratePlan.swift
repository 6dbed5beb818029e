import ArgumentParser
import GraphQL
import Postgres

extension Migrate {
    struct Plan: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print how long the pending migrations keep requests waiting.",
            discussion: """
                Applies the migrations in one transaction, and rolls it back. Prints the transactions of migrate up: the files of \
                each, the time that it takes, and the tables whose reads or writes wait until its end. A table that an earlier \
                transaction of the plan has locked as strongly is not repeated.

                The tables are locked until the end of the plan, so run it when there are few requests, or on a restored backup. \
                Files that cannot run in a transaction are not tried.

                Examples:
                  bookplate-admin migrate plan
                  bookplate-admin migrate plan --json
                """)

        @OptionGroup var folder: FolderOptions
        @OptionGroup var output: OutputOptions
        @Option(help: "The last version to apply (default: the latest).")
        var to: Int64?

        func run() throws {
            let migrator = try folder.migrator()
            let (trials, untried) = try Progress.showing("trying the migrations") {
                try migrator.dryRun(to: to)
            }
            let steps = MigrationStep.steps(of: trials)
            output.print(
                .object([
                    .init("transactions", .list(steps.map(\.json))),
                    .init("untried", .list(untried.map { .string($0.fileName) })),
                ]),
                lines: steps.flatMap(\.lines) + untried.map { "not tried: \($0.fileName)" }
                    + (steps.isEmpty && untried.isEmpty ? ["up to date"] : []))
        }
    }
}

/// The files that `migrate up` commits together.
private struct MigrationStep {
    private var files: [String]
    private var milliseconds: Int64
    /// The locks for which requests wait.
    private var locks: [TableLock]

    /// Each versioned file has a transaction of its own. Repeatable files belong to that of the last versioned file.
    static func steps(of trials: [Migrator.Trial]) -> [MigrationStep] {
        var steps: [MigrationStep] = []
        for trial in trials {
            let locks = trial.locks.filter { $0.blocks != .nothing }
            if case .repeatable = trial.file, !steps.isEmpty {
                steps[steps.count - 1].files.append(trial.file.fileName)
                steps[steps.count - 1].milliseconds += trial.milliseconds
                steps[steps.count - 1].locks += locks
            } else {
                steps.append(
                    MigrationStep(
                        files: [trial.file.fileName], milliseconds: trial.milliseconds,
                        locks: locks))
            }
        }
        return steps
    }

    var json: Value {
        .object([
            .init("files", .list(files.map { .string($0) })),
            .init("milliseconds", .int(Int(milliseconds))),
            .init("locks", .list(locks.map(\.json))),
        ])
    }

    var lines: [String] {
        let name = files[0] + (files.count > 1 ? " and \(files.count - 1) more" : "")
        return ["\(name): \(milliseconds) ms"]
            + (locks.isEmpty
                ? ["  no request waits"] : locks.map { "  \($0) for at most \(milliseconds) ms" })
    }
}
