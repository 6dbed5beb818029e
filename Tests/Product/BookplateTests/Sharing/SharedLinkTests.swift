import Basics
import GraphQL
import GraphQLServing
import Identity
import Postgres
import Requests
import TestSupport
import Testing

@testable import Bookplate

/// Links, and what visitors see.
@Suite struct SharedLinkTests {
    static let app = Shared { try await TestApp.start() }

    private func makeWorld() async throws -> SharedWorld {
        try await SharedWorld(try await Self.app())
    }

    // MARK: - Links

    @Test func linkIsListedAndRevoked() async throws {
        let world = try await makeWorld()
        let shelf = try await world.reader.makeShelf("Summer")
        let (id, token) = try await world.share(["shelfId": shelf])
        #expect(token.utf8.count == 24)
        let list = """
            { me { sharedLinks {
              id url kind year showsName expiresAt shelf { name } review { id } note { id }
            } } }
            """
        #expect(
            try await world.reader.execute(list)["me", "sharedLinks"] == [
                [
                    "id": id, "url": .string("http://covers.test/s/\(token)"), "kind": "SHELF",
                    "year": .null, "showsName": false, "expiresAt": .null,
                    "shelf": ["name": "Summer"], "review": .null, "note": .null,
                ]
            ])
        #expect(try await world.visit(token)["shared", "title"] == "Summer")
        try await world.revoke(id)
        try await world.revoke(id)
        #expect(try await world.reader.execute(list)["me", "sharedLinks"] == [])
        #expect(try await world.visit(token).code == "NOT_FOUND")
        #expect(try await world.get(token).status == 404)
    }

    /// The database does not contain the token.
    @Test func tokenIsNotStored() async throws {
        let world = try await makeWorld()
        let (_, token) = try await world.share(["year": 2020])
        let (rows, events) = try await Self.app().database.withConnection { connection in
            (
                try connection.texts("SELECT to_jsonb(l)::text FROM shared_links l"),
                try connection.texts("SELECT to_jsonb(e)::text FROM audit_events e")
            )
        }
        #expect(!rows.isEmpty && !events.isEmpty)
        let secret = lowercaseHex(Base64URL.decode(token.utf8) ?? [])
        for text in rows + events { #expect(!text.contains(token) && !text.contains(secret)) }
        let hash = lowercaseHex(sha256(token.utf8))
        #expect(rows.contains { $0.contains(hash) })
    }

    @Test func sameRequestReturnsTheSameLink() async throws {
        let world = try await makeWorld()
        let id = Value.string("\(UUID.version7())")
        let first = try await world.create(["year": 2024], ["id": id])
        let again = try await world.create(["year": 2024], ["id": id])
        #expect(first.errors.isEmpty && first["createSharedLink"] == again["createSharedLink"])
        let other = try await world.create(["year": 2025], ["id": id])
        #expect(other.code == "CONFLICT" && other.field == "id")
        // A revoked link does not live again with its id.
        try await world.revoke(id)
        let new = try await world.create(["year": 2024], ["id": id])
        #expect(new["createSharedLink", "id"] == id)
        #expect(new["createSharedLink", "url"] != first["createSharedLink", "url"])
    }

    @Test func expiredLinkEnds() async throws {
        let world = try await makeWorld()
        let time = Instant(microseconds: (unixSecondsNow() + 3600) * 1_000_000).text
        let (id, token) = try await world.share(["year": 2024], ["expiresAt": .string(time)])
        #expect(try await world.get(token).status == 200)
        try await Self.app().database.execute(
            "UPDATE shared_links SET expires_at = now() WHERE id = '\(id.string ?? "")'")
        #expect(try await world.get(token).status == 404)
        #expect(
            try await world.reader.execute("{ me { sharedLinks { id } } }")["me", "sharedLinks"]
                == [])
        let past = try await world.create(["year": 2024], ["expiresAt": "2020-01-01T00:00:00Z"])
        #expect(past.field == "expiresAt")
    }

    /// Expired links make room for new ones.
    @Test func numberOfLinksIsLimited() async throws {
        let world = try await makeWorld()
        let user = world.reader.id.string ?? ""
        try await Self.app().database.execute(
            """
            INSERT INTO shared_links (user_id, id, token_hash, seed, year, shows_name, expires_at)
            SELECT '\(user)', gen_random_uuid(), sha256('\(user)' || n::text::bytea), gen_random_uuid(), 2020, false,
                now() + interval '1 day'
            FROM generate_series(1, \(SharedLink.ofReaderMax)) n
            """)
        let refused = try await world.create(["year": 2021])
        #expect(
            refused.code == "BAD_USER_INPUT" && refused.message?.contains("100") == true,
            "\(refused.json)")
        try await Self.app().database.execute(
            "UPDATE shared_links SET expires_at = now() WHERE user_id = '\(user)'")
        _ = try await world.share(["year": 2021])
        #expect(
            try await Self.app().database.count(
                "SELECT count(*) FROM shared_links WHERE user_id = '\(user)'") == 1)
    }

    @Test(arguments: ["shelfId", "reviewId", "noteId"])
    func onlyOwnObjectsAreShared(field: String) async throws {
        let world = try await makeWorld()
        let other = try await makeWorld()
        let book = try await other.reader.makeBook("Dune", status: "READ")
        let foreign = [
            "shelfId": try await other.reader.makeShelf("Theirs"),
            "reviewId": try await other.reader.review(book, text: "Fine"),
            "noteId": try await other.note(book, ["text": "Spice"]),
        ]
        for id in [foreign[field] ?? .null, .string("\(UUID.version7())"), "x"] {
            let response = try await world.create(.object([.init(field, id)]))
            #expect(response.code == "NOT_FOUND", "\(response.json)")
        }
    }

    /// A token that reads or changes the library cannot make a part of it public, and does not learn the links.
    @Test func linksNeedTheSessionOfAnApp() async throws {
        let world = try await makeWorld()
        let scopes = AccessScope.allCases.map(\.rawValue)
        let token = try await ScopedReader(world.reader, scopes)
        for query in [
            "mutation { createSharedLink(input: {item: {year: 2020}}) { id } }",
            "mutation { revokeSharedLink(id: \"x\") { id } }", "{ me { sharedLinks { url } } }",
        ] {
            #expect(try await token.execute(query).code == "FORBIDDEN")
        }
    }

    @Test func linksAreAudited() async throws {
        let app = try await TestApp.start(catalog: [])
        let world = try await SharedWorld(app)
        let (id, _) = try await world.share(["year": 2020])
        try await world.revoke(id)
        let shelf = try await world.reader.makeShelf("Summer")
        _ = try await world.share(["shelfId": shelf])
        _ = try await world.reader.requireValue(
            "mutation($id: ID!) { deleteShelf(id: $id) { id } }", ["id": shelf], "deleteShelf")
        let kinds = try await app.database.text(
            "SELECT string_agg(kind, ' ' ORDER BY id) FROM audit_events WHERE kind LIKE 'LINK%'")
        #expect(kinds == "LINK_CREATED LINK_ENDED LINK_CREATED LINK_ENDED")
    }

    // MARK: - The end of a link

    @Test func linksEndWithTheirObjects() async throws {
        let world = try await makeWorld()
        let reader = world.reader
        let shelf = try await reader.makeShelf("Summer")
        let book = try await reader.makeBook("Dune", status: "READ", shelves: [shelf])
        let review = try await reader.review(book, text: "Fine")
        let note = try await world.note(book, ["text": "Spice"])
        var tokens: [String] = []
        for item in [["shelfId": shelf], ["reviewId": review], ["noteId": note]] as [Value] {
            tokens.append(try await world.share(item).token)
        }
        for token in tokens { #expect(try await world.get(token).status == 200) }
        _ = try await reader.requireValue(
            "mutation($id: ID!) { deleteBook(id: $id) { id } }", ["id": book], "deleteBook")
        #expect(try await world.visit(tokens[0])["shared", "books"] == [])
        _ = try await reader.requireValue(
            "mutation($id: ID!) { restoreBook(id: $id) { id } }", ["id": book], "restoreBook")
        #expect(try await world.visit(tokens[0])["shared", "books", 0, "title"] == "Dune")
        _ = try await reader.requireValue(
            "mutation($id: ID!) { deleteShelf(id: $id) { id } }", ["id": shelf], "deleteShelf")
        for token in tokens { #expect(try await world.get(token).status == 404) }
    }

    @Test func linksEndWithTheAccount() async throws {
        let world = try await makeWorld()
        let (_, token) = try await world.share(["year": 2020])
        _ = try await world.reader.requireValue(
            "mutation($id: String!) { deleteAccount(confirm: $id) { id } }",
            ["id": world.reader.id],
            "deleteAccount")
        #expect(try await world.get(token).status == 404)
    }

    @Test func tenantSwitchesSharingOff() async throws {
        let world = try await SharedWorld(try await TestApp.start(catalog: []))
        let settings = "{ settings { allowsSharing } }"
        let (_, token) = try await world.share(["year": 2020])
        #expect(try await world.reader.execute(settings)["settings", "allowsSharing"] == true)
        try await world.app.database.execute("UPDATE tenants SET sharing = false")
        #expect(try await world.create(["year": 2020]).code == "FORBIDDEN")
        #expect(try await world.visit(token).code == "NOT_FOUND")
        #expect(try await world.get(token).status == 404)
        try await world.app.database.execute("UPDATE tenants SET sharing = true")
        #expect(try await world.get(token).status == 200)
    }

    /// The links of a guest move with their objects into the account.
    @Test func linksOfAGuestMoveIntoTheAccount() async throws {
        let app = try await TestApp.start(catalog: [])
        try await app.allowGuests()
        let account = try await SharedWorld(app)
        let guest = SharedWorld(try await app.makeGuest())
        let shelf = try await guest.reader.makeShelf("Summer")
        let book = try await guest.reader.makeBook("Dune", status: "READ", shelves: [shelf])
        let review = try await guest.reader.review(book, text: "Fine")
        let note = try await guest.note(book, ["text": "Spice"])
        // This shelf is merged with that of the account.
        _ = try await account.reader.makeShelf("Winter")
        let merged = try await guest.reader.makeShelf("Winter")
        var tokens: [String] = []
        for item in [
            ["shelfId": shelf], ["reviewId": review], ["noteId": note], ["shelfId": merged],
            ["year": 2020],
        ] as [Value] {
            tokens.append(try await guest.share(item).token)
        }
        let signIn = try await app.signIn(
            token: app.identityToken(subject: account.reader.subject), as: guest.reader)
        #expect(signIn["signIn", "user", "id"] == account.reader.id)
        for token in tokens.prefix(3) { #expect(try await account.get(token).status == 200) }
        // The reading of the year is that of the account now.
        for token in tokens.suffix(2) { #expect(try await account.get(token).status == 404) }
        let links = try await account.reader.execute("{ me { sharedLinks { url } } }")
        #expect(
            Set(links["me", "sharedLinks"]?.values(of: "url").compactMap(\.string) ?? [])
                == Set(tokens.prefix(3).map { "http://covers.test/s/\($0)" }))
    }

    // MARK: - Unknown links

    /// Visitors cannot tell whether a link ever existed.
    @Test func unknownLinksAreIndistinguishable() async throws {
        let world = try await makeWorld()
        let (revoked, first) = try await world.share(["year": 2020])
        try await world.revoke(revoked)
        let (expired, second) = try await world.share(["year": 2021])
        try await Self.app().database.execute(
            "UPDATE shared_links SET expires_at = now() WHERE id = '\(expired.string ?? "")'")
        let unknown = Base64URL.encode(randomBytes(18))
        let expected = try await world.visit(unknown)
        let page = try await world.get(unknown)
        #expect(expected.code == "NOT_FOUND" && expected["shared"] == .null)
        #expect(page.status == 404 && page.headers["Cache-Control"] == "no-store")
        for token in [first, second, "", "x", "\(unknown)A", String(repeating: "é", count: 12)] {
            #expect(try await world.visit(token).json == expected.json, "\(token)")
            let other = try await world.get(token)
            #expect(other.status == 404 && other.text == page.text, "\(token)")
            #expect(other.headers == page.headers)
        }
    }

    @Test func visitsAreLimitedByAddress() async throws {
        let app = try await TestApp.start(
            catalog: [], rates: RateLimits(.init(perCaller: 3, perAddress: 3)))
        let world = try await SharedWorld(app)
        let address = RateKey(ClientAddress(high: 0, low: 0xFFFF_0A00_0001))
        for _ in 1...3 { #expect(try await world.get("x", address: address).status == 404) }
        await #expect(throws: BookplateError.self) {
            try await world.get("x", address: address)
        }
        await #expect(throws: BookplateError.self) {
            try await world.get("x/y.jpg", address: address)
        }
    }
}
