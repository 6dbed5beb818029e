import GraphQL
import TestSupport
import Testing

@testable import Bookplate

/// Series of the catalog, and of books that readers made.
@Suite struct SeriesTests {
    private static func line(
        _ number: Int, _ title: String, _ position: String?, series: String = "The Hainish Cycle"
    ) -> String {
        let member = position.map { "\"seriesPosition\":\"\($0)\"," } ?? ""
        return WorkTests.line(
            number, title, members: "\"series\":\"\(series)\",\(member)")
    }

    private static let lines = [
        line(901, "Rocannon's World", "1"), line(902, "Planet of Exile", "2"),
        line(903, "City of Illusions", "3"), line(904, "The Left Hand of Darkness", "4"),
        line(905, "The Left Hand of Darkness: A Novel", "4", series: "hainish cycle"),
        line(906, "The Day Before the Revolution", "0.5"), line(907, "Worlds of Exile", "1-3"),
        line(908, "The Telling", nil), line(909, "A Short Story", "4.5"),
        WorkTests.line(910, "The Lathe of Heaven"),
    ]

    private static let app = Shared { try await TestApp.start(catalog: lines) }

    private func series(_ book: Value, _ reader: TestReader) async throws -> Value {
        try await reader.requireValue(
            "query($id: ID!) { book(id: $id) { series { series { id name } position } } }",
            ["id": book], "book", "series")
    }

    private func update(_ reader: TestReader, _ book: Value, _ input: Value) async throws
        -> TestResponse
    {
        try await reader.execute(
            """
            mutation($id: ID!, $input: UpdateBookInput!) {
              updateBook(id: $id, input: $input) { series { series { name } position } }
            }
            """, ["id": book, "input": input])
    }

