import GraphQL
import Testing

@Suite struct RowLookupTests {
    @Test func rowByID() async throws {
        let response = try await Library.execute(
            """
            { book(id: "\(Library.frankenstein)") { __typename id title pageCount rating isRead tags addedAt label } }
            """)
        #expect(
            response.body == """
                {"data":{"book":{"__typename":"Book","id":"\(Library.frankenstein)","title":"Frankenstein",\
                "pageCount":280,"rating":4.5,"isRead":true,"tags":["gothic","a \\"quoted\\" tag"],\
                "addedAt":"1818-01-01T12:00:00.250Z","label":"Frankenstein, 280 pages"}}}
                """)
        #expect(response.statementCounts == [1])
    }

    @Test func nullCells() async throws {
        let response = try await Library.execute(
            #"{ book(id: "\#(Library.beowulf)") { pageCount rating tags label } }"#)
        #expect(
            response.body
                == #"{"data":{"book":{"pageCount":null,"rating":null,"tags":[],"label":null}}}"#)
    }

    @Test func rowOfTheCaller() async throws {
        let text = "{ me { name } }"
        #expect(try await Library.execute(text).body == #"{"data":{"me":{"name":"Ada"}}}"#)
        #expect(
            try await Library.execute(text, as: Library.ben).body
                == #"{"data":{"me":{"name":"Ben"}}}"#)
        #expect(
            try await Library.execute(text, as: Library.id(0xFF)).body == #"{"data":{"me":null}}"#)
    }

    @Test func selectionOfTypenameOnly() async throws {
        let response = try await Library.execute(
            #"{ book(id: "\#(Library.emma)") { __typename } }"#)
        #expect(response.body == #"{"data":{"book":{"__typename":"Book"}}}"#)
        #expect(
            response.roundTrips == [
                ["SELECT NULL FROM books b WHERE b.user_id = $1 AND b.id = $2"]
            ])
    }

    @Test func textThatIsNotAUUIDFindsNothingWithoutAStatement() async throws {
        let response = try await Library.execute(#"{ book(id: "emma") { title } }"#)
        #expect(response.body == #"{"data":{"book":null}}"#)
        #expect(response.roundTrips == [])
    }

    @Test func missingRowDiscardsTheSpeculativePage() async throws {
        // The author is another user's, but one of that author's books is Ben's, so the page is not empty.
        let response = try await Library.execute(
            """
            { author(id: "\(Library.austen)") { name bookPages { nodes { title } totalCount } books { title } } }
            """, as: Library.ben)
        #expect(response.body == #"{"data":{"author":null}}"#)
        // The lookup, the page, and its total.
        #expect(response.statementCounts == [3])
    }

    @Test func relationsByTheSameIDAreInTheSameStatement() async throws {
        let response = try await Library.execute(
            #"{ author(id: "\#(Library.shelley)") { name books { title pageCount } } }"#)
        #expect(
            response.body == """
                {"data":{"author":{"name":"Shelley","books":[{"title":"Frankenstein","pageCount":280}]}}}
                """)
        #expect(
            response.roundTrips == [
                [
                    """
                    (SELECT (a.name)::text, (a.id)::uuid, (NULL)::int8, 0 FROM authors a \
                    WHERE a.user_id = $1 AND a.id = $2) UNION ALL \
                    (SELECT (b.title)::text, (NULL)::uuid, (b.page_count)::int8, 1 FROM books b \
                    WHERE b.user_id = $1 AND b.author_id = $2 ORDER BY b.title, b.id)
                    """
                ]
            ])
    }

    @Test func relationUnderTwoNamesIsInTheSameStatement() async throws {
        let response = try await Library.execute(
            """
            { book(id: "\(Library.frankenstein)") { title first: review { text } second: review { id text } } }
            """)
        #expect(
            response.body == """
                {"data":{"book":{"title":"Frankenstein","first":{"text":"Alive"},\
                "second":{"id":"\(Library.id(0xC6))","text":"Alive"}}}}
                """)
        #expect(response.statementCounts == [1])
    }

    @Test func rowsOfAUnionKeepTheirOrder() async throws {
        let response = try await Library.execute(
            #"{ author(id: "\#(Library.austen)") { books { title id } } }"#)
        let books = try response.value["data"]?["author"]?["books"]?.list ?? []
        #expect(
            books.map { $0["title"]?.string } == [
                "Emma", "Emma", "Lady Susan", "Persuasion", "Sanditon",
            ])
        #expect(books.first?["id"]?.string == Library.emma.description)
    }

    @Test func missingRelatedRowsOfAUnion() async throws {
        let author = try await Library.execute(
            #"{ author(id: "\#(Library.bronte)") { name books { title } } }"#)
        #expect(author.body == #"{"data":{"author":{"name":"Brontë","books":[]}}}"#)
        let book = try await Library.execute(
            #"{ book(id: "\#(Library.beowulf)") { title review { text } author { name } } }"#)
        #expect(
            book.body == #"{"data":{"book":{"title":"Beowulf","review":null,"author":null}}}"#)
        // A book without an author needs no statement for it.
        #expect(book.statementCounts == [1])
    }

    /// Two users with rows of the same shape see only their own, through every kind of field.
    @Test func rowsOfOtherUsersAreNeverVisible() async throws {
        for (caller, id) in [(Library.ada, Library.orlando), (Library.ben, Library.emma)] {
            let book = try await Library.execute(#"{ book(id: "\#(id)") { title } }"#, as: caller)
            #expect(book.body == #"{"data":{"book":null}}"#)
        }
        // A relation of one object: Ben's book has an author of Ada's.
        let book = try await Library.execute(
            #"{ book(id: "\#(Library.pride)") { title author { name } } }"#, as: Library.ben)
        #expect(
            book.body == #"{"data":{"book":{"title":"Pride and Prejudice","author":null}}}"#)
        // Ben has written a review of Ada's book.
        let review = try await Library.execute(
            #"{ book(id: "\#(Library.frankenstein)") { review { text } } }"#)
        #expect(review.body == #"{"data":{"book":{"review":{"text":"Alive"}}}}"#)
        // A list and a page, through a lookup and through a relation.
        for text in [
            """
            { author(id: "\(Library.austen)") { books { title } bookPages { nodes { title } totalCount } } }
            """, "{ me { authors { books { title } bookPages { nodes { title } totalCount } } } }",
        ] {
            let response = try await Library.execute(text)
            #expect(response.body.contains("Sanditon"))
            #expect(response.body.contains(#""totalCount":5"#))
            #expect(!response.body.contains("Pride"))
            #expect(!response.body.contains("Orlando"))
        }
    }
}
