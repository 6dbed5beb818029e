import JobQueue
import ArgumentParser
import Bookplate
import GraphQL
import Postgres

/// `bookplate-admin jobs`: the background queue.
struct Jobs: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "The background queue, with its dead letters.",
        subcommands: [List.self, Retry.self, Purge.self])

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Lists jobs that are not done.",
            discussion: """
                Running jobs come after dead ones, then those that wait. A job that is done is gone.

                Examples:
                  bookplate-admin jobs list --state dead
                  bookplate-admin jobs list --kind cover.fetch --limit 20 --json
                """)

        @OptionGroup var output: OutputOptions
        @Option(help: "ready, running or dead.") var state: JobRecord.State?
        @Option(help: "One kind only.") var kind: String?
        @Option(help: "At most so many.") var limit = 100

        func validate() throws {
            guard (1...100_000).contains(limit) else {
                throw ValidationError("--limit is 1 to 100000.")
            }
        }

        func run() throws {
            let connection = try connect(try loadConfiguration())
            let (jobs, counts) = try database { () throws(PostgresError) in
                (
                    try JobRecord.list(
                        .init(state: state, kind: kind), limit: limit, connection),
                    try JobRecord.counts(connection)
                )
            }
            output.print(
                .object([
                    .init("jobs", .list(jobs.map(Jobs.json))),
                    .init(
                        "counts",
                        .list(
                            counts.map {
                                .object([
                                    .init("kind", .string($0.kind)),
                                    .init("state", .string($0.state.rawValue)),
                                    .init("count", .int($0.count)),
                                ])
                            })),
                ]), lines: jobs.map(Jobs.line))
            if !output.json {
                for count in counts {
                    tell("\(count.kind): \(count.count) \(count.state.rawValue)")
                }
            }
        }
    }

    struct Retry: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Lets jobs run now: dead letters, and those that wait for another attempt.",
            discussion: """
                Examples:
                  bookplate-admin jobs retry 0198c0de-0000-7000-8000-000000000001
                  bookplate-admin jobs retry --dead --kind cover.fetch
                """)

        @OptionGroup var output: OutputOptions
        @OptionGroup var choice: Choice
        @OptionGroup var trial: DryRunOptions

        func run() throws {
            let connection = try connect(try loadConfiguration())
            let retried = try trial.attempt(connection) { () throws(AdministrationError) in
                try asking { () throws(PostgresError) in
                    try JobRecord.retry(choice.selection, connection)
                }
            }
            output.print(
                .object([.init("retried", .int(retried.result))] + retried.members),
                lines: ["retried \(retried.result)"] + retried.lines)
        }
    }

    struct Purge: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Deletes dead letters.",
            discussion: """
                Examples:
                  bookplate-admin jobs purge --dead --older-than 7 --yes
                  bookplate-admin jobs purge --dead --kind cover.fetch --dry-run
                """)

        @OptionGroup var output: OutputOptions
        @OptionGroup var choice: Choice
        @Option(help: "Only those that died so many days ago.") var olderThan: Int32?
        @OptionGroup var trial: DryRunOptions
        @OptionGroup var confirmation: ConfirmationOptions

        func run() throws {
            let connection = try connect(try loadConfiguration())
            var selection = choice.selection
            selection.olderThanDays = olderThan
            if !trial.dryRun {
                try confirmation.confirm("This deletes dead jobs.", byTyping: "dead")
            }
            let purged = try trial.attempt(connection) { () throws(AdministrationError) in
                try asking { () throws(PostgresError) in
                    try JobRecord.purge(selection, connection)
                }
            }
            output.print(
                .object([.init("purged", .int(purged.result))] + purged.members),
                lines: ["deleted \(purged.result)"] + purged.lines)
        }
    }

    /// Which jobs: by their ids, or all that are dead.
    struct Choice: ParsableArguments {
        @ArgumentParser.Argument(help: "Ids of jobs.") var ids: [String] = []
        @Flag(help: "All dead letters.") var dead = false
        @Option(help: "Of one kind only.") var kind: String?

        func validate() throws {
            guard ids.isEmpty == dead else {
                throw ValidationError("Give ids, or --dead for all dead letters.")
            }
            if let id = ids.first(where: { UUID($0) == nil }) {
                throw ValidationError("\(id) is not an id: ids are UUIDs.")
            }
        }

        var selection: JobRecord.Selection {
            .init(
                state: dead ? .dead : nil, kind: kind,
                ids: dead ? nil : ids.compactMap { UUID($0) })
        }
    }

    private static func json(_ job: JobRecord) -> Value {
        func text(_ value: String?) -> Value { value.map { .string($0) } ?? .null }
        return .object([
            .init("id", .string(job.id.description)), .init("kind", .string(job.kind)),
            .init("state", .string(job.state.rawValue)),
            .init("userId", text(job.userID?.description)),
            .init("attempts", .int(job.attempts)), .init("attemptsMax", .int(job.attemptsMax)),
            .init("runAt", .string(Instant(microseconds: job.runAt).text)),
            .init("createdAt", .string(Instant(microseconds: job.createdAt).text)),
            .init("worker", text(job.worker)), .init("lastError", text(job.lastError)),
        ])
    }

    private static func line(_ job: JobRecord) -> String {
        "\(job.id)\t\(job.kind)\t\(job.state.rawValue)\t\(job.attempts)/\(job.attemptsMax)\t"
            + "\(Instant(microseconds: job.runAt).text)\t\(job.lastError ?? "")"
    }
}

extension JobRecord.State: ExpressibleByArgument {}

/// Tells a database's error as a failure of the command.
func database<Value>(_ work: () throws(PostgresError) -> Value) throws(Failure) -> Value {
    do throws(PostgresError) {
        return try work()
    } catch {
        throw Failure(error)
    }
}
