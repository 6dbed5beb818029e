import ArgumentParser
import Basics
import GraphQL
import Operations
import Postgres

/// `bookplate-admin catalog`: manages the shared catalog.
struct Catalog: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Manage the catalog of books, which all users share.",
        subcommands: [
            Import.self, Refresh.self, Stats.self, Genres.self, AddAlias.self, MergeWorks.self,
            SearchAlias.self, SplitWorks.self, UndoWorks.self, Works.self,
        ])

    struct Import: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Import books from JSON Lines or CSV, which may be gzip-compressed.",
            discussion: """
                The command can be repeated: a book that already exists is updated. Books are identified by their ISBN, an \
                external ID, or their title and authors. A line that cannot be read is reported with its number, and where \
                possible with the column, and skipped. A field that cannot be read is reported and left out.

                Examples:
                  bookplate-admin catalog import scripts/catalog/starter.jsonl
                  bookplate-admin catalog import --dry-run editions.csv.gz
                """)

        @OptionGroup var output: OutputOptions
        @ArgumentParser.Argument(help: "The path of the file.", completion: .file())
        var file: String
        @Flag(help: "Import the file and roll the changes back.")
        var dryRun = false

        /// The maximum number of problems that are printed individually.
        private static let printedProblemsMax = 100

        func run() throws {
            let catalog = CatalogImport(try connect(try loadConfiguration()))
            let file = try read()
            var problemCount = 0
            let progress = Progress("lines", total: nil)
            let summary = try catalog.run(
                file, isDryRun: dryRun, onProgress: { progress.advance(by: $0) }
            ) { line, message in
                problemCount += 1
                if problemCount <= Self.printedProblemsMax {
                    printError("line \(line): \(message)")
                }
            }
            progress.finish()
            if problemCount > Self.printedProblemsMax {
                printError("and \(problemCount - Self.printedProblemsMax) more problems")
            }
            output.print(
                .object([
                    .init("created", .int(summary.created)),
                    .init("updated", .int(summary.updated)),
                    .init("unchanged", .int(summary.unchanged)),
                    .init("failed", .int(summary.failed)),
                    .init("leftOut", .int(summary.leftOut)),
                    .init("dryRun", .boolean(dryRun)),
                ]),
                lines: [
                    "\(summary.created) created, \(summary.updated) updated, "
                        + "\(summary.unchanged) unchanged, \(summary.failed) skipped, "
                        + "\(summary.leftOut) fields left out"
                        + (dryRun ? " (dry run: rolled back)" : "")
                ])
        }

        private func read() throws -> CatalogFile {
            let bytes = try readFile(file)
            do throws(CatalogFile.Unreadable) {
                return try CatalogFile(contents: bytes)
            } catch {
                throw Failure("\(file): \(error.message)")
            }
        }
    }

    struct Refresh: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "Update the data derived from the catalog: genres, the feed's order, and the search index.",
            discussion: """
                Imports do this automatically. Run the command after manual changes of the catalog, and to include books that \
                ISBN lookups have added.

                Examples:
                  bookplate-admin catalog refresh
                """)

        @OptionGroup var output: OutputOptions
        @Flag(help: "Update the data and roll the changes back.")
        var dryRun = false

        func run() throws {
            let connection = try connect(try loadConfiguration())
            try Progress.showing("refreshing the catalog") {
                try CatalogMaintenance.refresh(isDryRun: dryRun, connection)
            }
            output.print(
                .object([.init("refreshed", .boolean(true)), .init("dryRun", .boolean(dryRun))]),
                lines: [dryRun ? "would be up to date (dry run: rolled back)" : "up to date"])
        }
    }

    struct Stats: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "Print the number of books in the catalog, and of those that have each kind of data.",
            discussion: """
                Examples:
                  bookplate-admin catalog stats --json
                """)

        @OptionGroup var output: OutputOptions

        func run() throws {
            let connection = try connect(try loadConfiguration())
            let counts = try CatalogStatistics(connection).counts
            output.print(
                .object(counts.map { .init($0.name, .int($0.count)) }),
                Table(["data", "books"], counts.map { [$0.name, "\($0.count)"] }))
        }
    }

    struct Genres: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print the genres with the number of their books.",
            discussion: """
                Books get their genres from the names that their sources use. With --unknown, the command prints the most \
                frequent names that have no genre.

                Examples:
                  bookplate-admin catalog genres
                  bookplate-admin catalog genres --unknown --json
                """)

        @OptionGroup var output: OutputOptions
        @Flag(help: "Print the names without a genre instead.")
        var unknown = false

        func run() throws {
            let genres = CatalogGenres(try connect(try loadConfiguration()))
            let counts = try unknown ? genres.unknownNames() : genres.counts()
            output.print(
                .list(
                    counts.map {
                        .object([.init("name", .string($0.name)), .init("books", .int($0.count))])
                    }), Table(["books", "name"], counts.map { ["\($0.count)", $0.name] }))
        }
    }

    struct AddAlias: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add an alias of a genre.",
            discussion: """
                Case, accents, and punctuation do not matter. An alias of another genre is moved to this one. Books \
                that are already in the catalog get the genre from `bookplate-admin catalog refresh`.

                Examples:
                  bookplate-admin catalog add-alias "Cosy crime" "Mystery & Crime"
                """)

        @OptionGroup var output: OutputOptions
        @ArgumentParser.Argument(help: "The name.")
        var name: String
        @ArgumentParser.Argument(help: "The genre, as `bookplate-admin catalog genres` prints it.")
        var genre: String
        @OptionGroup var dryRunOptions: DryRunOptions

        func run() throws {
            let connection = try connect(try loadConfiguration())
            let attempt = try dryRunOptions.attempt(connection) {
                try CatalogGenres(connection).addAlias(name, of: genre)
            }
            guard let alias = attempt.result else {
                throw Failure(
                    """
                    there is no genre “\(genre)” (see bookplate-admin catalog genres), or “\(name)” contains no letters or digits
                    """)
            }
            output.print(
                .object(
                    [.init("alias", .string(alias)), .init("genre", .string(genre))]
                        + attempt.members),
                lines: ["added the alias “\(alias)” to “\(genre)”"] + attempt.lines)
        }
    }
}
