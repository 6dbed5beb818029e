import ArgumentParser
import Bookplate
import Config
import GraphQL
import Postgres

extension Storage {
    struct Gc: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "gc",
            abstract: "Removes files that no row names, and rows whose pictures are gone.",
            discussion: """
                The server removes such files by itself, a few times a day; here it is done now, and may be
                done while servers run. Stopped, the same command goes on within a day with the folders that
                were left. A cover of which neither the full nor the large size is there is
                forgotten: the book gets its title card again. Where most covers are, a disk may not be
                mounted, and it asks. Strangers stay.

                Examples:
                  bookplate-admin storage gc --dry-run
                  bookplate-admin storage gc --grace 0 --json
                """)

        @OptionGroup var output: OutputOptions
        @OptionGroup var grace: GraceOptions
        @Flag(help: "Begin with the first folder, wherever the last run has stopped.")
        var restart = false
        @OptionGroup var trial: DryRunOptions
        @OptionGroup var confirmation: ConfirmationOptions

        private static let batchMax = 100

        func run() async throws {
            let configuration = try loadConfiguration()
            let store = try Storage.open(configuration)
            let connection = try connect(configuration)
            let total = try database { () throws(PostgresError) in
                try CoverRecord.count(connection)
            }
            Interruption.watch()
            let sweep = StorageSweep(
                store, graceSeconds: grace.seconds, isDryRun: trial.dryRun, progress: .ofOperator,
                connection)
            let progress = Progress("covers", total: total)
            let dangling = try await storing { () async throws(StorageError) in
                try await sweep.checkOwner()
                return try DanglingCovers(in: store, connection) { count throws(StorageError) in
                    progress.advance(by: count)
                    try Storage.check()
                }
            }
            progress.finish()
            if dangling.isSuspicious, !trial.dryRun {
                try confirmation.confirm(
                    "The pictures of \(dangling.records.count) of \(dangling.total) covers are not there, "
                        + "and these covers will be forgotten. Is the disk mounted, and BOOKPLATE_STORAGE right?",
                    byTyping: "\(dangling.records.count)")
            }
            let forgotten = try forget(dangling.records, connection)
            let swept = try await storing { () async throws(StorageError) in
                if restart { try await sweep.startOver() }
                return try await sweep.run(onFolder: Storage.check)
            }
            output.print(
                .object(
                    [
                        .init("orphans", .int(swept.orphans)),
                        .init("orphanBytes", .int(swept.orphanBytes)),
                        .init("danglingRows", .int(forgotten.result)),
                        .init("unfinishedWrites", .int(swept.deadWrites)),
                        .init("titleCards", .int(swept.titleCards)),
                        .init("removedCovers", .int(swept.removedCovers)),
                        .init("strangers", .int(swept.strangers)),
                        .init("foldersBefore", .int(swept.foldersBefore)),
                    ] + forgotten.members),
                lines: [
                    "\(swept.orphans) orphans with \(swept.orphanBytes) bytes, "
                        + "\(forgotten.result) rows without a picture, "
                        + "\(swept.deadWrites) unfinished writes, \(swept.titleCards) old title cards"
                ] + forgotten.lines)
        }

        /// In a transaction for each reader, whose writes it holds up, and no longer than for a batch.
        private func forget(
            _ records: [CoverRecord], _ connection: AdminConnection
        ) throws(Failure) -> Attempt<Int> {
            var count = 0
            var locks: [TableLock] = []
            var rest = records[...]
            while let first = rest.first {
                try Interruption.check()
                // They come in the order of readers.
                let batch = rest.prefix(Self.batchMax).prefix { $0.user == first.user }
                rest = rest.dropFirst(batch.count)
                let attempt = try trial.attempt(connection) { () throws(AdministrationError) in
                    var count = 0
                    for record in batch where try DanglingCovers.forget(record, connection) {
                        count += 1
                    }
                    return count
                }
                count += attempt.result
                locks = attempt.locks
            }
            return Attempt(result: count, isDryRun: trial.dryRun, locks: locks)
        }
    }
}
