import GraphQL
import TestSupport
import Testing

/// The authors of books and cards.
@Suite struct BookAuthorsTests {
    private static let catalog = [
        """
        {"ids":{"test":"1"},"title":"Good Omens","isbn13":"\(TestCatalog.isbn(1))","genres":["Fantasy"],"authors":[
        {"name":"Terry Pratchett","bio":"Knew  wizards."},"Neil Gaiman","Stephen Briggs (Narrator)",
        {"name":"Jo Doe","role":"translator"}]}
        """.replacing("\n", with: ""),
        """
        {"ids":{"test":"2"},"title":"Mort","genres":["Fantasy"],"authors":["PRATCHETT, Terry",
        {"name":"Neil Gaiman","role":"Foreword"}]}
        """.replacing("\n", with: ""),
    ]
    private static let app = Shared { try await TestApp.start(catalog: catalog) }

    private static let authors = "author authors { id name role bio }"

    private func create(_ reader: TestReader, _ input: Value) async throws -> TestResponse {
        try await reader.execute(
            """
            mutation($input: CreateBookInput!) {
              createBook(input: $input) { id title \(Self.authors) }
            }
            """, ["input": input])
    }

    private func update(
        _ reader: TestReader, _ id: Value, _ input: Value
    ) async throws -> TestResponse {
        try await reader.execute(
            """
            mutation($id: ID!, $input: UpdateBookInput!) {
              updateBook(id: $id, input: $input) { id title \(Self.authors) }
            }
            """, ["id": id, "input": input])
    }

    private func names(_ object: Value?) -> [String] {
        object?["authors"]?.list?.map {
            "\($0["name"]?.string ?? "?") \($0["role"]?.string ?? "?")"
        } ?? []
    }

    private func cards(_ reader: TestReader) async throws -> [Value] {
        try await reader.requireValue(
            "{ feed { nodes { id title \(Self.authors) } } }", .null, "feed", "nodes"
        ).list?.sorted { $0["title"]?.string ?? "" < $1["title"]?.string ?? "" } ?? []
    }

    // MARK: - Cards

