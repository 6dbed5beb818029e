import BookSources
import GraphQL
import TestSupport
import Testing

@testable import Bookplate
@testable import Requests

/// The history of scanned ISBNs.
@Suite struct ScanTests {
    private static let record = """
        mutation($inputs: [ScanInput!]!) { recordScans(inputs: $inputs) {
          scan { id isbn scannedAt outcome card { title } book { title } } error { code reason field }
        } }
        """
    private static let list = """
        query($first: Int, $after: String) { me { scans(first: $first, after: $after) {
          totalCount nodes { id isbn outcome } pageInfo { hasNextPage endCursor }
        } } }
        """
    private static let delete = "mutation($id: ID!) { deleteScan(id: $id) { id } }"
    private static let foxISBN = "9780140328721"

    private func start(
        _ rates: RateLimits = RateLimits(.init())
    ) async throws -> (reader: TestReader, source: TestSource) {
        let source = TestSource([Self.foxISBN: LookupISBNTests.fox])
        let app = try await TestApp.start(
            catalog: TestCatalog.lines(60), sources: SourceChain([source.source(.openLibrary)]),
            rates: rates)
        return (try await app.makeReader(), source)
    }

    private func id(_ number: Int) -> Value {
        .string("0198c0de-0000-7000-8000-0000000002\(number)")
    }

    private func record(_ reader: TestReader, _ inputs: [Value]) async throws -> [Value] {
        try await reader.requireValue(Self.record, ["inputs": .list(inputs)], "recordScans").list
            ?? []
    }

    private func scans(_ reader: TestReader) async throws -> Value {
        try await reader.requireValue(Self.list, ["first": 100], "me", "scans")
    }

