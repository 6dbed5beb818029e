import GraphQLServing
import FoundationEssentials
import GraphQL
import TestSupport

/// A signed-in user with a small library. All users of the suite have the same one.
struct SnapshotReader {
    /// The books that the requests of the documentation search for.
    static let catalog = [
        #"{"isbn13": "9780140328721", "title": "Fantastic Mr. Fox", "authors": ["Roald Dahl"], "genres": ["Children"]}"#,
        #"{"isbn13": "9780261103344", "title": "The Hobbit", "authors": ["J. R. R. Tolkien"], "genres": ["Fantasy"]}"#,
        #"{"isbn13": "9780618134700", "title": "The Annotated Hobbit", "authors": ["J. R. R. Tolkien"], "genres": ["Fantasy"]}"#,
    ]

    let reader: TestReader
    /// The values of the placeholders in the variables of a request.
    private let values: [String: String]

    /// The placeholders of ids.
    var names: [String: String] {
        Dictionary(uniqueKeysWithValues: values.map { ($0.value, "<\($0.key)>") })
    }

    static func make(in app: TestApp) async throws -> SnapshotReader {
        let reader = try await app.makeReader()
        _ = try await reader.requireValue(
            #"mutation { updateProfile(input: {displayName: "Ada"}) { id } }"#, .null,
            "updateProfile", "id")
        let shelf = try await reader.makeShelf("Everything")
        let other = try await reader.makeShelf("Favorites")
        let book = try await reader.makeBook([
            "title": "Dune", "authors": [["name": "Frank Herbert"]], "shelfIds": .list([shelf]),
            "series": [["name": "Dune Chronicles", "position": "1"]],
        ])
        let started = try await reader.makeBook([
            "title": "La sombra del viento", "authors": [["name": "Carlos Ruiz Zafón"]],
            "status": "READING",
            "shelfIds": .list([other]),
        ])
        let read = try await reader.requireValue(
            "query($id: ID!) { book(id: $id) { currentRead { id } } }", ["id": started], "book",
            "currentRead", "id")
        let entry = try await reader.requireValue(
            """
            mutation($id: ID!) { logProgress(inputs: [{readId: $id, percent: 40}]) { entry { id } } }
            """, ["id": read], "logProgress", 0, "entry", "id")
        let oldRead = try await reader.requireValue(
            "mutation($id: ID!) { startRead(id: $id, input: {finishedOn: \"2019-05\"}) { id } }",
            ["id": started], "startRead", "id")
        let goal = try await reader.requireValue(
            "mutation { setReadingGoal(input: {year: 2019, target: 12}) { id } }", .null,
            "setReadingGoal", "id")
        let note = try await reader.requireValue(
            """
            mutation($id: ID!) {
              createNote(input: {bookId: $id, text: "The mind commands the body.", comment: "Compare Augustine", page: 98}) { id }
            }
            """, ["id": book], "createNote", "id")
        let copy = try await reader.requireValue(
            #"mutation($id: ID!) { createCopy(input: {bookId: $id, format: "Paperback"}) { id } }"#,
            ["id": book], "createCopy", "id")
        let lent = try await reader.requireValue(
            #"mutation($id: ID!) { createCopy(input: {bookId: $id, place: "Living room"}) { id } }"#,
            ["id": book], "createCopy", "id")
        _ = try await reader.requireValue(
            #"mutation($id: ID!) { lendCopy(id: $id, input: {borrower: "Ada", lentOn: "2026-01-02"}) { id } }"#,
            ["id": lent], "lendCopy")
        let scan = try await reader.requireValue(
            """
            mutation { recordScans(inputs: [
              {isbn: "9780140328721", scannedAt: "2026-01-30T12:00:00Z"}
            ]) { scan { id } } }
            """, .null, "recordScans", 0, "scan", "id")
        let card = try await reader.card(5)
        let startedCard = try await reader.card(2)
        _ = try await reader.makeBook(["cardId": startedCard, "status": "READING"])
        let finishedCard = try await reader.card(1)
        let finished = try await reader.makeBook([
            "cardId": finishedCard, "status": "READ", "shelfIds": .list([shelf]),
        ])
        // One shelf at a time: the order of the changes of one transaction is not defined.
        _ = try await reader.requireValue(
            "mutation($id: ID!, $input: UpdateBookInput!) { updateBook(id: $id, input: $input) { id } }",
            ["id": finished, "input": ["shelfIds": .list([shelf, other])]], "updateBook", "id")
        try await reader.review(finished, rating: 5, text: "All of it, twice.")
        let kindred = try await reader.makeBook([
            "title": "Kindred", "authors": [["name": "Octavia E. Butler"]], "status": "READ",
            "shelfIds": .list([shelf]),
        ])
        try await reader.review(kindred)
        let deleted = try await reader.makeBook([
            "title": "Parable of the Sower", "authors": [["name": "Octavia E. Butler"]],
            "shelfIds": .list([other]),
        ])
        _ = try await reader.requireValue(
            "mutation($id: ID!) { deleteBook(id: $id) { id } }", ["id": deleted], "deleteBook")
        let kobo = try await EReader(reader)
        _ = await kobo.push(
            "0b229176d4e8db7f6d2b5a4952368d7a", 0.32,
            metadata: #"{"filename":"dune.epub","title":"Dune","authors":"Frank Herbert"}"#)
        let document = try await kobo.documents().first?["id"] ?? .null
        let token = try await reader.requireValue(
            "{ me { accessTokens { id } } }", .null, "me", "accessTokens", 0, "id")
        let (access, code) = try await reader.addApps()
        let link = try await reader.requireValue(
            "mutation($id: ID!) { createSharedLink(input: {item: {shelfId: $id}}) { id url } }",
            ["id": shelf], "createSharedLink")
        let sharedToken = link["url"]?.string?.split(separator: "/").last.map { String($0) } ?? ""
        let libraryImport = try await app.execute(
            "mutation($file: Upload!) { importLibrary(input: {file: $file}) { id } }",
            ["file": UploadReference.value(0)], token: reader.token,
            uploads: [Array("Title,Author,My Rating\nEmma,Jane Austen,4\n".utf8)])
        // The server caches the genres of the catalog for one minute, so this request reads them before the tested one.
        _ = try await reader.requireValue("{ genres { id } }", .null, "genres")
        // Builds the deck.
        _ = try await reader.feedCards(1)
        let values = [
            "user": reader.id, "shelf": shelf, "other": other, "book": book, "finished": finished,
            "deleted": deleted, "card": card, "work": try await reader.work(card), "read": read,
            "oldRead": oldRead, "entry": entry, "goal": goal, "note": note, "copy": copy,
            "lentCopy": lent, "scan": scan,
            "document": document,
            "token": token, "app": access, "code": code, "link": link["id"] ?? .null,
            "import": libraryImport["importLibrary", "id"] ?? .null,
        ].compactMapValues(\.string)
        return SnapshotReader(
            reader: reader,
            values: values.merging([
                "newBook": "\(UUID())".lowercased(), "newShelf": "\(UUID())".lowercased(),
                "newRead": "\(UUID())".lowercased(), "newEntry": "\(UUID())".lowercased(),
                "newNote": "\(UUID())".lowercased(), "newCopy": "\(UUID())".lowercased(),
                "newScan": "\(UUID())".lowercased(),
                "newLoan": "\(UUID())".lowercased(),
                "newKey": "\(UUID())".lowercased(),
                "refreshToken": reader.refreshToken, "sharedToken": sharedToken,
                "identityToken": app.identityToken(subject: reader.subject + ".again"),
            ]) { first, _ in first })
    }

    /// Executes a request with the explanation of its database work. A request for a session is anonymous.
    ///
    /// - Parameter variables: JSON with placeholders, such as `{book}`, which are replaced with the values of this user.
    func execute(_ request: String, variables: String) async throws -> TestResponse {
        let isAnonymous = variables.contains("Token}")
        // A server caches the tenants for one second, so a sign-in runs on a server that has not read them.
        let app =
            variables.contains("{identityToken}")
            ? try await TestApp.start(catalog: []) : reader.app
        var variables = variables
        for (name, value) in values { variables = variables.replacing("{\(name)}", with: value) }
        return try await app.execute(
            request, try parseJSON(Array(variables.utf8)), token: isAnonymous ? nil : reader.token,
            extensions: ["explain": true])
    }
}

extension TestReader {
    /// Gives one app of another developer access to the account, and adds a request of another one.
    ///
    /// - Returns: The id of the access, and the code of the request.
    fileprivate func addApps() async throws -> (access: Value, code: Value) {
        let (client, grant, user) = (UUID(), UUID(), id.string ?? "")
        let letters = Array("BCDFGHJKLMNPQRST")
        let code = String(
            "\(client)".suffix(8).map { letters[$0.hexDigitValue ?? 0] })
        try await app.database.execute(
            """
            UPDATE tenants SET oauth = true;
            INSERT INTO oauth_clients (id, tenant_id, name, redirect_uris, scopes, allows_device)
            SELECT '\(client)', tenant_id, 'Reading Stats', '{}', '{LIBRARY_READ}', false
            FROM users WHERE id = '\(user)';
            INSERT INTO oauth_grants (user_id, id, client_id, scopes, refresh_hash, expires_at)
            VALUES ('\(user)', '\(grant)', '\(client)', '{LIBRARY_READ}', 'x', now() + interval '1 day');
            INSERT INTO oauth_requests (id, tenant_id, client_id, user_code, scopes, redirect_uri, expires_at)
            SELECT gen_random_uuid(), tenant_id, '\(client)', '\(code)', '{LIBRARY_READ,PROGRESS}',
                'https://stats.example/callback', now() + interval '10 minutes'
            FROM users WHERE id = '\(user)'
            """)
        return (.string("\(grant)".lowercased()), .string(code))
    }

    /// Returns the id of the work of a card.
    fileprivate func work(_ card: Value) async throws -> Value {
        try await requireValue(
            "query($id: ID!) { feedCard(id: $id) { work { id } } }", ["id": card], "feedCard",
            "work", "id")
    }

    /// Returns the id of a book in the test catalog.
    fileprivate func card(_ number: Int) async throws -> Value {
        try await requireValue(
            "query($isbn: String!) { lookupISBN(isbn: $isbn) { id } }",
            ["isbn": .string(TestCatalog.isbn(number))], "lookupISBN", "id")
    }
}
