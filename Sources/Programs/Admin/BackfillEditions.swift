import ArgumentParser
import BookSources
import Config
import GraphQL
import Operations
import Postgres

extension Backfill {
    struct Editions: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add missing book data to the catalog from external sources.",
            discussion: """
                Popular books come first, at the rate that the sources allow, about one book per second. Requests count against \
                the daily budgets of BOOKPLATE_SOURCE_BUDGETS, which the servers share. Existing data is never changed. After \
                an interruption, the same command continues. A book is not requested again for 30 days.

                Examples:
                  bookplate-admin backfill editions --limit 1000
                  bookplate-admin backfill editions --dry-run
                """)

        @OptionGroup var output: OutputOptions
        @Option(help: "Maximum number of books.")
        var limit = 1_000_000
        @Flag(help: "Print the number of books without sending requests.")
        var dryRun = false

        func validate() throws {
            guard limit > 0 else { throw ValidationError("--limit must be at least 1.") }
        }

        func run() async throws {
            let configuration = try loadConfiguration()
            let backfill = EditionBackfill(try connect(configuration))
            let sources = try SourceChain.printingErrors(configuration)
            guard !sources.names.isEmpty else {
                throw Failure(
                    """
                    no book source is configured: BOOKPLATE_OPEN_LIBRARY_URL and BOOKPLATE_GOOGLE_BOOKS_URL are empty, and ISBNdb \
                    has no BOOKPLATE_ISBNDB_KEY or an empty BOOKPLATE_ISBNDB_URL. Unset an empty variable to use the public \
                    service, or set the key
                    """)
            }
            Interruption.watch()
            let remaining = try backfill.remaining()
            let progress = Progress("editions", total: min(remaining, limit))
            var total = LookupProgress()
            if !dryRun {
                total = try await backfill.run(
                    sources, limit: limit, beforeBatch: Interruption.check,
                    onProgress: { progress.advance(by: $0) })
            }
            progress.finish()
            output.print(
                .object([
                    .init("remaining", .int(max(0, remaining - total.lookedUp))),
                    .init("lookedUp", .int(total.lookedUp)), .init("found", .int(total.found)),
                    .init("unavailable", .int(total.unavailable)),
                    .init("dryRun", .boolean(dryRun)),
                ]),
                lines: [
                    dryRun
                        ? "would request \(min(remaining, limit)) books"
                        : "requested \(total.lookedUp) books: \(total.found) found, "
                            + "\(max(0, remaining - total.lookedUp)) books left"
                ])
            if total.isUnavailable {
                throw Failure(
                    "the sources are not available: run the same command again later", .unavailable)
            }
        }
    }
}

extension SourceChain {
    /// Creates the sources, and prints their errors except for those of a pause.
    static func printingErrors(_ configuration: Config.Configuration) throws -> SourceChain {
        try SourceChain(.init(configuration), limits: try SourceLimits(configuration)) {
            source, error in
            if !error.isPause { printError("\(source.rawValue): \(error)") }
        }
    }
}

extension SourceChain.Configuration {
    /// Converts the configuration of the program to the configuration of the sources.
    init(_ configuration: Config.Configuration) {
        let settings = configuration.sources
        self.init()
        openLibraryURL = settings.openLibraryURL
        openLibraryCoversURL = settings.openLibraryCoversURL
        googleBooksURL = settings.googleBooksURL
        googleBooksKey = settings.googleBooksKey
        isbnDBURL = settings.isbnDBURL
        isbnDBKey = settings.isbnDBKey
        allowed = settings.fetchAllow
        contact = settings.contact ?? configuration.publicURL
    }
}
