import ArgumentParser
import GraphQL
import Operations
import Postgres

extension Backfill {
    struct Similar: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "Learn which books are similar, from likes, purchases, libraries, and ratings.",
            discussion: """
                The server does this every hour for the books with new signals. Background jobs then rebuild the feeds. \
                The command can be interrupted and run again.

                Examples:
                  bookplate-admin backfill similar
                  bookplate-admin backfill similar --incremental --json
                """)

        @OptionGroup var output: OutputOptions
        @Flag(help: "Process only books with new signals since the last run.")
        var incremental = false
        @Flag(help: "Compute the results without storing them.")
        var dryRun = false

        func run() throws {
            let backfill = SimilarBackfill(try connect(try loadConfiguration()))
            var progress: Progress?
            var doneBefore = 0
            let summary = try backfill.run(isIncremental: incremental, isDryRun: dryRun) {
                done, total in
                if progress == nil { progress = Progress("books", total: total) }
                progress?.advance(by: done - doneBefore)
                doneBefore = done
            }
            progress?.finish()
            output.print(
                .object([
                    .init("signals", .int(summary.signals)),
                    .init("editions", .int(summary.editions)),
                    .init("incremental", .boolean(summary.isIncremental)),
                    .init("dryRun", .boolean(dryRun)),
                ]),
                lines: [
                    "processed \(summary.signals) signals of \(summary.editions) books"
                        + (dryRun ? " (dry run: nothing was stored)" : "")
                ])
        }
    }
}
