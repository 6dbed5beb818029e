import JobQueue
import Postgres
import Requests

/// Builds a reader's next deck before it is requested: the start of the next scroll, or the successor of a deck.
struct PrepareDeck: JobHandler {
    static let kind = "feed.deck"
    static let settings = JobSettings(attemptsMax: 3)
    /// Readers whose decks are due have marks in `feed_readers`.
    static let enqueueDue: Statement? = Statement("SELECT enqueue_due_decks(100)")

    struct Payload: Codable, Sendable {
        /// The deck to continue; nil to build the start of the next scroll.
        var previous: DeckID?
    }

    func run(_ payload: Payload, in job: JobContext) async throws(JobError) {
        let builder = DeckBuilder(
            reader: try job.user(), previous: payload.previous, skipsNewReaders: true)
        try await builder.build(in: job)
    }

    /// Returns the condition that a reader who is not new (`FeedPage.isNew`) has no deck to start with.
    static func isDeckNeeded(by reader: String) -> String {
        """
        NOT EXISTS (
            SELECT
            FROM feed_decks d
            WHERE d.user_id = \(reader) AND d.filter = '{}' AND d.number = 0 AND \(FeedPage.isCurrent(for: reader))
        )
        AND NOT (\(FeedPage.isNew(reader)))
        """
    }
}

extension Pipeline {
    /// Counts the change, and marks the deck as due, unless it is due earlier. A mark instead of a job, because most writes of a reader
    /// replace the deck: a job took four times as long.
    private static let outdateDeck = Statement(
        """
        INSERT INTO feed_readers AS f (user_id, signals_version, deck_due_at)
        VALUES ($1, 1, now() + $2 * interval '1 millisecond')
        ON CONFLICT (user_id) DO UPDATE
        SET signals_version = f.signals_version + 1,
            deck_due_at = least(f.deck_due_at, excluded.deck_due_at)
        """)

    /// Replaces the reader's deck in a few seconds, because their library or reviews have changed.
    mutating func replaceDeckSoon(of reader: UUID) { replaceDeck(of: reader, after: .seconds(5)) }

    /// Replaces the deck with which the reader's next scroll starts, because the reader's signals have changed.
    ///
    /// - Parameter delay: The time until the new deck is built, so that changes in quick succession lead to one deck. A scroll
    ///   that starts earlier builds it in the request.
    mutating func replaceDeck(of reader: UUID, after delay: Duration = .zero) {
        var parameters = Parameters.of(reader)
        parameters.append(int64: delay.milliseconds)
        append(Self.outdateDeck, parameters)
        if delay <= .zero { notify(JobWorker.channel, PrepareDeck.kind) }
    }

    /// Builds the successor of a deck, because a scroll has passed its middle.
    mutating func prepareSuccessor(of deck: DeckID, for reader: UUID) {
        enqueue(
            PrepareDeck.self, .init(previous: deck), for: reader,
            key: "\(deck.chain)/\(deck.number)")
    }
}

extension JobContext: DeckDatabase {}

extension RequestContext: DeckDatabase {
    func read<Keys>(
        _ fill: (inout Pipeline) throws(BookplateError) -> Keys
    ) async throws(BookplateError) -> (results: PipelineResults, keys: Keys) {
        try await read { pipeline, _ throws(BookplateError) in try fill(&pipeline) }
    }

    func write<Keys>(
        _ fill: (inout Pipeline) throws(BookplateError) -> Keys
    ) async throws(BookplateError) -> (results: PipelineResults, keys: Keys) {
        try await write { pipeline, _ throws(BookplateError) in try fill(&pipeline) }
    }
}
