import ArgumentParser
import Bookplate
import FoundationEssentials
import GraphQL
import Gzip
import Postgres

/// `bookplate-admin catalog`: the shared catalogue.
struct Catalog: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "The catalogue that feed, search and look-ups show.",
        subcommands: [Import.self, Refresh.self, Stats.self])

    struct Import: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "Reads books from a file: JSON lines or comma-separated values, also compressed.",
            discussion: """
                Safe to repeat: a book that is there, by its ISBN, an outside id, or else its title and authors, is
                brought up to date. A line that cannot be read is reported with its number and passed over.

                Examples:
                  bookplate-admin catalog import scripts/catalog/starter.jsonl
                  bookplate-admin catalog import --dry-run editions.csv.gz
                """)

        @OptionGroup var output: OutputOptions
        @ArgumentParser.Argument(help: "The file.")
        var file: String
        @Flag(help: "Import it, and undo it.")
        var dryRun = false

        /// Problems that are told one by one.
        private static let toldMax = 100
        private static let bytesMax = 4 << 30

        func run() throws {
            let catalog = CatalogImport(try connect(try loadConfiguration()))
            let file = try read()
            var told = 0
            let summary: CatalogImport.Summary
            do throws(PostgresError) {
                summary = try catalog.run(file, isDryRun: dryRun) { line, message in
                    told += 1
                    if told <= Self.toldMax { tell("line \(line): \(message)") }
                }
            } catch {
                throw Failure(error)
            }
            if told > Self.toldMax { tell("and \(told - Self.toldMax) more lines") }
            output.print(
                .object([
                    .init("created", .int(summary.created)),
                    .init("updated", .int(summary.updated)),
                    .init("unchanged", .int(summary.unchanged)),
                    .init("failed", .int(summary.failed)),
                    .init("dryRun", .boolean(dryRun)),
                ]),
                lines: [
                    "\(summary.created) new, \(summary.updated) changed, "
                        + "\(summary.unchanged) unchanged, \(summary.failed) passed over"
                        + (dryRun ? " (undone)" : "")
                ])
        }

        private func read() throws -> CatalogFile {
            guard let data = try? Data(contentsOf: URL(filePath: file), options: .mappedIfSafe)
            else { throw Failure("\(file) cannot be read") }
            var bytes = Array(data)
            if isGzip(bytes) {
                do throws(GzipError) {
                    bytes = try gunzip(bytes, bytesMax: Self.bytesMax)
                } catch {
                    throw Failure(
                        error == .tooLarge
                            ? "\(file) holds more than 4 GiB" : "\(file) is damaged or cut off")
                }
            }
            do throws(CatalogFile.Unreadable) {
                return try CatalogFile(bytes)
            } catch {
                throw Failure("\(file): \(error.message)")
            }
        }
    }

    struct Refresh: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "Brings up to date what follows from the catalogue: the feed's order, the search's words.",
            discussion: """
                Imports do it by themselves. It is for changes made by hand, and for the books that look-ups have added.

                Examples:
                  bookplate-admin catalog refresh
                """)

        @OptionGroup var output: OutputOptions
        @Flag(help: "Do it, and undo it.")
        var dryRun = false

        func run() throws {
            let connection = try connect(try loadConfiguration())
            do throws(PostgresError) {
                try connection.execute("BEGIN")
                try CatalogMaintenance.refresh(connection)
                try connection.execute(dryRun ? "ROLLBACK" : "COMMIT")
                if !dryRun { try CatalogMaintenance.analyze(connection) }
            } catch {
                throw Failure(error)
            }
            output.print(
                .object([.init("refreshed", .boolean(true)), .init("dryRun", .boolean(dryRun))]),
                lines: [dryRun ? "would be up to date (undone)" : "up to date"])
        }
    }

    struct Stats: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Counts what the catalogue holds.",
            discussion: """
                Examples:
                  bookplate-admin catalog stats --json
                """)

        @OptionGroup var output: OutputOptions

        func run() throws {
            let connection = try connect(try loadConfiguration())
            let counts: [(name: String, count: Int)]
            do throws(PostgresError) {
                counts = try CatalogStatistics(connection).counts
            } catch {
                throw Failure(error)
            }
            output.print(
                .object(counts.map { .init($0.name, .int($0.count)) }),
                lines: counts.map { "\($0.name)\t\($0.count)" })
        }
    }
}
