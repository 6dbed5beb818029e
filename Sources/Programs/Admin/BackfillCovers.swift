import ArgumentParser
import BookSources
import Bookplate
import Config
import GraphQL
import HTTPFetch
import ImageProcessing
import Logging
import ObjectStorage
import Operations
import Postgres

extension Backfill {
    struct Covers: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Search for covers of the books that have none.",
            discussion: """
                Searches by ISBN, then by title and author. Existing covers are not changed. Books whose cover the reader has \
                removed are skipped. The command needs the storage of the servers, which may be running. After an interruption, \
                the same command continues with the next book. After a complete run, it starts with the first book again.

                A book is counted as unavailable and skipped if no source responds to its requests. After a hundred such books \
                in a row, or if all books were unavailable, the command exits with 69, and the same command requests these \
                books again. With --skip-unavailable it continues.

                Requests count against the daily budgets of BOOKPLATE_SOURCE_BUDGETS, which the servers share.

                Examples:
                  bookplate-admin backfill covers --rate 2
                  bookplate-admin backfill covers --limit 100 --web --json
                  bookplate-admin backfill covers --skip-unavailable
                  bookplate-admin backfill covers --dry-run
                """)

        @OptionGroup var output: OutputOptions
        @Option(help: "Maximum number of books per second.") var rate = 1.0
        @Option(help: "Maximum number of books at the same time.") var concurrency = 4
        @Option(help: "Maximum number of books.") var limit = 1_000_000_000
        @Flag(help: "Search the web if no other source has a cover. Each search costs money.")
        var web = false
        @Flag(help: "Start with the first book, even if an earlier run was interrupted.")
        var restart = false
        @Flag(help: "Skip any number of unavailable books. The next run continues after them.")
        var skipUnavailable = false
        @Flag(help: "Print the number of books without searching.") var dryRun = false

        func validate() throws {
            guard rate > 0, rate <= 1000 else {
                throw ValidationError("--rate must be greater than 0 and at most 1000.")
            }
            guard (1...64).contains(concurrency) else {
                throw ValidationError("--concurrency must be from 1 to 64.")
            }
            guard limit > 0 else { throw ValidationError("--limit must be at least 1.") }
        }

        func run() async throws {
            let configuration = try loadConfiguration()
            let connection = try connect(configuration)
            let sources = try CoverSources(configuration, asksWeb: web)
            guard !sources.isEmpty else {
                throw Failure(
                    """
                    no source of covers is configured: BOOKPLATE_OPEN_LIBRARY_URL, BOOKPLATE_OPEN_LIBRARY_COVERS_URL, and \
                    BOOKPLATE_GOOGLE_BOOKS_URL are empty, and ISBNdb has no BOOKPLATE_ISBNDB_KEY or an empty BOOKPLATE_ISBNDB_URL. \
                    Unset an empty variable to use the public service, or set the key
                    """)
            }
            let covers = try openCovers(configuration)
            guard
                var backfill = try CoverBackfill(
                    connection, sources, covers: covers, startsOver: restart,
                    skipsUnavailable: skipUnavailable)
            else {
                throw Failure(
                    "another backfill of covers is running: wait until it ends, then run the command again"
                )
            }
            let (earlier, remaining) = (backfill.earlier, backfill.remaining)
            var summary = CoverBackfill.Summary(left: remaining)
            if !dryRun {
                Interruption.watch()
                let progress = Progress(
                    "covers", total: min(remaining, limit) + earlier.searched,
                    done: earlier.searched)
                defer { progress.finish() }
                summary = try await backfill.run(
                    .init(books: limit, concurrency: concurrency, booksPerSecond: rate),
                    beforeBatch: Storage.checkInterruption, onBook: { progress.advance() })
            }
            let total = summary.total
            output.print(
                .object([
                    .init("searched", .int(total.searched)), .init("found", .int(total.found)),
                    .init("notFound", .int(total.notFound)),
                    .init("unavailable", .int(total.unavailable)),
                    .init("failed", .int(total.failed)), .init("remaining", .int(summary.left)),
                    .init("searchedBefore", .int(earlier.searched)),
                    .init("dryRun", .boolean(dryRun)),
                ]),
                lines: [
                    dryRun
                        ? "would search covers of \(min(remaining, limit)) books"
                        : "searched covers of \(total.searched) books: \(total.found) found, "
                            + "\(total.unavailable) unavailable, \(summary.left) books left"
                ])
            if summary.isUnreachable {
                let names = summary.outage.sources.sorted().joined(separator: ", ")
                throw Failure(
                    """
                    no response for the last \(summary.outage.books) books from \(names.isEmpty ? "the sources" : names): run the same \
                    command again later, or use --skip-unavailable to skip these books
                    """, .unavailable)
            }
        }

        private func openCovers(_ configuration: Configuration) throws -> Bookplate.Covers {
            let allowed = try FetchAllowList(
                parsing: configuration.sources.fetchAllow.joined(separator: ","))
            let store = try Storage.open(configuration)
            do throws(ImageError) {
                return Bookplate.Covers(
                    store: store, images: try ImagerPool(),
                    fetcher: Fetcher(policy: FetchPolicy(userAgent: "bookplate", allowed: allowed)),
                    publicURL: configuration.publicURL,
                    bucketURL: configuration.storage.publicURL,
                    logger: Logger(label: "bookplate-admin") {
                        StreamLogHandler.standardError(label: $0)
                    })
            } catch {
                throw Failure(
                    "images cannot be decoded: \(error). Run bookplate-admin doctor, which says what to do"
                )
            }
        }
    }
}

extension CoverSources {
    /// Creates the configured sources. Errors other than pauses are printed.
    fileprivate convenience init(_ configuration: Config.Configuration, asksWeb: Bool) throws {
        let settings = configuration.sources
        let sources = SourceChain.Configuration(configuration)
        let chain = try SourceChain(sources, limits: try SourceLimits(configuration)) {
            source, error in
            if !error.isPause { printError("\(source.rawValue): \(error)") }
        }
        var web: WebAccess?
        if asksWeb, let url = settings.openAIURL, let key = settings.openAIKey {
            web = WebAccess(url: url, key: key, model: settings.openAIModel)
        }
        try self.init(sources, chain: chain, web: web) { error in
            if !error.isPause { printError("web search: \(error)") }
        }
    }
}
