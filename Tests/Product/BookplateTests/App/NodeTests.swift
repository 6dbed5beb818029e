import GraphQL
import TestSupport
import Testing

@Suite struct NodeTests {
    static let app = Shared { try await TestApp.start() }

    static let nodes = """
        query($ids: [ID!]!) { nodes(ids: $ids) {
          __typename id
          ... on User { displayName } ... on Shelf { name } ... on Book { title }
          ... on Review { rating } ... on FeedCard { title } ... on Note { text }
        } }
        """

    @Test func objectsOfAllTypesAreFoundByID() async throws {
        let reader = try await Self.app().makeReader()
        let shelf = try await reader.makeShelf("Shelf")
        let book = try await reader.makeBook("Book", status: "READ", shelves: [shelf])
        let review = try await reader.review(book, rating: 3)
        let card = try await reader.feedCards(1)[0]
        let cardID = card["id"] ?? .null
        let note = try await reader.requireValue(
            NoteTests.create, ["input": ["bookId": book, "text": "Quote"]], "createNote", "id")
        for (id, type, name, value) in [
            (reader.id, "User", "displayName", .null), (shelf, "Shelf", "name", "Shelf"),
            (book, "Book", "title", "Book"), (review, "Review", "rating", 3),
            (cardID, "FeedCard", "title", card["title"] ?? .null),
            (note, "Note", "text", "Quote"),
        ] as [(Value, Value, String, Value)] {
            let response = try await reader.execute(
                """
                query($id: ID!) { node(id: $id) {
                  __typename id ... on User { displayName } ... on Shelf { name } ... on Book { title }
                  ... on Review { rating } ... on FeedCard { title } ... on Note { text }
                } }
                """, ["id": id])
            #expect(response["node"] == ["__typename": type, "id": id, name: value])
        }
        let absent: Value = "0198c0de-0000-7000-8000-00000000dead"
        let all = try await reader.execute(
            Self.nodes,
            ["ids": [review, absent, cardID, "no id", shelf, book, reader.id, book]])
        #expect(
            all["nodes"]?.list?.map { $0["__typename"]?.string } == [
                "Review", nil, "FeedCard", nil, "Shelf", "Book", "User", "Book",
            ])
        #expect(all.errors.isEmpty)
    }

    @Test func nestedNodesAreLoaded() async throws {
        let reader = try await Self.app().makeReader()
        let shelf = try await reader.makeShelf("Shelf")
        let book = try await reader.makeBook("Book", status: "READ", shelves: [shelf])
        try await reader.review(book)
        let response = try await reader.execute(
            """
            query($ids: [ID!]!) { nodes(ids: $ids) {
              ... on Shelf { books { nodes { title review { rating } } } }
              ... on Book { shelves { name } review { rating } }
            } }
            """, ["ids": [shelf, book]])
        #expect(
            response["nodes"] == [
                ["books": ["nodes": [["title": "Book", "review": ["rating": 4]]]]],
                ["shelves": [["name": "Shelf"]], "review": ["rating": 4]],
            ])
    }

    @Test func atMostOneHundredNodesCanBeRequested() async throws {
        let reader = try await Self.app().makeReader()
        let good = try await reader.execute(
            Self.nodes, ["ids": .list(Array(repeating: reader.id, count: 100))])
        #expect(good["nodes"]?.list?.count == 100)
        let bad = try await reader.execute(
            Self.nodes, ["ids": .list(Array(repeating: reader.id, count: 101))])
        #expect(bad.code == "BAD_USER_INPUT")
        #expect(bad.field == "ids")
        #expect(try await reader.execute(Self.nodes, ["ids": []])["nodes"] == [])
    }
}
