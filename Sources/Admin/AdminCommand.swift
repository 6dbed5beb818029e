import ArgumentParser
import Config
import Glibc
import Version

/// The operator's command: migrations, tenants, the catalogue.
///
/// Results go to standard output, words for people to standard error; `ExitStatus` says how it exits.
@main
struct AdminCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bookplate-admin",
        abstract: "Runs a Bookplate installation.",
        discussion: """
            The database is BOOKPLATE_ADMIN_DATABASE_URL, the owner's role, or else DATABASE_URL.

            Examples:
              bookplate-admin migrate up
              bookplate-admin tenant add --slug reader --name Reader --audience com.example.reader
              bookplate-admin catalog import scripts/catalog/starter.jsonl
              bookplate-admin doctor
            """,
        version: "bookplate-admin \(bookplateVersion)",
        subcommands: [
            Migrate.self, Tenant.self, Account.self, Catalog.self, Backfill.self, Jobs.self,
            Documents.self, Storage.self, Keys.self, Token.self, SchemaCommand.self, Doctor.self,
            Completions.self, Manual.self,
        ])

    static func main() async {
        // A reader that has seen enough ends the output, not the work.
        signal(SIGPIPE, SIG_IGN)
        do {
            var command = try parseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch let error as Failure {
            tell("bookplate-admin: \(error.message)")
            Glibc.exit(error.status.rawValue)
        } catch let error as ConfigError {
            tell("bookplate-admin: \(error)")
            Glibc.exit(ExitStatus.configuration.rawValue)
        } catch {
            exit(withError: error)
        }
    }
}
