import ArgumentParser
import Glibc
import GraphQL
import Version

/// The command line of operators.
///
/// Commands print results to standard output, and errors, warnings, and progress to standard error. See `ExitStatus` for the
/// exit codes.
@main
struct AdminCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bookplate-admin",
        abstract: "Administer a Bookplate installation.",
        discussion: """
            Connects to the database at BOOKPLATE_ADMIN_DATABASE_URL, BOOKPLATE_DATABASE_DIRECT_URL, or DATABASE_URL: the \
            first of them that is set. The role must be the owner of the tables.

            Examples:
              bookplate-admin migrate up
              bookplate-admin tenant add --slug reader --name Reader \\
                --audience com.example.reader
              bookplate-admin catalog import scripts/catalog/starter.jsonl
              bookplate-admin doctor
            """,
        version: "bookplate-admin \(bookplateVersion)",
        subcommands: [
            Migrate.self, Tenant.self, Account.self, Catalog.self, Readers.self, Backfill.self,
            Session.self, OAuth.self, Webhook.self, Audit.self, Jobs.self,
            Documents.self, Storage.self, Keys.self, Token.self, SchemaCommand.self, Doctor.self,
            Completions.self, Manual.self,
        ])

    static func main() async {
        // If the reader of the output exits early, such as `head`, the command still completes its work.
        signal(SIGPIPE, SIG_IGN)
        var parsed: (any ParsableCommand)?
        do {
            var command = try parse()
            parsed = command
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
            recordInAuditLog(command, succeeded: true)
        } catch {
            if let parsed {
                // A command that throws an exit code has completed, and found something.
                recordInAuditLog(parsed, succeeded: error is ExitCode)
            }
            guard let failure = Failure(error) else { exit(withError: error) }
            printError("bookplate-admin: \(failure.message)")
            Glibc.exit(failure.status.rawValue)
        }
    }

    /// Parses the command line. An unknown command or option gets a message with a suggestion.
    private static func parse() throws -> any ParsableCommand {
        do {
            return try parseAsRoot()
        } catch {
            guard exitCode(for: error) == .validationFailure,
                let help = try? parseJSON(Array(_dumpHelp().utf8)), let program = help["command"],
                let unknown = UnknownWord(
                    in: Array(CommandLine.arguments.dropFirst()), of: program)
            else { throw error }
            throw Failure(unknown.message, .usage)
        }
    }
}
