import GraphQL
import TestSupport
import Testing

/// A lookup of a single row reads the rows of its relations with one union statement, while `node` uses one statement for
/// each relation. Both must return the same result.
@Suite struct UnionLookupTests {
    static let app = Shared { try await TestApp.start(catalog: TestCatalog.lines(20)) }

    static let book = """
        id title author isbn13 pageCount description status currentPage coverStatus addedAt
        first: review { id rating text createdAt book { title } } shelves { id name position bookCount createdAt }
        again: shelves { name books(first: 2) { totalCount nodes { title } } } review { text }
        card { id title image { url kind } } image { url width dominantColor blurHash kind }
        """
    static let shelf =
        "id name position bookCount books(first: 3) { nodes { title review { rating } } }"
    static let user = """
        id displayName preferredGenres { id name } createdAt shelves { name bookCount books(first: 1) { nodes { title } } }
        stats { bookCount averageRating readByYear { year bookCount } } books(first: 2) { totalCount nodes { title } }
        """
    static let card = """
        id title authors { name } genres { id } image { url(size: THUMBNAIL) height }
        inLibrary { id title shelves { name } review { rating } }
        """

    private func compare(
        _ reader: TestReader, _ root: String, _ type: String, _ id: Value, _ selection: String
    ) async throws -> Value {
        let union = try await reader.execute(
            "query($id: ID!) { other: node(id: $id) { id } one: \(root) { \(selection) } }",
            ["id": id])
        let separate = try await reader.execute(
            "query($id: ID!) { one: node(id: $id) { ... on \(type) { \(selection) } } }", ["id": id]
        )
        #expect(union.errors.isEmpty, "\(union.json)")
        #expect(union["one"] == separate["one"])
        return union["one"] ?? .null
    }

    @Test(arguments: ["WANT_TO_READ", "READ"], [0, 1, 3])
    func bookIsTheSameAsANode(status: String, shelfCount: Int) async throws {
        let reader = try await Self.app().makeReader()
        var shelves: [Value] = []
        for number in 0..<shelfCount {
            shelves.append(try await reader.makeShelf("Shelf \(9 - number)"))
        }
        let book = try await reader.makeBook(
            "The book", status: "READ", shelves: shelves.reversed())
        try await reader.review(book, text: "Fine.")
        _ = try await reader.requireValue(
            "mutation($id: ID!, $input: UpdateBookInput!) { updateBook(id: $id, input: $input) { id } }",
            ["id": book, "input": ["status": .string(status)]])
        let response = try await compare(reader, "book(id: $id)", "Book", book, Self.book)
        #expect(response["shelves"]?.values(of: "id") == shelves)
        #expect(response["again"]?.list?.count == shelfCount)
        #expect(response["first", "text"]?.string == "Fine.")
    }

    @Test func shelfIsTheSameAsANode() async throws {
        let reader = try await Self.app().makeReader()
        let shelf = try await reader.makeShelf("Shelf")
        try await reader.makeBooks(4, shelves: [shelf])
        let response = try await compare(reader, "shelf(id: $id)", "Shelf", shelf, Self.shelf)
        #expect(response["books", "nodes"]?.list?.count == 3)
    }

    @Test func callerIsTheSameAsANode() async throws {
        let reader = try await Self.app().makeReader()
        let empty = try await compare(reader, "me", "User", reader.id, Self.user)
        #expect(empty["shelves"] == .list([]))
        let shelves = [try await reader.makeShelf("One"), try await reader.makeShelf("Two")]
        try await reader.makeBooks(3, status: "READ", shelves: shelves)
        let full = try await compare(reader, "me", "User", reader.id, Self.user)
        #expect(full["shelves"]?.values(of: "name") == ["One", "Two"])
        #expect(full["stats", "bookCount"] == 3)
    }

    @Test func cardIsTheSameAsANode() async throws {
        let reader = try await Self.app().makeReader()
        let card = try #require(try await reader.feedCards(1).first?["id"])
        _ = try await compare(reader, "feedCard(id: $id)", "FeedCard", card, Self.card)
        _ = try await reader.swipe("LIKE", [card])
        let liked = try await compare(reader, "feedCard(id: $id)", "FeedCard", card, Self.card)
        #expect(liked["inLibrary", "id"]?.string != nil)
    }

    @Test func missingRowsAreNull() async throws {
        let owner = try await Self.app().makeReader()
        let stranger = try await Self.app().makeReader()
        let shelf = try await owner.makeShelf("Shelf")
        let book = try await owner.makeBook("Book", status: "READ", shelves: [shelf])
        try await owner.review(book, text: "Review.")
        #expect(try await compare(stranger, "book(id: $id)", "Book", book, Self.book) == .null)
        #expect(try await compare(stranger, "shelf(id: $id)", "Shelf", shelf, Self.shelf) == .null)
    }
}
