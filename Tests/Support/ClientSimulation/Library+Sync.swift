import BookplateClient
import GRDB

extension Library {
    func snapshot() async throws -> LibrarySnapshot {
        try await reader.read { try LibrarySnapshot($0) }
    }

    /// Runs the library until the server has all changes and their effects have arrived.
    func sync(feed: FeedPrefetch? = nil) async throws {
        try await run(feed: feed) { db in
            let sql = "SELECT NOT EXISTS (SELECT 1 FROM write) AND isComplete FROM sync_position"
            return try Bool.fetchOne(db, sql: sql) ?? false
        }
    }

    /// Runs the library until it is complete and has cards of the feed.
    func syncFeed(_ feed: FeedPrefetch) async throws {
        try await run(feed: feed) { db in
            let sql = "SELECT isComplete AND EXISTS (SELECT 1 FROM card) FROM sync_position"
            return try Bool.fetchOne(db, sql: sql) ?? false
        }
    }

    /// Runs the library until a condition holds.
    func run(
        feed: FeedPrefetch? = nil, until condition: @escaping @Sendable (Database) throws -> Bool
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await self.run(feed: feed) }
            group.addTask { for try await holds in self.values(condition) where holds { return } }
            try await group.next()
            group.cancelAll()
        }
    }

    /// The position in the change log.
    func cursor() async throws -> String? {
        try await reader.read { try String.fetchOne($0, sql: "SELECT cursor FROM sync_position") }
    }

    /// Dismisses all problems, and returns them.
    func takeProblems() async throws -> [Problem] {
        let problems = try await reader.read { try Problem.fetchAll($0) }
        for problem in problems { try dismiss(problem) }
        return problems
    }
}
