import GraphQL
import TestSupport
import Testing

/// The commands that correct which editions are one work.
@Suite struct CatalogWorksTests {
    private func json(_ outcome: Program.Outcome) throws -> Value {
        #expect(outcome.code == 0, "\(outcome.errors)")
        return try parseJSON(Array(outcome.output.utf8))
    }

    @Test func mergesSplitsAndUndoes() async throws {
        let installation = try await Installation.ready(catalog: TestCatalog.lines(3))
        let database = installation.database
        func card(_ number: Int) async throws -> String {
            try await database.text(
                "SELECT id FROM editions WHERE isbn13 = '\(TestCatalog.isbn(number))'")
        }
        let (one, two) = (try await card(1), try await card(2))
        let records = "SELECT count(*) FROM work_records"

        let dry = try json(
            try await installation.admin(
                "catalog", "merge-works", one, two, "--dry-run", "--json"))
        #expect(dry["dryRun"] == true)
        #expect(dry["editions"]?.list?.count == 2)
        #expect(try await database.count(records) == 0)

        let merge = try json(
            try await installation.admin("catalog", "merge-works", one, two, "--json"))
        let decision = try #require(merge["decision"]?.int)
        let work = try #require(merge["work"]?.string)
        #expect(try await database.count(records) == 2)
        let again = try await installation.admin("catalog", "merge-works", work, two)
        #expect(again.output.contains("nothing to do"))

        let split = try json(try await installation.admin("catalog", "split-works", two, "--json"))
        #expect(split["rest"]?.string == work)
        #expect(try await database.count(records) == 0)
        for id in [split["decision"]?.int ?? 0, decision] {
            let undo = try json(
                try await installation.admin("catalog", "undo-works", "\(id)", "--json"))
            #expect(undo["decision"] == .int(id))
        }
        #expect(try await database.count(records) == 0)
        let list = try json(try await installation.admin("catalog", "works", "--json"))
        #expect(list.list?.compactMap { $0["kind"]?.string } == ["SPLIT", "MERGE"])
        #expect(list.list?.allSatisfy { $0["undoneAt"]?.string != nil } == true)

        let unknown = "0198c0de-0000-7000-8000-000000000001"
        for (words, message) in [
            (["merge-works", one, "no-id"], "'no-id' is not a work or card ID: it must be a UUID"),
            (["merge-works", one, unknown], "no work or card has the ID \(unknown): use IDs"),
            (["split-works", one], "the work must have other cards"),
            (["undo-works", "\(decision)"], "there is no decision \(decision)"),
        ] {
            let outcome = try await installation.admin(["catalog"] + words)
            #expect(outcome.code != 0, "\(words)")
            #expect(outcome.errors.contains(message), "\(words): \(outcome.errors)")
        }
    }
}
