import ArgumentParser
import Bookplate
import Config
import GraphQL
import Operations
import Postgres

extension Storage {
    struct Copy: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Copy the files of covers from one storage to another.",
            discussion: """
                A storage is file:PATH or s3://BUCKET/PREFIX?region=REGION, as in BOOKPLATE_STORAGE. Both use the same AWS \
                variables. Servers can run meanwhile. Files that the target already has are skipped, and so are versions that \
                the database does not refer to. An interrupted copy continues where it stopped, within a day. Title cards are \
                not copied, because servers draw them again.

                To change the storage of servers: copy, restart the servers with the new BOOKPLATE_STORAGE, and copy again \
                with --restart, because covers may have been stored during the first copy. Then run storage verify.

                Examples:
                  bookplate-admin storage copy --from file:.bookplate/objects \\
                    --to 's3://covers?region=eu-central-1' --dry-run
                  bookplate-admin storage copy --from 's3://covers?region=eu-central-1' \\
                    --to file:/var/lib/bookplate/objects --json
                """)

        @OptionGroup var output: OutputOptions
        @Option(help: "The storage to copy from.")
        var from: String
        @Option(help: "The storage to copy to.")
        var to: String
        @Flag(help: "Start with the first file, even if an earlier run was interrupted.")
        var restart = false
        @Flag(help: "Print what would be copied without copying it.")
        var dryRun = false

        func run() async throws {
            let configuration = try loadConfiguration()
            let source = try Configuration.Storage(
                from, configuration.s3Credentials, name: "--from")
            let target = try Configuration.Storage(to, configuration.s3Credentials, name: "--to")
            guard source.location != target.location else {
                throw ValidationError("--from and --to must be different.")
            }
            let connection = try connect(configuration)
            let copy = Operations.StorageCopy(
                from: try Storage.open(source, "--from", configuration),
                to: try Storage.open(target, "--to", configuration),
                names: (source.location, target.location), isDryRun: dryRun, connection)
            Interruption.watch()
            let progress = Progress("covers", total: try CoverRecord.count(connection))
            let summary = try await copy.run(startsOver: restart) { count throws(StorageError) in
                progress.advance(by: count)
                try Storage.checkInterruption()
            }
            progress.finish()
            output.print(
                .object([
                    .init("versions", .int(summary.versions)),
                    .init("copied", .int(summary.copied)),
                    .init("bytes", .int(summary.bytes)),
                    .init("unreadable", .int(summary.unreadable)),
                    .init("dryRun", .boolean(dryRun)),
                    .init("continuedAfter", summary.continuedAfter.map { .string($0) } ?? .null),
                ]),
                lines: (summary.continuedAfter.map { ["continued after \($0)"] } ?? []) + [
                    "\(dryRun ? "would copy" : "copied") \(summary.copied) of \(summary.versions) covers "
                        + "(\(ByteCount.text(summary.bytes)))"
                ]
                    + (summary.unreadable == 0
                        ? []
                        : [
                            "\(summary.unreadable) covers cannot be read: storage verify lists them"
                        ]))
        }
    }
}
