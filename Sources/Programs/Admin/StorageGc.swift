import ArgumentParser
import Bookplate
import Config
import GraphQL
import Operations
import Postgres

extension Storage {
    struct Gc: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "gc",
            abstract: "Remove files without a row, and rows without images.",
            discussion: """
                Servers do this every six hours. The command does it now, also while servers are running. After an \
                interruption, the same command continues with the remaining folders if it is run within a day.

                If both the full and the large size of a cover are missing, its row is deleted, and the book gets a title card \
                again. If this concerns many covers, the disk may not be mounted, so the command asks for confirmation. Files \
                that Bookplate did not create are kept.

                The command reads no file, so it does not find damaged ones: run storage verify, which compares checksums.

                Examples:
                  bookplate-admin storage gc --dry-run
                  bookplate-admin storage gc --grace 0 --json
                """)

        @OptionGroup var output: OutputOptions
        @OptionGroup var grace: GraceOptions
        @Flag(help: "Start with the first folder, even if an earlier run was interrupted.")
        var restart = false
        @OptionGroup var dryRunOptions: DryRunOptions
        @OptionGroup var confirmation: ConfirmationOptions

        func run() async throws {
            let configuration = try loadConfiguration()
            let store = try Storage.open(configuration)
            let connection = try connect(configuration)
            let total = try CoverRecord.count(connection)
            Interruption.watch()
            let sweep = StorageSweep(
                store, graceSeconds: grace.seconds, isDryRun: dryRunOptions.dryRun,
                progress: .ofOperator,
                connection)
            let progress = Progress("covers", total: total)
            try await sweep.checkOwner()
            let dangling = try await DanglingCovers(in: store, connection) {
                count throws(StorageError) in
                progress.advance(by: count)
                try Storage.checkInterruption()
            }
            progress.finish()
            if dangling.isSuspicious, !dryRunOptions.dryRun {
                try confirmation.confirm(
                    "The images of \(dangling.records.count) of \(dangling.total) covers are missing. "
                        + "This deletes the rows of these covers. Is the disk mounted, and is BOOKPLATE_STORAGE correct?",
                    byTyping: "\(dangling.records.count)")
            }
            let deleted = try dangling.deleteRows(
                isDryRun: dryRunOptions.dryRun, connection,
                beforeBatch: Storage.checkInterruption)
            if restart { try await sweep.startOver() }
            let swept = try await sweep.run(onFolder: Storage.checkInterruption)
            output.print(
                .object(
                    [
                        .init("orphans", .int(swept.orphans)),
                        .init("orphanBytes", .int(swept.orphanBytes)),
                        .init("danglingRows", .int(deleted.result)),
                        .init("unfinishedWrites", .int(swept.deadWrites)),
                        .init("titleCards", .int(swept.titleCards)),
                        .init("removedCovers", .int(swept.removedCovers)),
                        .init("unknownFiles", .int(swept.unknownFiles)),
                        .init("foldersBefore", .int(swept.foldersBefore)),
                    ] + deleted.members),
                lines: [
                    "\(deleted.verb("removed", "remove")) \(swept.orphans) orphans (\(ByteCount.text(swept.orphanBytes))), "
                        + "\(deleted.result) rows without images, "
                        + "\(swept.deadWrites) unfinished writes, \(swept.titleCards) outdated title cards"
                ] + deleted.lines)
        }
    }
}
