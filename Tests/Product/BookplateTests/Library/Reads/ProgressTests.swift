import GraphQL
import TestSupport
import Testing

@Suite struct ProgressTests {
    static let app = Shared { try await TestApp.start() }
    private static let absent: Value = "0198c0de-0000-7000-8000-00000000dead"

    static let log = """
        mutation($inputs: [LogProgressInput!]!) {
          logProgress(inputs: $inputs) {
            entry { id at page percent seconds given note read { id progress { id } } }
            error { code message field }
          }
        }
        """

    /// Returns a reader's book of 200 pages and its open read.
    static func makeRead(_ reader: TestReader) async throws -> (book: Value, read: Value) {
        let book = try await reader.makeBook([
            "title": "Title", "pageCount": 200, "status": "READING",
        ])
        let read = try await ReadTests.reads(reader, book)["currentRead", "id"] ?? .null
        return (book, read)
    }

    @Test func positionsAreDerivedFromTheLength() async throws {
        let reader = try await Self.app().makeReader()
        let (book, read) = try await Self.makeRead(reader)
        _ = try await reader.execute(
            "mutation($id: ID!) { updateRead(id: $id, input: {lengthSeconds: 7200}) { id } }",
            ["id": read])
        let response = try await reader.execute(
            Self.log,
            [
                "inputs": [
                    ["readId": read, "page": 50, "at": "2026-01-01T10:00:00Z"],
                    ["readId": read, "percent": 12.5, "at": "2026-01-01T09:00:00Z"],
                    [
                        "readId": read, "seconds": 3600, "at": "2026-01-01T11:00:00Z",
                        "note": "Half",
                    ],
                ]
            ])
        let entries = response["logProgress"]?.values(of: "entry") ?? []
        #expect(entries.map { $0["page"] } == [50, 25, 100])
        #expect(entries.map { $0["percent"] } == [25, 12.5, 50])
        #expect(entries.map { $0["seconds"] } == [1800, 900, 3600])
        #expect(entries.map { $0["given"] } == ["PAGE", "PERCENT", "SECONDS"])
        #expect(entries.first?["read", "progress", "id"] == entries.last?["id"])
        #expect(try await ReadTests.reads(reader, book)["currentPage"] == 100)
    }

    @Test func eachEntryFailsByItself() async throws {
        let reader = try await Self.app().makeReader()
        let (_, read) = try await Self.makeRead(reader)
        let other = try await reader.makeShelf("Other")
        let inputs: [(Value, Value, Value)] = [
            (["readId": read, "page": 201], "BAD_USER_INPUT", "page"),
            (["readId": read, "percent": 100.5], "BAD_USER_INPUT", "percent"),
            (["readId": read, "percent": -1], "BAD_USER_INPUT", "percent"),
            (["readId": read, "page": -1], "BAD_USER_INPUT", "page"),
            (["readId": read], "BAD_USER_INPUT", "percent"),
            (["readId": read, "page": 1, "percent": 1], "BAD_USER_INPUT", "percent"),
            (["readId": read, "page": 1, "at": "2999-01-01T00:00:00Z"], "BAD_USER_INPUT", "at"),
            (["readId": Self.absent, "page": 1], "NOT_FOUND", .null),
            (["readId": read, "page": 1, "id": other], "CONFLICT", "id"),
            (["readId": read, "page": 200], .null, .null),
        ]
        let response = try await reader.execute(
            Self.log, ["inputs": .list(inputs.map(\.0))])
        let results = response["logProgress"]?.list ?? []
        #expect(results.count == inputs.count)
        for (result, (input, code, field)) in zip(results, inputs) {
            #expect((result["error", "code"] ?? .null) == code, "\(input)")
            #expect((result["error", "field"] ?? .null) == field, "\(input)")
            #expect(result["entry"]?.isNull == (code != .null))
        }
        let tooMany = try await reader.execute(
            Self.log,
            ["inputs": .list(Array(repeating: ["readId": read, "page": 1], count: 101))])
        #expect(tooMany.code == "BAD_USER_INPUT" && tooMany.field == "inputs")
    }

