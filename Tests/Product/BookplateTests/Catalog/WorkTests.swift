import GraphQL
import TestSupport
import Testing

@testable import Bookplate

/// The type `Work`, and what readers do with one edition counting for the others.
@Suite struct WorkTests {
    /// Returns a line of a catalog file. The number identifies the edition, also in its ISBN.
    static func line(_ number: Int, _ title: String, members: String = "") -> String {
        """
        {\(members)"title":"\(title)","authors":["Ursula K. Le Guin"],"isbn13":"\(TestCatalog.isbn(number))",\
        "description":"An envoy travels to a cold planet.","genres":["Fantasy"],"language":"en",\
        "ratingsCount":\(1000 + number),"pageCount":\(number)}
        """
    }

    /// Two editions of a work, of which the feed shows 902, and two other books.
    static let two = [
        line(901, "The Left Hand of Darkness"), line(902, "The Left Hand of Darkness: A Novel"),
        line(903, "The Dispossessed"), line(904, "Rocannon's World"),
    ]

    static func card(_ number: Int, _ reader: TestReader) async throws -> Value {
        try await reader.requireValue(
            "query($isbn: String!) { lookupISBN(isbn: $isbn) { id } }",
            ["isbn": .string(TestCatalog.isbn(number))], "lookupISBN", "id")
    }

    /// The id of the work of a card.
    static func work(_ number: Int, _ reader: TestReader) async throws -> Value {
        try await reader.requireValue(
            "query($isbn: String!) { lookupISBN(isbn: $isbn) { work { id } } }",
            ["isbn": .string(TestCatalog.isbn(number))], "lookupISBN", "work", "id")
    }

    private static let fields = """
        fragment Fields on Work {
          id title authors { name } genres { name } image { kind } editionCount
          editions(first: 1) { nodes { isbn13 } pageInfo { hasNextPage endCursor } }
          inLibrary { id }
        }
        """

