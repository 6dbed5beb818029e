import GraphQL
import TestSupport
import Testing

/// E-readers at a real server: KOReader, and clients of OPDS Progression.
@Suite struct EReaderJourneyTests {
    private static let server = Shared {
        try await Installation.ready(catalog: []).startServer([
            "BOOKPLATE_PUBLIC_URL": "https://books.example"
        ])
    }
    private static let document = "0b229176d4e8db7f6d2b5a4952368d7a"

    private struct Account {
        let server: RunningServer
        let session: String
        let token: String
        let tokenID: Value
        let book: String

        func execute(_ query: String, _ variables: Value = .null) async throws -> Value {
            try await server.client.execute(query, variables, token: session)["data"] ?? .null
        }
    }

    private func makeAccount(_ name: String) async throws -> Account {
        let server = try await Self.server()
        let session = try await server.signIn(name)["accessToken"]?.string ?? ""
        let created = try await server.client.execute(
            """
            mutation {
              createAccessToken(input: {name: "Kobo", scopes: [PROGRESS]}) { secret token { id } }
              createBook(input: {title: "Dune", pageCount: 200}) { id }
            }
            """, token: session)["data"]
        return Account(
            server: server, session: session,
            token: created?["createAccessToken", "secret"]?.string ?? "",
            tokenID: created?["createAccessToken", "token", "id"] ?? .null,
            book: created?["createBook", "id"]?.string ?? "")
    }

    // MARK: - KOReader

