import ArgumentParser
import GraphQL
import Operations
import Postgres

/// `bookplate-admin account`: manages the accounts of users.
struct Account: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Manage users' accounts.",
        subcommands: [Find.self, Show.self, Export.self, Delete.self])

    struct Find: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Find accounts by ID, or by part of the e-mail address or the name.",
            discussion: """
                Lists at most 50 accounts, the newest first.

                Examples:
                  bookplate-admin account find ada@example.com
                  bookplate-admin account find ada --json
                """)

        @OptionGroup var output: OutputOptions
        @ArgumentParser.Argument(help: "An ID, or part of an e-mail address or a name.")
        var text: String

        func run() throws {
            let connection = try connect(try loadConfiguration())
            let accounts = try AccountRecord.find(text, connection)
            output.print(
                .list(accounts.map { json($0) }),
                Table(
                    ["id", "tenant", "created", "e-mail", "name"],
                    accounts.map {
                        [
                            $0.id.description, $0.tenant, $0.createdAt, $0.email ?? "-",
                            $0.displayName ?? "-",
                        ]
                    }))
        }
    }

    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show an account and the numbers of its books, shelves, and reviews.",
            discussion:
                "Examples:\n  bookplate-admin account show 0198c0de-0000-7000-8000-000000000001")

        @OptionGroup var output: OutputOptions
        @OptionGroup var account: AccountArgument

        func run() throws {
            let id = try account.id
            let connection = try connect(try loadConfiguration())
            let found = try AccountRecord.show(id, connection)
            output.print(
                json(found),
                Table(
                    [],
                    [
                        ["id", found.id.description], ["tenant", found.tenant],
                        ["name", found.displayName ?? "-"], ["e-mail", found.email ?? "-"],
                        ["created", found.createdAt], ["books", "\(found.books)"],
                        ["shelves", "\(found.shelves)"], ["reviews", "\(found.reviews)"],
                        ["swipes", "\(found.swipes)"], ["sessions", "\(found.sessions)"],
                        ["jobs", "\(found.jobs)"],
                        ["Apple grant", found.hasAppleGrant ? "yes" : "no"],
                    ]))
        }
    }

    struct Delete: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Delete an account, as its owner could do.",
            discussion: """
                Deletes all rows of the account in one transaction and leaves a tombstone. Jobs of the running servers \
                delete the data outside of the database. They start immediately, and the command waits up to 10 seconds \
                for them. With --no-wait it ends at once, which suits scripts that delete many accounts.

                Examples:
                  bookplate-admin account delete 0198c0de-0000-7000-8000-000000000001 \\
                    --dry-run
                  bookplate-admin account delete 0198c0de-0000-7000-8000-000000000001 \\
                    --yes --json
                """)

        /// How long to wait for the jobs that delete data outside of the database.
        private static let waitSeconds = 10

        @OptionGroup var output: OutputOptions
        @OptionGroup var account: AccountArgument
        @Flag(help: "Do not wait for the jobs that delete data outside of the database.")
        var noWait = false
        @OptionGroup var dryRunOptions: DryRunOptions
        @OptionGroup var confirmation: ConfirmationOptions

        func run() throws {
            let id = try account.id
            let connection = try connect(try loadConfiguration())
            let found = try AccountRecord.show(id, connection)
            if !dryRunOptions.dryRun {
                try confirmation.confirm(
                    "This permanently deletes the account of \(found.displayName ?? "a user without a name") "
                        + "with \(found.books) books.", byTyping: id.description)
            }
            let attempt = try dryRunOptions.attempt(connection) {
                try AccountRecord.delete(id, connection)
            }
            let deleted = attempt.result
            let left =
                attempt.isDryRun
                ? 0
                : try AccountRecord.wait(
                    for: deleted.jobs, atMost: noWait ? 0 : Self.waitSeconds, connection)
            output.print(
                .object(
                    [
                        .init("id", .string(id.description)), .init("books", .int(deleted.books)),
                        .init("reviews", .int(deleted.reviews)),
                        .init("jobs", .int(deleted.jobs.count)), .init("jobsLeft", .int(left)),
                    ] + attempt.members),
                lines: [
                    "\(attempt.verb("deleted", "delete")) \(id): \(deleted.books) books, \(deleted.reviews) reviews",
                    left == 0
                        ? nil
                        : "\(left) jobs have not finished yet: see bookplate-admin jobs list",
                ].compactMap { $0 } + attempt.lines)
        }
    }

    private static func json(_ account: AccountRecord) -> Value {
        func text(_ value: String?) -> Value { value.map { .string($0) } ?? .null }
        return .object([
            .init("id", .string(account.id.description)), .init("tenant", .string(account.tenant)),
            .init("displayName", text(account.displayName)), .init("email", text(account.email)),
            .init("createdAt", .string(account.createdAt)), .init("books", .int(account.books)),
            .init("shelves", .int(account.shelves)), .init("reviews", .int(account.reviews)),
            .init("swipes", .int(account.swipes)), .init("sessions", .int(account.sessions)),
            .init("jobs", .int(account.jobs)),
            .init("hasAppleGrant", .boolean(account.hasAppleGrant)),
        ])
    }
}

struct AccountArgument: ParsableArguments {
    @ArgumentParser.Argument(help: "The ID of the account.")
    var account: String

    /// - Throws: `.usage` if the argument is not a UUID.
    var id: UUID {
        get throws(Failure) {
            guard let id = UUID(account) else {
                throw Failure(
                    "'\(account)' is not an account ID: it must be a UUID. Find it with bookplate-admin account find",
                    .usage)
            }
            return id
        }
    }
}
