import GraphQL
import Testing

/// Objects that consist of columns of their parent's row (`RowField.embedded`).
@Suite struct EmbeddedObjectTests {
    @Test func objectOfALookupNeedsNoStatement() async throws {
        let response = try await Library.execute(
            """
            { book(id: "\(Library.frankenstein)") { title print { __typename label pages: pageCount } } }
            """)
        #expect(
            response.body == """
                {"data":{"book":{"title":"Frankenstein","print":{"__typename":"Print",\
                "label":"Frankenstein, 280 pages","pages":280}}}}
                """)
        #expect(
            response.roundTrips == [
                ["SELECT b.title, b.page_count FROM books b WHERE b.user_id = $1 AND b.id = $2"]
            ])
    }

    /// Only the selected columns are read, and each selection of the same object has columns of its own.
    @Test func objectsOfAListNeedNoStatement() async throws {
        let response = try await Library.execute(
            """
            { author(id: "\(Library.shelley)") { bookPages {
              nodes { a: print { pageCount } b: print { label } }
              edges { node { print { label } } }
            } } }
            """)
        #expect(
            response.body == """
                {"data":{"author":{"bookPages":{"nodes":[{"a":{"pageCount":280},\
                "b":{"label":"Frankenstein, 280 pages"}}],\
                "edges":[{"node":{"print":{"label":"Frankenstein, 280 pages"}}}]}}}}
                """)
        #expect(response.statementCounts == [2])
    }

    @Test func selectionOfTypenameOnlyNeedsNoColumn() async throws {
        let response = try await Library.execute(
            #"{ book(id: "\#(Library.emma)") { print { __typename } } }"#)
        #expect(response.body == #"{"data":{"book":{"print":{"__typename":"Print"}}}}"#)
    }

    @Test func missingRowHasNoObject() async throws {
        let response = try await Library.execute(
            #"{ book(id: "\#(Library.orlando)") { print { label author { name } } } }"#)
        #expect(response.body == #"{"data":{"book":null}}"#)
    }

    /// A relation of the embedded object is loaded by the parent's columns, for all parents at once.
    @Test func relationsOfAnEmbeddedObject() async throws {
        let response = try await Library.execute(
            """
            { author(id: "\(Library.austen)") { books { title print { author { name } } } } }
            """)
        let books = try response.value["data"]?["author"]?["books"]?.list ?? []
        #expect(books.count == 5)
        #expect(books.allSatisfy { $0["print"]?["author"]?["name"]?.string == "Austen" })
        #expect(response.statementCounts == [1, 1])
    }
}
