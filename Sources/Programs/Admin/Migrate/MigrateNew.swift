import ArgumentParser
import GraphQL
import Postgres

extension Migrate {
    struct New: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Create a migration file.",
            discussion: """
                The version of the file is the current time. With --functions, creates a file in the subfolder functions \
                instead, which is applied again whenever it changes. Functions, triggers, policies, and grants belong there.

                Examples:
                  bookplate-admin migrate new add_cover_digest \\
                    --why "covers are compared by their digest"
                  bookplate-admin migrate new --functions covers
                """)

        @OptionGroup var output: OutputOptions
        @ArgumentParser.Argument(
            help: "A verb and a noun, such as add_cover_digest; with --functions, a noun.")
        var name: String
        @Option(help: "The reason for the migration, which becomes the first line of the file.")
        var why: String?
        @Flag(help: "Create a file for functions, triggers, policies, and grants.")
        var functions = false
        @Option(help: "Folder with the migration files.", completion: .directory)
        var migrations = "migrations"
        @Flag(help: "Print the path of the file without creating it.")
        var dryRun = false

        func validate() throws {
            if functions, why != nil {
                throw ValidationError("--why cannot be used with --functions.")
            }
        }

        func run() throws {
            let path = functions ? try createRepeatable() : try createVersioned()
            output.print(
                .object([.init("file", .string(path)), .init("dryRun", .boolean(dryRun))]),
                lines: [path])
        }

        private func createVersioned() throws -> String {
            let file = try MigrationFile.next(
                name, reason: why ?? "(describe the reason for this migration in one line)",
                in: migrations)
            return dryRun ? "\(migrations)/\(file.fileName)" : try file.write(in: migrations)
        }

        private func createRepeatable() throws -> String {
            let file = try RepeatableFile.next(name)
            return dryRun ? "\(migrations)/\(file.fileName)" : try file.write(in: migrations)
        }
    }
}
