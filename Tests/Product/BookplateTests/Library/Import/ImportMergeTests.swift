import GraphQLServing
import GraphQL
import Postgres
import TestBasics
import TestSupport
import Testing

@testable import Bookplate

/// Records of books that the library has, and of books that a file has twice.
extension ImportLibraryTests {
    private static let readOfBook = """
        query($book: ID!) { book(id: $book) { status currentRead { id }
          reads { nodes { startedOn finishedOn outcome } } } }
        """

    /// The file was exported while the book was being read. Since then it was finished in the app.
    @Test func oldFileDoesNotReopenFinishedBooks() async throws {
        let app = try await TestApp.start(catalog: [])
        let reader = try await app.makeReader()
        let file = Array(
            """
            Book Id,Title,Author,My Rating,Exclusive Shelf,Date Added
            1,Dune,Frank Herbert,0,currently-reading,2021/01/01
            """.utf8)
        #expect(try await imported(reader, file)["created"] == 1)
        let book = try await reader.requireValue(
            "{ me { books { nodes { id } } } }", .null, "me", "books", "nodes", 0, "id")
        _ = try await reader.execute(
            UpdateBookTests.update, ["id": book, "input": ["status": "READ"]])
        let before = try await reader.requireValue(Self.readOfBook, ["book": book], "book")
        #expect(before["currentRead"] == .null)
        #expect(before["reads", "nodes", 0, "finishedOn"]?.string != nil)
        let again = try await imported(reader, file)
        #expect(again["created"] == 0 && again["updated"] == 0, "\(again)")
        #expect(try await reader.requireValue(Self.readOfBook, ["book": book], "book") == before)
    }

    @Test func readingOfThePastDoesNotEndTheCurrentOne() async throws {
        let app = try await TestApp.start(catalog: [])
        let reader = try await app.makeReader()
        let book = try await reader.requireValue(
            """
            mutation { createBook(input: {title: "Dune", authors: [{name: "Frank Herbert"}],
              reads: [{startedOn: "2024-10-01", outcome: READING}]}) { id } }
            """, .null, "createBook", "id")
        let file = Array(
            """
            Book Id,Title,Author,My Rating,Exclusive Shelf,Date Read
            1,Dune,Frank Herbert,0,read,2019/03/01
            """.utf8)
        _ = try await imported(reader, file)
        let merged = try await reader.requireValue(Self.readOfBook, ["book": book], "book")
        #expect(merged["status"] == "READING")
        #expect(
            merged["reads", "nodes"] == [
                ["startedOn": "2024-10-01", "finishedOn": .null, "outcome": "READING"],
                ["startedOn": .null, "finishedOn": "2019-03-01", "outcome": "FINISHED"],
            ])
    }

    /// Records of one book are in one transaction and in the next. The first creates the book, the others complete it. Only
    /// the one in the next transaction counts as an update.
    @Test func recordsOfTheSameBookAreMerged() async throws {
        let app = try await TestApp.start()
        let reader = try await app.makeReader()
        let isbn = TestCatalog.isbn(3)
        let others = (1...510).map { "Other \($0),A,,4,read,here," }.joined(separator: "\n")
        let text = """
            Title,Author,ISBN13,My Rating,Exclusive Shelf,Bookshelves,My Review
            Dune,Frank Herbert,,0,to-read,here,
            dune,,,5,read,"here, there",Words
            Card 3,Author 3,,0,to-read,,
            By its number,,\(isbn),0,read,,
            By its number again,,\(isbn),3,read,there,
            \(others)
            DUNE,frank herbert,,1,read,"there, last",Other words
            """
        let result = try await imported(reader, Array(text.utf8))
        #expect(result["created"] == 513 && result["updated"] == 1, "\(result)")
        #expect(result["done"] == 516)
        // A book has one title and one review.
        #expect(result["failed"]?.values(of: "field") == ["title", "rating", "review"])
        #expect(result["failed"]?.values(of: "line") == [6, 517, 517])
        let books = try await reader.requireValue(
            "{ me { books(search: \"dune\") { nodes { title status shelves { name } review { rating text } } } } }",
            .null, "me", "books", "nodes")
        #expect(
            books == [
                [
                    "title": "Dune", "status": "READ",
                    "shelves": [["name": "here"], ["name": "there"], ["name": "last"]],
                    "review": ["rating": 5, "text": "Words"],
                ]
            ])
        let numbered = try await reader.requireValue(
            "query($s: String!) { me { books(search: $s) { nodes { title review { rating } card { title } } } } }",
            ["s": .string(isbn)], "me", "books", "nodes")
        #expect(
            numbered == [
                [
                    "title": "By its number", "review": ["rating": 3],
                    "card": ["title": "Card 3"],
                ]
            ])
    }
}
