import JobQueue
import Postgres
import Ranking

/// Updates the popularity of the books that have changed, and the cold-start decks, and deletes old decks.
struct RefreshFeed: JobHandler {
    static let kind = "feed.refresh"
    static let settings = JobSettings(
        concurrency: 1, timeout: .seconds(1800), every: .seconds(3600))

    /// Returns the version of the catalog if it has changed since the cold-start decks were built.
    private static let refresh = TypedStatement<Int64>(
        "SELECT version FROM refresh_feed() AS version WHERE version IS NOT NULL")
    private static let storeColdStartDeck = Statement("SELECT store_cold_start_deck($1, $2, $3)")
    private static let keepColdStartDecks = Statement("SELECT keep_cold_start_decks($1)")
    /// The languages with cold-start decks: the main one, and those with the most books.
    private static let languages = TypedStatement<String>(
        """
        SELECT coalesce(main_language, '')
        FROM feed_state
        UNION
        (
            SELECT language
            FROM catalog_languages
            WHERE language <> '' AND editions > 0
            ORDER BY editions DESC, language
            LIMIT 20
        )
        """)

    func run(_ payload: NoPayload, in job: JobContext) async throws(JobError) {
        try await SignalCollection.run(in: job)
        let versions = try await job.write { pipeline in
            pipeline.allowLongStatements()
            return pipeline.append(Self.refresh)
        }
        guard let version = versions.first else { return }
        let genres = try await job.read { $0.append(DeckCandidates.genres) }
            .map { Int16(truncatingIfNeeded: $0) }
        var decks: [Parameters] = []
        let languages = try await job.read { $0.append(Self.languages) }
        for language in languages {
            // Popular books of all genres, as if the reader liked each of them.
            let candidates = DeckCandidates(
                reader: nil, filter: [], chain: nil, signals: [], preferred: genres,
                genres: genres, preferredLanguages: [language], languages: [language])
            let parameters = candidates.parameters
            let books = try await job.read { $0.append(DeckCandidates.select, parameters) }
            let order = FeedRanking.rank(
                books.map(\.item), signals: [], preferred: [], count: DeckBuilder.firstCardsMax,
                after: [])
            var deck = Parameters()
            deck.append(text: language)
            deck.append(uuids: order.map { books[$0].id })
            deck.append(int64: version)
            decks.append(deck)
        }
        try await job.write { [decks] pipeline in
            for deck in decks { pipeline.append(Self.storeColdStartDeck, deck) }
            var kept = Parameters()
            kept.append(texts: languages)
            pipeline.append(Self.keepColdStartDecks, kept)
        }
    }
}

/// Updates the similar books of all books with new signals (`SimilarLearning`).
struct LearnSimilar: JobHandler {
    static let kind = "feed.similar"
    static let settings = JobSettings(
        concurrency: 1, timeout: .seconds(1800), every: .seconds(3600))

    func run(_ payload: NoPayload, in job: JobContext) async throws(JobError) {
        try await SignalCollection.run(in: job)
        // Reading the signals takes as long as there are readers.
        guard try await !job.read({ $0.append(SimilarLearning.dueWorks) }).isEmpty else { return }
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
            metadata: [
                "editions": .stringConvertible(learning.total),
                "signals": .stringConvertible(learning.signalCount),
            ])
    }

    /// A separate function, so that the rows are released before the learning starts.
    private func learning(_ job: JobContext) async throws(JobError) -> SimilarLearning {
        let (results, keys) = try await job.read { pipeline in
            pipeline.allowLongStatements()
            let changed = pipeline.append(SimilarLearning.changedWorks)
            let signals = pipeline.appendForRows(SimilarLearning.signals)
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
    mutating func allowLongStatements() {
        timeout = .seconds(600)
        append(Self.setLongTimeout)
    }
}
