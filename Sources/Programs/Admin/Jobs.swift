import ArgumentParser
import GraphQL
import JobQueue
import Postgres
import Requests

/// `bookplate-admin jobs`: manages background jobs.
struct Jobs: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Manage background jobs, including dead letters.",
        subcommands: [List.self, Show.self, Retry.self, Purge.self])

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List jobs that have not finished.",
            discussion: """
                Dead jobs (dead letters) have failed for good, and run again only after jobs retry. They come first, then running \
                jobs, then waiting jobs. Finished jobs are deleted from the queue.

                Examples:
                  bookplate-admin jobs list --state dead
                  bookplate-admin jobs list --kind cover.fetch --limit 20 --json
                """)

        @OptionGroup var output: OutputOptions
        @Option(help: "List only jobs in this state: ready, running, or dead.")
        var state: JobRecord.State?
        @Option(help: "List only jobs of this kind.") var kind: String?
        @Option(help: "Maximum number of jobs.") var limit = 100

        func validate() throws {
            guard (1...100_000).contains(limit) else {
                throw ValidationError("--limit must be from 1 to 100000.")
            }
        }

        func run() throws {
            let connection = try connect(try loadConfiguration())
            let selection = JobRecord.Selection(state: state, kind: kind)
            let jobs = try JobRecord.list(selection, limit: limit, connection)
            let counts = try JobRecord.counts(selection, connection)
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
                ]),
                Table(
                    ["id", "kind", "state", "attempts", "runs at", "last error"], jobs.map(Jobs.row)
                )
            )
            if !output.json {
                for count in counts {
                    printError("\(count.kind): \(count.count) \(count.state.rawValue)")
                }
            }
        }
    }

    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show a job that has not finished.",
            discussion: """
                The input of a job is not shown, because it contains data of users.

                Examples:
                  bookplate-admin jobs show 0198c0de-0000-7000-8000-000000000001
                """)

        @OptionGroup var output: OutputOptions
        @ArgumentParser.Argument(help: "The ID of the job.") var id: String

        func run() throws {
            guard let id = UUID(id) else {
                throw Failure(
                    "'\(id)' is not a job ID: it must be a UUID. See bookplate-admin jobs list",
                    .usage)
            }
            let connection = try connect(try loadConfiguration())
            guard let job = try JobRecord.list(.init(ids: [id]), limit: 1, connection).first else {
                throw Failure(
                    "there is no job \(id), because finished jobs are deleted: see bookplate-admin jobs list"
                )
            }
            output.print(
                Jobs.json(job),
                Table(
                    [],
                    [
                        ["id", job.id.description], ["kind", job.kind],
                        ["state", job.state.rawValue], ["user", job.userID?.description ?? "-"],
                        ["attempts", "\(job.attempts) of \(job.attemptsMax)"],
                        ["runs at", Instant(microseconds: job.runAt).text],
                        ["created", Instant(microseconds: job.createdAt).text],
                        ["worker", job.worker ?? "-"], ["last error", job.lastError ?? "-"],
                    ]))
        }
    }

    struct Retry: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Run jobs now that are dead or wait for another attempt.",
            discussion: """
                Examples:
                  bookplate-admin jobs retry 0198c0de-0000-7000-8000-000000000001
                  bookplate-admin jobs retry --dead --kind cover.fetch
                """)

        @OptionGroup var output: OutputOptions
        @OptionGroup var jobs: JobOptions
        @OptionGroup var dryRunOptions: DryRunOptions

        func run() throws {
            let connection = try connect(try loadConfiguration())
            let retried = try dryRunOptions.attempt(connection) {
                try JobRecord.retry(jobs.selection, connection)
            }
            output.print(
                .object([.init("retried", .int(retried.result))] + retried.members),
                lines: ["\(retried.verb("retried", "retry")) \(retried.result)"] + retried.lines)
        }
    }

    struct Purge: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Delete dead letters.",
            discussion: """
                Examples:
                  bookplate-admin jobs purge --dead --older-than 7 --yes
                  bookplate-admin jobs purge --dead --kind cover.fetch --dry-run
                """)

        @OptionGroup var output: OutputOptions
        @OptionGroup var jobs: JobOptions
        @Option(help: "Delete only jobs that have been dead for this number of days.")
        var olderThan: Int32?
        @OptionGroup var dryRunOptions: DryRunOptions
        @OptionGroup var confirmation: ConfirmationOptions

        func run() throws {
            let connection = try connect(try loadConfiguration())
            var selection = jobs.selection
            selection.olderThanDays = olderThan
            if !dryRunOptions.dryRun {
                try confirmation.confirm("This deletes dead jobs.", byTyping: "dead")
            }
            let purged = try dryRunOptions.attempt(connection) {
                try JobRecord.purge(selection, connection)
            }
            output.print(
                .object([.init("purged", .int(purged.result))] + purged.members),
                lines: ["\(purged.verb("deleted", "delete")) \(purged.result)"] + purged.lines)
        }
    }

    /// Selects jobs by their IDs, or all dead jobs.
    struct JobOptions: ParsableArguments {
        @ArgumentParser.Argument(help: "The IDs of jobs.") var ids: [String] = []
        @Flag(help: "Select all dead letters.") var dead = false
        @Option(help: "Select only jobs of this kind.") var kind: String?

        func validate() throws {
            guard ids.isEmpty == dead else {
                throw ValidationError("Specify either IDs or --dead.")
            }
            if let id = ids.first(where: { UUID($0) == nil }) {
                throw ValidationError(
                    "'\(id)' is not a job ID: it must be a UUID. See bookplate-admin jobs list.")
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

    private static func row(_ job: JobRecord) -> [String] {
        [
            job.id.description, job.kind, job.state.rawValue, "\(job.attempts)/\(job.attemptsMax)",
            Instant(microseconds: job.runAt).text, job.lastError ?? "",
        ]
    }
}

extension JobRecord.State: ExpressibleByArgument {}
