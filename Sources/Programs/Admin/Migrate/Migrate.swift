import ArgumentParser
import EmbeddedMigrations
import GraphQL
import Postgres

/// `bookplate-admin migrate`: manages the schema of the database.
struct Migrate: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Manage the schema of the database.",
        discussion: "This program contains the migrations of its version.",
        subcommands: [Up.self, Plan.self, Status.self, Verify.self, New.self])

    struct FolderOptions: ParsableArguments {
        @Option(
            help: "Use the migrations of this folder instead of those that this program contains.",
            completion: .directory)
        var migrations: String?

        func migrator() throws -> Migrator {
            let configuration = try loadConfiguration()
            return Migrator(try connect(configuration), try files())
        }

        func files() throws(MigrationError) -> MigrationFiles {
            if let migrations { return try MigrationFiles(folder: migrations) }
            return try MigrationFiles(texts: embeddedMigrations)
        }
    }
}

extension Migrator.PendingFile {
    /// The line about a file that a dry run did not try, with the reason.
    var untriedLine: String {
        let reason =
            isTransactional
            ? "follows a migration that was not tried" : "does not run in a transaction"
        return "not tried: \(fileName) (\(reason))"
    }
}
