import GraphQL
import Testing

@Suite struct RowRelationTests {
    @Test func nestedLists() async throws {
        let response = try await Library.execute(
            "{ me { name authors { name books { title review { text } } } } }")
        #expect(
            response.body == """
                {"data":{"me":{"name":"Ada","authors":[\
                {"name":"Austen","books":[\
                {"title":"Emma","review":{"text":"Witty"}},\
                {"title":"Emma","review":null},\
                {"title":"Lady Susan","review":null},\
                {"title":"Persuasion","review":null},\
                {"title":"Sanditon","review":null}]},\
                {"name":"Brontë","books":[]},\
                {"name":"Shelley","books":[{"title":"Frankenstein","review":{"text":"Alive"}}]}\
                ]}}}
                """)
    }

    @Test func oneRowThatSeveralParentsShare() async throws {
        let response = try await Library.execute(
            #"{ author(id: "\#(Library.austen)") { books { title author { name } } } }"#)
        let books = try response.value["data"]?["author"]?["books"]?.list ?? []
        #expect(books.map { $0["author"]?["name"]?.string } == Array(repeating: "Austen", count: 5))
        // The parents have a single key, which is not sent as an array.
        #expect(
            response.roundTrips.last == [
                "SELECT a.id, a.name FROM authors a WHERE a.user_id = $1 AND a.id = $2"
            ])
    }

    @Test func severalKeysAreSentAsAnArray() async throws {
        let response = try await Library.execute("{ me { authors { books { title } } } }")
        #expect(
            response.roundTrips.last == [
                """
                SELECT found.* FROM (SELECT unnest($2::uuid[]) AS id) requested CROSS JOIN LATERAL ( \
                SELECT b.author_id, b.title FROM books b \
                WHERE b.user_id = $1 AND b.author_id = requested.id ORDER BY b.title, b.id OFFSET 0 ) found
                """
            ])
    }

    @Test func relationsInBothDirections() async throws {
        let response = try await Library.execute(
            """
            { book(id: "\(Library.emma)") { review { text book { title review { book { title } } } } } }
            """)
        #expect(
            response.body == """
                {"data":{"book":{"review":{"text":"Witty",\
                "book":{"title":"Emma","review":{"book":{"title":"Emma"}}}}}}}
                """)
        #expect(response.statementCounts == [1, 1, 1, 1])
    }

    /// Ada has three authors and six of their books. Ben has one of each.
    @Test(
        arguments: [
            ("{ me { name } }", [1]),
            ("{ me { authors { name } } }", [1]),
            ("{ me { authors { books { title } } } }", [1, 1]),
            ("{ me { authors { books { review { text } author { name } } } } }", [1, 1, 2]),
            (
                "{ me { authors { books { author { books { review { text } } } } } } }",
                [1, 1, 1, 1, 1]
            ),
            ("{ me { authors { bookPages { nodes { review { text } } } } } }", [1, 1, 1]),
            ("{ me { authors { bookPages { totalCount edges { node { title } } } } } }", [1, 2]),
        ] as [(String, [Int])])
    func statementsDependOnTheDepthAndNotOnTheRows(text: String, counts: [Int]) async throws {
        for caller in [Library.ada, Library.ben] {
            #expect(try await Library.execute(text, as: caller).statementCounts == counts)
        }
    }
}
