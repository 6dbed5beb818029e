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
