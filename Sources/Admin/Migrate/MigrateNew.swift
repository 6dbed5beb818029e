import ArgumentParser
import GraphQL
import Postgres

extension Migrate {
    struct New: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Create a migration file with the current time as its version.",
            discussion: """
                Examples:
                  bookplate-admin migrate new add_cover_digest --why "covers are compared by their digest"
                """)

        @OptionGroup var output: OutputOptions
        @ArgumentParser.Argument(help: "A verb and a noun, such as add_cover_digest.")
        var name: String
        @Option(help: "The reason for the migration, which becomes the first line of the file.")
        var why = "(describe the reason for this migration in one line)"
        @Option(help: "Folder with the migration files.")
        var migrations = "migrations"
        @Flag(help: "Print the path of the file without creating it.")
        var dryRun = false

        func run() throws {
            let file = try MigrationFile.next(name, reason: why, in: migrations)
            let path =
                dryRun ? "\(migrations)/\(file.fileName)" : try file.write(in: migrations)
            output.print(
                .object([.init("file", .string(path)), .init("dryRun", .boolean(dryRun))]),
                lines: [path])
        }
    }
}
