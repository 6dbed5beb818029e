import ArgumentParser
import Config
import GraphQL
import Identity
import Operations
import Postgres
import Requests

/// `bookplate-admin token`: manages personal access tokens, and issues access tokens for development.
struct Token: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Manage personal access tokens, and issue access tokens for development.",
        subcommands: [Issue.self, List.self, Revoke.self])

    struct Issue: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "Create a session, or a personal access token with --scope, and print its token.",
            discussion: """
                Creates the user if it does not exist. The command works only with BOOKPLATE_ENV=development.

                Examples:
                  bookplate-admin token issue --name Ada
                  bookplate-admin token issue --subject reader
                  bookplate-admin token issue --json \\
                    --user 0198c0de-0000-7000-8000-000000000001
                  bookplate-admin token issue --scope progress \\
                    --user 0198c0de-0000-7000-8000-000000000001
                """)

        @OptionGroup var output: OutputOptions
        @OptionGroup var dryRunOptions: DryRunOptions
        @Option(help: "The ID of the user.")
        var user: String?
        @Option(
            help: "The subject of an identity token, which signs in the same user in the explorer.")
        var subject: String?
        @Option(help: "The display name of a new user.")
        var name: String?
        @Option(help: "The slug of a new user's tenant (default: the oldest tenant).")
        var tenant: String?
        @Option(help: "A scope of a personal access token, such as progress. Repeatable.")
        var scope: [String] = []

        func validate() throws {
            guard user.map({ UUID($0) != nil }) ?? true else {
                throw ValidationError(
                    "--user must be a UUID. Find it with bookplate-admin account find.")
            }
            guard user == nil || subject == nil else {
                throw ValidationError("Specify either --user or --subject.")
            }
            guard subject.map({ (1...255).contains($0.utf8.count) }) ?? true else {
                throw ValidationError("--subject must have from 1 to 255 bytes.")
            }
        }

        func run() throws {
            let configuration = try loadConfiguration()
            guard configuration.environment == .development else {
                throw Failure(
                    "tokens can be issued only for development servers: set BOOKPLATE_ENV=development, or create the token in the app",
                    .configuration)
            }
            let user = DevelopmentUser(
                id: self.user.flatMap { UUID($0) }, subject: subject, name: name, tenant: tenant)
            let file = try configuration.sessionKeysFile()
            let keys: SessionKeys
            do throws(SessionKeysError) {
                keys = try SessionKeys(file: file, makesMissing: !dryRunOptions.dryRun)
            } catch {
                throw Failure(
                    "the session keys in \(file) cannot be used: \(error). Run bookplate-admin doctor, which says what to do",
                    .configuration)
            }
            let connection = try connect(configuration)
            guard scope.isEmpty else {
                return try issuePersonalToken(user, keys, connection)
            }
            let issued = try dryRunOptions.attempt(connection) {
                try DevelopmentToken.issue(for: user, keys: keys, connection)
            }
            guard !issued.isDryRun else {
                // The session was rolled back, so its token is invalid and not printed.
                output.print(
                    .object(
                        [.init("userId", .string(issued.result.userID.description))]
                            + issued.members),
                    lines: ["would create a session for \(issued.result.userID)"] + issued.lines)
                return
            }
            output.print(
                .object([
                    .init("accessToken", .string(issued.result.accessToken)),
                    .init("refreshToken", .string(issued.result.refreshToken)),
                    .init("userId", .string(issued.result.userID.description)),
                ]), lines: [issued.result.accessToken])
        }

        private func issuePersonalToken(
            _ user: DevelopmentUser, _ keys: SessionKeys, _ connection: AdminConnection
        ) throws {
            let issued = try dryRunOptions.attempt(connection) {
                try DevelopmentToken.issuePersonal(
                    scopes: scope, for: user, keys: keys, connection)
            }
            let owner = Value.Member("userId", .string(issued.result.userID.description))
            guard !issued.isDryRun else {
                // The token was rolled back, so it is not printed.
                output.print(
                    .object([owner] + issued.members),
                    lines: ["would create a token for \(issued.result.userID)"] + issued.lines)
                return
            }
            output.print(
                .object([.init("accessToken", .string(issued.result.secret)), owner]),
                lines: [issued.result.secret])
        }
    }
}
