import JobQueue
import Postgres
import Ranking

/// Updates the popularity of all books, their order in the queues, and the cold-start deck.
struct RefreshFeed: JobHandler {
    static let kind = "feed.refresh"
    static let settings = JobSettings(
        concurrency: 1, timeout: .seconds(1800), every: .seconds(3600))

    /// The number of cards of the cold-start deck. A reader who has seen that many has given some signals.
    private static let cardsMax = 100

    private static let refresh = Statement("SELECT refresh_feed()")
    /// The most popular books with complete descriptions.
    private static let popular = TypedStatement<PopularBook>(
        """
        SELECT o.edition_id, o.primary_id, e.author_key, e.series_key
        FROM genres g
        CROSS JOIN LATERAL (
            SELECT o.edition_id, o.primary_id, o.position
            FROM feed_order o
            WHERE o.genre_id = g.id
                AND o.primary_id = g.id
                AND o.position < \(FeedPosition.firstTierEnd)
                AND NOT EXISTS (
                    SELECT
                    FROM work_records w
                    WHERE w.edition_id = o.edition_id AND w.rank > 1
                    OFFSET 0
                )
            ORDER BY o.position
            LIMIT 300
        ) o
        JOIN editions e ON e.id = o.edition_id
        ORDER BY o.position
        LIMIT 1000
        """)
    private static let storeColdStartDeck = Statement("SELECT deal_opening($1, $2::int2[])")
    /// Enqueues jobs for a batch of readers after `$1`. Returns the last reader of the batch; NULL at the end.
    private static let renewOutdatedDecks = TypedStatement<UUID>("SELECT deal_outdated_decks($1)")

    func run(_ payload: NoPayload, in job: JobContext) async throws(JobError) {
        try await job.write { pipeline in
            pipeline.allowLongStatements()
            pipeline.append(Self.refresh)
        }
        let books: [PopularBook] = try await job.read { $0.append(Self.popular) }
        let items = books.map { book in
            FeedItem(
                affinity: 0, popularity: 0, genre: Int16(truncatingIfNeeded: book.genre),
                origin: book.origin)
        }
        let order = FeedRanking.coldStartDeck(items, count: Self.cardsMax)
        try await job.write { pipeline in
            var parameters = Parameters()
            parameters.append(uuids: order.map { books[$0].id })
            parameters.append(int32s: order.map { books[$0].genre })
            pipeline.append(Self.storeColdStartDeck, parameters)
        }
        // If the refresh has moved many books, the readers' frontiers are no longer valid.
        var reader: UUID? = UUID(high: 0, low: 0)
        while let last = reader, !Task.isCancelled {
            let readers: [UUID] = try await job.write {
                $0.append(Self.renewOutdatedDecks, .of(last))
            }
            reader = readers.first
        }
    }

    private struct PopularBook: RowDecodable {
        let id: UUID
        let genre: Int32
        let origin: Origin

        init?(_ row: inout RowReader) {
            guard let id = row.uuid() else { return nil }
            self.id = id
            genre = row.int32() ?? 0
            let author = row.int32() ?? 0
            origin = Origin(author: author, series: row.int32() ?? 0)
        }
    }
}

/// Updates the similar books of all books with new signals (`SimilarLearning`).
struct LearnSimilar: JobHandler {
    static let kind = "feed.similar"
    static let settings = JobSettings(
        concurrency: 1, timeout: .seconds(1800), every: .seconds(3600))

    func run(_ payload: NoPayload, in job: JobContext) async throws(JobError) {
        var learning = try await learning(job)
        while learning.learn() < learning.total {
            if Task.isCancelled { throw .retry("The server stopped.") }
            await Task.yield()
        }
        for number in 0..<learning.writeCount {
            let parameters = learning.write(number)
            try await job.write { pipeline in
                pipeline.allowLongStatements()
                pipeline.append(SimilarLearning.replace, parameters)
            }
        }
        let finishing = learning.finishing
        try await job.write { pipeline in
            // Waits for the lock of the feed's state, which a running refresh holds.
            pipeline.allowLongStatements()
            pipeline.append(SimilarLearning.finish, finishing)
        }
        job.logger.info(
            "updated the similar books",
            metadata: ["editions": "\(learning.total)", "signals": "\(learning.signalCount)"])
    }

    /// A separate function, so that the rows are released before the learning starts.
    private func learning(_ job: JobContext) async throws(JobError) -> SimilarLearning {
        let (results, keys) = try await job.read { pipeline in
            pipeline.allowLongStatements()
            let signals = pipeline.appendForRows(SimilarLearning.signals)
            let changed = pipeline.append(SimilarLearning.changedEditions)
            return (signals: signals, changed: changed)
        }
        return SimilarLearning(
            results[keys.signals], changed: results[keys.changed], isIncremental: true)
    }
}

extension Pipeline {
    private static let setLongTimeout = Statement(
        "SELECT set_config('statement_timeout', '600000', true)")

    /// Allows the following statements of a background job to take minutes.
    fileprivate mutating func allowLongStatements() {
        timeout = .seconds(600)
        append(Self.setLongTimeout)
    }
}
