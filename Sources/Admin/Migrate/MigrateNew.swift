import ArgumentParser
import GraphQL
import Postgres

extension Migrate {
    struct New: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Begins a migration: a file with its time and its first line.",
            discussion: """
                Examples:
                  bookplate-admin migrate new add_cover_digest --why "covers are compared by their digest"
                """)

        @OptionGroup var output: OutputOptions
        @ArgumentParser.Argument(help: "A verb and a noun, like add_cover_digest.")
        var name: String
        @Option(help: "The reason, for the first line.")
        var why = "(say here in one line what this is for)"
        @Option(help: "The folder of the migration files.")
        var migrations = "migrations"
        @Flag(help: "Say what the file would be called, and write none.")
        var dryRun = false

        func run() throws {
            let path = try Migrate.failing { () throws(MigrationError) in
                let file = try MigrationFile.next(name, reason: why, in: migrations)
                return dryRun ? "\(migrations)/\(file.fileName)" : try file.write(in: migrations)
            }
            output.print(
                .object([.init("file", .string(path)), .init("dryRun", .boolean(dryRun))]),
                lines: [path])
        }
    }
}