    @Test func repeatedEntriesAreStoredOnce() async throws {
        let reader = try await Self.app().makeReader()
        let (_, read) = try await Self.makeRead(reader)
        let entry: Value = [
            "id": "0198c0de-0000-7000-8000-0000000000e1", "readId": read, "page": 7,
        ]
        let first = try await reader.execute(Self.log, ["inputs": [entry, entry]])
        let again = try await reader.execute(Self.log, ["inputs": [entry, entry]])
        #expect(first.json == again.json)
        #expect(first["logProgress", 1, "entry", "page"] == 7)
        let count = try await reader.requireValue(
            "query($id: ID!) { node(id: $id) { ... on Read { progressEntries { totalCount } } } }",
            ["id": read], "node", "progressEntries", "totalCount")
        #expect(count == 1)
    }

    @Test func readHasALimitedNumberOfEntries() async throws {
        let reader = try await Self.app().makeReader()
        let (_, read) = try await Self.makeRead(reader)
        try await reader.executeSQL(
            """
            INSERT INTO progress_entries (user_id, id, read_id, at, page)
            SELECT user_id, gen_random_uuid(), id, now(), 1 FROM reads, generate_series(1, 9999)
            WHERE id = '\(read.string ?? "")'
            """)
        let response = try await reader.execute(
            Self.log, ["inputs": [["readId": read, "page": 2], ["readId": read, "page": 3]]])
        #expect(response["logProgress", 0, "entry", "page"] == 2)
        #expect(response["logProgress", 1, "error", "code"] == "BAD_USER_INPUT")
        #expect(
            response["logProgress", 1, "error", "message"]
                == "At most 10,000 are allowed. Delete some first.")
    }

    @Test func entryIsChangedAndDeleted() async throws {
        let reader = try await Self.app().makeReader()
        let (book, read) = try await Self.makeRead(reader)
        let id: Value = "0198c0de-0000-7000-8000-0000000000e2"
        let entry: Value = ["id": id, "readId": read, "page": 7, "note": "Seven"]
        _ = try await reader.execute(Self.log, ["inputs": [entry]])
        let update = """
            mutation($id: ID!, $input: UpdateProgressInput!) {
              updateProgress(id: $id, input: $input) { page percent given note }
            }
            """
        let changed = try await reader.execute(
            update, ["id": id, "input": ["percent": 50, "note": .null]])
        #expect(
            changed["updateProgress"]
                == ["page": 100, "percent": 50, "given": "PERCENT", "note": .null])
        #expect(try await ReadTests.reads(reader, book)["currentPage"] == 100)
        // An older change is ignored.
        let older = try await reader.execute(
            update,
            ["id": id, "input": ["page": 1, "changedAt": "2020-01-01T00:00:00Z"]])
        #expect(older["updateProgress"] == changed["updateProgress"])
        for (input, field) in [
            (["page": 201], "page"), (["page": 1, "percent": 1], "percent"),
            (["page": .null], "percent"), (["at": .null], "at"),
        ] as [(Value, String)] {
            let invalid = try await reader.execute(update, ["id": id, "input": input])
            #expect(invalid.code == "BAD_USER_INPUT" && invalid.field == field, "\(input)")
        }
        let delete =
            "mutation($id: ID!) { deleteProgress(id: $id) { id read { progress { id } } } }"
        let deleted = try await reader.execute(delete, ["id": id])
        #expect(deleted["deleteProgress"] == ["id": id, "read": ["progress": .null]])
        #expect(
            try await reader.execute(delete, ["id": id])["deleteProgress"]
                == ["id": id, "read": .null])
        #expect(
            try await reader.execute(update, ["id": id, "input": [:]]).code == "NOT_FOUND")
        let replayed = try await reader.execute(Self.log, ["inputs": [entry]])
        #expect(replayed["logProgress", 0, "error", "code"] == "NOT_FOUND")
        #expect(try await ReadTests.reads(reader, book)["currentPage"] == .null)
    }
}
