import GraphQL
import TestSupport
import Testing

@testable import Bookplate

/// The arguments and payloads of mutations.
@Suite struct MutationArgumentTests {
    static let app = Shared { try await TestApp.start(catalog: TestCatalog.lines(5)) }

    private struct Library {
        let reader: TestReader
        let shelf: Value
        let other: Value
        let book: Value
    }

    private func makeLibrary() async throws -> Library {
        let reader = try await Self.app().makeReader()
        let shelf = try await reader.makeShelf("One")
        let other = try await reader.makeShelf("Two")
        let book = try await reader.makeBook("Book", status: "READ", shelves: [shelf])
        return Library(reader: reader, shelf: shelf, other: other, book: book)
    }

    @Test(arguments: [
        #"moveBook(id: "x") { book { id } }"#, "reviewBook(input: {rating: 4}) { id }",
        "deleteReview { id }", "removeCover { id }", #"setCover(id: "x") { id }"#,
        "setCover(input: {search: true}) { id }", "recordSwipes { recorded }",
        "undoSwipe { card { id } }", "importLibrary { id }",
    ])
    func missingArgumentsAreFoundByValidation(call: String) async throws {
        let reader = try await Self.app().makeReader()
        let response = try await reader.execute("mutation { \(call) }")
        #expect(response.code == "GRAPHQL_VALIDATION_FAILED", "\(response.json)")
    }

    @Test func movedBooksOfADeletedShelfNeedATarget() async throws {
        let reader = try await Self.app().makeReader()
        let response = try await reader.execute(
            """
            mutation { deleteShelf(id: "0198c0de-0000-7000-8000-00000000dead", input: {books: MOVE}) { id } }
            """)
        #expect(response.code == "BAD_USER_INPUT", "\(response.json)")
        #expect(response.field == "moveTo")
        #expect(response.reason == "REQUIRED")
    }

    @Test func payloadsReportWhatWasDone() async throws {
        let library = try await makeLibrary()
        let reader = library.reader
        try await reader.review(library.book, rating: 5)
        let moved = try await reader.execute(
            """
            mutation($shelf: ID!, $other: ID!, $book: ID!) {
              first: moveBook(id: $book, input: {to: $other, from: $shelf}) {
                book { shelves { name } } leftShelves { name } joinedShelf { name }
              }
              again: moveBook(id: $book, input: {to: $other, from: $shelf}) {
                book { shelves { name } } leftShelves { name } joinedShelf { name }
              }
            }
            """,
            ["shelf": library.shelf, "other": library.other, "book": library.book])
        #expect(
            moved["first"] == [
                "book": ["shelves": [["name": "Two"]]], "leftShelves": [["name": "One"]],
                "joinedShelf": ["name": "Two"],
            ])
        #expect(moved["again", "leftShelves"] == [])
        let deleted = try await reader.execute(
            """
            mutation($shelf: ID!, $book: ID!) {
              review: deleteReview(id: $book) { id book { title review { id } } }
              noReview: deleteReview(id: $book) { id book { title } }
              book: deleteBook(id: $book) { id shelves { name bookCount } }
              noBook: deleteBook(id: $book) { id shelves { name } }
              afterwards: deleteReview(id: $book) { id book { title } }
              shelf: deleteShelf(id: $shelf) { id shelves { name position } }
              noShelf: deleteShelf(id: $shelf) { id shelves { name position } }
            }
            """, ["shelf": library.shelf, "book": library.book])
        #expect(deleted["review", "id"]?.string != nil)
        #expect(deleted["review", "book"] == ["title": "Book", "review": .null])
        #expect(deleted["noReview"] == ["id": .null, "book": ["title": "Book"]])
        #expect(
            deleted["book"] == ["id": library.book, "shelves": [["name": "Two", "bookCount": 0]]])
        #expect(deleted["noBook"] == ["id": library.book, "shelves": []])
        #expect(deleted["afterwards"] == ["id": .null, "book": .null])
        let rest: Value = ["id": library.shelf, "shelves": [["name": "Two", "position": 0]]]
        #expect(deleted["shelf"] == rest)
        #expect(deleted["noShelf"] == rest)
    }

    @Test func movingAMissingBookIsNotFound() async throws {
        let library = try await makeLibrary()
        let response = try await library.reader.execute(
            "mutation($id: ID!, $to: ID!) { moveBook(id: $id, input: {to: $to}) { book { id } } }",
            ["id": "0198c0de-0000-7000-8000-00000000dead", "to": library.shelf])
        #expect(response.code == "NOT_FOUND")
    }

    /// Only the failed field is null.
    @Test(arguments: [
        ("me", #"me { id bad: books(after: "x") { nodes { id } } }"#),
        ("me", "me { id bad: books(first: 0) { nodes { id } } }"),
        ("me", #"me { id bad: reviews(after: "x") { nodes { id } } }"#),
        ("me", "me { id bad: swipes(first: 101) { nodes { id } } }"),
        ("me", #"me { id bad: deletedBooks(after: "x") { nodes { bookId } } }"#),
        ("shelf", #"shelf(id: $shelf) { id bad: books(after: "x") { nodes { id } } }"#),
        ("feedCard", "feedCard(id: $card) { id bad: similar(first: 0) { id } }"),
    ])
    func oneBadArgumentDoesNotFailTheParent(parent: String, field: String) async throws {
        let reader = try await Self.app().makeReader()
        let shelf = try await reader.makeShelf("Shelf")
        let card = try await reader.feedCards(1)[0]["id"] ?? .null
        let response = try await reader.execute(
            """
            query($shelf: ID! = "x", $card: ID! = "x") {
              \(field) other: node(id: $shelf) { id } card: node(id: $card) { id }
            }
            """, ["shelf": shelf, "card": card])
        #expect(response.code == "BAD_USER_INPUT", "\(response.json)")
        #expect(response.errors.count == 1)
        #expect(response.errors.first?["path"] == [.string(parent), "bad"])
        #expect(response[.name(parent), "id"]?.string != nil)
        #expect(response[.name(parent), "bad"] == .null)
        #expect(response["other", "id"] == shelf)
    }

    /// A failed root field leaves the others intact.
    @Test(arguments: [
        #"feed(after: "x") { nodes { id } }"#, "feed(first: 0) { nodes { id } }",
        #"search(query: "") { nodes { id } }"#, #"changes(after: "x") { resetRequired }"#,
        "nodes(ids: \(Array(repeating: #""x""#, count: 101))) { id }",
    ])
    func oneBadArgumentDoesNotFailTheOtherFields(field: String) async throws {
        let reader = try await Self.app().makeReader()
        let response = try await reader.execute("{ me { id } bad: \(field) }")
        #expect(response.code == "BAD_USER_INPUT", "\(response.json)")
        #expect(response["me", "id"] == reader.id)
        #expect(response["bad"] == .null)
    }
}
