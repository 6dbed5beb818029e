import TestBasics
import TestSupport

@testable import Bookplate

/// Runs the feed's background jobs to their end, as a server's worker does.
extension TestApp {
    /// Collects the signals of the readers who changed something since the last call.
    func collectSignals() async throws {
        try await database.execute("SELECT find_readers_to_collect(false)")
        while try await database.count("SELECT collect_signals(200)::bigint") > 0 {}
    }

    /// Runs the hourly refresh of the feed and waits until it has succeeded.
    func refreshFeed() async throws {
        try await database.execute("UPDATE jobs SET run_at = now() WHERE kind = 'feed.refresh'")
        let worker = try await TestWorker.start(database, [RefreshFeed()])
        // A failed job also waits for its next run, but it has an error.
        try await waitUntil("the feed is refreshed") {
            try await database.count(
                """
                SELECT count(*) FROM jobs WHERE kind = 'feed.refresh' AND state = 'READY' AND run_at > now()
                AND last_error IS NULL
                """) == 1
        }
        await worker.stop()
    }

    /// Builds the decks of all readers who wait for one, and waits until they are built.
    func buildDecks() async throws {
        try await database.execute(
            """
            UPDATE jobs SET run_at = now() WHERE kind = 'feed.deck';
            UPDATE feed_readers SET deck_due_at = now() WHERE deck_due_at IS NOT NULL
            """)
        let worker = try await TestWorker.start(database, [PrepareDeck()])
        try await waitForDecks()
        await worker.stop()
    }

    /// Waits until a worker that is running has built all decks, without the delay of the jobs.
    func waitForDecks() async throws {
        try await waitUntil("the decks are built") {
            try await database.execute(
                """
                UPDATE jobs SET run_at = now() WHERE kind = 'feed.deck' AND run_at > now();
                UPDATE feed_readers SET deck_due_at = now() WHERE deck_due_at > now();
                SELECT pg_notify('jobs', 'feed.deck')
                """)
            return try await waitingDeckCount() == 0
        }
    }

    /// Makes the decks of all readers outdated, as a change of their signals does, without requesting new ones.
    func outdateDecks() async throws {
        try await database.execute(
            """
            INSERT INTO feed_readers AS f (user_id, signals_version) SELECT id, 1 FROM users
            ON CONFLICT (user_id) DO UPDATE SET signals_version = f.signals_version + 1
            """)
    }

    /// The number of readers who wait for a deck.
    func waitingDeckCount() async throws -> Int {
        Int(
            try await database.count(
                """
                SELECT count(*)
                FROM (
                    SELECT user_id, key FROM jobs WHERE kind = 'feed.deck'
                    UNION
                    SELECT user_id, 'deck' FROM feed_readers WHERE deck_due_at IS NOT NULL
                ) waiting
                """))
    }
}
