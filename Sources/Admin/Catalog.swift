import ArgumentParser
import Bookplate
import Config
import FoundationEssentials
import GraphQL
import Postgres

/// `bookplate-admin catalog`: the shared catalogue.
struct Catalog: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "The catalogue that feed and look-ups show.", subcommands: [Import.self])

    struct Import: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Reads books from a file, one JSON object a line.",
            discussion: """
                Safe to repeat: a book that is there, by an outside id or its ISBN, is brought up to date.
                A line that cannot be read is reported with its number and passed over.

                Examples:
                  bookplate-admin catalog import scripts/catalog/starter.jsonl
                  bookplate-admin catalog import --dry-run books.jsonl
                """)

        @OptionGroup var output: OutputOptions
        @ArgumentParser.Argument(help: "The file.")
        var file: String
        @Flag(help: "Import it, and undo it.")
        var dryRun = false

        /// Problems that are told one by one.
        private static let toldMax = 100

        func run() throws {
            guard let data = try? Data(contentsOf: URL(filePath: file), options: .mappedIfSafe)
            else {
                throw Failure("\(file) cannot be read")
            }
            let bytes = Array(data)
            let catalog = CatalogImport(try connect(try Configuration.load()))
            var told = 0
            let summary: CatalogImport.Summary
            do throws(PostgresError) {
                summary = try catalog.run(
                    bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false),
                    isDryRun: dryRun
                ) { line, message in
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
    }
}
