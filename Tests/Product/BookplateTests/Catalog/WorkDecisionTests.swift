import GraphQL
import Postgres
import TestSupport
import Testing

@testable import Bookplate
@testable import Operations

/// The operator's corrections: `bookplate-admin catalog merge-works`, `split-works`, and `undo-works`.
@Suite struct WorkDecisionTests {
    private static let lines =
        WorkTests.two + [
            WorkTests.line(905, "La mano sinistra delle tenebre"),
            WorkTests.line(906, "La mano sinistra delle tenebre"),
        ]

    private func ids(_ numbers: [Int], _ reader: TestReader) async throws -> [UUID] {
        var ids: [UUID] = []
        for number in numbers {
            let card = try await WorkTests.card(number, reader)
            ids.append(try #require(card.string.flatMap { UUID($0) }))
        }
        return ids
    }

    /// Runs work on the decisions in a transaction, as the commands do.
    private func decide<Result: Sendable>(
        _ app: TestApp, _ work: @Sendable @escaping (WorkDecisions) throws -> Result
    ) async throws -> Result {
        try await app.database.withConnection { connection in
            try connection.inTransaction(commits: true, mapping: { $0 as any Error }) {
                try work(WorkDecisions(connection))
            }
        }
    }

    /// The editions that are one work, as lists of their numbers.
    private func works(_ reader: TestReader) async throws -> [[Int]] {
        var works: [String: [Int]] = [:]
        for number in 901...906 {
            works[try await WorkTests.work(number, reader).string ?? "", default: []].append(number)
        }
        return works.values.sorted { $0[0] < $1[0] }
    }

    private static let separate = [[901, 902], [903], [904], [905, 906]]
    private static let merged = [[901, 902, 905, 906], [903], [904]]

    /// Updates every line of the catalog, and computes all works again.
    private func recompute(_ app: TestApp) async throws {
        try await app.database.importCatalog(
            Self.lines.map { $0.replacing("cold planet", with: "colder planet") })
        try await app.database.execute("SELECT match_works(NULL)")
    }

    @Test func mergedWorksStayMergedUntilTheMergeIsUndone() async throws {
        let app = try await TestApp.start(catalog: Self.lines)
        let reader = try await app.makeReader()
        let book = try await reader.makeBook(["cardId": try await WorkTests.card(906, reader)])
        let (one, two) = (
            try await WorkTests.work(901, reader), try await WorkTests.work(906, reader)
        )
        #expect(try await works(reader) == Self.separate)

        let (first, second) = (UUID(one.string ?? ""), UUID(two.string ?? ""))
        let merge = try await decide(app) {
            try $0.merge(try #require(first), try #require(second))
        }
        let decision = try #require(merge?.decision)
        #expect(merge?.editions.count == 4)
        #expect(try await works(reader) == Self.merged)
        // Both ids lead to the work, with the reader's book.
        for id in [one, two] {
            let node = try await reader.requireValue(
                "query($id: ID!) { node(id: $id) { ... on Work { id inLibrary { id } } } }",
                ["id": id], "node")
            #expect(
                node == ["id": .string(merge?.work.description ?? ""), "inLibrary": ["id": book]])
        }
        let repeated = try await decide(app) {
            try $0.merge(try #require(first), try #require(second))
        }
        #expect(repeated?.decision == nil)
        #expect(repeated?.work == merge?.work)
        try await recompute(app)
        #expect(try await works(reader) == Self.merged)

        #expect(try await decide(app) { try $0.undo(decision) } == 4)
        #expect(try await works(reader) == Self.separate)
        #expect(try await WorkTests.work(906, reader) == two)
        #expect(try await decide(app) { try $0.undo(decision) } == nil)
        let listed = try await decide(app) { try $0.all() }
        #expect(listed.map(\.id) == [decision])
        #expect(listed.first?.undoneAt != nil)
        #expect(listed.first?.editions.count == 4)
    }

    @Test func splitEditionsStayAWorkOfTheirOwn() async throws {
        let app = try await TestApp.start(catalog: Self.lines)
        let reader = try await app.makeReader()
        let ids = try await ids([901, 902, 905, 906], reader)
        let merge = try await decide(app) { try $0.merge(ids[0], ids[2]) }
        #expect(merge?.decision != nil)
        let split = try await decide(app) { try $0.split([ids[0], ids[2]]) }
        #expect(try await works(reader) == [[901, 905], [902, 906], [903], [904]])
        #expect(
            try await WorkTests.work(902, reader) == .string(split?.rest.description ?? ""))
        try await recompute(app)
        #expect(try await works(reader) == [[901, 905], [902, 906], [903], [904]])
        // A later merge counts for split editions, too.
        let again = try await decide(app) { try $0.merge(ids[0], ids[1]) }
        #expect(try await works(reader) == Self.merged)
        for decision in [again?.decision, split?.decision, merge?.decision] {
            let id = try #require(decision)
            #expect(try await decide(app) { try $0.undo(id) } != nil)
        }
        #expect(try await works(reader) == Self.separate)
    }

    @Test func impossibleDecisionsChangeNothing() async throws {
        let app = try await TestApp.start(catalog: Self.lines)
        let reader = try await app.makeReader()
        let ids = try await ids([901, 902, 903], reader)
        let unknown = try #require(UUID("0198c0de-0000-4000-8000-00000000dead"))
        #expect(try await decide(app) { try $0.merge(ids[0], unknown) } == nil)
        for cards in [[], [unknown], [ids[0], ids[1]], [ids[0], ids[2]], [ids[0], unknown]] {
            #expect(try await decide(app) { try $0.split(cards) } == nil)
        }
        #expect(try await decide(app) { try $0.all() }.isEmpty)
        #expect(try await works(reader) == Self.separate)
    }
}
