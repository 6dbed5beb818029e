import ArgumentParser
import GraphQL
import Operations
import Postgres

/// `bookplate-admin readers`: loads the readers of another application.
struct Readers: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Load existing readers with their libraries.", subcommands: [Import.self])

    struct Import: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "Import readers from JSON Lines: accounts, books, ratings, reads, and shelves.",
            discussion: """
                Each line is one reader, identified by the subject of the identity token ("sub"): the reader finds the library \
                after the first sign-in. docs/how-to/administer.md describes the format. Nothing is overwritten, so an import that was \
                interrupted can be started again. A line or a field that cannot be read is reported with the number of its line \
                and left out.

                Examples:
                  bookplate-admin readers import --tenant reader --dry-run readers.jsonl
                  bookplate-admin readers import --tenant reader readers.jsonl --json
                """)

        @OptionGroup var output: OutputOptions
        @ArgumentParser.Argument(help: "The path of the file.", completion: .file())
        var file: String
        @Option(help: "The slug of the tenant.")
        var tenant: String
        @Option(help: "Number of batches that are stored at the same time, from 1 to 16.")
        var connections = 4
        @Flag(help: "Import the file and roll the changes back.")
        var dryRun = false

        /// The maximum number of problems that are printed individually.
        private static let printedProblemsMax = 100

        func validate() throws {
            guard (1...ReadersImport.connectionsMax).contains(connections) else {
                throw ValidationError(
                    "--connections must be from 1 to \(ReadersImport.connectionsMax).")
            }
        }

        func run() throws {
            let configuration = try loadConfiguration()
            let readers = ReadersImport(
                try (0..<connections).map { _ in try connect(configuration) })
            var problemCount = 0
            let progress = Progress("readers", total: nil)
            let summary: ReadersImport.Summary
            do throws(ReadersImport.Failure) {
                summary = try readers.run(
                    try open(), tenant: tenant, isDryRun: dryRun,
                    onProgress: { progress.advance(by: $0) }
                ) { line, message in
                    problemCount += 1
                    if problemCount <= Self.printedProblemsMax {
                        printError("line \(line): \(message)")
                    }
                }
            } catch {
                switch error {
                case .database(let error): throw Failure(error)
                case .file(let error): throw Failure("\(file): \(error.message)")
                case .noTenant:
                    throw Failure("there is no tenant \(tenant): see bookplate-admin tenant list")
                }
            }
            progress.finish()
            if problemCount > Self.printedProblemsMax {
                printError("and \(problemCount - Self.printedProblemsMax) more problems")
            }
            output.print(json(summary), lines: lines(summary))
        }

        private func open() throws(ReadersImport.Failure) -> ReadersFile {
            do throws(ReadersFile.Unreadable) {
                return try ReadersFile(path: file)
            } catch {
                throw .file(error)
            }
        }

        private func json(_ summary: ReadersImport.Summary) -> Value {
            .object([
                .init("readers", .int(summary.readers)),
                .init("readersCreated", .int(summary.readersCreated)),
                .init("booksCreated", .int(summary.booksCreated)),
                .init("reviewsCreated", .int(summary.reviewsCreated)),
                .init("readsCreated", .int(summary.readsCreated)),
                .init("shelvesCreated", .int(summary.shelvesCreated)),
                .init("failed", .int(summary.failed)), .init("leftOut", .int(summary.leftOut)),
                .init("dryRun", .boolean(dryRun)),
            ])
        }

        private func lines(_ summary: ReadersImport.Summary) -> [String] {
            [
                "\(summary.readers) readers, \(summary.readersCreated) of them new",
                "created \(summary.booksCreated) books, \(summary.reviewsCreated) reviews, "
                    + "\(summary.readsCreated) reads, \(summary.shelvesCreated) shelves",
                "\(summary.failed) lines skipped, \(summary.leftOut) fields left out"
                    + (dryRun ? " (dry run: rolled back)" : ""),
            ]
        }
    }
}
