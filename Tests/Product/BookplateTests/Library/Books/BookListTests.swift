import GraphQL
import TestBasics
import TestSupport
import Testing

/// The paginated lists of books with their orders and filters.
@Suite struct BookListTests {
    static let app = Shared { try await TestApp.start(catalog: []) }

    static let orders = [
        "ADDED_DESC", "ADDED_ASC", "TITLE_ASC", "AUTHOR_ASC", "UPDATED_DESC", "FINISHED_DESC",
        "RATING_DESC", "STATUS", "RELEVANCE",
    ]

    static let page = """
        query($order: BookOrder, $first: Int, $after: String, $status: ReadingStatus, $search: String, $shelf: ID) {
          me {
            books(orderBy: $order, first: $first, after: $after, status: $status, search: $search, shelfId: $shelf) {
              totalCount nodes { id title author status }
              edges { cursor node { id } }
              pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
            }
          }
        }
        """

    /// Inserts books with equal values and nulls in every column that an order uses.
    private func fill(_ reader: TestReader, _ count: Int, seed: UInt64) async throws {
        let id = reader.id.string ?? ""
        // A linear congruential generator scatters the values. The same seed produces the same library.
        try await Self.app().database.execute(
            """
            INSERT INTO books (user_id, id, title, authors, status, added_at, updated_at)
            SELECT '\(id)', gen_random_uuid(),
              (array['Émile', 'emile', 'Zoo', 'aa', 'AA', 'Ab', '1984', 'Ärger', 'zoo'])[1 + h % 9],
              array_remove(array[(array[NULL, 'Ann', 'ann', 'Bob', NULL, 'Éa'])[1 + h / 9 % 6]], NULL),
              (array['READ', 'READING'])[1 + h / 54 % 2]::reading_status,
              timestamptz '2020-01-01' + (h / 7 % 5) * interval '1 microsecond',
              timestamptz '2020-01-01' + (h / 11 % 3) * interval '1 day'
            FROM (SELECT (n * 48271 + \(seed)) % 65537 AS h FROM generate_series(1, \(count)) n) s
            """)
    }

