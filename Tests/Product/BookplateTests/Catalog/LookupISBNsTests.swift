import BookSources
import GraphQL
import TestSupport
import Testing

@testable import Bookplate
@testable import Requests

/// `Query.lookupISBNs`: several ISBNs at once, with a result for each.
@Suite struct LookupISBNsTests {
    private static let lookup = """
        query($isbns: [String!]!) { lookupISBNs(isbns: $isbns) {
          isbn card { title inLibrary { id } } error { code reason field }
        } }
        """

    private static let foxISBN = "9780140328721"

    private func start(
        _ rates: RateLimits = RateLimits(.init())
    ) async throws -> (app: TestApp, reader: TestReader, source: TestSource) {
        let source = TestSource([Self.foxISBN: LookupISBNTests.fox])
        let app = try await TestApp.start(
            catalog: TestCatalog.lines(60), sources: SourceChain([source.source(.openLibrary)]),
            rates: rates)
        return (app, try await app.makeReader(), source)
    }

    private func results(_ reader: TestReader, _ isbns: [String]) async throws -> [Value] {
        try await reader.requireValue(
            Self.lookup, ["isbns": .list(isbns.map { .string($0) })], "lookupISBNs"
        ).list ?? []
    }

    private func error(_ code: Value, _ reason: Value, field: Value = .null) -> Value {
        ["code": code, "reason": reason, "field": field]
    }

    @Test func resultsAreInTheOrderOfTheList() async throws {
        let (_, reader, source) = try await start()
        let results = try await results(
            reader,
            [
                Self.foxISBN, TestCatalog.isbn(3), "nonsense", "0-14-032872-6", "9780306406158",
                "9780141439587", "4006381333931", TestCatalog.isbn(3), "",
            ])
        let fox: Value = [
            "isbn": .string(Self.foxISBN),
            "card": ["title": "Fantastic Mr. Fox", "inLibrary": .null], "error": .null,
        ]
        let known: Value = [
            "isbn": .string(TestCatalog.isbn(3)),
            "card": ["title": "Card 3", "inLibrary": .null], "error": .null,
        ]
        func invalid(_ reason: Value) -> Value {
            [
                "isbn": .null, "card": .null,
                "error": error("BAD_USER_INPUT", reason, field: "isbns"),
            ]
        }
        #expect(
            results == [
                fox, known, invalid("ISBN_LENGTH"), fox, invalid("ISBN_CHECK_DIGIT"),
                [
                    "isbn": "9780141439587", "card": .null,
                    "error": error("NOT_FOUND", "UNKNOWN_ISBN"),
                ], invalid("NOT_AN_ISBN"), known, invalid("ISBN_LENGTH"),
            ])
        // The sources are asked once for each ISBN that the catalog does not have.
        #expect(source.requests.sorted() == [Self.foxISBN, "9780141439587"])
        #expect(try await self.results(reader, []) == [])
    }

    @Test func cardKnowsTheBookOfTheReaderOnly() async throws {
        let (app, reader, _) = try await start()
        let isbn = TestCatalog.isbn(3)
        let book = try await reader.makeBook(["isbn": .string(isbn)])
        #expect(try await results(reader, [isbn])[0]["card", "inLibrary"] == ["id": book])
        let other = try await app.makeReader()
        #expect(try await results(other, [isbn])[0]["card", "inLibrary"] == .null)
    }

    @Test func numberOfStatementsDoesNotGrowWithTheList() async throws {
        let (_, reader, _) = try await start()
        _ = try await results(reader, [TestCatalog.isbn(1)])
        var costs: [[Int]] = []
        for count in [1, 50] {
            let isbns = (1...count).map { Value.string(TestCatalog.isbn($0)) }
            let response = try await reader.execute(Self.lookup, ["isbns": .list(isbns)])
            #expect(response["lookupISBNs"]?.list?.count == count)
            costs.append([response.statements, response.roundTrips])
        }
        #expect(costs[0] == costs[1])
        #expect(costs[0][1] == 3)
    }

    @Test func longerListsAreRefused() async throws {
        let (_, reader, source) = try await start()
        let isbns = Value.list(Array(repeating: .string(Self.foxISBN), count: 51))
        let response = try await reader.execute(Self.lookup, ["isbns": isbns])
        #expect(response.code == "BAD_USER_INPUT" && response.field == "isbns")
        #expect(response.reason == "TOO_MANY")
        #expect(response.errors.first?["extensions", "max"] == 50)
        #expect(response["lookupISBNs"] == .null)
        #expect(source.requests.isEmpty)
    }

    @Test func unavailableSourcesFailOnlyTheirEntries() async throws {
        let (_, reader, source) = try await start()
        source.fail(with: .busy)
        let isbns = [Self.foxISBN, TestCatalog.isbn(3)]
        let failed = try await results(reader, isbns)
        #expect(failed[0]["error"] == error("UPSTREAM_UNAVAILABLE", "SOURCES_UNAVAILABLE"))
        #expect(failed[1]["card", "title"] == "Card 3")
        source.fail(with: nil)
        #expect(try await results(reader, isbns)[0]["card", "title"] == "Fantastic Mr. Fox")
    }

    /// The price is that of as many lookups. If the reader cannot pay for it, no source is asked, and known books are returned.
    @Test func eachUnknownISBNCostsALookup() async throws {
        let (_, reader, source) = try await start(
            RateLimits(.init(perCaller: 40), clock: { .zero }))
        func left() async throws -> Int {
            try #require(try await reader.execute("{ __typename }").rate?.remainingUnits)
        }
        func cost(_ isbns: [String]) async throws -> Int {
            let before = try await left()
            _ = try await results(reader, isbns)
            return before - (try await left())
        }
        let known = try await cost([TestCatalog.isbn(1)])
        #expect(try await cost([Self.foxISBN, Self.foxISBN, "9780141439587"]) == known + 10)
        #expect(try await cost([Self.foxISBN, "9780141439587"]) == known)
        let requests = source.requests
        let isbns = [TestCatalog.isbn(1)] + (1...20).map { TestCatalog.isbn(3_000 + $0) }
        let refused = try await results(reader, isbns)
        #expect(refused[0]["card", "title"] == "Card 1")
        #expect(refused.dropFirst().allSatisfy { $0["error", "code"] == "RATE_LIMITED" })
        #expect(source.requests == requests)
    }
}
