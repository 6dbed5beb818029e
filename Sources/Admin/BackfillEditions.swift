import ArgumentParser
import BookSources
import Bookplate
import Config
import Dispatch
import GraphQL
import Postgres
import Synchronization

extension Backfill {
    struct Editions: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "Fills what the catalogue does not know of its books from the outside sources.",
            discussion: """
                The popular first, at the pace that the sources allow, which is about one a second. What is there is never
                changed. Interrupted, the same command goes on; a book is not asked for again for 30 days.

                Examples:
                  bookplate-admin backfill editions --limit 1000
                  bookplate-admin backfill editions --dry-run
                """)

        @OptionGroup var output: OutputOptions
        @Option(help: "At most so many books.")
        var limit = 1_000_000
        @Flag(help: "Say how many would be asked for, and ask for none.")
        var dryRun = false

        func validate() throws {
            guard limit > 0 else { throw ValidationError("--limit is 1 or more.") }
        }

        func run() throws {
            let configuration = try Configuration.load()
            let backfill = EditionBackfill(try connect(configuration))
            let sources = try SourceChain(.init(configuration)) { source, error in
                tell("\(source.rawValue): \(error)")
            }
            guard !sources.names.isEmpty else { throw Failure("no book source is switched on") }
            var total = EditionBackfill.Progress()
            let remaining: Int
            do throws(PostgresError) {
                remaining = try backfill.remaining()
                while !dryRun, total.asked < limit {
                    let editions = try backfill.next(
                        min(EditionBackfill.batchMax, limit - total.asked))
                    if editions.isEmpty { break }
                    let lookups = waiting { await EditionBackfill.ask(editions, sources) }
                    let done = try backfill.save(lookups, of: editions)
                    total.asked += done.asked
                    total.found += done.found
                    total.unavailable += done.unavailable
                    // Nobody answers: it would go round in circles.
                    if done.asked == 0 { break }
                }
            } catch {
                throw Failure(error)
            }
            output.print(
                .object([
                    .init("remaining", .int(max(0, remaining - total.asked))),
                    .init("asked", .int(total.asked)), .init("found", .int(total.found)),
                    .init("unavailable", .int(total.unavailable)),
                    .init("dryRun", .boolean(dryRun)),
                ]),
                lines: [
                    dryRun
                        ? "\(min(remaining, limit)) books would be asked for"
                        : "\(total.asked) asked for, \(total.found) known, "
                            + "\(max(0, remaining - total.asked)) left"
                ])
            if !dryRun, total.asked == 0, total.unavailable > 0 {
                throw Failure("the sources cannot be asked now; the same command goes on later")
            }
        }
    }
}

extension SourceChain.Configuration {
    /// The sources that are configured.
    fileprivate init(_ configuration: Config.Configuration) {
        let settings = configuration.sources
        self.init()
        openLibraryURL = settings.openLibraryURL
        openLibraryCoversURL = settings.openLibraryCoversURL
        googleBooksURL = settings.googleBooksURL
        googleBooksKey = settings.googleBooksKey
        isbnDBURL = settings.isbnDBURL
        isbnDBKey = settings.isbnDBKey
        allowed = settings.fetchAllow
        contact = settings.contact ?? configuration.publicURL
    }
}

private final class Box<Value: Sendable>: Sendable {
    let value = Mutex<Value?>(nil)
}

/// Blocks this thread, which is the command's own, until the work is done.
private func waiting<Value: Sendable>(
    for work: @escaping @Sendable () async -> Value
) -> Value {
    let box = Box<Value>()
    let done = DispatchSemaphore(value: 0)
    Task.detached {
        let value = await work()
        box.value.withLock { $0 = value }
        done.signal()
    }
    done.wait()
    guard let value = box.value.withLock({ $0 }) else {
        preconditionFailure("the work signals when its value is there")
    }
    return value
}
