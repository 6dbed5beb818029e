import BookSources
import JobQueue
import Postgres

/// Finds out about a book that was made with a title and an ISBN which the catalogue did not know: the
/// reader did not wait for it.
struct CompleteBook: JobHandler {
    static let kind = "book.complete"
    static let settings = JobSettings(
        concurrency: 2, attemptsMax: 8, timeout: .seconds(60), retryDelay: .seconds(60))
    /// Nobody waits.
    private static let budget = Duration.seconds(20)

    struct Payload: Codable, Sendable {
        let isbn: String
    }

    let sources: SourceChain

    func run(_ payload: Payload, in job: JobContext) async throws(JobError) {
        let user = try job.user()
        guard let isbn = ISBN(payload.isbn) else { throw .giveUp("The payload holds no ISBN.") }
        var parameters = Parameters()
        parameters.append(text: isbn.description)
        let known = try await job.read { [parameters] segment in
            segment.append(Self.findEdition, parameters)
        }[0]
        if known.count == 0 {
            // A reader has asked for it, if not in a hurry: catalogue work must not use up its budget.
            let lookup = await sources.edition(
                BookNumber(isbn), within: Self.budget, priority: .interactive)
            guard let facts = lookup.record.flatMap({ EditionFacts($0, isbn: isbn) }) else {
                if lookup.failures.isEmpty { return }
                if let end = lookup.pausedUntil {
                    throw .postpone(
                        "All book sources that may know the book are paused.", until: end)
                }
                throw .retry("A book source cannot answer.")
            }
            _ = try await job.write { facts.append(to: &$0) }
        }
        _ = try await job.write { segment in
            var parameters = Parameters.of(user)
            parameters.append(text: isbn.description)
            segment.append(Self.fill, parameters)
        }
    }

    private static let findEdition = Statement("SELECT FROM editions WHERE isbn13 = $1")

    /// What the reader wrote stays.
    private static let fill = Statement(
        """
        UPDATE books b SET edition_id = e.id, author = coalesce(b.author, e.authors[1]), \
        publisher = coalesce(b.publisher, e.publisher), \
        published_date = coalesce(b.published_date, e.published_date), \
        page_count = coalesce(b.page_count, e.page_count), genre = coalesce(b.genre, e.genres[1]), \
        description = coalesce(b.description, e.description), updated_at = now() \
        FROM editions e WHERE b.user_id = $1 AND b.isbn13 = $2 AND e.isbn13 = $2 \
        AND b.edition_id IS NULL AND NOT EXISTS \
        (SELECT FROM books o WHERE o.user_id = $1 AND o.edition_id = e.id)
        """)
}

extension Pipeline {
    /// Asks, in the segment's transaction, that the caller's book of an ISBN be completed later.
    mutating func enqueueCompletion(of isbn: ISBN, for viewer: Viewer) {
        enqueue(
            CompleteBook.self, .init(isbn: isbn.description), for: viewer.userID,
            key: isbn.description)
    }
}
