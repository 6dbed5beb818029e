import ArgumentParser
import Bookplate
import Config
import GraphQL
import Images
import Postgres

extension Backfill {
    struct Thumbnails: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Makes sizes of covers again that are missing or damaged.",
            discussion: """
                From the largest that is whole. It reads every file, and goes on where it was interrupted.
                Covers of which only the thumbnail is left, or nothing, are counted as lost: backfill covers
                looks for others when storage gc has forgotten them.

                Examples:
                  bookplate-admin backfill thumbnails
                  bookplate-admin backfill thumbnails --limit 10000 --json
                  bookplate-admin backfill thumbnails --restart --dry-run
                """)

        @OptionGroup var output: OutputOptions
        @Option(help: "Look at so many covers at most.")
        var limit: Int?
        @Flag(help: "Begin with the first cover, wherever the last run has stopped.")
        var restart = false
        @Flag(help: "Make the images, say how many there are, and keep none.")
        var dryRun = false

        func validate() throws {
            guard limit.map({ $0 > 0 }) ?? true else {
                throw ValidationError("--limit is 1 or more.")
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
                throw Failure("no images can be made: \(error)")
            }
            let total = try database { () throws(PostgresError) in
                try CoverRecord.count(connection)
            }
            var backfill = try database { () throws(PostgresError) in
                try ThumbnailBackfill(
                    store, images, startsOver: restart, isDryRun: dryRun, connection)
            }
            let done = backfill.doneBefore
            Interruption.watch()
            let progress = Progress(
                "covers", total: min(total, done + (limit ?? total)), done: done)
            var summary = ThumbnailBackfill.Summary()
            var isComplete = false
            while true {
                try Interruption.check()
                let count = min(
                    ThumbnailBackfill.batchMax, (limit ?? .max) - summary.looked)
                if count <= 0 { break }
                guard let batch = try await Self.next(count, &backfill) else {
                    isComplete = true
                    break
                }
                summary.looked += batch.looked
                summary.mended += batch.mended
                summary.lost += batch.lost
                progress.advance(by: batch.looked)
            }
            progress.finish()
            output.print(
                .object([
                    .init("looked", .int(summary.looked)), .init("mended", .int(summary.mended)),
                    .init("lost", .int(summary.lost)),
                    .init("resumedAfter", .int(done)), .init("isComplete", .boolean(isComplete)),
                    .init("dryRun", .boolean(dryRun)),
                ]),
                lines: [
                    "\(summary.looked) covers looked at, \(summary.mended) mended, \(summary.lost) lost"
                        + (isComplete ? "" : "; the same command goes on from here")
                        + (dryRun ? " (nothing written)" : "")
                ])
        }

        private static func next(
            _ count: Int, _ backfill: inout ThumbnailBackfill
        ) async throws(Failure) -> ThumbnailBackfill.Summary? {
            do throws(StorageError) {
                return try await backfill.next(count)
            } catch {
                throw Failure(error)
            }
        }
    }
}
