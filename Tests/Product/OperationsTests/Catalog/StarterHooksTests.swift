import FoundationEssentials
import GraphQL
import TestSupport
import Testing

@testable import Bookplate
@testable import Operations

/// The sentences of `scripts/catalog/hooks.jsonl`, which are the first texts that a new reader sees.
@Suite struct StarterHooksTests {
    private static func lines() throws -> [String] {
        let text = try String(
            contentsOf: URL(filePath: TestCluster.project + "/scripts/catalog/hooks.jsonl"),
            encoding: .utf8)
        return text.split(separator: "\n").map(String.init)
    }

    @Test func eachHookIsASentenceForABookOfTheStarterCatalog() throws {
        let titles = Dictionary(
            try StarterCatalog.lines(.max).map { line in
                let book = try parseJSON(Array(line.utf8))
                return (book["ids", "goodreads"]?.string ?? "", book["title"]?.string ?? "")
            }, uniquingKeysWith: { first, _ in first })
        var hooks: Set<String> = []
        for line in try Self.lines() {
            let record = try CatalogRecord(line: Array(line.utf8))
            let hook = try #require(record.hook, "\(line)")
            #expect(titles[record.sources.first?.key ?? ""] == record.title, "\(line)")
            #expect(hook.last == ".", "\(line)")
            #expect(!hook.contains("\"") && !hook.contains("…"), "\(line)")
            #expect(hooks.insert(hook).inserted, "\(line)")
        }
        #expect(hooks.count >= 300)
    }

    @Test func hooksAreAddedToTheStarterCatalog() async throws {
        let database = try await TestCluster.shared.makeDatabase()
        let starter = try StarterCatalog.lines(30)
        let hooks = Array(try Self.lines().prefix(20))
        try await database.importCatalog(starter)
        let facts =
            "SELECT string_agg(title || authors::text || genres::text, '|' ORDER BY id) FROM editions"
        let before = try await database.text(facts)
        #expect(
            try await database.importCatalog(hooks).summary
                == .init(created: 0, updated: 20, unchanged: 0, failed: 0))
        #expect(
            try await database.count("SELECT count(*) FROM editions WHERE hook IS NOT NULL") == 20)
        #expect(try await database.text(facts) == before)
        // The feed shows books with a text first.
        #expect(
            try await database.count(
                """
                SELECT count(DISTINCT e.id) FROM editions e JOIN edition_genres g ON g.edition_id = e.id
                WHERE g.position >> 61 = CASE WHEN e.hook IS NULL THEN 2 ELSE 0 END
                """) == 30)
        // Neither file takes back what the other has added.
        for lines in [starter, hooks] {
            let summary = try await database.importCatalog(lines).summary
            #expect(summary.updated == 0 && summary.created == 0)
        }
    }
}
