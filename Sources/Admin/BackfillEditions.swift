import ArgumentParser
import BookSources
import Bookplate
import Config
import GraphQL
import Postgres

extension Backfill {
    struct Editions: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "Fills what the catalogue does not know of its books from the outside sources.",
            discussion: """
                Popular books come first, at the rate that the sources allow, about one book per second, and within the daily
                budgets of BOOKPLATE_SOURCE_BUDGETS, which it shares with the servers. Existing data is never changed. If it is
                interrupted, the same command continues. A book is not requested again for 30 days.

                Examples:
                  bookplate-admin backfill editions --limit 1000
                  bookplate-admin backfill editions --dry-run
                """)

        @OptionGroup var output: OutputOptions
        @Option(help: "At most so many books.")
        var limit = 1_000_000
        @Flag(help: "Say how many would be asked for, and ask for none.")
        var dryRun = false

        func validate() throws {
            guard limit > 0 else { throw ValidationError("--limit is 1 or more.") }
        }

        func run() async throws {
            let configuration = try loadConfiguration()
            let backfill = EditionBackfill(try connect(configuration))
            let sources = try SourceChain(
                .init(configuration), limits: try SourceLimits(configuration)
            ) { source, error in
                if !error.isPause { tell("\(source.rawValue): \(error)") }
            }
            guard !sources.names.isEmpty else { throw Failure("no book source is switched on") }
            Interruption.watch()
            var total = EditionBackfill.Progress()
            let remaining = try database { () throws(PostgresError) in try backfill.remaining() }
            let progress = Progress("editions", total: min(remaining, limit))
            while !dryRun, total.asked < limit {
                try Interruption.check()
                let editions = try database { () throws(PostgresError) in
                    try backfill.next(min(EditionBackfill.batchMax, limit - total.asked))
                }
                if editions.isEmpty { break }
                let lookups = await EditionBackfill.lookUp(editions, sources)
                let done = try database { () throws(PostgresError) in
                    try backfill.save(lookups, of: editions)
                }
                total.asked += done.asked
                total.found += done.found
                total.unavailable += done.unavailable
                progress.advance(by: done.asked)
                // Nobody answers: it would go round in circles.
                if done.asked == 0 { break }
            }
            progress.finish()
            output.print(
                .object([
                    .init("remaining", .int(max(0, remaining - total.asked))),
                    .init("asked", .int(total.asked)), .init("found", .int(total.found)),
                    .init("unavailable", .int(total.unavailable)),
                    .init("dryRun", .boolean(dryRun)),
                ]),
                lines: [
                    dryRun
                        ? "\(min(remaining, limit)) books would be asked for"
                        : "\(total.asked) asked for, \(total.found) known, "
                            + "\(max(0, remaining - total.asked)) left"
                ])
            if !dryRun, total.asked == 0, total.unavailable > 0 {
                throw Failure(
                    "the sources cannot be asked now; the same command goes on later", .unavailable)
            }
        }
    }
}

extension SourceChain.Configuration {
    /// The sources that are configured.
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
