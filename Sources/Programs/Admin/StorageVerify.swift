import ArgumentParser
import Bookplate
import Config
import GraphQL
import Operations
import Postgres

extension Storage {
    struct Verify: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Compare the files of covers and their checksums with the database.",
            discussion: """
                The command can run while servers are running. It exits with 2 if it finds one of these problems:
                  missing, damaged  a file of a cover; run backfill thumbnails to recreate it
                  orphan            a file without a row; servers remove it, or run storage gc
                  unknown           a file that Bookplate did not create

                With --fix, it removes files with wrong contents, so that books show title cards instead. If neither the full nor \
                the large size of a cover is left, and a search has found it, servers search it again. Without the option, the \
                command changes nothing.

                Title cards and covers of the catalog are not checked, because they can be recreated.

                Examples:
                  bookplate-admin storage verify
                  bookplate-admin storage verify --grace 0 --json
                  bookplate-admin storage verify --fix
                """)

        @OptionGroup var output: OutputOptions
        @OptionGroup var grace: GraceOptions
        @Flag(help: "Remove files with wrong contents.")
        var fix = false

        func run() async throws {
            let configuration = try loadConfiguration()
            let store = try Storage.open(configuration)
            let connection = try connect(configuration)
            let total = try CoverRecord.count(connection)
            Interruption.watch()
            let progress = Progress("covers", total: total)
            let verification = StorageVerification(
                store, graceSeconds: grace.seconds, isDryRun: !fix, connection)
            let summary = try await verification.run { count throws(StorageError) in
                progress.advance(by: count)
                try Storage.checkInterruption()
            }
            progress.finish()
            output.print(
                .object(
                    [
                        .init("isSound", .boolean(summary.isSound)),
                        .init("covers", .int(summary.covers)), .init("bytes", .int(summary.bytes)),
                        .init("unfinishedWrites", .int(summary.deadWrites)),
                    ]
                        + StorageVerification.Problem.allCases.map {
                            .init($0.countName, .int(summary.counts[$0] ?? 0))
                        } + [
                            .init("removedFiles", .int(summary.removedFiles)),
                            .init("searchedCovers", .int(summary.searchedCovers)),
                            .init("fix", .boolean(fix)),
                            .init("findings", .list(summary.findings.map(\.json))),
                        ]),
                lines: lines(summary))
            if !summary.isSound { throw ExitStatus.found.code }
        }

        private func lines(_ summary: StorageVerification.Summary) -> [String] {
            let found = summary.counts.values.reduce(0, +)
            var lines = summary.findings.map { "\($0.problem.rawValue)  \($0.file)" }
            if found > lines.count { lines.append("… and \(found - lines.count) more") }
            if summary.deadWrites > 0 {
                lines.append("\(summary.deadWrites) unfinished writes by servers that were killed")
            }
            if !fix, summary.counts[.damaged, default: 0] > 0 {
                lines.append("the server still sends damaged files: --fix removes them")
            }
            if summary.removedFiles > 0 {
                lines.append(
                    "\(summary.removedFiles) damaged files removed, \(summary.searchedCovers) covers searched again"
                )
            }
            lines.append(
                "\(summary.covers) covers, \(ByteCount.text(summary.bytes)): "
                    + (summary.isSound ? "no problems" : "\(found) problems"))
            return lines
        }
    }
}

extension StorageVerification.Problem {
    /// The name of the number of these problems in the command's JSON document.
    fileprivate var countName: String {
        switch self {
        case .missing, .damaged: rawValue
        case .orphan: "orphans"
        case .unknown: "unknownFiles"
        }
    }
}

extension StorageVerification.Finding {
    fileprivate var json: Value {
        .object([.init("problem", .string(problem.rawValue)), .init("file", .string(file))])
    }
}
