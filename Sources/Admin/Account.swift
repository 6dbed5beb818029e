import ArgumentParser
import Bookplate
import GraphQL
import Glibc
import Postgres

/// `bookplate-admin account`: the people who use the apps.
struct Account: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "The accounts of readers.",
        subcommands: [Find.self, Show.self, Export.self, Delete.self])

    struct Find: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Finds accounts by id, or by a part of the e-mail address or the name.",
            discussion: """
                The newest first, 50 at most.

                Examples:
                  bookplate-admin account find ada@example.com
                  bookplate-admin account find ada --json
                """)

        @OptionGroup var output: OutputOptions
        @ArgumentParser.Argument(help: "An id, or a part of an address or a name.")
        var text: String

        func run() throws {
            let connection = try connect(try loadConfiguration())
            let accounts = try administer { () throws(AdministrationError) in
                try AccountRecord.find(text, connection)
            }
            output.print(
                .list(accounts.map { json($0) }),
                lines: accounts.map {
                    "\($0.id)\t\($0.tenant)\t\($0.createdAt)\t\($0.email ?? "-")\t\($0.displayName ?? "-")"
                })
        }
    }

    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Shows what an account has.",
            discussion:
                "Examples:\n  bookplate-admin account show 0198c0de-0000-7000-8000-000000000001")

        @OptionGroup var output: OutputOptions
        @OptionGroup var account: AccountArgument

        func run() throws {
            let id = try account.id
            let connection = try connect(try loadConfiguration())
            let found = try administer { () throws(AdministrationError) in
                try AccountRecord.show(id, connection)
            }
            output.print(
                json(found),
                lines: [
                    "id\t\(found.id)", "tenant\t\(found.tenant)",
                    "name\t\(found.displayName ?? "-")", "e-mail\t\(found.email ?? "-")",
                    "created\t\(found.createdAt)", "books\t\(found.books)",
                    "shelves\t\(found.shelves)", "reviews\t\(found.reviews)",
                    "swipes\t\(found.swipes)", "sessions\t\(found.sessions)",
                    "jobs\t\(found.jobs)", "Apple grant\t\(found.hasAppleGrant ? "yes" : "no")",
                ])
        }
    }

    struct Delete: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Deletes an account, as its owner would.",
            discussion: """
                All rows go in one transaction, which leaves a tombstone. What lies outside of the database is left to
                the running servers, who begin at once; the command waits some seconds for them.

                Examples:
                  bookplate-admin account delete 0198c0de-0000-7000-8000-000000000001 --dry-run
                  bookplate-admin account delete 0198c0de-0000-7000-8000-000000000001 --yes --json
                """)

        /// For the servers to do the rest.
        private static let waitSeconds: UInt32 = 10

        @OptionGroup var output: OutputOptions
        @OptionGroup var account: AccountArgument
        @OptionGroup var trial: DryRunOptions
        @OptionGroup var confirmation: ConfirmationOptions

        func run() throws {
            let id = try account.id
            let connection = try connect(try loadConfiguration())
            let found = try administer { () throws(AdministrationError) in
                try AccountRecord.show(id, connection)
            }
            if !trial.dryRun {
                try confirmation.confirm(
                    "This deletes the account of \(found.displayName ?? "somebody without a name") "
                        + "with \(found.books) books for ever.", byTyping: id.description)
            }
            let attempt = try trial.attempt(connection) { () throws(AdministrationError) in
                try AccountRecord.delete(id, connection)
            }
            let deleted = attempt.result
            let left = attempt.isDryRun ? 0 : try unfinished(deleted.jobs, connection)
            output.print(
                .object(
                    [
                        .init("id", .string(id.description)), .init("books", .int(deleted.books)),
                        .init("reviews", .int(deleted.reviews)),
                        .init("jobs", .int(deleted.jobs.count)), .init("jobsLeft", .int(left)),
                    ] + attempt.members),
                lines: [
                    "deleted \(id): \(deleted.books) books, \(deleted.reviews) reviews",
                    left == 0
                        ? nil
                        : "\(left) jobs are left to the servers: see bookplate-admin jobs list",
                ].compactMap { $0 } + attempt.lines)
        }

        private func unfinished(
            _ jobs: [UUID], _ connection: AdminConnection
        ) throws(Failure) -> Int {
            var left = jobs.count
            for _ in 0..<(Self.waitSeconds * 5) where left > 0 {
                usleep(200_000)
                left = try administer { () throws(AdministrationError) in
                    try AccountRecord.unfinished(jobs, connection)
                }
            }
            return left
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

/// Which account.
struct AccountArgument: ParsableArguments {
    @ArgumentParser.Argument(help: "The account's id.")
    var account: String

    /// - Throws: `.usage` for what is no id.
    var id: UUID {
        get throws(Failure) {
            guard let id = UUID(account) else { throw Failure("an account's id is a UUID", .usage) }
            return id
        }
    }
}
