import ArgumentParser
import GraphQL
import Postgres

/// The option `--dry-run` of commands that change the database in a single transaction.
struct DryRunOptions: ParsableArguments {
    @Flag(help: "Make the changes, print them and the locked tables, and roll the changes back.")
    var dryRun = false

    /// Runs the work in a transaction, which is rolled back in a dry run.
    func attempt<Result>(
        _ connection: AdminConnection, _ work: () throws -> Result
    ) throws -> Attempt<Result> {
        try connection.attempt(isDryRun: dryRun, mapping: { $0 as any Error }, work)
    }
}

extension Attempt {
    /// Members for the command's JSON document: `dryRun`, and in a dry run `locks`.
    var members: [Value.Member] {
        [.init("dryRun", .boolean(isDryRun))]
            + (isDryRun ? [.init("locks", .list(locks.map(\.json)))] : [])
    }

    /// The verb of the command's own lines: the past participle, or in a dry run `would` and the infinitive.
    func verb(_ done: String, _ infinitive: String) -> String {
        isDryRun ? "would \(infinitive)" : done
    }

    /// Lines that are printed after the command's own lines.
    var lines: [String] {
        isDryRun
            ? locks.map { "  locked \($0)" } + ["(dry run: all changes were rolled back)"] : []
    }
}

extension TableLock {
    var json: Value {
        .object([
            .init("table", .string(table)), .init("mode", .string(mode)),
            .init("blocks", .string(blocks.rawValue)),
        ])
    }
}