    @Test func editionsHaveTheSameWork() async throws {
        let reader = try await TestApp.start(catalog: Self.two).makeReader()
        let book = try await reader.makeBook(["cardId": try await Self.card(901, reader)])
        let work = try await reader.requireValue(
            "query($id: ID!) { book(id: $id) { work { ...Fields } } } \(Self.fields)",
            ["id": book], "book", "work")
        #expect(work["title"] == "The Left Hand of Darkness: A Novel")
        #expect(work["authors"] == [["name": "Ursula K. Le Guin"]])
        #expect(work["genres"] == [["name": "Fantasy"]])
        #expect(work["editionCount"] == 2)
        #expect(work["editions", "nodes"] == [["isbn13": .string(TestCatalog.isbn(902))]])
        #expect(work["inLibrary", "id"] == book)
        let id = work["id"] ?? .null

        for number in [901, 902] {
            #expect(try await Self.work(number, reader) == id)
        }
        #expect(try await Self.work(903, reader) != id)
        let node = try await reader.requireValue(
            "query($id: ID!) { node(id: $id) { ...Fields } } \(Self.fields)", ["id": id], "node")
        #expect(node == work)
        let next = try await reader.requireValue(
            """
            query($id: ID!, $after: String) { node(id: $id) { ... on Work {
              editions(after: $after) { nodes { isbn13 inLibrary { id } } pageInfo { hasNextPage } } } } }
            """, ["id": id, "after": work["editions", "pageInfo", "endCursor"] ?? .null], "node",
            "editions")
        #expect(
            next["nodes"] == [
                ["isbn13": .string(TestCatalog.isbn(901)), "inLibrary": ["id": book]]
            ])
        #expect(next["pageInfo", "hasNextPage"] == false)
        let handmade = try await reader.makeBook("A book of my own")
        #expect(
            try await reader.execute(
                "query($id: ID!) { book(id: $id) { work { id } } }", ["id": handmade])[
                    "book", "work"] == .null)
    }

    /// The id of a work stays when editions are added, and when its first edition is removed.
    @Test func idsOfWorksStayValid() async throws {
        let app = try await TestApp.start(catalog: [Self.two[0], Self.two[2]])
        let reader = try await app.makeReader()
        let id = try await Self.work(901, reader)
        try await app.database.importCatalog([Self.two[1]])
        #expect(try await Self.work(902, reader) == id)
        try await app.database.execute(
            "DELETE FROM editions WHERE isbn13 = '\(TestCatalog.isbn(901))'")
        let node = "query($id: ID!) { node(id: $id) { ... on Work { id editionCount } } }"
        let survivor = try await reader.requireValue(node, ["id": id], "node")
        #expect(survivor["id"] == (try await Self.work(902, reader)))
        #expect(survivor["editionCount"] == 1)
        try await app.database.execute(
            "DELETE FROM editions WHERE isbn13 = '\(TestCatalog.isbn(902))'")
        #expect(try await reader.execute(node, ["id": id])["node"] == .null)
    }

    // MARK: - One book, one card

    @Test func likedEditionDoesNotAddASecondBookOfTheWork() async throws {
        let reader = try await TestApp.start(catalog: Self.two).makeReader()
        let (first, second) = (try await Self.card(901, reader), try await Self.card(902, reader))
        let saved =
            "mutation($a: ID!, $b: ID!) { recordSwipes(inputs: ["
            + "{cardId: $a, action: LIKE}, {cardId: $b, action: BUY}]) { recorded saved { id } } }"
        let both = try await reader.requireValue(
            saved, ["a": first, "b": second], "recordSwipes")
        #expect(both["recorded"] == 2)
        #expect(both["saved"]?.list?.count == 1)
        let again = try await reader.swipe("LIKE", [second])
        #expect(again["recordSwipes", "saved"]?.list?.count == 1)
        let books = "{ me { books { nodes { id card { id } } } } }"
        #expect(
            try await reader.execute(books)["me", "books", "nodes"] == [
                ["id": both["saved", 0, "id"] ?? .null, "card": ["id": first]]
            ])
        // The reader may still own both editions.
        _ = try await reader.makeBook(["cardId": second])
        #expect(try await reader.execute(books)["me", "books", "nodes"]?.list?.count == 2)
    }

    @Test func bookStaysWhileAnotherEditionIsLiked() async throws {
        let reader = try await TestApp.start(catalog: Self.two).makeReader()
        let (first, second) = (try await Self.card(901, reader), try await Self.card(902, reader))
        _ = try await reader.swipe("LIKE", [first])
        _ = try await reader.swipe("LIKE", [second])
        let undo =
            "mutation($id: ID!) { undoSwipe(input: {cardId: $id}) { deletedBookId } }"
        let kept = try await reader.requireValue(undo, ["id": first], "undoSwipe")
        #expect(kept["deletedBookId"] == .null)
        let deleted = try await reader.requireValue(undo, ["id": second], "undoSwipe")
        #expect(deleted["deletedBookId"]?.string != nil)
    }

    @Test func searchReturnsOneCardOfEachWork() async throws {
        let reader = try await TestApp.start(catalog: Self.two).makeReader()
        let found = try await reader.requireValue(
            "{ search(query: \"le guin\") { nodes { isbn13 } } }", .null, "search", "nodes")
        // Either record of the first work matches as well.
        let isbns = found.list?.compactMap { $0["isbn13"]?.string } ?? []
        let allowed = [[901, 903, 904], [902, 903, 904]].map { numbers in
            Set(numbers.map { TestCatalog.isbn($0) })
        }
        #expect(isbns.count == 3 && allowed.contains(Set(isbns)), "\(isbns)")
        // An ISBN is a search for the edition.
        #expect(
            try await reader.requireValue(
                "query($q: String!) { search(query: $q) { nodes { isbn13 } } }",
                ["q": .string(TestCatalog.isbn(901))], "search", "nodes")
                == [["isbn13": .string(TestCatalog.isbn(901))]])
    }

    @Test func similarCardsAreOfOtherWorks() async throws {
        let app = try await TestApp.start(catalog: Self.two)
        let reader = try await app.makeReader()
        let similar = "query($id: ID!) { feedCard(id: $id) { similar(first: 100) { isbn13 } } }"
        func isbns(_ number: Int) async throws -> [String] {
            try await reader.requireValue(
                similar, ["id": try await Self.card(number, reader)], "feedCard", "similar"
            ).list?.compactMap { $0["isbn13"]?.string } ?? []
        }
        // By genre: the books that are less popular, one card of each work.
        #expect(try await isbns(904) == [903, 902].map { TestCatalog.isbn($0) })
        #expect(try await isbns(902) == [])
        // Learned: links connect the first records that works ever had.
        try await app.database.execute(
            """
            INSERT INTO edition_similar (edition_id, similar_ids, scores)
            SELECT a.id, ARRAY[b.id], '{1}'
            FROM editions a, editions b
            WHERE (a.isbn13, b.isbn13) IN (
                ('\(TestCatalog.isbn(901))', '\(TestCatalog.isbn(903))'),
                ('\(TestCatalog.isbn(903))', '\(TestCatalog.isbn(901))')
            )
            """)
        #expect(try await isbns(901) == [TestCatalog.isbn(903)])
        #expect(try await isbns(902) == [TestCatalog.isbn(903)])
        #expect(try await isbns(903) == [TestCatalog.isbn(902)])
    }

    @Test func opinionsOfEditionsAreOneSignal() async throws {
        let app = try await TestApp.start(catalog: Self.two)
        let reader = try await app.makeReader()
        let book = try await reader.makeBook([
            "cardId": try await Self.card(902, reader), "status": "READ",
        ])
        _ = try await reader.swipe("LIKE", [try await Self.card(901, reader)])
        try await reader.review(book, rating: 5)
        let signals = try await app.database.text(
            """
            SELECT string_agg(e.isbn13 || ' ' || f.isbn13 || ' ' || s.weight, ',')
            FROM reader_signals s
            JOIN editions e ON e.id = s.edition_id
            JOIN editions f ON f.id = s.founder_id
            """)
        #expect(signals == "\(TestCatalog.isbn(902)) \(TestCatalog.isbn(901)) 1.25")
        try await app.collectSignals()
        #expect(
            try await app.database.count("SELECT count(*) FROM works_to_learn() WHERE is_due") == 1)
        try await app.database.execute(
            """
            UPDATE editions
            SET ratings_count = 0, popularity = 0
            WHERE id IN (SELECT edition_id FROM work_records);
            SELECT refresh_feed()
            """)
        #expect(
            try await app.database.count(
                "SELECT count(*) FROM editions WHERE popularity > ratings_count") == 2)
    }

    // MARK: - Works at sources

    @Test(arguments: [
        (#""workIds":{"open_library":"OL1W"},"#, #""works":[{"key":"/works/OL1W"}],"#),
        (#""goodreads_work_id":77,"#, #""workIds":{"goodreads":"77"},"#),
        (#""ids":{"wikidata":"Q1"},"#, #""workIds":{"wikidata":"Q1"},"#),
    ])
    func editionsWithTheSameWorkAtASourceAreOneWork(one: String, other: String) async throws {
        let app = try await TestApp.start(
            catalog: Self.two + [
                Self.line(911, "The Left Hand of Darkness", members: one),
                Self.line(912, "La mano sinistra delle tenebre", members: other),
            ])
        let reader = try await app.makeReader()
        #expect(try await Self.work(912, reader) == Self.work(901, reader))
        // The catalog may be corrected.
        try await app.database.importCatalog([
            Self.line(
                912, "La mano sinistra delle tenebre",
                members:
                    #""workIds":{"open_library":"OL2W","goodreads":"78","wikidata":"Q2","Bad Name":"1"},"#
            )
        ])
        #expect(try await Self.work(912, reader) != Self.work(901, reader))
    }

    // MARK: - Changing the edition

    private static let change = """
        mutation($id: ID!, $input: UpdateBookInput!) { updateBook(id: $id, input: $input) {
          title isbn13 pageCount currentPage status genre card { isbn13 } review { rating } shelves { id }
        } }
        """

    @Test func bookKeepsEverythingWhenItsEditionChanges() async throws {
        let reader = try await TestApp.start(catalog: Self.two).makeReader()
        let shelf = try await reader.makeShelf("Shelf")
        let book = try await reader.makeBook([
            "cardId": try await Self.card(902, reader), "status": "READ", "shelfIds": [shelf],
            "genre": "My genre",
        ])
        try await reader.review(book, rating: 5)
        _ = try await reader.execute(
            Self.change, ["id": book, "input": ["currentPage": 902]])
        let card = try await Self.card(901, reader)
        let changed = try await reader.requireValue(
            Self.change, ["id": book, "input": ["cardId": card]], "updateBook")
        #expect(
            changed == [
                "title": "The Left Hand of Darkness", "isbn13": .string(TestCatalog.isbn(901)),
                "pageCount": 901, "currentPage": 901, "status": "READ", "genre": "My genre",
                "card": ["isbn13": .string(TestCatalog.isbn(901))], "review": ["rating": 5],
                "shelves": [["id": shelf]],
            ])
        // The values of the input are stronger than those of the card.
        let own = try await reader.requireValue(
            Self.change,
            ["id": book, "input": ["cardId": card, "title": "My title", "pageCount": 950]],
            "updateBook")
        #expect(own["title"] == "My title")
        #expect(own["pageCount"] == 950)
        #expect(own["currentPage"] == 901)
    }

    @Test func editionOfAnotherBookIsAConflict() async throws {
        let reader = try await TestApp.start(catalog: Self.two).makeReader()
        let card = try await Self.card(903, reader)
        let other = try await reader.makeBook(["cardId": card])
        let books = try await reader.makeBooks(2)
        let taken = try await reader.execute(
            Self.change, ["id": books[0], "input": ["cardId": card]])
        #expect(taken.code == "CONFLICT")
        #expect(taken.errors.first?["extensions", "id"] == other)
        for (id, code) in [
            ("0198c0de-0000-7000-8000-00000000dead", "NOT_FOUND"), ("no id", "NOT_FOUND"),
            (.null, "BAD_USER_INPUT"),
        ] as [(Value, String)] {
            let response = try await reader.execute(
                Self.change, ["id": books[0], "input": ["cardId": id]])
            #expect(response.code == code)
        }
        // Of several entries, the first one gets the edition.
        let free = try await Self.card(904, reader)
        let results = try await reader.requireValue(
            """
            mutation($inputs: [UpdateBooksInput!]!) {
              updateBooks(inputs: $inputs) { book { id } error { code field conflictingId } }
            }
            """,
            ["inputs": .list(books.map { ["id": $0, "input": ["cardId": free]] })], "updateBooks")
        #expect(results[0, "book", "id"] == books[0])
        #expect(results[1, "error", "code"] == "CONFLICT")
        #expect(results[1, "error", "conflictingId"] == books[0])
    }
}
