import ArgumentParser
import Bookplate
import Glibc
import GraphQL
import Postgres

extension Backfill {
    struct Similar: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "Learns which books speak for which, from likes, purchases, libraries and ratings.",
            discussion: """
                The server does it every hour for what was spoken of since. Readers' own feeds are
                prepared from it by the background queue. It can be stopped and run again.

                Examples:
                  bookplate-admin backfill similar
                  bookplate-admin backfill similar --incremental --json
                """)

        @OptionGroup var output: OutputOptions
        @Flag(help: "Only what was spoken of since the last time.")
        var incremental = false
        @Flag(help: "Learn, and write nothing.")
        var dryRun = false

        func run() throws {
            let backfill = SimilarBackfill(try connect(try loadConfiguration()))
            let isTerminal = isatty(STDERR_FILENO) != 0
            let summary: SimilarBackfill.Summary
            do throws(PostgresError) {
                summary = try backfill.run(isIncremental: incremental, isDryRun: dryRun) {
                    done, total in
                    if isTerminal, done % 1000 == 0 || done == total {
                        tell("learnt \(done) of \(total) books")
                    }
                }
            } catch {
                throw Failure(error)
            }
            output.print(
                .object([
                    .init("signals", .int(summary.signals)),
                    .init("editions", .int(summary.editions)),
                    .init("incremental", .boolean(summary.isIncremental)),
                    .init("dryRun", .boolean(dryRun)),
                ]),
                lines: [
                    "\(summary.editions) books learnt from \(summary.signals) signals"
                        + (dryRun ? " (nothing written)" : "")
                ])
        }
    }
}
