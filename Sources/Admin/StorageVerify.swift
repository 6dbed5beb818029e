import ArgumentParser
import Bookplate
import Config
import GraphQL
import Postgres

extension Storage {
    struct Verify: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "Compares the checksum of every file with its row, and every file with the rows.",
            discussion: """
                It changes nothing, and the server may go on meanwhile. Exits with 2 where something is
                wrong: a file that is missing or damaged (backfill thumbnails makes variants again), an
                orphan, which no row names (the server sweeps, and storage gc does it now), a stranger,
                which Bookplate has not made. Title cards and pictures of the catalogue are left out: they can be
                made again.

                Examples:
                  bookplate-admin storage verify
                  bookplate-admin storage verify --grace 0 --json
                """)

        @OptionGroup var output: OutputOptions
        @OptionGroup var grace: GraceOptions

        func run() async throws {
            let configuration = try loadConfiguration()
            let store = try Storage.open(configuration)
            let connection = try connect(configuration)
            let total = try database { () throws(PostgresError) in
                try CoverRecord.count(connection)
            }
            Interruption.watch()
            let progress = Progress("covers", total: total)
            let verification = StorageVerification(
                store, graceSeconds: grace.seconds, connection)
            let summary = try await storing { () async throws(StorageError) in
                try await verification.run { count throws(StorageError) in
                    progress.advance(by: count)
                    try Storage.check()
                }
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
                            .init($0.counted, .int(summary.counts[$0] ?? 0))
                        } + [.init("findings", .list(summary.findings.map(\.json)))]),
                lines: lines(summary))
            if !summary.isSound { throw ExitStatus.found.code }
        }

        private func lines(_ summary: StorageVerification.Summary) -> [String] {
            let found = summary.counts.values.reduce(0, +)
            var lines = summary.findings.map { "\($0.problem.rawValue)  \($0.file)" }
            if found > lines.count { lines.append("… and \(found - lines.count) more") }
            if summary.deadWrites > 0 {
                lines.append("\(summary.deadWrites) unfinished writes of servers that were killed")
            }
            lines.append(
                "\(summary.covers) covers, \(summary.bytes) bytes: "
                    + (summary.isSound ? "all is well" : "\(found) files are wrong"))
            return lines
        }
    }
}

extension StorageVerification.Problem {
    /// A member of the command's JSON document.
    fileprivate var counted: String {
        switch self {
        case .missing, .damaged: rawValue
        case .orphan, .stranger: rawValue + "s"
        }
    }
}

extension StorageVerification.Finding {
    fileprivate var json: Value {
        .object([.init("problem", .string(problem.rawValue)), .init("file", .string(file))])
    }
}
