import ArgumentParser
import BookSources
import Config
import GraphQL
import Operations
import Postgres

extension Backfill {
    struct Authors: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add biographies of authors to the catalog from Open Library.",
            discussion: """
                Authors of popular books come first, at the rate that Open Library allows, about one author per second. Requests \
                count against the daily budget of BOOKPLATE_SOURCE_BUDGETS, which the servers share. Existing biographies are \
                never changed. After an interruption, the same command continues. An author is not requested again for 90 days.

                Examples:
                  bookplate-admin backfill authors --limit 1000
                  bookplate-admin backfill authors --dry-run
                """)

        @OptionGroup var output: OutputOptions
        @Option(help: "Maximum number of authors.")
        var limit = 1_000_000
        @Flag(help: "Print the number of authors without sending requests.")
        var dryRun = false

        func validate() throws {
            guard limit > 0 else { throw ValidationError("--limit must be at least 1.") }
        }

        func run() async throws {
            let configuration = try loadConfiguration()
            let backfill = AuthorBackfill(try connect(configuration))
            let sources = try SourceChain.printingErrors(configuration)
            guard sources.hasAuthors else {
                throw Failure(
                    """
                    Open Library, the only source of biographies, is switched off: BOOKPLATE_OPEN_LIBRARY_URL is empty. Unset it to \
                    use the public service
                    """)
            }
            Interruption.watch()
            let remaining = try backfill.remaining()
            let progress = Progress("authors", total: min(remaining, limit))
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
                        ? "would request \(min(remaining, limit)) authors"
                        : "requested \(total.lookedUp) authors: \(total.found) with a biography, "
                            + "\(max(0, remaining - total.lookedUp)) authors left"
                ])
            if total.isUnavailable {
                throw Failure(
                    "Open Library is not available: run the same command again later", .unavailable)
            }
        }
    }
}
