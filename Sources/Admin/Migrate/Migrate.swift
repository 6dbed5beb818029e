import ArgumentParser
import GraphQL
import Postgres

/// `bookplate-admin migrate`: manages the schema of the database.
struct Migrate: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Manage the schema of the database.",
        subcommands: [Up.self, Status.self, Verify.self, New.self])

    struct FolderOptions: ParsableArguments {
        @Option(help: "Folder with the migration files.")
        var migrations = "migrations"

        func migrator() throws -> Migrator {
            try Migrator(try connect(try loadConfiguration()), folder: migrations)
        }
    }
}
