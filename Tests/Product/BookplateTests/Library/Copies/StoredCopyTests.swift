import GraphQL
import TestSupport
import Testing

@testable import Bookplate

/// Copies that come from an archive or from a deleted book.
@Suite struct StoredCopyTests {
    static let app = Shared { try await TestApp.start(catalog: []) }

    private static let copies =
        "query($id: ID!) { book(id: $id) { copies { id place loan { borrower } pastLoans { returnedOn } } } }"

    private func copies(_ book: Value, _ reader: TestReader) async throws -> Value {
        try await reader.requireValue(Self.copies, ["id": book], "book", "copies")
    }

    /// Returns an archive with one book and its copies.
    private func archive(_ book: Value, copies: String) -> [UInt8] {
        Array(
            """
            {"format":"bookplate library","version":1,"books":[
            {"id":"\(book.string ?? "")","title":"Book","status":"READ","copies":[\(copies)]}]}
            """.utf8)
    }

    private func id(_ number: Int) -> String { "0198c0de-0000-7000-8000-0000000001\(number)" }

    /// The copies for which there is room are added, and the number of the others is reported.
    @Test func importReportsCopiesBeyondTheLimit() async throws {
        let reader = try await Self.app().makeReader()
        let book = try await reader.makeBook("Book")
        for number in 1...18 {
            _ = try await reader.requireValue(
                CopyTests.create,
                ["input": ["bookId": book, "place": .string("Own \(number)")]], "createCopy")
        }
        let file = archive(
            book,
            copies: (10...15).map { #"{"id":"\#(id($0))","place":"Place \#($0)"}"# }
                .joined(separator: ","))
        let round = ImportRoundTripTests()
        for _ in 0..<2 {
            let result = try await round.imported(reader, file)
            #expect(
                result["failed"] == [
                    [
                        "line": 1, "field": "copies",
                        "message":
                            "A book has at most 20 copies. The number of copies that were left out: 4.",
                    ]
                ], "\(result)")
            let places = try await copies(book, reader).values(of: "place")
            #expect(places.count == 20 && places.suffix(2) == ["Place 10", "Place 11"])
        }
    }

    /// A file that only counts copies adds none to a book that has some. This is not a failure.
    @Test func countedCopiesAreAddedToBooksWithoutCopiesOnly() async throws {
        let reader = try await Self.app().makeReader()
        let owned = try await reader.makeBook("Owned")
        _ = try await reader.requireValue(
            CopyTests.create, ["input": ["bookId": owned]], "createCopy")
        let file = """
            Title,Author,Exclusive Shelf,Owned Copies
            Owned,,read,30
            New,,read,3
            """
        let result = try await ImportRoundTripTests().imported(reader, Array(file.utf8))
        #expect(result["failed"] == [], "\(result)")
        #expect(try await copies(owned, reader).list?.count == 1)
        let books = try await reader.requireValue(
            "{ me { books(search: \"New\") { nodes { copies { id } } } } }", .null, "me", "books",
            "nodes")
        #expect(books[0, "copies"]?.list?.count == 3)
    }

    @Test func importLeavesOutReversedDatesOfLoans() async throws {
        let reader = try await Self.app().makeReader()
        let book: Value = "0198c0de-0000-7000-8000-000000000177"
        let file = archive(
            book,
            copies: """
                {"id":"\(id(20))","loan":{"borrower":"Ada","lentOn":"2026-03","dueOn":"2026-02"},
                "pastLoans":[{"borrower":"Bo","lentOn":"2020","returnedOn":"2019-12-31"}]}
                """)
        let result = try await ImportRoundTripTests().imported(reader, file)
        #expect(result["failed"]?.values(of: "field") == ["returnedOn", "dueOn"], "\(result)")
        #expect(
            try await copies(book, reader) == [
                [
                    "id": .string(id(20)), "place": .null, "loan": ["borrower": "Ada"],
                    "pastLoans": [["returnedOn": .null]],
                ]
            ])
    }

    /// Another book may have got a copy with the id of a copy of the deleted book.
    @Test func restoredCopyWhoseIDIsTakenGetsAnotherOne() async throws {
        let reader = try await Self.app().makeReader()
        let (book, other) = (try await reader.makeBook("Book"), try await reader.makeBook("Other"))
        for (number, place) in [(30, "Hall"), (31, "Attic")] {
            _ = try await reader.requireValue(
                CopyTests.create,
                [
                    "input": [
                        "id": .string(id(number)), "bookId": book, "place": .string(place),
                    ]
                ], "createCopy")
        }
        _ = try await reader.requireValue(RestoreBookTests.delete, ["id": book], "deleteBook")
        let taken = try await reader.requireValue(
            CopyTests.create,
            ["input": ["id": .string(id(30)), "bookId": other, "place": "Desk"]], "createCopy",
            "id")
        _ = try await reader.requireValue(RestoreBookTests.restore, ["id": book], "restoreBook")
        let restored = try await copies(book, reader)
        #expect(Set(restored.values(of: "place").compactMap(\.string)) == ["Hall", "Attic"])
        let ids = restored.values(of: "id")
        #expect(ids.contains(.string(id(31))) && !ids.contains(taken))
        #expect(try await copies(other, reader).values(of: "place") == ["Desk"])
    }
}
