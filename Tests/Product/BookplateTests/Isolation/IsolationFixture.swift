import GraphQL
import Postgres
import TestSupport

/// A user with at least one of every kind of object.
struct IsolationFixture {
    var reader: TestReader
    let shelf: Value
    let book: Value
    let review: Value
    let card: Value
    let session: Value
    let read: Value
    let entry: Value
    let goal: Value
    let note: Value
    let token: Value
    let document: Value
    let identity: Value
    let app: Value
    let link: Value
    let copy: Value
    let loan: Value
    let scan: Value

    @discardableResult
    static func fill(_ reader: TestReader) async throws -> IsolationFixture {
        let shelf = try await reader.makeShelf("Secret shelf")
        _ = try await reader.execute(
            """
            mutation($id: ID!) {
              updateShelf(id: $id, input: {description: "Secret text", color: RED}) { id }
            }
            """, ["id": shelf])
        let card = try await reader.feedCards(1)[0]["id"] ?? .null
        let book = try await reader.makeBook([
            "cardId": card, "title": "Secret title", "status": "READ", "shelfIds": [shelf],
            "series": [["name": "Secret series", "position": "1"]],
        ])
        let review = try await reader.review(book, rating: 1, text: "Secret words")
        var (read, entry, note) = (Value.null, Value.null, Value.null)
        for isDeleted in [true, false] {
            read = try await reader.requireValue(
                """
                mutation($book: ID!) {
                  startRead(id: $book, input: {finishedOn: "2019", note: "Secret read"}) { id }
                }
                """, ["book": book], "startRead", "id")
            entry = try await reader.requireValue(
                """
                mutation($read: ID!) {
                  logProgress(inputs: [{readId: $read, percent: 5, note: "Secret progress"}]) { entry { id } }
                }
                """, ["read": read], "logProgress", 0, "entry", "id")
            note = try await reader.requireValue(
                #"""
                mutation($book: ID!) {
                  createNote(input: {bookId: $book, text: "Secret quote", comment: "Secret thought"}) { id }
                }
                """#, ["book": book], "createNote", "id")
            guard isDeleted else { continue }
            _ = try await reader.execute(
                "mutation($id: ID!) { deleteNote(id: $id) { id } }", ["id": note])
            _ = try await reader.execute(
                "mutation($id: ID!) { deleteProgress(id: $id) { id } }", ["id": entry])
            _ = try await reader.execute(
                "mutation($id: ID!) { deleteRead(id: $id) { id } }", ["id": read])
        }
        let goal = try await reader.requireValue(
            """
            mutation { setReadingGoal(input: {year: 2019, target: 7}) { id } }
            """, .null, "setReadingGoal", "id")
        _ = try await reader.swipe("LIKE", [card])
        try await reader.app.database.execute(
            """
            INSERT INTO events (user_id, kind, payload) VALUES ('\(reader.id.string ?? "")', 'secret', '{}');
            INSERT INTO imports (user_id, id, format, content, content_hash)
            VALUES ('\(reader.id.string ?? "")', gen_random_uuid(), 'GOODREADS', 'secret', '');
            INSERT INTO import_failures (user_id, import_id, line, message)
            SELECT user_id, id, 1, 'secret' FROM imports WHERE user_id = '\(reader.id.string ?? "")'
            """)
        let deleted = try await reader.makeBook("Secret deletion")
        _ = try await reader.execute(
            "mutation($id: ID!) { deleteBook(id: $id) { id } }", ["id": deleted])
        _ = try await reader.setCover(
            """
            mutation($book: ID!, $image: Upload!) {
              setCover(id: $book, input: {image: $image}) { id }
            }
            """, book, TestImage.png())
        try await reader.app.database.execute(
            """
            INSERT INTO events (user_id, kind, payload) VALUES ('\(reader.id.string ?? "")', 'secret', '{}')
            """)
        let session = try await reader.requireValue(
            "{ me { sessions { id } } }", .null, "me", "sessions", 0, "id")
        let token = try await reader.requireValue(
            """
            mutation { createAccessToken(input: {name: "Secret token", scopes: [PROGRESS]}) { secret token { id } } }
            """, .null, "createAccessToken")
        let kobo = try await EReader(reader, secret: token["secret"]?.string)
        _ = await kobo.push("secret", 0.5, metadata: #"{"title":"Secret document"}"#)
        try await kobo.linkLast(to: book)
        let document = try await kobo.documents().first?["id"] ?? .null
        let identity = try await reader.requireValue(
            "{ me { identities { id } } }", .null, "me", "identities", 0, "id")
        let link = try await reader.requireValue(
            "mutation($id: ID!) { createSharedLink(input: {item: {shelfId: $id}}) { id } }",
            ["id": shelf], "createSharedLink", "id")
        let app = try await addApp("Secret app", to: reader)
        let copy = try await reader.requireValue(
            """
            mutation($book: ID!) {
              createCopy(input: {bookId: $book, format: "Secret format", place: "Secret place"}) { id }
            }
            """, ["book": book], "createCopy", "id")
        let loan = try await reader.requireValue(
            """
            mutation($copy: ID!) { lendCopy(id: $copy, input: {borrower: "Secret friend"}) { loan { id } } }
            """, ["copy": copy], "lendCopy", "loan", "id")
        let scan = try await reader.requireValue(
            "mutation($isbn: String!) { recordScans(inputs: [{isbn: $isbn}]) { scan { id } } }",
            ["isbn": .string(TestCatalog.isbn(1))], "recordScans", 0, "scan", "id")
        return IsolationFixture(
            reader: reader, shelf: shelf, book: book, review: review, card: card, session: session,
            read: read, entry: entry, goal: goal, note: note,
            token: token["token"]?["id"] ?? .null, document: document, identity: identity,
            app: app, link: link, copy: copy, loan: loan, scan: scan)
    }

    /// Gives an app of another developer access to the account, and returns the id of the access.
    private static func addApp(_ name: String, to reader: TestReader) async throws -> Value {
        let (client, grant) = (UUID.version7(), UUID.version7())
        try await reader.app.database.execute(
            """
            INSERT INTO oauth_clients (id, tenant_id, name, redirect_uris, scopes, allows_device)
            SELECT '\(client)', tenant_id, '\(name)', '{}', '{FEED}', true
            FROM users WHERE id = '\(reader.id.string ?? "")';
            INSERT INTO oauth_grants (user_id, id, client_id, scopes, refresh_hash, expires_at)
            VALUES ('\(reader.id.string ?? "")', '\(grant)', '\(client)', '{FEED}', 'x', now() + interval '1 day')
            """)
        return .string("\(grant)")
    }

    /// Returns all of the user's objects, to compare them before and after a test.
    func everything() async throws -> Value {
        try await reader.requireValue(
            """
            { me { id displayName email preferredGenres { id } createdAt
              shelves { id name position description color updatedAt books { nodes { id } } }
              books { nodes { id title author status image { url blurHash } currentPage updatedAt series { series { id name } position } work { inLibrary { id } } shelves { id } review { id rating text } } }
              reviews { nodes { id rating text updatedAt } }
              reads { nodes { id startedOn finishedOn outcome note updatedAt
                progressEntries { nodes { id percent note updatedAt } } } }
              readingGoals { id year unit target progress updatedAt }
              stats { totals { finishedReads } streaks { readingDays } }
              yearInReview(year: 2019) { totals { finishedReads } firstRead { id } longestBook { id } }
              notes { nodes { id text comment updatedAt } }
              lentCopies { nodes { id format place note loan { id borrower lentOn } pastLoans { id } updatedAt } }
              scans { nodes { id isbn scannedAt outcome card { id } book { id } } }
              deletedBooks { nodes { bookId title } }
              series { nodes { series { name bookCount } booksInLibrary booksRead next { id } } }
              swipes { nodes { card { id } action swipedAt undoneAt savedBook { id } } }
              sessions { id deviceName } storage { usedBytes }
              accessTokens { id name } authorizedApps { id name } ereaderDocuments { nodes { id title book { id } } }
              sharedLinks { id url } followedAuthors { id name }
            } }
            """, .null, "me")
    }
}
