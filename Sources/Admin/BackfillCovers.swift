import ArgumentParser
import BookSources
import Bookplate
import Config
import GraphQL
import HTTPFetch
import Images
import Logging
import Objects
import Postgres

extension Backfill {
    struct Covers: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Looks for covers of the books that have none.",
            discussion: """
                By ISBN, then by title and author, at the pace of --rate; covers that are there stay. It can run beside the
                servers. Interrupted, the same command goes on with the next book; done, it begins anew. It needs the
                storage of the servers, and looks for what readers have removed, too. Books that no source can tell of are
                passed and counted; after a hundred of them in a row it stops, and when nobody could tell of any book it ends
                with 69: the same command then asks for these again. With --skip-unavailable it goes past them, however many.
                Requests count against the daily budgets of BOOKPLATE_SOURCE_BUDGETS, which it shares with the servers.

                Examples:
                  bookplate-admin backfill covers --rate 2
                  bookplate-admin backfill covers --limit 100 --web --json
                  bookplate-admin backfill covers --skip-unavailable
                  bookplate-admin backfill covers --dry-run
                """)

        @OptionGroup var output: OutputOptions
        @Option(help: "Books a second, at most.") var rate = 1.0
        @Option(help: "Books at once, at most.") var concurrency = 4
        @Option(help: "At most so many books.") var limit = 1_000_000_000
        @Flag(help: "Search the web for what is found nowhere else: each search is paid for.")
        var web = false
        @Flag(help: "Begin with the first book, though another run has not come to its end.")
        var restart = false
        @Flag(
            help:
                "Go past books that no source can tell of, however many; the next run goes on behind them."
        )
        var skipUnavailable = false
        @Flag(help: "Say how many would be looked for, and look for none.") var dryRun = false

        /// After so many in a row that nobody could tell of, what follows would fare no better.
        private static let unavailableMax = 100

        func validate() throws {
            guard rate > 0, rate <= 1000 else { throw ValidationError("--rate is up to 1000.") }
            guard (1...64).contains(concurrency) else {
                throw ValidationError("--concurrency is 1 to 64.")
            }
            guard limit > 0 else { throw ValidationError("--limit is 1 or more.") }
        }

        func run() async throws {
            let configuration = try loadConfiguration()
            let connection = try connect(configuration)
            let sources = try CoverSources(configuration, asksWeb: web)
            guard !sources.isEmpty else { throw Failure("no source of covers is switched on") }
            let covers = try openCovers(configuration)
            guard
                var backfill = try database({ () throws(PostgresError) in
                    try CoverBackfill(
                        connection, sources, covers: covers, startsOver: restart,
                        skipsUnavailable: skipUnavailable)
                })
            else { throw Failure("another backfill of covers is under way") }
            Interruption.watch()
            let earlier = backfill.earlier
            let remaining = try database { () throws(PostgresError) in
                if restart, !dryRun { try backfill.finish() }
                return try backfill.remaining()
            }
            let (total, failures) = try await work(&backfill, min(remaining, limit))
            let left = max(0, remaining - total.asked)
            let isUnreachable =
                !skipUnavailable
                && (failures.count >= Self.unavailableMax
                    || total.asked > 0 && total.asked == total.unavailable)
            if !dryRun, left == 0, !isUnreachable {
                try database { () throws(PostgresError) in try backfill.finish() }
            }
            output.print(
                .object([
                    .init("asked", .int(total.asked)), .init("found", .int(total.found)),
                    .init(
                        "notFound",
                        .int(total.asked - total.found - total.unavailable - total.failed)),
                    .init("unavailable", .int(total.unavailable)),
                    .init("failed", .int(total.failed)), .init("remaining", .int(left)),
                    .init("askedBefore", .int(earlier.asked)), .init("dryRun", .boolean(dryRun)),
                ]),
                lines: [
                    dryRun
                        ? "\(min(remaining, limit)) books would be looked for"
                        : "\(total.asked) looked for, \(total.found) found, "
                            + "\(total.unavailable) that nobody could tell of, \(left) left"
                ])
            if isUnreachable {
                let names = failures.sources.sorted().joined(separator: ", ")
                throw Failure(
                    """
                    the last \(failures.count) books: \(names.isEmpty ? "the sources" : names) could not tell of them; the same \
                    command asks for them again, with --skip-unavailable it goes past them
                    """, .unavailable)
            }
        }

        /// The last books in a row that nobody could tell of, and who could not.
        private struct Failures {
            var count = 0
            var sources: Set<String> = []
        }

        /// - Returns: what was done, and of what it ended with nobody could tell.
        private func work(
            _ backfill: inout CoverBackfill, _ count: Int
        ) async throws -> (CoverBackfill.Progress, Failures) {
            var total = CoverBackfill.Progress()
            let before = backfill.earlier.asked
            let progress = Progress("covers", total: count + before, done: before)
            defer { progress.finish() }
            let start = ContinuousClock.now
            var failures = Failures()
            while !dryRun, total.asked < count,
                skipUnavailable || failures.count < Self.unavailableMax
            {
                try Interruption.check()
                let books = try database { () throws(PostgresError) in
                    try backfill.next(min(concurrency, count - total.asked))
                }
                if books.isEmpty { break }
                let found = await backfill.findCovers(of: books)
                for (book, one) in zip(books, found) {
                    if let sources = one.unavailable {
                        failures.count += 1
                        failures.sources.formUnion(sources)
                    } else {
                        failures = Failures()
                    }
                    do throws(PostgresError) {
                        let done = try await backfill.save(one, of: book)
                        total.asked += done.asked
                        total.found += done.found
                        total.unavailable += done.unavailable
                        total.failed += done.failed
                    } catch {
                        throw Failure(error)
                    }
                    progress.advance()
                }
                try? await Task.sleep(
                    until: start + .seconds(Double(total.asked) / rate), clock: .continuous)
            }
            return (total, failures)
        }

        private func openCovers(_ configuration: Configuration) throws -> Bookplate.Covers {
            guard case .folder(let folder) = configuration.storage else {
                throw Failure(
                    "BOOKPLATE_STORAGE is on S3, which this version cannot write: use file:PATH",
                    .configuration)
            }
            let allowed = try FetchAllowList(
                parsing: configuration.sources.fetchAllow.joined(separator: ","))
            do {
                return Bookplate.Covers(
                    store: try FileStore(folder), images: try ImagerPool(),
                    fetcher: Fetcher(policy: FetchPolicy(userAgent: "bookplate", allowed: allowed)),
                    publicURL: configuration.publicURL,
                    logger: Logger(label: "bookplate-admin") {
                        StreamLogHandler.standardError(label: $0)
                    })
            } catch let error as ObjectError {
                throw Failure("BOOKPLATE_STORAGE cannot be used: \(error.description)")
            } catch {
                throw Failure("no images can be read: \(error)")
            }
        }
    }
}

extension CoverSources {
    /// Those that are configured.
    fileprivate convenience init(_ configuration: Config.Configuration, asksWeb: Bool) throws {
        let settings = configuration.sources
        let sources = SourceChain.Configuration(configuration)
        let chain = try SourceChain(sources, limits: try SourceLimits(configuration)) {
            source, error in
            if !error.isPause { tell("\(source.rawValue): \(error)") }
        }
        var web: WebAccess?
        if asksWeb, let url = settings.openAIURL, let key = settings.openAIKey {
            web = WebAccess(url: url, key: key, model: settings.openAIModel)
        }
        try self.init(sources, chain: chain, web: web) { error in
            if !error.isPause { tell("the web search: \(error)") }
        }
    }
}
