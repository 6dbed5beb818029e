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
        guard dryRun else {
            let result = try inTransaction(connection, commits: true, work)
            return Attempt(result: result, isDryRun: false, locks: [])
        }
        let tables = try connection.tables()
        return try inTransaction(connection, commits: false) {
            let result = try work()
            return Attempt(result: result, isDryRun: true, locks: try connection.locks(on: tables))
        }
    }
}

/// The result of a command that supports dry runs.
struct Attempt<Result> {
    let result: Result
    let isDryRun: Bool
    /// The tables that a dry run has locked. Empty otherwise.
    let locks: [TableLock]

    /// Members for the command's JSON document: `dryRun`, and in a dry run `locks`.
    var members: [Value.Member] {
        [.init("dryRun", .boolean(isDryRun))]
            + (isDryRun ? [.init("locks", .list(locks.map(\.json)))] : [])
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
            .init("holdsUp", .string(blocks.rawValue)),
        ])
    }
}

/// Runs the work in a transaction that is then committed or rolled back. It is also rolled back after an error.
func inTransaction<Value>(
    _ connection: AdminConnection, commits: Bool, _ work: () throws -> Value
) throws -> Value {
    try connection.execute("BEGIN")
    do {
        let value = try work()
        try connection.execute(commits ? "COMMIT" : "ROLLBACK")
        return value
    } catch {
        try? connection.execute("ROLLBACK")
        throw error
    }
}
