import GraphQL
import TestSupport
import Testing

@testable import Bookplate

/// Merges of copies, followed authors, and the queue of the books to read next.
extension GuestMergeTests {
    private static let follow = "mutation($id: ID!) { followAuthor(id: $id) { id } }"

    private func authors(_ app: TestApp) async throws -> [String] {
        try await app.database.withConnection {
            try $0.texts(
                "SELECT DISTINCT author_ids[1]::text FROM editions WHERE author_ids <> '{}' ORDER BY 1 LIMIT 3"
            )
        }
    }

    /// Both readers follow one of the authors. The change log has the new ones.
    @Test func followedAuthorsOfBothAreFollowed() async throws {
        let app = try await Self.app()
        let (account, guest) = (try await app.makeReader(), try await app.makeGuest())
        let authors = try await authors(app)
        try #require(authors.count == 3)
        for (reader, followed) in [(account, authors[...1]), (guest, authors[1...])] {
            for id in followed {
                _ = try await reader.requireValue(
                    Self.follow, ["id": .string(id)], "followAuthor")
            }
        }
        let cursor = try await account.requireValue(
            "{ changes(first: 500) { pageInfo { endCursor } } }", .null, "changes", "pageInfo",
            "endCursor")
        let merged = try await merge(guest, into: account)
        let found = try await merged.execute(
            """
            query($after: String) {
              me { followedAuthors { id } }
              changes(after: $after) { changes { kind typename nodeId } }
            }
            """, ["after": cursor])
        let ids = found["me", "followedAuthors"]?.values(of: "id").compactMap(\.string) ?? []
        #expect(ids.sorted() == authors)
        #expect(
            found["changes", "changes"]?.list?.filter { $0["typename"] == "Person" } == [
                ["kind": "UPDATED", "typename": "Person", "nodeId": .string(authors[2])]
            ])
    }

    /// A book has the copies of both, and equal ones once. A copy whose id the account uses gets another one.
    @Test func copiesOfBothAreKept() async throws {
        let app = try await Self.app()
        let (account, guest) = (try await app.makeReader(), try await app.makeGuest())
        let isbn = Value.string(TestCatalog.isbn(7))
        let shared: Value = "0198c0de-0000-7000-8000-0000000000c1"
        var books: [Value] = []
        for (reader, places) in [(account, ["Hall", "Desk"]), (guest, ["Attic", "Desk"])] {
            let book = try await reader.makeBook(["isbn": isbn])
            books.append(book)
            for (number, place) in places.enumerated() {
                var input: [Value.Member] = [
                    .init("bookId", book), .init("place", .string(place)),
                ]
                if number == 0 { input.append(.init("id", shared)) }
                _ = try await reader.requireValue(
                    CopyTests.create, ["input": .object(input)], "createCopy")
            }
        }
        _ = try await guest.requireValue(
            CopyTests.lend, ["id": shared, "input": ["borrower": "Eve", "lentOn": "2026-01"]],
            "lendCopy")
        let merged = try await merge(guest, into: account)
        let copies = try await merged.requireValue(
            "query($id: ID!) { book(id: $id) { copies { id place loan { borrower lentOn } } } }",
            ["id": books[0]], "book", "copies")
        #expect(
            Set(copies.values(of: "place").compactMap(\.string)) == ["Attic", "Desk", "Hall"])
        #expect(copies.list?.count == 3)
        let attic = copies.list?.first { $0["place"] == "Attic" }
        #expect(attic?["loan"] == ["borrower": "Eve", "lentOn": "2026-01"])
        #expect(attic?["id"] != shared)
        #expect(copies.list?.first { $0["id"] == shared }?["place"] == "Hall")
    }

    /// The queue of the guest becomes that of an account without one. It has no book that one of them has started.
    @Test func queueHasNoStartedBooksAfterAMerge() async throws {
        let app = try await Self.app()
        let (account, guest) = (try await app.makeReader(), try await app.makeGuest())
        let queue = try await guest.makeShelf("Next")
        _ = try await guest.requireValue(
            "mutation($id: ID!) { updateShelf(id: $id, input: {isUpNext: true}) { id } }",
            ["id": queue], "updateShelf")
        for (number, status) in [(1, "READ"), (2, "READING"), (3, "PAUSED")] {
            _ = try await account.makeBook([
                "isbn": .string(TestCatalog.isbn(number)), "status": .string(status),
            ])
        }
        for number in 1...4 {
            _ = try await guest.makeBook([
                "isbn": .string(TestCatalog.isbn(number)), "shelfIds": .list([queue]),
            ])
        }
        // The guest wants to read this one again.
        _ = try await guest.makeBook([
            "isbn": .string(TestCatalog.isbn(5)), "status": "READ", "shelfIds": .list([queue]),
        ])
        let merged = try await merge(guest, into: account)
        let found = try await merged.requireValue(
            "{ me { upNext { name bookCount books(orderBy: SHELF) { nodes { isbn13 } } } } }",
            .null, "me", "upNext")
        #expect(found["name"] == "Next" && found["bookCount"] == 3)
        #expect(
            Set(found["books", "nodes"]?.values(of: "isbn13").compactMap(\.string) ?? [])
                == Set([3, 4, 5].map { TestCatalog.isbn($0) }))
    }

    /// The queue of the account stays the only one, and an ordinary shelf of the guest with its name adds no started book.
    @Test func queueOfTheAccountStays() async throws {
        let app = try await Self.app()
        let (account, guest) = (try await app.makeReader(), try await app.makeGuest())
        let upNext = "mutation($id: ID!) { updateShelf(id: $id, input: {isUpNext: true}) { id } }"
        let own = try await account.makeShelf("Next")
        _ = try await account.requireValue(upNext, ["id": own], "updateShelf")
        let waiting = try await account.makeBook([
            "isbn": .string(TestCatalog.isbn(1)), "shelfIds": .list([own]),
        ])
        _ = try await account.makeBook([
            "isbn": .string(TestCatalog.isbn(2)), "shelfIds": .list([own]),
        ])
        let (same, other) = (
            try await guest.makeShelf("next"), try await guest.makeShelf("Queue")
        )
        _ = try await guest.requireValue(upNext, ["id": other], "updateShelf")
        // The account's book is started by the merge, and leaves its queue.
        _ = try await guest.makeBook([
            "isbn": .string(TestCatalog.isbn(2)), "status": "READING",
            "shelfIds": .list([same, other]),
        ])
        let merged = try await merge(guest, into: account)
        let shelves = try await merged.requireValue(
            "{ me { shelves { name isUpNext books { nodes { id } } } } }", .null, "me", "shelves")
        #expect(shelves.values(of: "name") == ["Next", "Queue"])
        #expect(shelves.values(of: "isUpNext") == [true, false])
        #expect(shelves[0, "books", "nodes"] == [["id": waiting]])
        #expect(shelves[1, "books", "nodes"]?.list?.count == 1)
    }
}
