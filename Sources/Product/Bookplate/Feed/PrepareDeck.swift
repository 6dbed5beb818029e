import JobQueue
import Postgres
import Requests

/// Builds a reader's next deck before it is requested: the start of the next scroll, or the successor of a deck.
struct PrepareDeck: JobHandler {
    static let kind = "feed.deck"
    static let settings = JobSettings(attemptsMax: 3)

    struct Payload: Codable, Sendable {
        /// The deck to continue; nil to build the start of the next scroll.
        var previous: DeckID?
    }

    func run(_ payload: Payload, in job: JobContext) async throws(JobError) {
        let builder = DeckBuilder(
            reader: try job.user(), previous: payload.previous, skipsNewReaders: true)
        try await builder.build(in: job)
    }

    /// Returns the condition that a reader with signals or preferred genres has no deck to start with.
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
    private static let outdateDecks = Statement(
        """
        UPDATE users
        SET signals_version = signals_version + 1
        WHERE id = $1
        """)

    /// Replaces the reader's deck in a few seconds, because their library or reviews have changed.
    mutating func replaceDeckSoon(of reader: UUID) { replaceDeck(of: reader, after: .seconds(5)) }

    /// Replaces the deck with which the reader's next scroll starts, because the reader's signals have changed.
    ///
    /// - Parameter delay: The time until the new deck is built, so that changes in quick succession lead to one deck. A scroll
    ///   that starts earlier builds it in the request.
    mutating func replaceDeck(of reader: UUID, after delay: Duration = .zero) {
        append(Self.outdateDecks, .of(reader))
        enqueue(PrepareDeck.self, .init(), for: reader, key: "deck", after: delay)
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
