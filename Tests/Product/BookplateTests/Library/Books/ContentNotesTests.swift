import GraphQL
import TestSupport
import Testing

@testable import Bookplate

/// The warnings that readers note about the content of a book: `Book.contentNotes`.
@Suite struct ContentNotesTests {
    static let app = Shared { try await TestApp.start(catalog: []) }

    private static let update = """
        mutation($id: ID!, $input: UpdateBookInput!) { updateBook(id: $id, input: $input) { contentNotes privateNotes } }
        """

    @Test func notesAreSetKeptAndCleared() async throws {
        let reader = try await Self.app().makeReader()
        let book = try await reader.makeBook("Book")
        for (input, notes) in [
            (["contentNotes": " Violence,\nloss of a child "], "Violence,\nloss of a child"),
            (["privateNotes": "Signed"], "Violence,\nloss of a child"),
            (["contentNotes": .null], .null),
        ] as [(Value, Value)] {
            let updated = try await reader.requireValue(
                Self.update, ["id": book, "input": input], "updateBook")
            #expect(updated["contentNotes"] == notes)
        }
        let long = Value.string(String(repeating: "x", count: 2_001))
        let response = try await reader.execute(
            Self.update, ["id": book, "input": ["contentNotes": long]])
        #expect(response.code == "BAD_USER_INPUT" && response.field == "contentNotes")
        #expect(response.reason == "TOO_LONG")
    }

    /// The warnings of The StoryGraph are imported, and survive an export.
    @Test func warningsOfAFileAreKept() async throws {
        let (from, to) = (
            try await Self.app().makeReader(), try await Self.app().makeReader()
        )
        let file = """
            Title,Authors,Read Status,Star Rating,Content Warnings,Content Warning Description,Owned?
            Beloved,Toni Morrison,read,4.75,"Graphic: Slavery, Moderate: Death",Also in the second part,Yes
            """
        let round = ImportRoundTripTests()
        let first = try await round.imported(from, Array(file.utf8))
        #expect(first["state"] == "DONE" && first["ignoredColumns"] == [], "\(first)")
        let archive = try #require(try await round.exported(from).first)
        _ = try await round.imported(to, archive)
        for reader in [from, to] {
            let books = try await reader.requireValue(
                "{ me { books { nodes { contentNotes isOwned review { stars } } } } }", .null, "me",
                "books", "nodes")
            #expect(books[0]?["review", "stars"]?.double == 4.75)
            #expect(
                books[0]?["contentNotes"]
                    == "Graphic: Slavery, Moderate: Death\nAlso in the second part")
            #expect(books[0]?["isOwned"] == true)
        }
    }
}
