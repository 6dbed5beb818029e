import GraphQL
import GraphQLServing
import Postgres
import TestBasics
import TestSupport
import Testing

@testable import Bookplate
@testable import Requests

/// Guests: signing in without an identity, the limits of a guest, and becoming an account.
@Suite struct GuestTests {
    static let app = Shared {
        let app = try await TestApp.start()
        try await app.allowGuests()
        return app
    }

    @Test func guestCanUseTheAppWithoutAnIdentity() async throws {
        let guest = try await Self.app().makeGuest()
        let cards = try await guest.feedCards(2)
        #expect(cards.count == 2)
        _ = try await guest.swipe("LIKE", cards.compactMap { $0["id"] })
        let isbn = TestCatalog.isbn(3)
        let response = try await guest.execute(
            """
            {
              me { isGuest identities { id } displayName email books { totalCount } sessions { deviceName isCurrent } }
              lookupISBN(isbn: "\(isbn)") { title }
              search(query: "Card 4") { nodes { title } }
              settings { guestBooksMax }
            }
            """)
        #expect(response.errors.isEmpty)
        #expect(response["me", "isGuest"] == true)
        #expect(response["me", "identities"] == [])
        #expect(response["me", "books", "totalCount"] == 2)
        #expect(response["me", "sessions", 0, "deviceName"] == "Test device")
        #expect(response["lookupISBN", "title"] == "Card 3")
        #expect(response["settings", "guestBooksMax"] == 200)
    }

    @Test func sessionOfAGuestIsRefreshedLikeAnyOther() async throws {
        let guest = try await Self.app().makeGuest()
        let response = try await guest.app.execute(
            RefreshTests.refresh, ["token": .string(guest.refreshToken)])
        #expect(response.errors.isEmpty)
        #expect(response["refreshSession", "isNewUser"] == false)
    }

    /// Beta does not allow guests, and no app has the other audiences.
    @Test(arguments: ["com.example.beta", "com.example.unknown", "alpha", ""])
    func appsWithoutGuestsRefuseThem(app name: String) async throws {
        let app = try await TestApp.start(catalog: [])
        try await app.database.execute("UPDATE tenants SET guests = slug = 'alpha'")
        let response = try await app.execute(TestApp.signInAsGuest, ["app": .string(name)])
        #expect(response.code == "FORBIDDEN")
        #expect(try await app.database.count("SELECT count(*) FROM users") == 0)
    }

    @Test func newGuestsAreLimitedByAddressAndTenant() async throws {
        let app = try await TestApp.start(
            catalog: [], rates: RateLimits(.init(guests: 2, guestsOfTenant: 3)))
        try await app.allowGuests()
        func code(_ address: UInt64) async throws -> String? {
            try await app.execute(
                TestApp.signInAsGuest, ["app": .string(TestApp.Tenant.alpha.audience)],
                address: ClientAddress(high: 0x2001_0DB8_0000_0000 + address, low: 1)
            ).code
        }
        #expect(try await code(1) == nil)
        #expect(try await code(1) == nil)
        #expect(try await code(1) == "RATE_LIMITED")
        #expect(try await code(2) == nil)
        #expect(try await code(3) == "RATE_LIMITED")
    }

