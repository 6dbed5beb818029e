import ArgumentParser
import GraphQL
import Operations
import Postgres

extension Token {
    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List personal access tokens, without their secrets.",
            discussion: """
                Examples:
                  bookplate-admin token list 0198c0de-0000-7000-8000-000000000001
                  bookplate-admin token list --tenant reader --json
                """)

        @OptionGroup var output: OutputOptions
        @ArgumentParser.Argument(help: "The ID of the account.")
        var account: String?
        @Option(help: "The slug of a tenant whose tokens are listed.")
        var tenant: String?

        func validate() throws {
            guard (account == nil) != (tenant == nil) else {
                throw ValidationError("Specify either an account or --tenant.")
            }
            if let account, UUID(account) == nil {
                throw ValidationError(
                    "'\(account)' is not an account ID: it must be a UUID. Find it with bookplate-admin account find."
                )
            }
        }

        func run() throws {
            let connection = try connect(try loadConfiguration())
            let account = account.flatMap { UUID($0) }
            if let account { _ = try AccountRecord.show(account, connection) }
            if let tenant { _ = try TenantRecord.find(tenant, connection) }
            let tokens = try AccessTokenRecord.list(
                tenant: tenant, account: account, connection)
            output.print(
                .list(tokens.map(Self.json)),
                Table(
                    ["id", "account", "name", "scopes", "created", "expires", "last used"],
                    tokens.map {
                        [
                            $0.id.description, $0.userID.description, $0.name,
                            $0.scopes.joined(separator: " "), $0.createdAt,
                            $0.expiresAt ?? "never", $0.lastUsedAt ?? "never",
                        ]
                    }))
        }

        private static func json(_ token: AccessTokenRecord) -> Value {
            func text(_ value: String?) -> Value { value.map { .string($0) } ?? .null }
            func list(_ values: [String]) -> Value { .list(values.map { .string($0) }) }
            return .object([
                .init("id", .string(token.id.description)),
                .init("userId", .string(token.userID.description)),
                .init("tenant", .string(token.tenant)), .init("name", .string(token.name)),
                .init("scopes", list(token.scopes)),
                .init("documents", token.documents.map(list) ?? .null),
                .init("lastCharacters", .string(token.lastCharacters)),
                .init("createdAt", .string(token.createdAt)),
                .init("expiresAt", text(token.expiresAt)),
                .init("lastUsedAt", text(token.lastUsedAt)),
            ])
        }
    }

    struct Revoke: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Revoke personal access tokens, for example of a leaked script.",
            discussion: """
                Requests with the token fail from now on, and its streams are closed. IDs without a token are ignored.

                Examples:
                  bookplate-admin token revoke 0198c0de-0000-7000-8000-000000000003
                  bookplate-admin token revoke 0198c0de-0000-7000-8000-000000000003 --dry-run
                """)

        @OptionGroup var output: OutputOptions
        @ArgumentParser.Argument(help: "The IDs of tokens.")
        var tokens: [String]
        @Option(help: "The ID of the account, if several accounts have a token with the ID.")
        var user: String?
        @OptionGroup var dryRunOptions: DryRunOptions

        func validate() throws {
            if let id = tokens.first(where: { UUID($0) == nil }) {
                throw ValidationError(
                    "'\(id)' is not a token ID: it must be a UUID. See bookplate-admin token list.")
            }
            if let user, UUID(user) == nil {
                throw ValidationError(
                    "--user must be a UUID, not '\(user)'. Find it with bookplate-admin account find."
                )
            }
        }

        func run() throws {
            let connection = try connect(try loadConfiguration())
            let revoked = try dryRunOptions.attempt(connection) {
                try AccessTokenRecord.revoke(
                    tokens.compactMap { UUID($0) }, of: user.flatMap { UUID($0) }, connection)
            }
            output.print(
                .object(
                    [.init("revoked", .list(revoked.result.map { .string($0.description) }))]
                        + revoked.members),
                lines: [
                    "revoked \(revoked.result.count) token\(revoked.result.count == 1 ? "" : "s")"
                ] + revoked.lines)
        }
    }
}
