import GraphQL
import TestSupport
import Testing

@testable import Bookplate

/// Requests with IDs of another user's objects get the same responses as with IDs that do not exist.
@Suite struct ForeignIDTests {
    static let app = Shared { try await TestApp.start() }

    private static let absent = "0198c0de-0000-7000-8000-00000000dead"

    /// Operations with a `$shelf`, `$book`, `$review`, `$read`, `$entry`, `$note`, `$copy`, `$loan`, `$scan`, `$token`, `$document`,
    /// `$identity`, `$app`, `$link`, or `$user` of another user. `$myShelf` and
    /// `$myBook` belong to the caller.
    static let operations = [
        "query($shelf: ID!) { shelf(id: $shelf) { id name bookCount books { totalCount } } }",
        "query($book: ID!) { book(id: $book) { id title review { rating } shelves { name } } }",
        "query($shelf: ID!) { node(id: $shelf) { __typename id } }",
        "query($book: ID!) { node(id: $book) { __typename id } }",
        "query($review: ID!) { node(id: $review) { __typename id ... on Review { text } } }",
        "query($user: ID!) { node(id: $user) { __typename id ... on User { email } } }",
        "mutation($session: ID!) { signOut(id: $session) { endedSessions } }",
        "query($a: ID!, $book: ID!) { nodes(ids: [$book, $a]) { id } }",
        "query($shelf: ID!) { me { books(shelfId: $shelf) { totalCount nodes { id } } } }",
        "query($book: ID!) { feedCard(id: $book) { id } }",
        #"mutation($shelf: ID!) { createShelf(input: {id: $shelf, name: "Mine"}) { id name } }"#,
        #"mutation($shelf: ID!) { updateShelf(id: $shelf, input: {name: "Mine"}) { id name } }"#,
        "mutation($shelf: ID!) { updateShelf(id: $shelf, input: {position: 0}) { id name } }",
        "mutation($shelf: ID!) { deleteShelf(id: $shelf) { id } }",
        "mutation($shelf: ID!) { deleteShelf(id: $shelf, input: {books: DELETE}) { id } }",
        "mutation($shelf: ID!, $myShelf: ID!) { deleteShelf(id: $shelf, input: {books: MOVE, moveTo: $myShelf}) { id } }",
        "mutation($shelf: ID!, $myShelf: ID!) { deleteShelf(id: $myShelf, input: {books: MOVE, moveTo: $shelf}) { id } }",
        #"mutation($book: ID!) { createBook(input: {id: $book, title: "Mine"}) { id title status } }"#,
        #"mutation($shelf: ID!) { createBook(input: {title: "Mine", shelfIds: [$shelf]}) { title } }"#,
        "mutation($book: ID!) { createBook(input: {cardId: $book}) { title } }",
        """
        mutation($book: ID!, $shelf: ID!) { createBooks(inputs: [
          {id: $book, title: "Mine"} {title: "Mine", shelfIds: [$shelf]}
        ]) { book { id title } error { code message field } } }
        """,
        #"mutation($book: ID!) { updateBook(id: $book, input: {title: "Mine"}) { id title } }"#,
        "mutation($book: ID!) { updateBook(id: $book, input: {}) { id title } }",
        "mutation($book: ID!, $myShelf: ID!) { updateBook(id: $book, input: {shelfIds: [$myShelf]}) { id } }",
        "mutation($myBook: ID!, $shelf: ID!) { updateBook(id: $myBook, input: {shelfIds: [$shelf]}) { title } }",
        "mutation($book: ID!, $myShelf: ID!) { moveBook(id: $book, input: {to: $myShelf}) { book { id } } }",
        "mutation($myBook: ID!, $shelf: ID!) { moveBook(id: $myBook, input: {to: $shelf}) { book { title } } }",
        """
        mutation($myBook: ID!, $myShelf: ID!, $shelf: ID!) {
          moveBook(id: $myBook, input: {to: $myShelf, from: $shelf}) { book { title shelves { name } } }
        }
        """,
        "mutation($book: ID!, $myShelf: ID!) { placeBook(id: $book, input: {shelfId: $myShelf}) { id } }",
        "mutation($myBook: ID!, $shelf: ID!) { placeBook(id: $myBook, input: {shelfId: $shelf}) { id } }",
        """
        mutation($myBook: ID!, $myShelf: ID!, $book: ID!) {
          placeBook(id: $myBook, input: {shelfId: $myShelf, before: $book}) { books(orderBy: SHELF) { nodes { title } } }
        }
        """,
        "mutation($shelf: ID!) { updateShelf(id: $shelf, input: {isUpNext: true}) { id name } }",
        "mutation($book: ID!) { deleteBook(id: $book) { id } }",
        """
        mutation($book: ID!, $myBook: ID!, $shelf: ID!) { updateBooks(inputs: [
          {id: $book, input: {title: "Mine"}} {id: $myBook, input: {shelfIds: [$shelf]}}
        ]) { book { id title } error { code message field } } }
        """,
        """
        mutation($book: ID!, $myBook: ID!, $shelf: ID!, $myShelf: ID!) { moveBooks(inputs: [
          {id: $book, input: {to: $myShelf}} {id: $myBook, input: {to: $shelf}}
        ]) { book { id } leftShelves { id } error { code message field } } }
        """,
        "mutation($book: ID!) { deleteBooks(ids: [$book]) { id shelves { id } error { code } } }",
        "mutation($book: ID!) { restoreBook(id: $book) { id title } }",
        "mutation($book: ID!) { reviewBook(id: $book, input: {rating: 1}) { id } }",
        "mutation($book: ID!) { deleteReview(id: $book) { book { id } } }",
        "mutation($book: ID!) { recordSwipes(inputs: [{cardId: $book, action: LIKE}]) { recorded saved { id } } }",
        "mutation($book: ID!) { undoSwipe(input: {cardId: $book}) { card { id } } }",
        #"mutation($book: ID!) { setCover(id: $book, input: {url: "http://127.0.0.1:1/"}) { id } }"#,
        "mutation($book: ID!) { removeCover(id: $book) { id image { url } } }",
        "query($read: ID!) { node(id: $read) { __typename id ... on Read { note } } }",
        "query($entry: ID!) { node(id: $entry) { __typename id ... on ProgressEntry { note } } }",
        "mutation($book: ID!) { startRead(id: $book) { id outcome } }",
        #"mutation($myBook: ID!, $read: ID!) { startRead(id: $myBook, input: {id: $read}) { outcome } }"#,
        #"mutation($read: ID!) { updateRead(id: $read, input: {note: "Mine"}) { id note } }"#,
        "mutation($read: ID!) { finishRead(id: $read) { id note } }",
        "mutation($read: ID!) { deleteRead(id: $read) { id book { id } } }",
        """
        mutation($read: ID!, $entry: ID!) { logProgress(inputs: [
          {readId: $read, percent: 7} {id: $entry, readId: $read, percent: 7}
        ]) { entry { id note } error { code message field } } }
        """,
        #"mutation($entry: ID!) { updateProgress(id: $entry, input: {note: "Mine"}) { id note } }"#,
        "mutation($entry: ID!) { deleteProgress(id: $entry) { id read { id } } }",
        "query($goal: ID!) { node(id: $goal) { __typename id ... on ReadingGoal { target } } }",
        """
        mutation($goal: ID!) { setReadingGoal(input: {id: $goal, year: 2019, target: 9}) { year target progress } }
        """,
        "mutation($goal: ID!) { deleteReadingGoal(id: $goal) { id } }",
        "query($note: ID!) { node(id: $note) { __typename id ... on Note { text } } }",
        #"mutation($book: ID!) { createNote(input: {bookId: $book, text: "Mine"}) { id book { title } } }"#,
        #"mutation($myBook: ID!, $note: ID!) { createNote(input: {id: $note, bookId: $myBook, text: "Mine"}) { text comment } }"#,
        """
        mutation($book: ID!, $myBook: ID!, $note: ID!) { createNotes(inputs: [
          {bookId: $book, text: "Mine"} {id: $note, bookId: $myBook, text: "Mine"}
        ]) { note { text comment } error { code message field } } }
        """,
        #"mutation($note: ID!) { updateNote(id: $note, input: {comment: "Mine"}) { id text } }"#,
        "mutation($note: ID!) { deleteNote(id: $note) { id book { id } } }",
        #"mutation($book: ID!) { createCopy(input: {bookId: $book, place: "Mine"}) { id } }"#,
        #"mutation($myBook: ID!, $copy: ID!) { createCopy(input: {id: $copy, bookId: $myBook, place: "Mine"}) { id place } }"#,
        #"mutation($copy: ID!) { updateCopy(id: $copy, input: {place: "Mine"}) { id place } }"#,
        "mutation($copy: ID!) { deleteCopy(id: $copy) { id book { id } } }",
        #"mutation($copy: ID!, $loan: ID!) { lendCopy(id: $copy, input: {id: $loan, borrower: "Me"}) { id } }"#,
        "mutation($copy: ID!, $loan: ID!) { returnCopy(id: $copy, input: {loanId: $loan}) { id } }",
        #"mutation($scan: ID!) { recordScans(inputs: [{id: $scan, isbn: "9780140328721"}]) { scan { outcome } error { code } } }"#,
        "mutation($scan: ID!) { deleteScan(id: $scan) { id } }",
        "mutation($token: ID!) { revokeAccessToken(id: $token) { id } }",
        "mutation($app: ID!) { revokeAuthorizedApp(id: $app) { id } }",
        "query($book: ID!) { author(id: $book) { name } }",
        "mutation($book: ID!) { followAuthor(id: $book) { name } }",
        "mutation($book: ID!) { unfollowAuthor(id: $book) { id } }",
        "mutation($link: ID!) { revokeSharedLink(id: $link) { id } }",
        "mutation($shelf: ID!) { createSharedLink(input: {item: {shelfId: $shelf}}) { kind } }",
        "mutation($review: ID!) { createSharedLink(input: {item: {reviewId: $review}}) { kind } }",
        "mutation($note: ID!) { createSharedLink(input: {item: {noteId: $note}}) { kind } }",
        "mutation($link: ID!) { createSharedLink(input: {id: $link, item: {year: 2020}}) { id kind } }",
        "mutation($identity: ID!) { unlinkIdentity(id: $identity) { identities { provider } } }",
        #"mutation($token: ID!) { createAccessToken(input: {id: $token, name: "Mine", scopes: [PROGRESS]}) { token { id name } } }"#,
        "mutation($document: ID!, $myBook: ID!) { linkEreaderDocument(id: $document, input: {bookId: $myBook}) { id title } }",
        "mutation($document: ID!, $book: ID!) { linkEreaderDocument(id: $document, input: {bookId: $book}) { id title } }",
        "mutation($document: ID!) { unlinkEreaderDocument(id: $document) { id title } }",
        "mutation($user: String!) { deleteAccount(confirm: $user) { id } }",
    ]