    @Test func libraryOfAGuestIsLimitedUntilTheUpgrade() async throws {
        let app = try await TestApp.start(catalog: [])
        try await app.allowGuests(books: 2)
        let guest = try await app.makeGuest()
        try await guest.makeBooks(2)
        let create = #"mutation { createBook(input: {title: "Third"}) { id } }"#
        let refused = try await guest.execute(create)
        #expect(refused.code == "QUOTA_EXCEEDED")
        #expect(
            refused.errors.first?["message"]
                == "A guest can have at most 2 books. Sign in to add more.")
        // A request whose response was lost is repeated.
        let id = try await guest.requireValue(
            "{ me { books { nodes { id } } } }", .null, "me", "books", "nodes", 0, "id")
        #expect(try await guest.makeBook(["id": id, "title": "Book 1"]) == id)
        let signedIn = try await app.signIn(token: app.identityToken(subject: "a"), as: guest)
        #expect(signedIn["signIn", "user", "id"] == guest.id)
        #expect(try await guest.execute(create).errors.isEmpty)
    }

    @Test func signingInUpgradesTheGuestInPlace() async throws {
        let app = try await Self.app()
        let guest = try await app.makeGuest()
        let book = try await guest.makeBook("Dune")
        let subject = "subject.\(UUID.version7())"
        let response = try await app.signIn(
            token: app.identityToken(subject: subject, email: "ada@example.com"), as: guest,
            displayName: "Ada")
        #expect(response["signIn", "isNewUser"] == false)
        #expect(response["signIn", "user", "id"] == guest.id)
        #expect(response["signIn", "user", "displayName"] == "Ada")
        // The guest's own session stays valid.
        let me = try await guest.execute(
            "{ me { isGuest identities { provider } books { nodes { id } } } }")
        #expect(me["me", "isGuest"] == false)
        #expect(me["me", "identities"] == [["provider": "apple"]])
        #expect(me["me", "books", "nodes"] == [["id": book]])
        let later = try await app.signIn(subject: subject)
        #expect(later["signIn", "user", "id"] == guest.id)
    }

    @Test func lostResponsesAreRepeated() async throws {
        let app = try await Self.app()
        let account = try await app.makeReader()
        for subject in ["subject.\(UUID.version7())", account.subject] {
            let guest = try await app.makeGuest()
            _ = try await guest.makeBook("Dune")
            let token = app.identityToken(subject: subject)
            let first = try await app.signIn(token: token, as: guest)
            #expect(first.errors.isEmpty)
            let again = try await app.signIn(token: token, as: guest)
            #expect(again["signIn", "user", "id"] == first["signIn", "user", "id"])
            #expect(again["signIn", "refreshToken"] == first["signIn", "refreshToken"])
            let user = first["signIn", "user", "id"]?.string ?? ""
            #expect(
                try await app.database.count("SELECT count(*) FROM books WHERE user_id = '\(user)'")
                    == 1)
        }
    }

    @Test func concurrentSignInsMergeOnce() async throws {
        let app = try await Self.app()
        let account = try await app.makeReader()
        let guest = try await app.makeGuest()
        try await guest.makeBooks(5)
        let users = try await withThrowingTaskGroup(of: Value?.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    try await app.signIn(
                        token: app.identityToken(subject: account.subject), as: guest)[
                            "signIn", "user", "id"]
                }
            }
            return try await group.reduce(into: [Value?]()) { $0.append($1) }
        }
        #expect(users == Array(repeating: account.id, count: 4))
        let books = try await account.requireValue(
            "{ me { books { totalCount } } }", .null, "me", "books", "totalCount")
        #expect(books == 5)
    }

    /// Two guests sign in with one new identity: one is upgraded, and the other is merged into it.
    @Test func concurrentGuestsWithOneIdentityBecomeOneAccount() async throws {
        let app = try await Self.app()
        let subject = "subject.\(UUID.version7())"
        let guests = [try await app.makeGuest(), try await app.makeGuest()]
        for (number, guest) in guests.enumerated() {
            _ = try await guest.makeBook("Book \(number)")
        }
        let users = try await withThrowingTaskGroup(of: Value?.self) { group in
            for guest in guests {
                group.addTask {
                    try await app.signIn(token: app.identityToken(subject: subject), as: guest)[
                        "signIn", "user", "id"]
                }
            }
            return try await group.reduce(into: Set<String>()) { $0.insert($1?.string ?? "") }
        }
        #expect(users.count == 1)
        let owner = users.first ?? ""
        #expect(
            try await app.database.count("SELECT count(*) FROM books WHERE user_id = '\(owner)'")
                == 2)
    }

    @Test func endedSessionOfAGuestMergesNothing() async throws {
        let app = try await Self.app()
        let account = try await app.makeReader()
        let guest = try await app.makeGuest()
        _ = try await guest.makeBook("Dune")
        _ = try await guest.execute("mutation { signOut { endedSessions } }")
        let response = try await app.signIn(
            token: app.identityToken(subject: account.subject), as: guest)
        #expect(response.code == "UNAUTHENTICATED")
        #expect(
            try await app.database.count(
                "SELECT count(*) FROM users WHERE id = '\(guest.id.string ?? "")'") == 1)
    }

    /// A session of an account is not a guest's, so the sign-in starts a session of another account.
    @Test func accountsAreNotMerged() async throws {
        let app = try await Self.app()
        let (first, second) = (try await app.makeReader(), try await app.makeReader())
        _ = try await first.makeBook("Dune")
        let response = try await app.signIn(
            token: app.identityToken(subject: second.subject), as: first)
        #expect(response["signIn", "user", "id"] == second.id)
        #expect(
            try await first.execute("{ me { books { totalCount } } }")["me", "books", "totalCount"]
                == 1)
        #expect(
            try await second.execute("{ me { books { totalCount } } }")["me", "books", "totalCount"]
                == 0)
    }

    @Test func guestOfAnotherTenantIsNotMerged() async throws {
        let app = try await Self.app()
        let guest = try await app.makeGuest(.beta)
        _ = try await guest.makeBook("Dune")
        let response = try await app.signIn(
            token: app.identityToken(subject: "subject.\(UUID.version7())"), as: guest)
        #expect(response["signIn", "isNewUser"] == true)
        #expect(response["signIn", "user", "id"] != guest.id)
        #expect(try await guest.execute("{ me { isGuest } }")["me", "isGuest"] == true)
    }

    @Test func guestsInactiveForNinetyDaysAreDeleted() async throws {
        let app = try await TestApp.start(catalog: [])
        try await app.allowGuests()
        let (active, inactive, withToken) = (
            try await app.makeGuest(), try await app.makeGuest(), try await app.makeGuest()
        )
        let account = try await app.makeReader()
        for reader in [active, inactive, withToken, account] {
            _ = try await reader.makeBook("Dune")
        }
        _ = try await withToken.requireValue(
            """
            mutation { createAccessToken(input: {name: "Kobo", scopes: [PROGRESS]}) { secret } }
            """, .null, "createAccessToken", "secret")
        try await app.database.execute(
            """
            UPDATE users SET created_at = now() - interval '91 days', guest_seen_at = now() - interval '91 days';
            UPDATE sessions SET rotated_at = now() - interval '91 days' WHERE user_id <> '\(active.id.string ?? "")';
            UPDATE access_tokens SET last_used_at = now() - interval '1 day'
            """)
        let worker = try await TestWorker.start(
            app.database,
            [
                DeleteInactiveGuests(services: app.services),
                RemoveAccountObjects(covers: app.covers),
            ])
        try await waitUntil("the guest is deleted") {
            try await app.database.count("SELECT count(*) FROM users") == 3
        }
        await worker.stop()
        for reader in [active, withToken] {
            #expect(
                try await reader.execute("{ me { books { totalCount } } }")[
                    "me", "books", "totalCount"] == 1)
        }
        #expect(try await inactive.execute("{ me { id } }").code == "UNAUTHENTICATED")
        #expect(try await app.database.count("SELECT books FROM account_tombstones") == 1)
    }

    /// A statement examines a limited number of users, and all guests are found in turn.
    @Test func inactiveGuestsAreFoundInBatches() async throws {
        let app = try await TestApp.start(catalog: [])
        try await app.allowGuests()
        for _ in 0..<2 { _ = try await app.makeGuest() }
        _ = try await app.makeReader()
        for _ in 0..<2 { _ = try await app.makeGuest() }
        try await app.database.execute(
            """
            UPDATE users SET created_at = now() - interval '91 days', guest_seen_at = now() - interval '91 days';
            UPDATE sessions SET rotated_at = now() - interval '91 days'
            """)
        // One of the guests is active, and is not examined again.
        try await app.database.execute(
            "UPDATE sessions SET rotated_at = now() WHERE user_id = (SELECT id FROM users WHERE is_guest ORDER BY id LIMIT 1)"
        )
        let (found, examined) = try await app.database.withConnection { connection in
            var (found, examined): ([String], [Int32?]) = ([], [])
            for _ in 0..<3 {
                let rows = try connection.query(
                    "SELECT examined, guests::text[] FROM inactive_guests(90, 2)")
                examined.append(rows.int32(0, 0))
                let batch = rows.texts(0, 1) ?? []
                found += batch
                try connection.execute(
                    "DELETE FROM users WHERE id = ANY('{\(batch.joined(separator: ","))}')")
            }
            return (found, examined)
        }
        #expect(examined == [2, 2, 0])
        #expect(found.count == 3)
        #expect(try await app.database.count("SELECT count(*) FROM users WHERE is_guest") == 1)
    }
}
