import GraphQL
import TestBasics
import TestSupport
import Testing

/// The status of a book and its reads stay consistent.
@Suite struct StatusReadsTests {
    static let app = Shared { try await TestApp.start() }

    private static func set(_ status: String, _ reader: TestReader, _ book: Value, batch: Bool)
        async throws
    {
        let input: Value = ["status": .string(status)]
        if batch {
            _ = try await reader.requireValue(
                """
                mutation($inputs: [UpdateBooksInput!]!) { updateBooks(inputs: $inputs) { book { id } } }
                """, ["inputs": [["id": book, "input": input]]], "updateBooks", 0, "book")
        } else {
            _ = try await reader.requireValue(
                "mutation($id: ID!, $input: UpdateBookInput!) { updateBook(id: $id, input: $input) { id } }",
                ["id": book, "input": input], "updateBook")
        }
    }

    private static func outcomes(_ reader: TestReader, _ book: Value) async throws -> [Value]? {
        try await ReadTests.reads(reader, book)["reads", "nodes"]?.values(of: "outcome")
    }

    @Test(
        arguments: [
            (["READING"], ["READING"]), (["READING", "READING"], ["READING"]),
            (["READING", "PAUSED", "READING", "READ"], ["FINISHED"]),
            (["READ"], ["FINISHED"]), (["READ", "READ"], ["FINISHED"]),
            // The second change to READ corrects a mistake.
            (["READ", "WANT_TO_READ", "READ"], ["FINISHED"]),
            (["READING", "DID_NOT_FINISH"], ["DID_NOT_FINISH"]), (["DID_NOT_FINISH"], []),
            (["READING", "WANT_TO_READ"], ["READING"]), (["PAUSED"], []),
            (["READ", "READING"], ["READING", "FINISHED"]),
            (["READING", "DID_NOT_FINISH", "READING", "READ"], ["FINISHED", "DID_NOT_FINISH"]),
        ] as [([String], [String])], [false, true])
    func statusChangesTheReads(change: ([String], [String]), batch: Bool) async throws {
        let reader = try await Self.app().makeReader()
        let book = try await reader.makeBook("Title")
        for status in change.0 { try await Self.set(status, reader, book, batch: batch) }
        let outcomes = try await Self.outcomes(reader, book) ?? []
        #expect(
            outcomes.compactMap(\.string).sorted() == change.1.sorted(), "\(change.0)")
        #expect(
            outcomes.first == change.1.first.map { .string($0) }
                || change.1.count > 1
                    && outcomes.first != "READING"
        )
    }

    @Test func statusNeverChangesAReadThatHasEnded() async throws {
        let reader = try await Self.app().makeReader()
        let book = try await reader.makeBook("Title")
        let past = try await reader.requireValue(
            "mutation($id: ID!) { startRead(id: $id, input: {finishedOn: \"2019-05\"}) { id } }",
            ["id": book], "startRead", "id")
        for status in ["READING", "READ", "WANT_TO_READ", "DID_NOT_FINISH", "PAUSED", "READ"] {
            try await Self.set(status, reader, book, batch: false)
            let read = try await reader.requireValue(
                "query($id: ID!) { node(id: $id) { ... on Read { finishedOn outcome } } }",
                ["id": past], "node")
            #expect(read == ["finishedOn": "2019-05", "outcome": "FINISHED"])
        }
    }

    @Test func newBookHasTheReadsOfItsStatusAndInput() async throws {
        let reader = try await Self.app().makeReader()
        for (status, expected) in [
            ("READING", ["READING"]), ("READ", ["FINISHED"]), ("DID_NOT_FINISH", []),
        ] {
            let book = try await reader.makeBook(status, status: status)
            #expect(try await Self.outcomes(reader, book) == expected.map { .string($0) })
        }
        let input: Value = [
            "id": "0198c0de-0000-7000-8000-0000000000b7", "title": "Past",
            "reads": [
                ["id": "0198c0de-0000-7000-8000-0000000000c7", "finishedOn": "2019"],
                ["startedOn": "2010-01-02", "finishedOn": "2010-02"],
            ],
        ]
        let book = try await reader.makeBook(input)
        // A repeated request changes nothing.
        #expect(try await reader.makeBook(input) == book)
        let state = try await ReadTests.reads(reader, book)
        #expect(state["status"] == "READ")
        #expect(state["reads", "nodes"]?.values(of: "finishedOn") == ["2019", "2010-02"])
    }

    @Test func idOfAReadMustBeFree() async throws {
        let reader = try await Self.app().makeReader()
        let taken = try await reader.makeBook("Taken")
        let response = try await reader.execute(
            "mutation($input: CreateBookInput!) { createBook(input: $input) { id } }",
            ["input": ["title": "New", "reads": [["id": taken, "finishedOn": "2019"]]]])
        #expect(response.code == "CONFLICT" && response.field == "id")
    }

    @Test func pageOfTheBookIsLoggedAsProgressOfTheOpenRead() async throws {
        let reader = try await Self.app().makeReader()
        let book = try await reader.makeBook(["title": "Title", "pageCount": 300])
        func entries() async throws -> Value? {
            try await reader.requireValue(
                """
                query($id: ID!) { book(id: $id) { currentPage
                  currentRead { progressEntries { nodes { page percent given } } } } }
                """, ["id": book], "book")["currentRead", "progressEntries", "nodes"]
        }
        let update = """
            mutation($id: ID!, $input: UpdateBookInput!) { updateBook(id: $id, input: $input) { currentPage } }
            """
        _ = try await reader.execute(update, ["id": book, "input": ["currentPage": 10]])
        _ = try await reader.execute(
            update, ["id": book, "input": ["status": "READING", "currentPage": 75]])
        for _ in 0..<2 {
            _ = try await reader.execute(update, ["id": book, "input": ["currentPage": 150]])
        }
        let beyond = try await reader.execute(update, ["id": book, "input": ["currentPage": 301]])
        #expect(beyond.field == "currentPage")
        #expect(
            try await entries() == [
                ["page": 150, "percent": 50, "given": "PAGE"],
                ["page": 75, "percent": 25, "given": "PAGE"],
            ])
        // The next read starts without a page.
        for status in ["READ", "READING"] {
            try await Self.set(status, reader, book, batch: false)
        }
        #expect(try await ReadTests.reads(reader, book)["currentPage"] == .null)
    }

    /// The statements of the mutations maintain the columns of the book in different ways. They agree with the function that
    /// calculates them from the reads.
    @Test(arguments: [1, 2, 3] as [UInt64])
    func columnsOfTheBookFollowFromItsReads(seed: UInt64) async throws {
        var random = SeededGenerator(seed)
        let reader = try await Self.app().makeReader()
        let books = try await reader.makeBooks(3)
        let statuses = ["WANT_TO_READ", "READING", "READ", "PAUSED", "DID_NOT_FINISH"]
        for step in 0..<60 {
            let book = books.randomElement(using: &random) ?? .null
            let reads = try await ReadTests.reads(reader, book)
            let read = reads["reads", "nodes"]?.list?.randomElement(using: &random)?["id"] ?? ""
            switch Int.random(in: 0..<6, using: &random) {
            case 0, 1:
                try await Self.set(
                    statuses.randomElement(using: &random) ?? "", reader, book,
                    batch: Bool.random(using: &random))
            case 2:
                _ = try await reader.execute(
                    ReadTests.start,
                    [
                        "id": book,
                        "input": [
                            "finishedOn": .string("\(Int.random(in: 2000...2025, using: &random))")
                        ],
                    ])
            case 3: _ = try await reader.execute(ReadTests.start, ["id": book])
            case 4: _ = try await reader.execute(ReadTests.finish, ["id": read])
            default:
                _ = try await reader.execute(
                    "mutation($id: ID!) { deleteRead(id: $id) { id } }", ["id": read])
            }
            let user = reader.id.string ?? ""
            let changed = try await reader.app.database.withConnection { connection in
                let state = """
                    SELECT concat_ws(' ', id, started_at, finished_at, current_page) FROM books
                    WHERE user_id = '\(user)' ORDER BY id
                    """
                let before = try connection.texts(state)
                try connection.execute(
                    """
                    SELECT refresh_read_books(
                        '\(user)', ARRAY(SELECT id FROM books WHERE user_id = '\(user)'), false)
                    """)
                return try connection.texts(state) != before
            }
            #expect(!changed, "seed \(seed), step \(step)")
            if changed { return }
        }
    }
}