    private static let victims = Shared {
        let app = try await ForeignIDTests.app()
        var victims: [TestApp.Tenant: IsolationFixture] = [:]
        for tenant in TestApp.Tenant.allCases {
            victims[tenant] = try await IsolationFixture.fill(try await app.makeReader(tenant))
        }
        return victims
    }

    /// Tries victims of the caller's tenant and of another one.
    @Test(arguments: operations, TestApp.Tenant.allCases)
    func foreignIDsAreIndistinguishableFromMissingOnes(operation: String, tenant: TestApp.Tenant)
        async throws
    {
        let victim = try #require(try await Self.victims()[tenant])
        let before = try await victim.everything()
        let foreign: [String: Value] = [
            "shelf": victim.shelf, "book": victim.book, "review": victim.review,
            "user": victim.reader.id, "session": victim.session, "read": victim.read,
            "entry": victim.entry, "goal": victim.goal, "note": victim.note,
            "token": victim.token, "document": victim.document, "identity": victim.identity,
            "app": victim.app, "link": victim.link, "copy": victim.copy, "loan": victim.loan,
            "scan": victim.scan,
        ]
        let absent = foreign.mapValues { _ in Value.string(Self.absent) }
        let seen = try await execute(operation, foreign)
        let unseen = try await execute(operation, absent)
        #expect(seen.json.replacing(foreign) == unseen.json.replacing(absent))
        #expect(seen.statements == unseen.statements)
        #expect(seen.roundTrips == unseen.roundTrips)
        #expect(!"\(seen.json)".contains("Secret"))
        #expect(try await victim.everything() == before)
    }

