import GraphQL
import TestSupport
import Testing

@testable import Bookplate

/// An id that a client chooses for a new object may not be that of another object.
@Suite struct ChosenIDTests {
    static let app = Shared { try await TestApp.start(catalog: TestCatalog.lines(3)) }

    private static let createShelf = """
        mutation($id: ID!) { createShelf(input: {id: $id, name: "New"}) { id } }
        """
    private static let createBook = """
        mutation($id: ID!) { createBook(input: {id: $id, title: "New"}) { id } }
        """

    @Test(
        arguments: [createShelf, createBook],
        ["the user", "a card", "a shelf", "a book", "a review"])
    func idsOfOtherObjectsAreRefused(mutation: String, object: String) async throws {
        let reader = try await Self.app().makeReader()
        let shelf = try await reader.makeShelf("Mine")
        let book = try await reader.makeBook("Mine", status: "READ")
        try await reader.review(book, rating: 3)
        let me = try await reader.execute("{ me { reviews { nodes { id } } } }")
        let id: Value
        switch object {
        case "the user": id = reader.id
        case "a card": id = try await reader.feedCards(1)[0]["id"] ?? .null
        case "a shelf": id = shelf
        case "a book": id = book
        default: id = me["me", "reviews", "nodes", 0, "id"] ?? .null
        }
        let response = try await reader.execute(mutation, ["id": id])
        // The id of an object of the same type returns that object.
        if (mutation, object) == (Self.createShelf, "a shelf")
            || (mutation, object) == (Self.createBook, "a book")
        {
            #expect(response.errors.isEmpty, "\(response.json)")
        } else {
            #expect(response.code == "CONFLICT", "\(response.json)")
            #expect(response.field == "id")
        }
        let after = try await reader.execute("{ me { shelves { id } books { totalCount } } }")
        #expect(after["me", "shelves"]?.list?.count == 1)
        #expect(after["me", "books", "totalCount"] == 1)
    }

    /// Ids are unique per user, so the id of another user's object can be chosen.
    @Test func idsOfOtherUsersAreFree() async throws {
        let book = try await Self.app().makeReader().makeBook("Theirs")
        let reader = try await Self.app().makeReader()
        #expect(try await reader.execute(Self.createShelf, ["id": book]).errors.isEmpty)
    }
}
