import BookSources
import JobQueue
import Postgres
import Requests

/// Looks up the metadata of a book that was created with a title and an ISBN that the catalog did not have.
///
/// The reader does not wait for it: the mutation that creates the book enqueues this job.
struct CompleteBook: JobHandler {
    static let kind = "book.complete"
    static let settings = JobSettings(
        concurrency: 2, attemptsMax: 8, timeout: .seconds(60), retryDelay: .seconds(60))
    /// The time for all book sources together. It is long because no reader waits.
    private static let budget = Duration.seconds(20)

    struct Payload: Codable, Sendable {
        let isbn: String
    }

    let sources: SourceChain

    func run(_ payload: Payload, in job: JobContext) async throws(JobError) {
        let user = try job.user()
        guard let isbn = ISBN(payload.isbn) else { throw .giveUp("The payload has no ISBN.") }
        let (results, edition) = try await job.read { pipeline in
            var parameters = Parameters()
            parameters.append(text: isbn.description)
            return pipeline.appendForRows(Self.findEdition, parameters)
        }
        if results[edition].count == 0 {
            // The interactive priority, because a reader's book needs the record: catalog work must not use up the
            // request budget of the sources first.
            let lookup = await sources.edition(
                BookNumber(isbn), within: Self.budget, priority: .interactive, for: user)
            guard let facts = lookup.record.flatMap({ EditionFacts($0, isbn: isbn) }) else {
                if lookup.failures.isEmpty { return }
                if let end = lookup.pausedUntil {
                    throw .postpone(
                        "All book sources that may know the book are paused.", until: end)
                }
                throw .retry("No book source could be reached.")
            }
            let (saving, keys) = try await job.write { EditionFacts.append([facts], to: &$0) }
            guard keys.allSatisfy({ saving[$0].first == true }) else {
                throw .retry("Another transaction has locked the edition.")
            }
        }
        try await job.write { pipeline in
            var parameters = Parameters.of(user)
            parameters.append(text: isbn.description)
            pipeline.append(Self.fill, parameters)
        }
    }

    private static let findEdition = Statement("SELECT FROM editions WHERE isbn13 = $1")

    /// Links the book to the edition with its ISBN, and fills the fields that the reader has left empty. A card that the reader
    /// chose stays.
    private static let fill = Statement(
        """
        UPDATE books b
        SET edition_id = e.id,
            linked_by = 'ISBN',
            subtitle = coalesce(
                b.subtitle,
                CASE WHEN b.title = e.title THEN left(nullif(btrim(e.subtitle), ''), \(BookFacts.subtitleCharactersMax)) END
            ),
            authors = CASE WHEN b.authors = '{}' THEN e.authors ELSE b.authors END,
            author_roles = CASE WHEN b.authors = '{}' THEN e.author_roles ELSE b.author_roles END,
            publisher = coalesce(b.publisher, e.publisher),
            published_date = coalesce(b.published_date, e.published_date),
            -- The reader may have gone further than the end of this edition.
            page_count = CASE
                WHEN b.page_count IS NULL AND b.current_page > e.page_count THEN NULL
                ELSE coalesce(b.page_count, e.page_count)
            END,
            language = coalesce(b.language, e.language),
            genre = coalesce(b.genre, e.genres[1]),
            description = coalesce(b.description, e.description),
            updated_at = now()
        FROM editions e
        WHERE b.user_id = $1 AND b.isbn13 = $2 AND e.isbn13 = $2 
          AND (
            b.edition_id IS NULL
            OR (b.linked_by IN ('ISBN', 'TITLE') AND b.edition_id <> e.id)
          )
          AND NOT EXISTS (SELECT FROM books o WHERE o.user_id = $1 AND o.edition_id = e.id AND o.id <> b.id)
        """)
}

extension Pipeline {
    /// Enqueues jobs that complete the caller's books with these ISBNs. The jobs are added by the pipeline's transaction.
    mutating func enqueueCompletions(of isbns: [ISBN], for viewer: Viewer) {
        enqueue(
            CompleteBook.self,
            each: isbns.map { (payload: .init(isbn: $0.description), key: $0.description) },
            for: viewer.userID)
    }
}
