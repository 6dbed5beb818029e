import GraphQL
import TestSupport
import Testing

@testable import Bookplate

/// Subtitles of cards and of books.
@Suite struct SubtitleTests {
    private static let app = Shared {
        try await TestApp.start(catalog: [
            WorkTests.line(1, "Quiet Rivers", members: "\"subtitle\":\"A Journey by Barge\",")
        ])
    }

    private func create(_ reader: TestReader, _ input: Value) async throws -> Value {
        try await reader.requireValue(
            """
            mutation($input: CreateBookInput!) { createBook(input: $input) {
              id title subtitle card { title subtitle } } }
            """, ["input": input], "createBook")
    }

    @Test func bookHasTheSubtitleOfItsCard() async throws {
        let reader = try await Self.app().makeReader()
        let card = try await WorkTests.card(1, reader)
        let book = try await create(reader, ["cardId": card])
        #expect(book["card", "subtitle"] == "A Journey by Barge")
        #expect(book["subtitle"] == "A Journey by Barge")
    }

    @Test func subtitleOfTheCardBelongsToItsTitle() async throws {
        let reader = try await Self.app().makeReader()
        let card = try await WorkTests.card(1, reader)
        let book = try await create(reader, ["cardId": card, "title": "My Rivers"])
        #expect(book["title"] == "My Rivers" && book["subtitle"] == .null)
    }

    @Test func readersSetSearchAndClearSubtitles() async throws {
        let reader = try await Self.app().makeReader()
        let book = try await create(reader, ["title": "Bread", "subtitle": "  Fifty Loaves "])
        #expect(book["subtitle"] == "Fifty Loaves")
        let found = try await reader.requireValue(
            "{ me { books(search: \"fifty\") { nodes { title } } } }", .null, "me", "books", "nodes"
        )
        #expect(found == [["title": "Bread"]])
        let update = """
            mutation($id: ID!, $subtitle: String) {
              updateBook(id: $id, input: {subtitle: $subtitle}) { subtitle } }
            """
        for (subtitle, expected) in [("Sixty", "Sixty"), (.null, .null)] as [(Value, Value)] {
            let response = try await reader.execute(
                update, ["id": book["id"] ?? .null, "subtitle": subtitle])
            #expect(response["updateBook", "subtitle"] == expected, "\(response.json)")
        }
        let tooLong = try await reader.execute(
            update,
            [
                "id": book["id"] ?? .null,
                "subtitle": .string(String(repeating: "x", count: 501)),
            ])
        #expect(tooLong.code == "BAD_USER_INPUT")
    }

    @Test func anotherCardBringsItsSubtitle() async throws {
        let reader = try await Self.app().makeReader()
        let card = try await WorkTests.card(1, reader)
        let book = try await create(reader, ["title": "Something", "subtitle": "Else"])
        let response = try await reader.execute(
            "mutation($id: ID!, $card: ID!) { updateBook(id: $id, input: {cardId: $card}) { title subtitle } }",
            ["id": book["id"] ?? .null, "card": card])
        #expect(
            response["updateBook"] == ["title": "Quiet Rivers", "subtitle": "A Journey by Barge"])
    }
}