    @Test func cardHasASeriesWithItsBooks() async throws {
        let reader = try await Self.app().makeReader()
        let card = try await reader.requireValue(
            """
            query($isbn: String!) { lookupISBN(isbn: $isbn) {
              series { position series { id name bookCount } }
              work { series { position series { id books(first: 5) {
                nodes { title } pageInfo { hasNextPage endCursor } } } } } } }
            """, ["isbn": .string(TestCatalog.isbn(902))], "lookupISBN")
        let series = card["series", 0, "series"] ?? .null
        let id = series["id"] ?? .null
        #expect(card["series", 0, "position"] == "2")
        #expect(series["name"] == "The Hainish Cycle")
        // The two editions of one work count once.
        #expect(series["bookCount"] == 8)
        let page = card["work", "series", 0, "series", "books"]
        #expect(card["work", "series", 0, "series", "id"] == id)
        #expect(
            page?["nodes"]?.values(of: "title").compactMap(\.string) == [
                "The Day Before the Revolution", "Rocannon's World", "Worlds of Exile",
                "Planet of Exile", "City of Illusions",
            ])
        let rest = try await reader.requireValue(
            """
            query($id: ID!, $after: String) { node(id: $id) { ... on Series { name
              books(after: $after) { nodes { title } pageInfo { hasNextPage } } } } }
            """, ["id": id, "after": page?["pageInfo", "endCursor"] ?? .null], "node")
        #expect(rest["name"]?.string?.lowercased().hasSuffix("hainish cycle") == true)
        #expect(
            rest["books", "nodes"]?.values(of: "title").compactMap(\.string) == [
                "The Left Hand of Darkness: A Novel", "A Short Story", "The Telling",
            ])
        #expect(rest["books", "pageInfo", "hasNextPage"] == false)
    }

    @Test func readersSeriesReplacesThatOfTheCard() async throws {
        let reader = try await Self.app().makeReader()
        let card = try await WorkTests.card(901, reader)
        let book = try await reader.makeBook(["cardId": card])
        #expect(try await series(book, reader)[0, "position"] == "1")
        let changed = try await update(
            reader, book, ["series": [["name": " Ekumen ", "position": " 7 "]]])
        #expect(
            changed["updateBook", "series"] == [["series": ["name": "Ekumen"], "position": "7"]])
        let alone = try await update(reader, book, ["series": [["name": "Ekumen"]]])
        #expect(
            alone["updateBook", "series"] == [["series": ["name": "Ekumen"], "position": .null]])
        #expect(
            try await update(reader, book, ["category": "x"])["updateBook", "series"]
                == alone["updateBook", "series"])
        for cleared in [.null, []] as [Value] {
            let response = try await update(reader, book, ["series": cleared])
            #expect(response["updateBook", "series", 0, "series", "name"] == "The Hainish Cycle")
        }
        let standalone = try await reader.makeBook(["cardId": try await WorkTests.card(910, reader)]
        )
        #expect(try await series(standalone, reader) == [])
    }

    @Test(
        arguments: [
            [["name": ""]], [["name": " "]],
            [["name": .string(String(repeating: "x", count: 201))]],
            [["name": "A", "position": .string(String(repeating: "1", count: 21))]],
            [["name": "A"], ["name": "B"]],
        ] as [Value])
    func invalidSeriesAreErrors(input: Value) async throws {
        let reader = try await Self.app().makeReader()
        let book = try await reader.makeBook("Book")
        #expect(try await update(reader, book, ["series": input]).code == "BAD_USER_INPUT")
        let created = try await reader.execute(
            "mutation($input: CreateBookInput!) { createBook(input: $input) { id } }",
            ["input": ["title": "Another", "series": input]])
        #expect(created.code == "BAD_USER_INPUT")
    }

    @Test func handmadeBookIsInTheSeriesOfTheCatalog() async throws {
        let reader = try await Self.app().makeReader()
        let card = try await reader.makeBook(["cardId": try await WorkTests.card(903, reader)])
        let handmade = try await reader.makeBook([
            "title": "Five Ways", "series": [["name": "hainish cycle", "position": "5"]],
        ])
        #expect(
            try await series(card, reader)[0, "series", "id"]
                == series(handmade, reader)[0, "series", "id"])
        #expect(try await series(handmade, reader)[0, "series", "name"] == "hainish cycle")
        let own = try await reader.makeBook([
            "title": "My Diary", "series": [["name": "Diaries", "position": "2"]],
        ])
        let id = try await series(own, reader)[0, "series", "id"] ?? .null
        let node = "query($id: ID!) { node(id: $id) { ... on Series { name bookCount } } }"
        #expect(
            try await reader.requireValue(node, ["id": id], "node")
                == ["name": "Diaries", "bookCount": 0])
        // The library finds the book by its series, and other readers do not find the series.
        let found = try await reader.requireValue(
            "{ me { books(search: \"diaries\") { nodes { id } } } }", .null, "me", "books", "nodes")
        #expect(found == [["id": own]])
        let other = try await Self.app().makeReader()
        #expect(try await other.execute(node, ["id": id])["node"] == .null)
    }

    // MARK: - Progress

    private static let progress = """
        query($first: Int, $after: String) { me { series(first: $first, after: $after) {
          totalCount pageInfo { hasNextPage endCursor }
          nodes { series { name bookCount } booksInLibrary booksRead next { title work { inLibrary { id } } } }
        } } }
        """

    private func progress(_ reader: TestReader) async throws -> Value {
        try await reader.requireValue(Self.progress, .null, "me", "series")
    }

    @Test func progressCountsTheWorksOfASeries() async throws {
        let reader = try await Self.app().makeReader()
        #expect(try await progress(reader)["totalCount"] == 0)
        func add(_ number: Int, _ status: String) async throws -> Value {
            try await reader.makeBook([
                "cardId": try await WorkTests.card(number, reader), "status": .string(status),
            ])
        }
        func check(
            _ owned: Value, _ read: Value, _ next: Value, _ comment: Comment? = nil,
            sourceLocation: Testing.SourceLocation = #_sourceLocation
        ) async throws {
            let node = try await progress(reader)["nodes", 0] ?? .null
            #expect(node["booksInLibrary"] == owned, comment, sourceLocation: sourceLocation)
            #expect(node["booksRead"] == read, comment, sourceLocation: sourceLocation)
            #expect(node["next", "title"] ?? .null == next, comment, sourceLocation: sourceLocation)
        }
        _ = try await add(910, "READ")
        #expect(try await progress(reader)["totalCount"] == 0, "it is in no series")
        let second = try await add(902, "WANT_TO_READ")
        try await check(1, 0, "Rocannon's World", "nothing is read yet")
        _ = try await add(901, "READ")
        try await check(2, 1, "Planet of Exile", "the prequel is not next")
        _ = try await add(904, "READ")
        _ = try await add(905, "WANT_TO_READ")
        try await check(3, 2, "Planet of Exile", "two editions count once")
        _ = try await update(reader, second, ["status": "READ"])
        try await check(3, 3, "City of Illusions")
        _ = try await reader.makeBook([
            "title": "Città delle illusioni", "status": "READ",
            "series": [["name": "Hainish Cycle", "position": "3"]],
        ])
        try await check(4, 4, "A Short Story", "the reader has read number 3 in another form")
        _ = try await add(909, "READ")
        try await check(5, 5, .null)
    }

    @Test func seriesOfTheLatestBooksComeFirst() async throws {
        let reader = try await Self.app().makeReader()
        for name in ["A", "B", "C", "A"] {
            _ = try await reader.makeBook([
                "title": .string("Book \(name)"), "series": [["name": .string(name)]],
            ])
        }
        var names: [String] = []
        var after = Value.null
        for _ in 0..<3 {
            let page = try await reader.requireValue(
                Self.progress, ["first": 1, "after": after], "me", "series")
            #expect(page["totalCount"] == 3)
            names += page["nodes"]?.list?.compactMap { $0["series", "name"]?.string } ?? []
            after = page["pageInfo", "endCursor"] ?? .null
        }
        #expect(names == ["A", "C", "B"])
    }
}