    /// Returns all ids in order, page by page. `meanwhile` runs between pages.
    private func walk(
        _ reader: TestReader, _ variables: [Value.Member], first: Int,
        meanwhile: () async throws -> Void = {}
    ) async throws -> [String] {
        var ids: [String] = []
        var after = Value.null
        for _ in 0..<1000 {
            let response = try await reader.execute(
                Self.page,
                .object(variables + [.init("first", .int(first)), .init("after", after)]))
            let page = try #require(response["me", "books"], "\(response.json)")
            let nodes = page["nodes"]?.values(of: "id") ?? []
            #expect(page["edges"]?.list?.map { $0["node"]?["id"] ?? .null } == nodes)
            #expect(page["pageInfo", "hasPreviousPage"] == .boolean(!after.isNull))
            #expect(
                page["pageInfo", "endCursor"] == page["edges"]?.values(of: "cursor").last ?? .null)
            #expect(
                page["pageInfo", "startCursor"] == page["edges"]?.values(of: "cursor").first
                    ?? .null)
            ids += nodes.compactMap(\.string)
            guard page["pageInfo", "hasNextPage"] == true else { return ids }
            #expect(nodes.count == first)
            after = page["pageInfo", "endCursor"] ?? .null
            try await meanwhile()
        }
        Issue.record("there are more than 1000 pages")
        return ids
    }

    @Test(arguments: orders, [UInt64(1), 77])
    func pagesHaveEveryBookOnce(order: String, seed: UInt64) async throws {
        let reader = try await Self.app().makeReader()
        try await fill(reader, 60, seed: seed)
        var random = SeededGenerator(seed)
        let all = try await walk(reader, [.init("order", .string(order))], first: 100)
        #expect(Set(all).count == 60)
        for _ in 0..<3 {
            let first = Int.random(in: 1...25, using: &random)
            let ids = try await walk(reader, [.init("order", .string(order))], first: first)
            #expect(ids == all, "first: \(first), seed: \(seed)")
        }
    }

    @Test(arguments: orders)
    func booksAddedMeanwhileDoNotShiftPages(order: String) async throws {
        let reader = try await Self.app().makeReader()
        try await fill(reader, 40, seed: 5)
        let before = try await walk(reader, [.init("order", .string(order))], first: 100)
        var seed: UInt64 = 1000
        let seen = try await walk(reader, [.init("order", .string(order))], first: 7) {
            seed += 1000
            try await fill(reader, 2, seed: seed)
        }
        #expect(Set(seen).count == seen.count, "a book is on two pages")
        #expect(seen.filter(Set(before).contains) == before, "a book is missing")
    }

    @Test func ordersSortByTheirColumns() async throws {
        let reader = try await Self.app().makeReader()
        let shelf = try await reader.makeShelf("Shelf")
        for (title, author) in [("b", "Y"), ("a", "Z"), ("C", "x")] as [(Value, Value)] {
            _ = try await reader.makeBook(
                [
                    "title": title, "authors": [["name": author]], "shelfIds": .list([shelf]),
                ])
        }
        let first = try await reader.makeBook("Ä", shelves: [shelf])
        _ = try await reader.execute(
            "mutation($id: ID!) { updateBook(id: $id, input: {currentPage: 1}) { id } }",
            ["id": first])
        for (order, titles) in [
            ("ADDED_DESC", ["Ä", "C", "a", "b"]), ("ADDED_ASC", ["b", "a", "C", "Ä"]),
            ("TITLE_ASC", ["a", "Ä", "b", "C"]), ("AUTHOR_ASC", ["C", "b", "a", "Ä"]),
            ("UPDATED_DESC", ["Ä", "C", "a", "b"]), ("RELEVANCE", ["Ä", "C", "a", "b"]),
        ] as [(Value, [Value])] {
            let books = try await reader.requireValue(
                Self.page, ["order": order], "me", "books", "nodes")
            #expect(books.values(of: "title") == titles, "\(order)")
            let onShelf = try await reader.requireValue(
                """
                query($shelf: ID!, $order: BookOrder) {
                  shelf(id: $shelf) { books(orderBy: $order) { nodes { title } } }
                }
                """, ["shelf": shelf, "order": order], "shelf", "books", "nodes")
            #expect(onShelf.values(of: "title") == titles, "\(order) on a shelf")
        }
    }

    @Test func filtersCanBeCombined() async throws {
        let reader = try await Self.app().makeReader()
        let shelf = try await reader.makeShelf("Shelf")
        _ = try await reader.makeBook("100% Dune", status: "READ", shelves: [shelf])
        _ = try await reader.makeBook("Dune_Messiah", status: "READING", shelves: [shelf])
        _ = try await reader.makeBook([
            "title": "Other", "authors": [["name": "A. Dunes"]], "status": "READ",
        ])
        for (variables, titles) in [
            (["status": "READ"], ["100% Dune", "Other"]), (["status": "PAUSED"], []),
            (["shelf": shelf], ["100% Dune", "Dune_Messiah"]),
            (["shelf": "0198c0de-0000-7000-8000-00000000dead"], []), (["shelf": "no id"], []),
            (["search": "dune"], ["100% Dune", "Dune_Messiah", "Other"]),
            (["search": "%"], ["100% Dune"]), (["search": "_"], ["Dune_Messiah"]),
            (["search": "\\"], []), (["search": "' OR 1=1 --"], []),
            (["search": "dune", "status": "READ", "shelf": shelf], ["100% Dune"]),
        ] as [(Value, [Value])] {
            guard case .object(let members) = variables else { return }
            let response = try await reader.execute(
                Self.page, .object(members + [.init("order", "TITLE_ASC")]))
            #expect(response["me", "books", "nodes"]?.values(of: "title") == titles, "\(variables)")
            #expect(response["me", "books", "totalCount"] == .int(titles.count), "\(variables)")
        }
    }

    @Test func totalCountCoversTheWholeListOnEveryPage() async throws {
        let reader = try await Self.app().makeReader()
        try await reader.makeBooks(7)
        let first = try await reader.execute(Self.page, ["first": 3])
        #expect(first["me", "books", "totalCount"] == 7)
        let second = try await reader.execute(
            Self.page,
            ["first": 3, "after": first["me", "books", "pageInfo", "endCursor"] ?? .null])
        #expect(second["me", "books", "totalCount"] == 7)
        #expect(second["me", "books", "nodes"]?.list?.count == 3)
    }

    /// The page size in the variables counts toward the complexity of the operation.
    @Test func hugePageIsTooComplex() async throws {
        let reader = try await Self.app().makeReader()
        let response = try await reader.execute(
            "query($first: Int) { me { books(first: $first) { nodes { id } } } }",
            ["first": .int(Int(Int32.max))])
        #expect(response.code == "OPERATION_TOO_COMPLEX")
    }

    /// The operation is rejected before it sends a statement.
    @Test func hugePageInTheDocumentIsTooComplex() async throws {
        let response = try await Self.app().makeReader().execute(
            "{ me { books(first: 2147483647) { nodes { id } } } }")
        #expect(response.isRequestError)
        #expect(response.code == "OPERATION_TOO_COMPLEX")
        #expect(response.statements == 0)
    }

    @Test(arguments: [0, -1, 101, 9000, Int(Int32.min)])
    func pageSizeIsFrom1To100(first: Int) async throws {
        let reader = try await Self.app().makeReader()
        _ = try await reader.makeShelf("Shelf")
        for field in [
            "me { books(first: $first) { totalCount } }",
            "me { shelves { books(first: $first) { totalCount } } }",
            "me { reviews(first: $first) { totalCount } }", "feed(first: $first) { nodes { id } }",
        ] {
            let response = try await reader.execute(
                "query($first: Int) { \(field) }", ["first": .int(first)])
            #expect(response.code == "BAD_USER_INPUT")
            #expect(response.field == "first")
            #expect(response.message == "First must be from 1 to 100.")
        }
    }

    @Test(arguments: [
        "", "x", "====", "AAAA", "ADDED_DESC", String(repeating: "A", count: 20_000), "\u{0}",
        "%00",
    ])
    func invalidCursorsAreRejected(cursor: String) async throws {
        let reader = try await Self.app().makeReader()
        _ = try await reader.makeShelf("Shelf")
        for field in [
            "me { books(after: $after) { totalCount } }",
            "me { shelves { books(after: $after) { totalCount } } }",
            "me { reviews(after: $after) { totalCount } }", "feed(after: $after) { nodes { id } }",
        ] {
            let response = try await reader.execute(
                "query($after: String) { \(field) }", ["after": .string(cursor)])
            #expect(response.code == "BAD_USER_INPUT", "\(field)")
            #expect(response.field == "after")
        }
    }

    @Test func cursorOfAnotherOrderIsRejected() async throws {
        let reader = try await Self.app().makeReader()
        try await reader.makeBooks(2)
        let response = try await reader.execute(Self.page, ["first": 1, "order": "TITLE_ASC"])
        let cursor = response["me", "books", "pageInfo", "endCursor"] ?? .null
        for order in Self.orders where order != "TITLE_ASC" {
            let other = try await reader.execute(
                Self.page, ["order": .string(order), "after": cursor])
            #expect(other.code == "BAD_USER_INPUT")
        }
    }

    @Test func cursorStaysValidAfterItsBookIsDeleted() async throws {
        let reader = try await Self.app().makeReader()
        try await reader.makeBooks(5)
        let first = try await reader.execute(Self.page, ["first": 2, "order": "TITLE_ASC"])
        let book = first["me", "books", "nodes", 1, "id"] ?? .null
        _ = try await reader.execute(
            "mutation($id: ID!) { deleteBook(id: $id) { id } }", ["id": book])
        let second = try await reader.execute(
            Self.page,
            [
                "first": 2, "order": "TITLE_ASC",
                "after": first["me", "books", "pageInfo", "endCursor"] ?? .null,
            ])
        #expect(
            second["me", "books", "nodes"]?.values(of: "title") == ["Book 3", "Book 4"])
    }

    @Test func eachShelfHasItsOwnPage() async throws {
        let reader = try await Self.app().makeReader()
        let (full, empty, one) = (
            try await reader.makeShelf("Full"), try await reader.makeShelf("Empty"),
            try await reader.makeShelf("One")
        )
        try await reader.makeBooks(5, "Full", shelves: [full])
        try await reader.makeBooks(1, "One", shelves: [one])
        #expect(empty.string != nil)
        let shelves = try await reader.requireValue(
            """
            { me { shelves { name bookCount books(first: 2, orderBy: TITLE_ASC) {
              totalCount nodes { title } pageInfo { hasNextPage endCursor }
            } } } }
            """, .null, "me", "shelves")
        #expect(shelves.values(of: "bookCount") == [5, 0, 1])
        #expect(shelves.values(of: "books").map { $0["totalCount"] } == [5, 0, 1])
        #expect(
            shelves.values(of: "books").map { $0["nodes"]?.values(of: "title") } == [
                ["Full 1", "Full 2"], [], ["One 1"],
            ])
        #expect(
            shelves.values(of: "books").map { $0["pageInfo", "hasNextPage"] } == [
                true, false, false,
            ])
        #expect(shelves[1, "books", "pageInfo", "endCursor"] == .null)
    }
}
