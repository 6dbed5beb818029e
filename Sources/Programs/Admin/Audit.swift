import ArgumentParser
import GraphQL
import Operations
import Postgres

/// `bookplate-admin audit`: shows and checks the audit log.
struct Audit: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show and check the audit log.",
        subcommands: [List.self, Verify.self])

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List events, the newest first.",
            discussion: """
                Servers add refused sign-ins and uses of personal access tokens once per minute. Each token has one event for \
                its first use of a day.

                Examples:
                  bookplate-admin audit list --kind ADMIN_COMMAND --days 7
                  bookplate-admin audit list --json \\
                    --account 0198c0de-0000-7000-8000-000000000001
                """)

        @OptionGroup var output: OutputOptions
        @Option(help: "Only events of the account with this ID. It may be deleted.")
        var account: String?
        @Option(help: "Only events of the tenant with this slug, or the ID of a removed tenant.")
        var tenant: String?
        @Option(help: "Only events of this kind, such as SIGNED_IN.")
        var kind: String?
        @Option(help: "Only events of the last DAYS days.")
        var days: Int32?
        @Option(help: "Maximum number of events.")
        var limit: Int32 = 100

        func validate() throws {
            guard limit > 0 else { throw ValidationError("--limit must be at least 1.") }
            if let days, days <= 0 { throw ValidationError("--days must be at least 1.") }
            if let account, UUID(account) == nil {
                throw ValidationError(
                    "--account must be a UUID. Find it with bookplate-admin account find.")
            }
        }

        func run() throws {
            let connection = try connect(try loadConfiguration())
            let events = try AuditLog.list(
                AuditLog.Filter(
                    account: account.flatMap { UUID($0) }, tenant: tenant,
                    kind: kind?.uppercased(), days: days, limit: limit), connection)
            output.print(
                .list(events.map(Self.json)),
                Table(
                    ["position", "at", "kind", "tenant", "account", "operator", "detail"],
                    events.map {
                        [
                            $0.position.map { "\($0)" } ?? "-", $0.at, $0.kind, $0.tenant ?? "-",
                            $0.accountID?.description ?? "-", $0.operatorName ?? "-",
                            $0.detail == "{}" ? "" : $0.detail,
                        ]
                    }))
        }

        private static func json(_ event: AuditRecord) -> Value {
            func text(_ value: String?) -> Value { value.map { .string($0) } ?? .null }
            return .object([
                .init("position", event.position.map { .int(Int($0)) } ?? .null),
                .init("at", .string(event.at)), .init("kind", .string(event.kind)),
                .init("tenant", text(event.tenant)),
                .init("account", text(event.accountID?.description)),
                .init("credential", text(event.credentialID?.description)),
                .init("operator", text(event.operatorName)),
                .init("detail", (try? parseJSON(Array(event.detail.utf8))) ?? .null),
            ])
        }
    }

    struct Verify: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Find changed and deleted events.",
            discussion: """
                Each event has a hash of itself and the event before it. Prints the anchor: the position and the hash of the \
                newest event. Someone who can change the whole database can calculate all hashes again, so keep anchors in \
                another place, and check the newest of them. The log of the servers contains them, too. Exits with 2 if there is a \
                problem.

                Examples:
                  bookplate-admin audit verify
                  bookplate-admin audit verify --anchor \\
                    1027:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
                """)

        @OptionGroup var output: OutputOptions
        @Option(help: "An anchor that the log must contain, as POSITION:HASH. Repeatable.")
        var anchor: [String] = []

        func validate() throws {
            if let wrong = anchor.first(where: { AuditVerification.Anchor($0) == nil }) {
                throw ValidationError(
                    "'\(wrong)' is not an anchor: write a position, a colon, and 64 hexadecimal digits."
                )
            }
        }

        func run() throws {
            let connection = try connect(try loadConfiguration())
            let result = try AuditVerification.run(
                anchor.compactMap { AuditVerification.Anchor($0) }, connection)
            output.print(
                .object([
                    .init("events", .int(Int(result.eventCount))),
                    .init("unchained", .int(Int(result.unchainedCount))),
                    .init("anchor", result.anchor.map { .string($0.text) } ?? .null),
                    .init("problems", .list(result.problems.map { .string($0) })),
                ]),
                lines: result.problems + [
                    "\(result.eventCount) events, and \(result.unchainedCount) that are not in the chain yet"
                ] + (result.anchor.map { ["anchor \($0.text)"] } ?? []))
            if !result.problems.isEmpty { throw ExitStatus.found.code }
        }
    }
}
