import JobQueue
import Postgres

/// Builds a reader's next deck before it is requested: the start of the next scroll, or the successor of a deck.
struct PrepareDeck: JobHandler {
    static let kind = "feed.deck"
    static let settings = JobSettings(attemptsMax: 3)

    struct Payload: Codable, Sendable {
        /// The number of the deck to continue; nil to build the start of the next scroll.
        var previous: Int64?
    }

    func run(_ payload: Payload, in job: JobContext) async throws(JobError) {
        let builder = DeckBuilder(
            reader: try job.user(), previous: payload.previous, skipsNewReaders: true)
        try await builder.build(in: job)
    }

    /// Returns the condition that a reader with signals has no current deck to start with.
    static func isDeckNeeded(by reader: String) -> String {
        """
        NOT EXISTS (
            SELECT
            FROM feed_decks d
            WHERE d.user_id = \(reader) AND d.filter = '{}' AND d.previous IS NULL AND \(FeedPage.isCurrent)
        )
        AND (
            EXISTS (SELECT FROM swipes s WHERE s.user_id = \(reader))
            OR EXISTS (SELECT FROM books b WHERE b.user_id = \(reader) AND b.edition_id IS NOT NULL)
        )
        """
    }
}

extension Pipeline {
    private static let outdate = Statement(
        """
        UPDATE feed_decks
        SET is_outdated = true
        WHERE user_id = $1 AND previous IS NULL AND NOT is_outdated
        """)

    /// Replaces the reader's deck in a few seconds, because their library or reviews have changed.
    mutating func replaceDeckSoon(of reader: UUID) { replaceDeck(of: reader, after: .seconds(5)) }

    /// Replaces the deck with which the reader's next scroll starts, because the reader's signals have changed.
    ///
    /// - Parameter delay: The time until the new deck is built, so that changes in quick succession lead to one deck. A scroll
    ///   that starts earlier builds it in the request.
    mutating func replaceDeck(of reader: UUID, after delay: Duration = .zero) {
        append(Self.outdate, .of(reader))
        enqueue(PrepareDeck.self, .init(), for: reader, key: "deck", after: delay)
    }
}

extension JobContext: DeckDatabase {
    func readDeck<Keys>(
        _ fill: (inout Pipeline) -> Keys
    ) async throws(JobError) -> (results: PipelineResults, keys: Keys) {
        let (results, keys): (PipelineResults, Keys) = try await read(fill)
        return (results, keys)
    }

    func writeDeck(_ fill: (inout Pipeline) -> Void) async throws(JobError) {
        try await write(fill)
    }
}

extension RequestContext: DeckDatabase {
    func readDeck<Keys>(
        _ fill: (inout Pipeline) -> Keys
    ) async throws(BookplateError) -> (results: PipelineResults, keys: Keys) {
        let (results, keys): (PipelineResults, Keys) = try await read { pipeline, _ in
            fill(&pipeline)
        }
        return (results, keys)
    }

    func writeDeck(_ fill: (inout Pipeline) -> Void) async throws(BookplateError) {
        try await write { pipeline, _ in fill(&pipeline) }
    }
}