    @Test func cardHasAuthorsWithRolesAndBiographies() async throws {
        let reader = try await Self.app().makeReader()
        let cards = try await cards(reader)
        #expect(
            names(cards[0]) == [
                "Terry Pratchett AUTHOR", "Neil Gaiman AUTHOR", "Stephen Briggs NARRATOR",
                "Jo Doe TRANSLATOR",
            ])
        #expect(cards[0]["author"] == "Terry Pratchett, Neil Gaiman")
        #expect(cards[1]["author"] == "Terry PRATCHETT")
        let bios = cards[0]["authors"]?.list?.map { $0["bio"] }
        #expect(bios == ["Knew  wizards.", .null, .null, .null])
        #expect(names(cards[1]) == ["Terry PRATCHETT AUTHOR", "Neil Gaiman CONTRIBUTOR"])
    }

    @Test func idBelongsToAPersonInARole() async throws {
        let reader = try await Self.app().makeReader()
        let cards = try await cards(reader)
        let book = try await create(
            reader,
            [
                "title": "Mine",
                "authors": [
                    ["name": "terry  pratchett"], ["name": "Neil Gaiman", "role": "CONTRIBUTOR"],
                    ["name": "💩"], ["name": "🦄"],
                ],
            ])["createBook"]
        func id(_ object: Value?, _ index: Int) -> Value? {
            object?["authors"]?.values(of: "id")[index]
        }
        // However the name is written.
        #expect(id(cards[0], 0) == id(cards[1], 0))
        #expect(id(book, 0) == id(cards[0], 0))
        #expect(book?["authors", 0]?["bio"] == "Knew  wizards.")
        // All fields of an author with an id are the same everywhere, so clients can cache authors.
        #expect(id(cards[0], 1) != id(cards[1], 1))
        #expect(id(book, 1) == id(cards[1], 1))
        #expect(id(book, 2) != id(book, 3))
        let ids = Set(cards.flatMap { $0["authors"]?.list ?? [] }.compactMap { $0["id"]?.string })
        #expect(ids.count == 5)
    }

    @Test func authorsOfManyCardsTakeOneStatement() async throws {
        let reader = try await Self.app().makeReader()
        func statements(_ selection: String) async throws -> TestResponse {
            try await reader.execute("{ search(query: \"pratchett\") { nodes { \(selection) } } }")
        }
        let plain = try await statements("id title")
        let names = try await statements("id title authors { id name role }")
        #expect(names.statements == plain.statements)
        #expect(names["search", "nodes"]?.list?.count == 2)
        let bios = try await statements("id title authors { name bio }")
        // The statement of a level follows the one that sets the caller.
        #expect(bios.statements == plain.statements + 2)
        #expect(bios.roundTrips == plain.roundTrips + 1)
    }

    // MARK: - From a card to a book

    @Test func bookKeepsAllAuthorsOfItsCard() async throws {
        let reader = try await Self.app().makeReader()
        let card = try await cards(reader)[0]
        func isComplete(_ book: Value?) -> Bool {
            book?["authors"] == card["authors"] && book?["author"] == card["author"]
        }
        let created = try await create(reader, ["cardId": card["id"] ?? .null])["createBook"]
        #expect(isComplete(created), "\(created ?? .null)")
        let scanning = try await Self.app().makeReader()
        let scanned = try await create(
            scanning, ["isbn": .string(TestCatalog.isbn(1)), "authors": []])["createBook"]
        #expect(isComplete(scanned))
        let swiping = try await Self.app().makeReader()
        _ = try await swiping.swipe("LIKE", [card["id"] ?? .null])
        let saved = try await swiping.requireValue(
            "{ me { books { nodes { \(Self.authors) } } } }", .null, "me", "books", "nodes")
        #expect(isComplete(saved.list?.first))
        // The reader's own authors replace those of the card.
        let own = try await create(
            try await Self.app().makeReader(),
            ["cardId": card["id"] ?? .null, "authors": [["name": "Me"]]])["createBook"]
        #expect(names(own) == ["Me AUTHOR"])
        // A search finds the book by each of its authors.
        for word in ["pratchett", "gaiman", "briggs", "doe"] {
            let found = try await swiping.requireValue(
                "query($text: String) { me { books(search: $text) { totalCount } } }",
                ["text": .string(word)], "me", "books", "totalCount")
            #expect(found == 1, "\(word)")
        }
    }

    // MARK: - Books made by hand

    @Test func bookMadeByHandHasSeveralAuthors() async throws {
        let reader = try await Self.app().makeReader()
        let response = try await create(
            reader,
            [
                "title": "Kafka on the Shore",
                "authors": [
                    ["name": " Haruki Murakami "],
                    ["name": "Philip Gabriel", "role": "TRANSLATOR"],
                    ["name": "Haruki Murakami"], ["name": "Second Author"],
                ],
            ])
        let book = try #require(response["createBook"], "\(response.json)")
        // Repetitions are left out.
        #expect(
            names(book) == [
                "Haruki Murakami AUTHOR", "Philip Gabriel TRANSLATOR", "Second Author AUTHOR",
            ])
        #expect(book["author"] == "Haruki Murakami, Second Author")
        let id = book["id"] ?? .null
        // An absent field keeps the authors, and a change replaces all of them.
        let renamed = try await update(reader, id, ["title": "Kafka"])["updateBook"]
        #expect(renamed?["authors"] == book["authors"])
        let edited = try await update(
            reader, id, ["authors": [["name": "Ann Editor", "role": "EDITOR"]]])["updateBook"]
        #expect(names(edited) == ["Ann Editor EDITOR"] && edited?["author"] == "Ann Editor")
        for empty in [["authors": .null], ["authors": []]] as [Value] {
            _ = try await update(reader, id, ["authors": [["name": "A"]]])
            let cleared = try await update(reader, id, empty)["updateBook"]
            #expect(cleared?["authors"] == [] && cleared?["author"] == .null, "\(empty)")
        }
    }

    /// `author` is one line for display. Other contributors are named only if there is no author.
    @Test(
        arguments: [
            ([("Ann", "AUTHOR")], "Ann"), ([("Ann", "AUTHOR"), ("Bob", "AUTHOR")], "Ann, Bob"),
            ([("Ann", "EDITOR"), ("Bob", "AUTHOR"), ("Cy", "NARRATOR")], "Bob"),
            ([("Ann", "EDITOR"), ("Bob", "TRANSLATOR")], "Ann, Bob"), ([], nil),
        ] as [([(String, String)], String?)])
    func authorIsALineOfTheAuthors(authors: [(String, String)], line: String?) async throws {
        let reader = try await Self.app().makeReader()
        let book = try await create(
            reader,
            [
                "title": "Title",
                "authors": .list(
                    authors.map { ["name": .string($0.0), "role": .string($0.1)] }),
            ])["createBook"]
        #expect(book?["author"] == (line.map { .string($0) } ?? .null))
        // An update of the roles alone changes the line.
        guard let first = authors.first, authors.count == 1 else { return }
        let updated = try await update(
            reader, book?["id"] ?? .null,
            ["authors": [["name": "Ed", "role": "EDITOR"], ["name": .string(first.0)]]])[
                "updateBook"]
        #expect(updated?["author"] == .string(first.0))
    }

    @Test func invalidAuthorsAreRejected() async throws {
        let reader = try await Self.app().makeReader()
        let id = try await reader.makeBook(["title": "A", "authors": [["name": "Ann"]]])
        let cases: [(Value, field: String, String)] = [
            (
                ["authors": .list((0...20).map { ["name": .string("A \($0)")] })], "authors",
                "at most 20"
            ),
            (
                ["authors": [["name": .string(String(repeating: "x", count: 201))]]], "name",
                "at most 200"
            ),
            (["authors": [["name": " \u{200B}"]]], "name", "empty"),
            (["authors": [["name": "A\u{0}"]]], "name", "NUL"),
        ]
        for (input, field, message) in cases {
            let responses = [
                try await create(reader, input.adding("title", "B")),
                try await update(reader, id, input),
            ]
            for response in responses {
                #expect(response.errors.first?["extensions", "code"] == "BAD_USER_INPUT")
                #expect(response.errors.first?["extensions", "field"]?.string == field)
                #expect(
                    response.errors.first?["message"]?.string?.contains(message) == true,
                    "\(response.json)")
            }
        }
        let role = try await create(
            reader, ["title": "B", "authors": [["name": "A", "role": "FRIEND"]]])
        #expect(!role.errors.isEmpty)
        let kept = try await reader.requireValue(
            "query($id: ID!) { book(id: $id) { authors { name } } }", ["id": id], "book", "authors")
        #expect(kept == [["name": "Ann"]])
        // 20 authors with the longest names are valid.
        let most = try await create(
            reader,
            [
                "title": "B",
                "authors": .list(
                    (10..<30).map {
                        ["name": .string("\($0)" + String(repeating: "é", count: 198))]
                    }),
            ])
        #expect(most["createBook"]?["authors"]?.list?.count == 20, "\(most.json)")
    }

    @Test func namesOfReadersStayInTheirBooks() async throws {
        let reader = try await Self.app().makeReader()
        _ = try await reader.makeBook([
            "title": "Diary", "authors": [["name": "My Secret Friend"]],
        ])
        let known = try await Self.app().database.count(
            "SELECT count(*) FROM authors WHERE name <> 'Terry Pratchett'")
        #expect(known == 0)
    }

    @Test func booksAreSortedByTheirAuthors() async throws {
        let reader = try await Self.app().makeReader()
        for names in [["Zoe"], ["Ann", "Bob"], [], ["Ann"]] {
            _ = try await reader.makeBook([
                "title": .string("Book \(names.joined())"),
                "authors": .list(names.map { ["name": .string($0)] }),
            ])
        }
        let books = try await reader.requireValue(
            "{ me { books(orderBy: AUTHOR_ASC) { nodes { author } } } }", .null, "me", "books",
            "nodes")
        #expect(books.list?.map { $0["author"] } == ["Ann", "Ann, Bob", "Zoe", .null])
    }
}

extension Value {
    fileprivate func adding(_ name: String, _ value: Value) -> Value {
        guard case .object(let members) = self else { return self }
        return .object(members + [.init(name, value)])
    }
}
