import ArgumentParser
import GraphQL
import Operations
import Postgres

/// `bookplate-admin session`: manages the sessions of accounts.
struct Session: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Manage the sessions of users' accounts.",
        subcommands: [List.self, Revoke.self])

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the sessions of an account that have not ended.",
            discussion: """
                Examples:
                  bookplate-admin session list 0198c0de-0000-7000-8000-000000000001
                """)

        @OptionGroup var output: OutputOptions
        @OptionGroup var account: AccountArgument

        func run() throws {
            let id = try account.id
            let connection = try connect(try loadConfiguration())
            _ = try AccountRecord.show(id, connection)
            let sessions = try SessionRecord.list(of: id, connection)
            output.print(
                .list(
                    sessions.map {
                        .object([
                            .init("id", .string($0.id.description)),
                            .init("deviceName", $0.deviceName.map { .string($0) } ?? .null),
                            .init("createdAt", .string($0.createdAt)),
                            .init("refreshedAt", .string($0.refreshedAt)),
                            .init("expiresAt", .string($0.expiresAt)),
                        ])
                    }),
                Table(
                    ["id", "created", "refreshed", "expires", "device"],
                    sessions.map {
                        [
                            $0.id.description, $0.createdAt, $0.refreshedAt, $0.expiresAt,
                            $0.deviceName ?? "-",
                        ]
                    }))
        }
    }

    struct Revoke: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "End sessions of an account, for example of a lost device.",
            discussion: """
                The device is signed out at its next request. Its data on the server are kept.

                Examples:
                  bookplate-admin session revoke 0198c0de-0000-7000-8000-000000000001 --all
                  bookplate-admin session revoke 0198c0de-0000-7000-8000-000000000001 \\
                    0198c0de-0000-7000-8000-000000000002
                """)

        @OptionGroup var output: OutputOptions
        @OptionGroup var account: AccountArgument
        @ArgumentParser.Argument(help: "The IDs of sessions.") var sessions: [String] = []
        @Flag(help: "End all sessions, and revoke all tokens and the access of all apps.")
        var all = false
        @OptionGroup var dryRunOptions: DryRunOptions

        func validate() throws {
            guard sessions.isEmpty == all else {
                throw ValidationError("Specify either IDs of sessions or --all.")
            }
            if let id = sessions.first(where: { UUID($0) == nil }) {
                throw ValidationError(
                    "'\(id)' is not a session ID: it must be a UUID. See bookplate-admin session list."
                )
            }
        }

        func run() throws {
            let id = try account.id
            let connection = try connect(try loadConfiguration())
            _ = try AccountRecord.show(id, connection)
            let revoked = try dryRunOptions.attempt(connection) {
                try SessionRecord.revoke(
                    all ? nil : sessions.compactMap { UUID($0) }, of: id, connection)
            }
            output.print(
                .object(
                    [.init("revoked", .list(revoked.result.map { .string($0.description) }))]
                        + revoked.members),
                lines: [
                    "\(revoked.verb("ended", "end")) \(revoked.result.count) session\(revoked.result.count == 1 ? "" : "s")"
                ] + revoked.lines)
        }
    }
}
