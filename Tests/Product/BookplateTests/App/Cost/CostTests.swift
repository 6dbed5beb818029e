import BookSources
import GraphQL
import TestSupport
import Testing

/// The number of statements and round trips of requests. It depends on the depth of the query and not on the number of rows.
///
/// Each round trip starts with one statement that sets the caller. Each relation adds one statement, and so does
/// `totalCount`. Statements that need only a known ID are sent with the level above. The relations of a single row that is
/// looked up by ID are read by the same statement as the row.
@Suite struct CostTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let query: String
        let statements: Int
        let roundTrips: Int

        var testDescription: String { name }
    }

    static let cases = [
        Case(name: "nothing", query: "{ __typename }", statements: 0, roundTrips: 0),
        Case(
            name: "introspection", query: "{ __schema { types { name fields { name } } } }",
            statements: 0,
            roundTrips: 0),
        Case(name: "me", query: "{ me { id displayName } }", statements: 2, roundTrips: 1),
        Case(
            name: "siblings",
            query: "{ me { id } a: genres { id } b: genres { id } me2: me { email } }",
            statements: 5,
            roundTrips: 1),
        Case(
            name: "book", query: "query($book: ID!) { book(id: $book) { title author } }",
            statements: 2,
            roundTrips: 1),
        Case(
            name: "book with relations",
            query: """
                query($book: ID!) { book(id: $book) {
                  title shelves { name } review { rating } card { title }
                } }
                """, statements: 4, roundTrips: 2),
        Case(
            name: "library",
            query: """
                { me { shelves { name bookCount books(first: 20) {
                  totalCount nodes { title review { rating text } shelves { name } }
                } } } }
                """, statements: 8, roundTrips: 3),
        Case(
            name: "books with their cards",
            query: """
                { me { books(first: 100) {
                  totalCount edges { cursor node { title card { title inLibrary { id } } } }
                  pageInfo { hasNextPage endCursor }
                } } }
                """, statements: 8, roundTrips: 3),
        Case(
            name: "books with images",
            query: """
                { me { books(first: 100) { nodes {
                  image { url width height dominantColor blurHash kind source updatedAt }
                } } } }
                """, statements: 3, roundTrips: 1),
        Case(
            name: "works and series",
            query: """
                { me {
                  books(first: 100) { nodes {
                    work { title inLibrary { id } editions(first: 2) { nodes { id } } }
                    series { series { name bookCount } position }
                  } }
                  series(first: 10) { nodes { series { name } booksRead next { title } } }
                } }
                """, statements: 10, roundTrips: 3),
        Case(
            name: "reviews and statistics",
            query: """
                { me { reviews(first: 100) { totalCount nodes { rating book { title } } }
                  stats { bookCount averageRating readByYear { year bookCount } } } }
                """, statements: 7, roundTrips: 2),
        Case(
            name: "the same list twice",
            query: """
                { me { shelves { a: books(first: 1) { nodes { title } } b: books(first: 2) { nodes { title } } } } }
                """, statements: 5, roundTrips: 2),
        // With a deck.
        Case(
            name: "feed", query: "{ feed(first: 10) { nodes { id title author hook } } }",
            statements: 2, roundTrips: 1),
        Case(
            name: "feed with images and genres",
            query: """
                { feed(first: 10) { nodes {
                  image { url width height dominantColor blurHash kind source updatedAt } genres { id name bookCount }
                } } }
                """, statements: 2, roundTrips: 1),
        Case(
            name: "feed with links and copies",
            query: "{ feed(first: 10) { nodes { id purchaseLinks { url } inLibrary { title } } } }",
            statements: 5, roundTrips: 2),
        Case(
            name: "feed with similar books",
            query:
                "{ feed(first: 10) { nodes { id similar(first: 3) { title inLibrary { id } } } } }",
            statements: 6, roundTrips: 3),
        Case(
            name: "feed of one genre",
            query:
                #"{ feed(first: 10, genres: ["Horror"]) { nodes { id } pageInfo { endCursor } } }"#,
            statements: 2, roundTrips: 1),
        Case(
            name: "card",
            query: "query($card: ID!) { feedCard(id: $card) { title inLibrary { id } } }",
            statements: 2, roundTrips: 1),
        Case(
            name: "node", query: "query($book: ID!) { node(id: $book) { __typename id } }",
            statements: 14, roundTrips: 1),
        Case(
            name: "nodes with relations",
            query: """
                query($ids: [ID!]!) { nodes(ids: $ids) {
                  ... on Book { title review { rating } } ... on Shelf { books { nodes { title } } }
                } }
                """, statements: 17, roundTrips: 2),
    ]

    /// A library of one book on one shelf, and one of five shelves with twenty books each.
    private static let libraries = Shared {
        let app = try await TestApp.start(catalog: TestCatalog.lines(200))
        // Fill the cache of the catalog's genres, which is valid for one minute.
        _ = try await app.makeReader().feedCards(1)
        return [
            "small": try await library(app, shelves: 1, books: 1),
            "large": try await library(app, shelves: 5, books: 20),
        ]
    }

    private struct Library: Sendable {
        let reader: TestReader
        let shelves: [Value]
        let books: [Value]
        let card: Value
    }

    private static func library(_ app: TestApp, shelves: Int, books: Int) async throws -> Library {
        let reader = try await app.makeReader()
        let cards = try await reader.feedCards(shelves * books)
        var shelfIDs: [Value] = []
        var bookIDs: [Value] = []
        for number in 0..<shelves {
            let shelf = try await reader.makeShelf("Shelf \(number)")
            shelfIDs.append(shelf)
            for card in cards[(number * books)..<((number + 1) * books)] {
                let book = try await reader.makeBook([
                    "cardId": card["id"] ?? .null, "status": "READ", "shelfIds": [shelf],
                ])
                try await reader.review(book, text: "Words")
                bookIDs.append(book)
            }
        }
        return Library(
            reader: reader, shelves: shelfIDs, books: bookIDs, card: cards[0]["id"] ?? .null)
    }

    @Test(arguments: cases, ["small", "large"])
    func costDependsOnlyOnTheQuery(query: Case, size: String) async throws {
        let library = try #require(try await Self.libraries()[size])
        // The first request builds the deck.
        if query.query.contains("feed(") { _ = try await library.reader.execute(query.query) }
        let response = try await library.reader.execute(
            query.query,
            [
                "book": library.books[0], "card": library.card,
                "ids": .list(Array((library.shelves + library.books).prefix(100))),
            ])
        #expect(response.errors.isEmpty, "\(response.json)")
        #expect(response.statements == query.statements)
        #expect(response.roundTrips == query.roundTrips)
    }

    /// A new reader's lists are empty, so the relations below them are not queried.
    @Test(arguments: cases)
    func relationsOfEmptyListsAreNotQueried(query: Case) async throws {
        let app = try #require(try await Self.libraries()["small"]).reader.app
        let absent: Value = "0198c0de-0000-7000-8000-00000000dead"
        let reader = try await app.makeReader()
        if query.query.contains("feed(") { _ = try await reader.execute(query.query) }
        let response = try await reader.execute(
            query.query, ["book": absent, "card": absent, "ids": [absent]])
        #expect(response.errors.isEmpty)
        #expect(response.statements <= query.statements)
        #expect(response.roundTrips <= query.roundTrips)
    }

    /// The first statement starts the request, and prepares the wait for a synchronous standby.
    static let mutations = [
        Case(
            name: "shelf", query: #"mutation { createShelf(input: {name: "New"}) { id } }"#,
            statements: 4,
            roundTrips: 1),
        Case(
            name: "status",
            query:
                "mutation($book: ID!) { updateBook(id: $book, input: {status: READING}) { id status } }",
            statements: 2, roundTrips: 1),
        Case(
            name: "status with relations",
            query: """
                mutation($book: ID!) { updateBook(id: $book, input: {status: READ}) {
                  id shelves { name } review { rating }
                } }
                """, statements: 5, roundTrips: 2),
        Case(
            name: "review",
            query: """
                mutation($book: ID!) { reviewBook(id: $book, input: {rating: 2}) { id rating } }
                """, statements: 4, roundTrips: 1),
        Case(
            name: "swipe",
            query: """
                mutation($card: ID!) { recordSwipes(inputs: [{cardId: $card, action: SKIP}]) { recorded } }
                """, statements: 3, roundTrips: 1),
        Case(
            name: "profile",
            query: #"mutation { updateProfile(input: {displayName: "N"}) { id } }"#,
            statements: 3, roundTrips: 1),
        Case(
            name: "delete", query: "mutation($book: ID!) { deleteBook(id: $book) { id } }",
            statements: 3,
            roundTrips: 1),
        Case(
            name: "restore", query: "mutation($book: ID!) { restoreBook(id: $book) { id } }",
            statements: 5, roundTrips: 1),
    ]

    /// A mutation and reading its result need one round trip, and one more for each further level.
    @Test func mutationsNeedOneRoundTrip() async throws {
        let app = try await TestApp.start()
        _ = try await app.makeReader().feedCards(1)
        let library = try await Self.library(app, shelves: 1, books: 2)
        for mutation in Self.mutations {
            let response = try await library.reader.execute(
                mutation.query, ["book": library.books[0], "card": library.card])
            #expect(response.errors.isEmpty, "\(response.json)")
            #expect(response.statements == mutation.statements, "\(mutation.name)")
            #expect(response.roundTrips == mutation.roundTrips, "\(mutation.name)")
        }
    }

    /// The number of round trips does not depend on the size of a batch.
    @Test(arguments: [1, 50])
    func roundTripsDoNotDependOnTheSizeOfABatch(count: Int) async throws {
        let app = try await TestApp.start(catalog: TestCatalog.lines(120))
        let reader = try await app.makeReader()
        let cards = try await reader.feedCards(count).map { $0["id"] ?? .null }
        let swipes = try await reader.swipe("SKIP", cards)
        #expect(swipes.statements == 3)
        #expect(swipes.roundTrips == 1)
        let books = try await reader.execute(
            "mutation($i: [CreateBookInput!]!) { createBooks(inputs: $i) { book { title } error { code } } }",
            ["i": .list(cards.map { ["cardId": $0] })])
        #expect(books.statements == 1 + count + 3)
        #expect(books.roundTrips == 2)

        let ids = try await reader.requireValue(
            "{ me { books(first: 50) { nodes { id } } } }", .null, "me", "books", "nodes"
        ).values(of: "id").prefix(count)
        let shelf = try await reader.makeShelf("Shelf")
        // Each starts with one statement, and reads the books or shelves with one in a second round trip.
        let updates = try await reader.execute(
            "mutation($i: [UpdateBooksInput!]!) { updateBooks(inputs: $i) { book { title } error { code } } }",
            [
                "i": .list(
                    ids.map { ["id": $0, "input": ["currentPage": 1, "shelfIds": [shelf]]] })
            ])
        #expect(updates.statements == 4 && updates.roundTrips == 2, "\(updates.json)")
        let moves = try await reader.execute(
            "mutation($i: [MoveBooksInput!]!) { moveBooks(inputs: $i) { book { title } error { code } } }",
            ["i": .list(ids.map { ["id": $0, "input": ["to": shelf]] })])
        #expect(moves.statements == 4 && moves.roundTrips == 2, "\(moves.json)")
        let deletions = try await reader.execute(
            "mutation($i: [ID!]!) { deleteBooks(ids: $i) { id shelves { name } error { code } } }",
            ["i": .list(Array(ids))])
        #expect(deletions.statements == 5 && deletions.roundTrips == 2, "\(deletions.json)")
    }

    /// An app can load a full page with all that it shows of a card.
    @Test func aPageOf100CardsWithTheirListsIsWithinTheLimits() async throws {
        let reader = try await TestApp.start().makeReader()
        let response = try await reader.execute(
            """
            {
              feed(first: 100) { nodes {
                id title authors { id name role bio } genres { id name } image { url blurHash }
                purchaseLinks { url bookstore { id name } } inLibrary { id status }
                similar(first: 5) { id title authors { name } image { url } }
              } pageInfo { endCursor } }
            }
            """)
        #expect(response.errors.isEmpty, "\(response.json)")
    }

    /// The search for covers is enqueued with the books: one more statement for a batch of any size, and no more round trips.
    @Test func coverSearchesAreEnqueuedWithOneStatement() async throws {
        var costs: [[Int]] = []
        for sources in [SourceChain([]), SourceChain([TestSource().source(.openLibrary)])] {
            let app = try await TestApp.start(
                catalog: TestCatalog.lines(120), coverSources: CoverSources(sources))
            let reader = try await app.makeReader()
            let cards = try await reader.feedCards(60).map { $0["id"] ?? .null }
            let responses = [
                try await reader.execute(
                    #"mutation { createBook(input: {title: "New"}) { coverStatus } }"#),
                try await reader.execute(
                    "mutation($i: [CreateBookInput!]!) { createBooks(inputs: $i) { error { code } } }",
                    ["i": .list(cards.prefix(50).map { ["cardId": $0] })]),
                try await reader.swipe("LIKE", Array(cards.suffix(10))),
                try await reader.swipe("SKIP", Array(cards.suffix(10))),
            ]
            for response in responses { #expect(response.errors.isEmpty, "\(response.json)") }
            costs.append(responses.flatMap { [$0.statements, $0.roundTrips] })
        }
        #expect(zip(costs[1], costs[0]).map { $0 - $1 } == [1, 0, 1, 0, 1, 0, 0, 0])
        #expect(costs[1][1] == 1)
    }
}