    @Test func scansAreLookedUpAndListedWithTheLatestFirst() async throws {
        let (reader, source) = try await start()
        _ = try await reader.makeBook(["title": "Own", "isbn": .string(TestCatalog.isbn(3))])
        let results = try await record(
            reader,
            [
                ["id": id(10), "isbn": "0-14-032872-6", "scannedAt": "2026-01-02T10:00:00Z"],
                ["id": id(11), "isbn": "nonsense"],
                [
                    "id": id(12), "isbn": .string(TestCatalog.isbn(3)),
                    "scannedAt": "2026-01-03T10:00:00Z",
                ],
                ["id": id(13), "isbn": "9780141439587", "scannedAt": "2026-01-01T10:00:00Z"],
                ["isbn": "4006381333931"],
            ])
        #expect(
            results[0] == [
                "scan": [
                    "id": id(10), "isbn": .string(Self.foxISBN),
                    "scannedAt": "2026-01-02T10:00:00.000Z", "outcome": "FOUND",
                    "card": ["title": "Fantastic Mr. Fox"], "book": .null,
                ], "error": .null,
            ])
        #expect(
            results[2]["scan", "outcome"] == "FOUND"
                && results[2]["scan", "book"] == ["title": "Own"]
        )
        #expect(results[3]["scan", "outcome"] == "UNKNOWN" && results[3]["scan", "card"] == .null)
        for (index, reason) in [(1, "ISBN_LENGTH"), (4, "NOT_AN_ISBN")] as [(Int, Value)] {
            #expect(
                results[index] == [
                    "scan": .null,
                    "error": ["code": "BAD_USER_INPUT", "reason": reason, "field": "isbn"],
                ])
        }
        #expect(source.requests.sorted() == [Self.foxISBN, "9780141439587"])
        let first = try await reader.requireValue(Self.list, ["first": 2], "me", "scans")
        #expect(first["totalCount"] == 3 && first["pageInfo", "hasNextPage"] == true)
        #expect(first["nodes"]?.values(of: "id") == [id(12), id(10)])
        let second = try await reader.requireValue(
            Self.list, ["first": 2, "after": first["pageInfo", "endCursor"] ?? .null], "me",
            "scans")
        #expect(second["nodes"]?.values(of: "id") == [id(13)])
        #expect(try await record(reader, []) == [])
    }

    /// A repetition changes nothing, and an id has one ISBN.
    @Test func idsOfScansAreUsedOnce() async throws {
        let (reader, _) = try await start()
        let (isbn, other) = (
            Value.string(TestCatalog.isbn(1)), Value.string(TestCatalog.isbn(2))
        )
        let scan: Value = ["id": id(20), "isbn": isbn, "scannedAt": "2026-01-02T10:00:00Z"]
        let first = try await record(reader, [scan, scan, ["id": id(20), "isbn": other]])
        #expect(first[0] == first[1] && first[0]["error"] == .null)
        #expect(first[2]["error", "code"] == "CONFLICT")
        #expect(first[2]["error", "reason"] == "ID_TAKEN")
        let again = try await record(
            reader, [["id": id(20), "isbn": isbn], ["id": id(20), "isbn": other]])
        #expect(again[0] == first[0] && again[1] == first[2])
        #expect(try await scans(reader)["totalCount"] == 1)
        // The id is free for another reader.
        let stranger = try await reader.app.makeReader()
        #expect(try await record(stranger, [scan])[0]["error"] == .null)
    }

    /// The clock of a device may be ahead.
    @Test func scansAreNotInTheFuture() async throws {
        let (reader, _) = try await start()
        let isbn = Value.string(TestCatalog.isbn(1))
        let results = try await record(
            reader, [["isbn": isbn, "scannedAt": "2999-01-01T00:00:00Z"], ["isbn": isbn]])
        let times = results.map { $0["scan", "scannedAt"] }
        #expect(times[0] == times[1] && times[0]?.string?.hasPrefix("2999") == false)
    }

    /// The catalog may have got the book meanwhile, or a source that was down.
    @Test func unknownScansCanBeRepeated() async throws {
        let (reader, _) = try await start()
        let scan: Value = ["id": id(31), "isbn": "9780141439587"]
        #expect(try await record(reader, [scan])[0]["scan", "outcome"] == "UNKNOWN")
        _ = try await reader.app.database.importCatalog([
            #"{"ids":{"test":"e"},"title":"Emma","authors":["Jane Austen"],"isbn13":"9780141439587"}"#
        ])
        let found = try await record(reader, [scan])[0]["scan"]
        #expect(found?["outcome"] == "FOUND" && found?["card", "title"] == "Emma")
    }

    /// A scan that could not be looked up is looked up again when it is sent again.
    @Test func failedScansCanBeRepeated() async throws {
        let (reader, source) = try await start()
        source.fail(with: .busy)
        let scan: Value = ["id": id(30), "isbn": .string(Self.foxISBN)]
        #expect(try await record(reader, [scan])[0]["scan", "outcome"] == "FAILED")
        source.fail(with: nil)
        let found = try await record(reader, [scan])[0]["scan"]
        #expect(found?["outcome"] == "FOUND" && found?["card", "title"] == "Fantastic Mr. Fox")
        // The scan stays FOUND, although the catalog has lost the book.
        try await reader.app.database.execute(
            "DELETE FROM editions WHERE isbn13 = '\(Self.foxISBN)'")
        source.fail(with: .busy)
        let later = try await record(reader, [scan])[0]["scan"]
        #expect(later?["outcome"] == "FOUND" && later?["card"] == .null)
    }

    /// The price is that of `lookupISBNs`. If the reader cannot pay for it, no source is asked, and the scans are kept as FAILED.
    @Test func eachUnknownISBNCostsALookup() async throws {
        let (reader, source) = try await start(
            RateLimits(.init(perCaller: 60), clock: { .zero }))
        func left() async throws -> Int {
            try #require(try await reader.execute("{ __typename }").rate?.remainingUnits)
        }
        func cost(_ isbns: [String]) async throws -> Int {
            let before = try await left()
            _ = try await record(reader, isbns.map { ["isbn": .string($0)] })
            return before - (try await left())
        }
        let known = try await cost([TestCatalog.isbn(1)])
        #expect(try await cost([Self.foxISBN, Self.foxISBN, "9780141439587"]) == known + 10)
        let requests = source.requests
        let isbns = [TestCatalog.isbn(1)] + (1...20).map { TestCatalog.isbn(3_000 + $0) }
        let results = try await record(reader, isbns.map { ["isbn": .string($0)] })
        #expect(results[0]["scan", "outcome"] == "FOUND")
        #expect(results.dropFirst().allSatisfy { $0["scan", "outcome"] == "FAILED" })
        #expect(source.requests == requests)
    }

    @Test func numberOfStatementsDoesNotGrowWithTheBatch() async throws {
        let (reader, _) = try await start()
        var costs: [[Int]] = []
        for count in [1, 1, 50] {
            let inputs = (1...count).map { number -> Value in
                ["isbn": .string(TestCatalog.isbn(number))]
            }
            let response = try await reader.execute(Self.record, ["inputs": .list(inputs)])
            #expect(response["recordScans"]?.list?.count == count)
            costs.append([response.statements, response.roundTrips])
        }
        #expect(costs[1] == costs[2])
    }

    @Test func longerBatchesAreRefused() async throws {
        let (reader, _) = try await start()
        let inputs = Value.list(Array(repeating: ["isbn": .string(Self.foxISBN)], count: 51))
        let response = try await reader.execute(Self.record, ["inputs": inputs])
        #expect(response.code == "BAD_USER_INPUT" && response.reason == "TOO_MANY")
    }

    /// The scans that were recorded first are deleted, also if they were scanned last.
    @Test func readerHasAtMost1000Scans() async throws {
        let (reader, _) = try await start()
        try await reader.executeSQL(
            """
            INSERT INTO scans (user_id, id, isbn13, scanned_at, outcome, recorded_at)
            SELECT '\(reader.id.string ?? "")', gen_random_uuid(), '\(TestCatalog.isbn(2))', now(), 'FOUND',
              now() - n * interval '1 minute'
            FROM generate_series(1, 999) n
            """)
        let inputs = (40...42).map { number -> Value in
            [
                "id": id(number), "isbn": .string(TestCatalog.isbn(1)),
                "scannedAt": "2020-01-01T00:00:00Z",
            ]
        }
        #expect(try await record(reader, inputs).allSatisfy { $0["scan"] != .null })
        let (count, oldest) = try await reader.app.database.withConnection { connection in
            let user = "user_id = '\(reader.id.string ?? "")'"
            return (
                try connection.texts("SELECT count(*)::text FROM scans WHERE \(user)"),
                try connection.texts(
                    "SELECT floor(extract(epoch FROM now() - min(recorded_at)) / 60)::text FROM scans WHERE \(user)"
                )
            )
        }
        #expect(count == ["\(Scan.ofReaderMax)"] && oldest == ["997"])
    }

    @Test func deletedScansStayDeleted() async throws {
        let (reader, _) = try await start()
        let inputs = (50...52).map { number -> Value in
            ["id": id(number), "isbn": .string(TestCatalog.isbn(number))]
        }
        _ = try await record(reader, inputs)
        for id in [id(50), id(50), id(59), "no id"] {
            let response = try await reader.execute(Self.delete, ["id": id])
            #expect(response["deleteScan", "id"] == id)
        }
        #expect(try await scans(reader)["totalCount"] == 2)
        let again = try await record(reader, [inputs[0]])[0]
        #expect(again["scan"] == .null && again["error", "reason"] == "DELETED")
        let clear = "mutation { clearScans { deleted } }"
        #expect(try await reader.execute(clear)["clearScans", "deleted"] == 2)
        #expect(try await reader.execute(clear)["clearScans", "deleted"] == 0)
        #expect(try await scans(reader)["totalCount"] == 0)
    }

    @Test func scansAreExportedMergedAndDeletedWithTheAccount() async throws {
        let app = try await TestApp.start()
        try await app.allowGuests()
        let (reader, guest) = (try await app.makeReader(), try await app.makeGuest())
        let inputs = (60...62).map { number -> Value in
            ["id": id(number), "isbn": .string(TestCatalog.isbn(number - 59))]
        }
        _ = try await record(guest, inputs)
        _ = try await record(reader, [inputs[0]])
        _ = try await app.signIn(
            token: app.identityToken(subject: reader.subject), as: guest)
        let merged = try await scans(reader)
        #expect(merged["totalCount"] == 3)
        let other = try await app.makeReader()
        let round = ImportRoundTripTests()
        let archive = try #require(try await round.exported(reader).first)
        for _ in 0..<2 {
            #expect(try await round.imported(other, archive)["failed"] == [])
            #expect(try await scans(other) == merged)
        }
        _ = try await other.requireValue(
            "mutation($id: String!) { deleteAccount(confirm: $id) { id } }", ["id": other.id],
            "deleteAccount")
        #expect(
            try await app.database.count(
                "SELECT count(*) FROM scans WHERE user_id = '\(other.id.string ?? "")'") == 0)
        #expect(try await scans(reader) == merged)
    }

    /// A scan of an archive that cannot be used is reported. The latest ones are added, up to the limit.
    @Test func scansOfAnArchiveAreLimited() async throws {
        let app = try await TestApp.start(catalog: [])
        let reader = try await app.makeReader()
        try await reader.executeSQL(
            """
            INSERT INTO scans (user_id, id, isbn13, scanned_at, outcome)
            SELECT '\(reader.id.string ?? "")', gen_random_uuid(), '\(TestCatalog.isbn(2))', now(), 'FOUND'
            FROM generate_series(1, 999) n
            """)
        let file = """
            {"format":"bookplate library","version":1,"profile":{"scans":[
            {"id":"\(id(70).string ?? "")","isbn":"\(Self.foxISBN)","scannedAt":"2026-01-01T00:00:00Z","outcome":"UNKNOWN"},
            {"id":"\(id(71).string ?? "")","isbn":"\(Self.foxISBN)","scannedAt":"2999-01-01T00:00:00Z","outcome":"FOUND"},
            {"id":"\(id(72).string ?? "")","isbn":"123","scannedAt":"2026-01-01T00:00:00Z","outcome":"FOUND"}]}}
            """
        let result = try await ImportRoundTripTests().imported(reader, Array(file.utf8))
        #expect(result["failed"]?.values(of: "field") == ["scans"], "\(result)")
        let ids = try await app.database.withConnection {
            try $0.texts(
                "SELECT id::text FROM scans WHERE id::text LIKE '0198c0de%' AND scanned_at <= now()"
            )
        }
        #expect(ids == [id(71).string])
    }
}
