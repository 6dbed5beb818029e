import GraphQL
import Identity
import TestBasics
import TestSupport
import Testing

@testable import Bookplate
@testable import Requests

/// `Book.currentPage` is the page of the newest entry of the open read.
@Suite struct PageOfProgressTests {
    private static let app = Shared { try await TestApp.start() }
    private static let cards = Shared {
        try await PageOfProgressTests.app().makeReader().feedCards(6).map { $0["id"] ?? .null }
    }

    private static let state = """
        query($id: ID!) {
          book(id: $id) { currentPage pageCount currentRead { id progress { id page percent } } }
        }
        """
    private static let update = """
        mutation($id: ID!, $input: UpdateBookInput!) { updateBook(id: $id, input: $input) { id } }
        """
    private static let updateMany = """
        mutation($id: ID!, $input: UpdateBookInput!, $next: UpdateBookInput!) {
          updateBooks(inputs: [{id: $id, input: $input}, {id: $id, input: $next}]) { book { id } error { code } }
        }
        """

    @Test(
        arguments: [
            ("percent", 50, ["pageCount": 200], 100), ("percent", 50, ["pageCount": .null], nil),
            ("page", 50, ["pageCount": 200], 50), ("page", 50, ["pageCount": .null], 50),
            ("percent", 50, ["pageCount": 40], 20), ("seconds", 900, ["pageCount": 200], 50),
            ("percent", 50, ["currentPage": .null], 50),
            ("percent", 50, ["pageCount": 300, "currentPage": .null], 150),
            ("percent", 50, ["pageCount": 300, "currentPage": 7], 7),
        ] as [(String, Int, Value, Int?)])
    func positionStaysWhenTheNumberOfPagesChanges(
        kind: String, position: Int, input: Value, page: Int?
    ) async throws {
        for isBatch in [false, true] {
            let reader = try await Self.app().makeReader()
            let book = try await reader.makeBook([
                "title": "Title", "pageCount": 100, "status": "READING",
            ])
            let read = try await ReadTests.reads(reader, book)["currentRead", "id"] ?? .null
            _ = try await reader.requireValue(
                "mutation($id: ID!) { updateRead(id: $id, input: {lengthSeconds: 3600}) { id } }",
                ["id": read], "updateRead")
            _ = try await reader.requireValue(
                ProgressTests.log,
                ["inputs": [["readId": read, kind: .int(position)]]],
                "logProgress", 0, "entry")
            let changed = try await reader.execute(
                isBatch ? Self.updateMany : Self.update,
                ["id": book, "input": input, "next": [:]])
            #expect(changed.errors.isEmpty)
            let found = try await reader.requireValue(Self.state, ["id": book], "book")
            #expect(found["currentPage"] == (page.map { .int($0) } ?? .null), "\(isBatch)")
            #expect(found["currentRead", "progress", "page"] == found["currentPage"])
        }
    }

    /// Without progress, the page is the one that the reader has set.
    @Test func pageWithoutProgressIsRemoved() async throws {
        let reader = try await Self.app().makeReader()
        let book = try await reader.makeBook(["title": "Title", "pageCount": 100])
        for (page, count) in [(50, 200), (nil, 300)] as [(Int?, Int)] {
            _ = try await reader.execute(
                Self.update,
                ["id": book, "input": ["currentPage": page.map { .int($0) } ?? .null]])
            _ = try await reader.execute(
                Self.update, ["id": book, "input": ["pageCount": .int(count)]])
            let found = try await reader.requireValue(Self.state, ["id": book], "book")
            #expect(found["currentPage"] == (page.map { .int($0) } ?? .null))
        }
    }

    /// A full read has no room for another entry.
    @Test func pageOfAFullReadIsThatOfItsNewestEntry() async throws {
        let reader = try await Self.app().makeReader()
        let (book, read) = try await ProgressTests.makeRead(reader)
        try await reader.executeSQL(
            """
            INSERT INTO progress_entries (user_id, id, read_id, at, percent)
            SELECT user_id, gen_random_uuid(), id, now() - n * interval '1 minute', 1 FROM reads, generate_series(1, 10000) n
            WHERE id = '\(read.string ?? "")'
            """)
        _ = try await reader.execute(Self.update, ["id": book, "input": ["currentPage": 150]])
        let found = try await reader.requireValue(Self.state, ["id": book], "book")
        #expect(found["currentPage"] == 150)
        #expect(found["currentRead", "progress", "page"] == 150)
    }

    /// Random page counts, editions, lengths, formats, and entries, also of devices whose clocks are ahead.
    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func pageIsThatOfTheNewestEntry(seed: UInt64) async throws {
        var random = SeededGenerator(seed)
        let reader = try await Self.app().makeReader()
        let book = try await reader.makeBook([
            "title": "Title", "pageCount": 100, "status": "READING",
        ])
        let cards = try await Self.cards()
        func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
        func input() -> Value {
            switch number(0...7) {
            case 0...2: ["pageCount": number(0...5) == 0 ? .null : .int(number(1...400))]
            case 3: ["cardId": cards.randomElement(using: &random) ?? .null]
            case 4: ["currentPage": number(0...3) == 0 ? .null : .int(number(0...200))]
            case 5: ["pageCount": .int(number(1...400)), "currentPage": .int(number(0...200))]
            default:
                [
                    "status": .string(
                        ["READING", "READING", "PAUSED", "READ"].randomElement(using: &random)
                            ?? "")
                ]
            }
        }
        for step in 0..<60 {
            let state = try await reader.requireValue(Self.state, ["id": book], "book")
            let read = state["currentRead", "id"] ?? .null
            let entry = state["currentRead", "progress", "id"] ?? .null
            let response: TestResponse
            switch number(0...9) {
            case 0...2:
                response = try await reader.execute(Self.update, ["id": book, "input": input()])
            case 3:
                response = try await reader.execute(
                    Self.updateMany, ["id": book, "input": input(), "next": input()])
            case 4...6 where !read.isNull:
                let kind = ["page", "percent", "seconds"].randomElement(using: &random) ?? ""
                let at = Instant(
                    microseconds: Int64(unixSecondsNow() + Int64(number(-9999...9999))) * 1_000_000)
                response = try await reader.execute(
                    ProgressTests.log,
                    [
                        "inputs": [
                            [
                                "readId": read, kind: .int(number(0...100)),
                                "at": .string(at.preciseText),
                            ]
                        ]
                    ])
            case 7 where !read.isNull:
                response = try await reader.execute(
                    "mutation($id: ID!, $input: UpdateReadInput!) { updateRead(id: $id, input: $input) { id } }",
                    [
                        "id": read,
                        "input": [
                            "format": .string(
                                ["PRINT", "AUDIO"].randomElement(using: &random) ?? ""),
                            "lengthSeconds": number(0...3) == 0 ? .null : .int(number(100...5000)),
                        ],
                    ])
            case 8 where !entry.isNull:
                response = try await reader.execute(
                    "mutation($id: ID!, $p: Float) { updateProgress(id: $id, input: {percent: $p}) { id } }",
                    ["id": entry, "p": .int(number(0...100))])
            case 9 where !entry.isNull:
                response = try await reader.execute(
                    "mutation($id: ID!) { deleteProgress(id: $id) { id } }", ["id": entry])
            default: continue
            }
            #expect(response.errors.allSatisfy { $0["extensions", "code"] == "BAD_USER_INPUT" })
            let after = try await reader.requireValue(Self.state, ["id": book], "book")
            guard let progress = after["currentRead", "progress"], !progress.isNull else {
                continue
            }
            #expect(after["currentPage"] == progress["page"], "step \(step): \(after)")
        }
    }
}