    /// The address of the server may end with a slash.
    @Test(arguments: ["/koreader", "/koreader/"])
    func twoDevicesWithKOReaderShareABook(base: String) async throws {
        let account = try await makeAccount("devices\(base.utf8.count)")
        let client = account.server.client
        let kobo = KOReaderClient(client, password: account.token, base: base)
        let boox = KOReaderClient(client, user: "other", password: account.token, base: base)
        let health = try await client.send("GET", base + "/healthcheck")
        #expect(health.status == 200 && health.json == ["state": "OK"])
        #expect(health.headers["content-type"] == "application/json")
        let refused = try await kobo.register()
        #expect(refused.status == 402)
        #expect(refused.json == ["code": 2005, "message": "User registration is disabled."])
        let authorized = try await kobo.authorize()
        #expect(authorized.status == 200 && authorized.json == ["authorized": "OK"])
        #expect(authorized.headers["cache-control"] == "private, no-store")
        let unknown = try await kobo.pull(Self.document)
        #expect(unknown.status == 200 && unknown.body == "{}")

        let pushed = try await kobo.push(
            Self.document, "/body/DocFragment[20]/body/p[22]/img.0", 0.31879884821061,
            metadata: #"{"filename":"dune.epub","title":"Dune","authors":"Frank Herbert"}"#)
        #expect(pushed.status == 200 && pushed.json["document"] == .string(Self.document))
        let pulled = try await boox.pull(Self.document)
        #expect(
            pulled.json == [
                "document": .string(Self.document), "percentage": 0.31879884821061,
                "progress": "/body/DocFragment[20]/body/p[22]/img.0", "device": "Kobo_clara",
                "device_id": "7D4AE3F2B1C04B6F9C7F3B2A1D0E9F88",
                "timestamp": pushed.json["timestamp"] ?? .null,
            ])

        let listed = try await account.execute(
            "{ me { ereaderDocuments(linked: false) { nodes { id title deviceName } } } }")
        let document = listed["me", "ereaderDocuments", "nodes", 0]
        #expect(document?["title"] == "Dune" && document?["deviceName"] == "Kobo_clara")
        _ = try await account.execute(
            "mutation($id: ID!, $book: ID!) { linkEreaderDocument(id: $id, input: {bookId: $book}) { id } }",
            ["id": document?["id"] ?? .null, "book": .string(account.book)])
        #expect(
            try await boox.push(
                Self.document, "/body/DocFragment[21]", 0.5, device: "Boox", deviceID: "x"
            ).status == 200)
        let state = try await account.execute(
            "query($id: ID!) { book(id: $id) { status currentPage currentRead { progressEntries { totalCount } } } }",
            ["id": .string(account.book)])
        #expect(
            state["book"] == [
                "status": "READING", "currentPage": 100,
                "currentRead": ["progressEntries": ["totalCount": 2]],
            ])

        _ = try await account.execute(
            "mutation($id: ID!) { revokeAccessToken(id: $id) { id } }", ["id": account.tokenID])
        let revoked = try await kobo.pull(Self.document)
        #expect(revoked.status == 401)
        #expect(revoked.json == ["code": 2001, "message": "Unauthorized"])
    }

    private static let invalid: [(String, Int, Int)] = [
        ("", 400, 103), ("[]", 400, 104), ("{}", 403, 2004),
        (#"{"document":"a","percentage":NaN,"progress":"1","device":"K"}"#, 400, 103),
        (#"{"document":"a","percentage":-1,"progress":"1","device":"K"}"#, 403, 2003),
        (#"{"document":"a","percentage":2,"progress":"1","device":"K"}"#, 403, 2003),
        (#"{"document":"../a","percentage":0.5,"progress":"1","device":"K"}"#, 403, 2007),
        (#"{"document":"a:b","percentage":0.5,"progress":"1","device":"K"}"#, 403, 2004),
        (#"{"document":"a","percentage":0.5,"device":"K"}"#, 403, 2003),
    ]

    @Test(arguments: invalid)
    func invalidPositionsAreRefused(body: String, status: Int, code: Int) async throws {
        let account = try await makeAccount("invalid")
        let kobo = KOReaderClient(account.server.client, password: account.token)
        let response = try await kobo.push(body)
        #expect(
            response.status == status && response.json["code"] == .int(code), "\(response.body)")
    }

    @Test func hostileRequestsToKOReadersRoutesAreRefused() async throws {
        let (account, other) = (try await makeAccount("hostile"), try await makeAccount("other"))
        let client = account.server.client
        let kobo = KOReaderClient(client, password: account.token)
        // The server sets the time itself, and documents need not be in hexadecimal.
        let future = try await kobo.push(
            #"{"document":"not_hex","percentage":0.5,"progress":"1","device":"K","timestamp":99999999999}"#
        )
        #expect(future.status == 200)
        #expect(future.json["timestamp"]?.int ?? .max < 9_999_999_999)
        // Another reader, a wrong key, the token itself as the key, no key, and the session's token.
        let foreign = KOReaderClient(client, password: other.token)
        #expect(try await foreign.pull("not_hex").body == "{}")
        for thief in [
            KOReaderClient(client, password: account.token + "x"),
            KOReaderClient(client, user: "ada", key: account.token),
            KOReaderClient(client, user: "ada", key: ""),
            KOReaderClient(client, password: account.session),
        ] {
            let refused = try await thief.pull("not_hex")
            #expect(refused.status == 401 && refused.json["code"] == 2001)
        }
        let large = String(repeating: "a", count: 20_000)
        #expect(try await kobo.push("a", large, 0.5).status == 413)
        for path in ["", "users", "users/me", "syncs/progress", "syncs/progress/a/b"] {
            #expect(try await client.send("GET", "/koreader/\(path)").status == 404)
        }
        #expect(try await client.send("DELETE", "/koreader/users/me").status == 405)
        #expect(try await client.send("PUT", "/koreader/users/password", body: "{}").status == 404)
        #expect(try await kobo.pull("a%3Ab").status == 403)
    }

    // MARK: - OPDS Progression

    /// The requests are those of Thorium Reader (src/main/…/opds) and of the examples in the draft.
    private func progression(
        _ method: String, _ account: Account, _ body: String = "", basic: Bool = false,
        book: String? = nil
    ) async throws -> HTTPClient.Response {
        let mediaType = "application/opds-progression+json"
        var headers: [String: String?] = ["accept": mediaType]
        headers["content-type"] = .some(method == "PUT" ? mediaType : nil)
        if basic { headers["authorization"] = "Basic \(base64("bookplate:\(account.token)"))" }
        return try await account.server.client.send(
            method, "/opds/progression/books/\(book ?? account.book)",
            token: basic ? nil : account.token, body: body, headers: headers)
    }

    private static let example = """
        {
          "title": "Chapter 1 - A New Dawn",
          "modified": "2026-01-28T00:24:00Z",
          "device": {
            "id": "urn:uuid:019c0047-cc8d-7ec4-a3c3-938ccadc020a",
            "name": "Ebook Reader (Pixel 10 Pro)"
          },
          "progression": 0.0174920,
          "references": ["#t=40.274", "chapter1.html#par36"]
        }
        """

    @Test func positionIsExchangedByOPDSProgression() async throws {
        let account = try await makeAccount("opds")
        let none = try await progression("GET", account)
        #expect(none.status == 200 && none.body.isEmpty)
        #expect(none.headers["content-type"] == "application/opds-progression+json")
        let created = try await progression("PUT", account, Self.example)
        #expect(created.status == 201)
        #expect(created.headers["content-type"] == "application/opds-progression+json")
        #expect(created.json["modified"] == "2026-01-28T00:24:00.000000Z")
        #expect(created.json["references"] == ["#t=40.274", "chapter1.html#par36"])
        #expect(try await progression("PUT", account, Self.example).status == 200)
        let found = try await progression("GET", account, basic: true)
        #expect(found.status == 200 && found.json == created.json)
        let older = try await progression(
            "PUT", account, Self.example.replacing("2026-01-28", with: "2026-01-27"))
        #expect(older.status == 409)
        #expect(older.headers["content-type"] == "application/problem+json")
        #expect(
            older.json == [
                "type": "https://registry.opds.io/error#progression-date",
                "title": "A more recent progression point is already available.", "status": 409,
            ])
        for (text, replacement) in [
            ("0.0174920", "NaN"), ("0.0174920", "-1"), ("0.0174920", "2"),
            ("2026-01-28", "2126-01-28"), ("urn:uuid:", ""),
        ] {
            let body = Self.example.replacing(text, with: replacement)
            let invalid = try await progression("PUT", account, body)
            #expect(invalid.status == 400, "\(body)")
            #expect(
                invalid.json["type"]
                    == "https://registry.opds.io/error#progression-invalid-payload")
        }
        let other = try await makeAccount("opds.other")
        let foreign = try await progression("PUT", account, Self.example, book: other.book)
        #expect(foreign.status == 404)
        #expect(try await progression("GET", other).body.isEmpty)
    }

    @Test func requestsWithoutATokenGetTheAuthenticationDocument() async throws {
        let account = try await makeAccount("authentication")
        let client = account.server.client
        let document = try await client.send("GET", "/opds/authentication")
        #expect(document.status == 200)
        #expect(document.headers["content-type"] == "application/opds-authentication+json")
        #expect(document.json["id"] == "https://books.example/opds/authentication")
        #expect(
            document.json["authentication", 0, "type"] == "http://opds-spec.org/auth/basic")
        for token in [nil, "x", account.session, account.token + "x"] {
            let refused = try await client.send(
                "GET", "/opds/progression/books/\(account.book)", token: token)
            #expect(refused.status == 401 && refused.json == document.json)
            #expect(refused.headers["content-type"] == "application/opds-authentication+json")
            #expect(refused.headers["www-authenticate"]?.hasPrefix("Basic realm=") == true)
        }
    }

    /// The token that an operator issues in development works like that of a reader.
    @Test func operatorIssuesAToken() async throws {
        let installation = try await Installation.ready(catalog: [])
        let server = try await installation.startServer()
        let issued = try await installation.admin("token", "issue", "--scope", "progress")
        #expect(issued.code == 0, "\(issued.errors)")
        let secret = issued.output.split(separator: "\n").first.map(String.init) ?? ""
        #expect(secret.hasPrefix("bp_"))
        let kobo = KOReaderClient(server.client, password: secret)
        #expect(try await kobo.authorize().status == 200)
        let unknown = try await installation.admin("token", "issue", "--scope", "everything")
        #expect(unknown.code == 1 && unknown.errors.contains("there is no scope everything"))
    }
}

/// Returns a text in Base64.
private func base64(_ text: String) -> String {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
    var result = ""
    let bytes = Array(text.utf8)
    for start in stride(from: 0, to: bytes.count, by: 3) {
        let group = bytes[start...].prefix(3)
        let bits = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
        for index in 0...3 {
            result.append(index <= group.count ? alphabet[bits >> (18 - 6 * index) & 63] : "=")
        }
    }
    return result
}
