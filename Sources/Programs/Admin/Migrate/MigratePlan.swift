import ArgumentParser
import GraphQL
import Postgres

extension Migrate {
    struct Plan: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print how long the pending migrations keep requests waiting.",
            discussion: """
                Applies the migrations in one transaction, and rolls it back. Prints the transactions of migrate up: the files of \
                each, the time that it takes, and the tables whose reads or writes wait until its end. The plan holds all locks \
                until its end, so it does not find out whether a later transaction locks the same tables again: such tables are \
                listed as those that it may lock again.

                The tables are locked until the end of the plan, so run it when there are few requests, or on a restored backup. \
                A file that cannot run in a transaction is not tried, and neither are all later files. Their locks are not known.

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
                lines: steps.flatMap(\.lines) + untried.map(\.untriedLine)
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
    /// The other tables that earlier steps lock. The dry run already holds these locks, so it does not find out whether this step
    /// needs them again after the commit of the earlier steps.
    private var mayLockAgain: [String] = []

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
        var locked: Set<String> = []
        for index in steps.indices {
            let tables = Set(steps[index].locks.map(\.table))
            steps[index].mayLockAgain = locked.subtracting(tables).sorted()
            locked.formUnion(tables)
        }
        return steps
    }

    var json: Value {
        .object([
            .init("files", .list(files.map { .string($0) })),
            .init("milliseconds", .int(Int(milliseconds))),
            .init("locks", .list(locks.map(\.json))),
            .init("mayLockAgain", .list(mayLockAgain.map { .string($0) })),
        ])
    }

    var lines: [String] {
        let name = files[0] + (files.count > 1 ? " and \(files.count - 1) more" : "")
        var lines = locks.map { "  \($0) for at most \(milliseconds) ms" }
        if !mayLockAgain.isEmpty {
            let tables = mayLockAgain.joined(separator: ", ")
            lines.append("  may lock again for at most \(milliseconds) ms: \(tables)")
        }
        return ["\(name): \(milliseconds) ms"] + (lines.isEmpty ? ["  no request waits"] : lines)
    }
}