    /// Executes an operation as a new user with a shelf and a book.
    private func execute(_ operation: String, _ ids: [String: Value]) async throws -> TestResponse {
        let reader = try await Self.app().makeReader(.alpha)
        let shelf = try await reader.makeShelf("My shelf")
        let book = try await reader.makeBook("My book", shelves: [shelf])
        var variables = ids
        variables["myShelf"] = shelf
        variables["myBook"] = book
        variables["a"] = .string(Self.absent)
        let response = try await reader.execute(
            operation, .object(variables.map { Value.Member($0.key, $0.value) }))
        #expect(!response.isRequestError, "\(response.json)")
        return response
    }

    /// The operations contain each field that takes an ID in its arguments, at any depth.
    @Test func operationsContainAllFieldsWithIDs() throws {
        let schema = try BookplateSchema(sdl: BookplateSchema.text).schema
        func takesID(_ type: TypeReference) -> Bool {
            if type.namedType == "ID" { return true }
            guard case .inputObject(let input) = schema.type(named: type.namedType)?.kind else {
                return false
            }
            return input.fields.contains { takesID($0.type) }
        }
        for root in [schema.queryType, schema.mutationType].compactMap({ $0 }) {
            for field in root.fieldsType?.fields ?? []
            where field.arguments.contains(where: { takesID($0.type) }) {
                #expect(
                    Self.operations.contains { $0.contains(" \(field.name)(") },
                    "\(field.name) is not tested with an ID of another user")
            }
        }
    }
}

extension Value {
    /// Returns the value with the IDs replaced by a fixed text.
    fileprivate func replacing(_ ids: [String: Value]) -> Value {
        switch self {
        case .string: ids.values.contains(self) ? "the id" : self
        case .list(let items): .list(items.map { $0.replacing(ids) })
        case .object(let members):
            .object(members.map { Member($0.name, $0.value.replacing(ids)) })
        case .null, .boolean, .int, .bigInt, .float: self
        }
    }
}
