import ArgumentParser
import Bookplate
import Config
import GraphQL
import Identity
import Postgres

/// `bookplate-admin token`: sessions for development.
struct Token: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Sessions for development.", subcommands: [Issue.self])

    struct Issue: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "Opens a session for a user, who is made where there is none. Development only.",
            discussion: """
                Examples:
                  bookplate-admin token issue --name Ada
                  bookplate-admin token issue --user 0198c0de-0000-7000-8000-000000000001 --json
                """)

        @OptionGroup var output: OutputOptions
        @OptionGroup var trial: DryRunOptions
        @Option(help: "The user's id.")
        var user: String?
        @Option(help: "The display name of a new user.")
        var name: String?
        @Option(help: "The slug of a new user's app; the oldest where it is not given.")
        var tenant: String?

        func run() throws {
            let configuration = try loadConfiguration()
            guard configuration.environment == .development else {
                throw Failure("tokens are issued in development only", .configuration)
            }
            var userID: UUID?
            if let user {
                userID = UUID(user)
                guard userID != nil else { throw ValidationError("--user is a UUID.") }
            }
            let file = try configuration.sessionKeysFile()
            let keys: SessionKeys
            do throws(SessionKeysError) {
                keys = try SessionKeys(file: file, makesMissing: !trial.dryRun)
            } catch {
                throw Failure("the session keys cannot be used: \(error)", .configuration)
            }
            let connection = try connect(configuration)
            let issued = try trial.attempt(connection) { () throws(AdministrationError) in
                try DevelopmentToken.issue(
                    userID: userID, name: name, tenant: tenant, keys: keys, connection)
            }
            guard !issued.isDryRun else {
                // A token of a session that is undone opens nothing.
                output.print(
                    .object(
                        [.init("userId", .string(issued.result.userID.description))]
                            + issued.members),
                    lines: ["would open a session for \(issued.result.userID)"] + issued.lines)
                return
            }
            output.print(
                .object([
                    .init("accessToken", .string(issued.result.accessToken)),
                    .init("refreshToken", .string(issued.result.refreshToken)),
                    .init("userId", .string(issued.result.userID.description)),
                ]), lines: [issued.result.accessToken])
        }
    }
}
