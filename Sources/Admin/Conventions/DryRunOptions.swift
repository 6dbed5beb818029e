import ArgumentParser
import Bookplate
import GraphQL
import Postgres

/// `--dry-run` on everything that changes the database: the same work, in a transaction that is undone.
struct DryRunOptions: ParsableArguments {
    @Flag(help: "Do it, say what it did and which tables it locked, and undo it.")
    var dryRun = false

    /// Runs the work in one transaction, which is kept, or in a dry run undone.
    ///
    /// Interrupted anywhere, nothing of it has happened.
    func attempt<Result>(
        _ connection: AdminConnection, _ work: () throws(AdministrationError) -> Result
    ) throws(Failure) -> Attempt<Result> {
        try administer { () throws(AdministrationError) in
            guard dryRun else {
                let result = try inTransaction(connection, keeps: true, work)
                return Attempt(result: result, isDryRun: false, locks: [])
            }
            let tables = try asking { () throws(PostgresError) in try connection.tables() }
            return try inTransaction(connection, keeps: false) { () throws(AdministrationError) in
                let result = try work()
                let locks = try asking { () throws(PostgresError) in
                    try connection.locks(on: tables)
                }
                return Attempt(result: result, isDryRun: true, locks: locks)
            }
        }
    }
}

/// What a command did, or tried.
struct Attempt<Result> {
    let result: Result
    let isDryRun: Bool
    /// Of a dry run only.
    let locks: [TableLock]

    /// Members for the command's JSON document: `dryRun`, and in a dry run `locks`.
    var members: [Value.Member] {
        [.init("dryRun", .boolean(isDryRun))]
            + (isDryRun ? [.init("locks", .list(locks.map(\.json)))] : [])
    }

    /// Lines that follow the command's own.
    var lines: [String] {
        isDryRun ? locks.map { "  it locked \($0)" } + ["(a dry run: all of it is undone)"] : []
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

/// Tells an administrative error as a failure of the command.
func administer<Value>(
    _ work: () throws(AdministrationError) -> Value
) throws(Failure) -> Value {
    do throws(AdministrationError) {
        return try work()
    } catch {
        switch error {
        case .refused(let sentence): throw Failure(sentence)
        case .database(let error): throw Failure(error)
        }
    }
}

/// Runs in a transaction that is kept or undone.
func inTransaction<Value>(
    _ connection: AdminConnection, keeps: Bool,
    _ work: () throws(AdministrationError) -> Value
) throws(AdministrationError) -> Value {
    try asking { () throws(PostgresError) in try connection.execute("BEGIN") }
    do throws(AdministrationError) {
        let value = try work()
        try asking { () throws(PostgresError) in
            try connection.execute(keeps ? "COMMIT" : "ROLLBACK")
        }
        return value
    } catch {
        try? connection.execute("ROLLBACK")
        throw error
    }
}

/// Tells a database's error as an administrative one.
func asking<Value>(
    _ work: () throws(PostgresError) -> Value
) throws(AdministrationError) -> Value {
    do throws(PostgresError) {
        return try work()
    } catch {
        throw .database(error)
    }
}
