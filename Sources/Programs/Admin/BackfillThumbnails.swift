import ArgumentParser
import Config
import GraphQL
import ImageProcessing
import Operations
import Postgres

extension Backfill {
    struct Thumbnails: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Recreate sizes of covers that are missing or damaged.",
            discussion: """
                Reads the files of all covers, and recreates missing and damaged sizes from the largest intact one. After an \
                interruption, the same command continues. Covers without an intact full or large size are counted as lost. \
                If their files cannot be restored, run storage verify --fix to remove the damaged ones, storage gc to remove these \
                covers, and then backfill covers to search for new ones.

                Examples:
                  bookplate-admin backfill thumbnails
                  bookplate-admin backfill thumbnails --limit 10000 --json
                  bookplate-admin backfill thumbnails --restart --dry-run
                """)

        @OptionGroup var output: OutputOptions
        @Option(help: "Maximum number of covers.")
        var limit: Int?
        @Flag(help: "Start with the first cover, even if an earlier run was interrupted.")
        var restart = false
        @Flag(help: "Create the images and print their number without storing them.")
        var dryRun = false

        func validate() throws {
            guard limit.map({ $0 > 0 }) ?? true else {
                throw ValidationError("--limit must be at least 1.")
            }
        }

        func run() async throws {
            let configuration = try loadConfiguration()
            let store = try Storage.open(configuration)
            let connection = try connect(configuration)
            let images: ImagerPool
            do throws(ImageError) {
                images = try ImagerPool()
            } catch {
                throw Failure(
                    "images cannot be created: \(error). Run bookplate-admin doctor, which says what to do"
                )
            }
            let total = try CoverRecord.count(connection)
            var backfill = try ThumbnailBackfill(
                store, images, startsOver: restart, isDryRun: dryRun, connection)
            let done = backfill.doneBefore
            Interruption.watch()
            let progress = Progress(
                "covers", total: min(total, done + (limit ?? total)), done: done)
            let summary = try await backfill.run(
                limit: limit ?? .max, beforeBatch: Storage.checkInterruption,
                onProgress: { progress.advance(by: $0) })
            progress.finish()
            output.print(
                .object([
                    .init("checked", .int(summary.checked)),
                    .init("repaired", .int(summary.repaired)),
                    .init("lost", .int(summary.lost)),
                    .init("resumedAfter", .int(done)),
                    .init("isComplete", .boolean(summary.isComplete)),
                    .init("dryRun", .boolean(dryRun)),
                ]),
                lines: [
                    "checked \(summary.checked) covers: \(summary.repaired) repaired, \(summary.lost) lost"
                        + (summary.isComplete ? "" : "; run the same command again to continue")
                        + (dryRun ? " (dry run: nothing was stored)" : "")
                ])
        }
    }
}
