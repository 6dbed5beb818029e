import GraphQL
import GraphQLServing
import Identity
import ObjectStorage
import Postgres
import TestSupport
import Testing

@testable import Bookplate

/// A process serves several databases. Apps do not notice in which of them an account is.
@Suite struct OtherDatabasesTests {
    /// A process with a home database and another one, and an account of the home database with a book.
    private struct World {
        let home: TestApp
        let other: TestApp
        var reader: TestReader

        static func make() async throws -> World {
            let keyring = SessionKeyring(.generate())
            let databases = UserDatabases()
            let home = try await TestApp.start(
                store: try FileStore(try TestApp.makeFolder()), keyring: keyring,
                databases: databases)
            let other = try await TestApp.start(
                store: try FileStore(try TestApp.makeFolder()), catalog: [], keyring: keyring,
                databases: databases, beside: home)
            // The databases of tests are copies of one. The move creates the tenant of the account.
            try await other.database.execute(
                "UPDATE installation SET id = gen_random_uuid(); DELETE FROM tenants")
            try await home.allowGuests()
            try await home.database.execute("UPDATE tenants SET oauth = true")
            let reader = try await home.makeReader()
            _ = try await reader.requireValue(
                #"mutation { createBook(input: {title: "Mine", status: READ}) { id } }"#, .null,
                "createBook", "id")
            return World(home: home, other: other, reader: reader)
        }

        /// Moves the account.
        func move(back: Bool = false) async throws {
            try await back ? move(from: other, to: home) : move(from: home, to: other)
        }

        /// - Parameter last: The step after which the move is interrupted; nil for a complete move.
        func move(
            from: TestApp, to: TestApp, until last: AccountMove.Step? = nil, newURL: String? = nil
        ) async throws {
            let move = try makeMove(from: from, to: to, newURL: newURL)
            do throws(AccountMoveError) {
                _ = try await move.run { step throws(AccountMoveError) in
                    if step == last { throw .interrupted }
                }
            } catch {
                guard case .interrupted = error, last != nil else { throw error }
            }
        }

        func makeMove(
            from: TestApp, to: TestApp, newURL: String? = nil
        ) throws -> AccountMove {
            AccountMove(
                of: try #require(reader.id.string.flatMap { UUID($0) }),
                from: try AdminConnection(try from.database.url(as: TestCluster.owner)),
                to: try AdminConnection(try to.database.url(as: TestCluster.owner)),
                sourceStore: from.covers.store, targetStore: to.covers.store, drainSeconds: 0,
                newURL: newURL)
        }

        /// A database was restored from a backup from before the account arrived.
        func lose(in app: TestApp) async throws {
            let id = try #require(reader.id.string)
            try await app.database.withConnection(as: nil) { connection in
                try connection.execute(
                    """
                    DELETE FROM users WHERE id = '\(id)';
                    DELETE FROM account_tombstones;
                    DELETE FROM account_moves WHERE state = 'ARRIVED'
                    """)
            }
        }

        /// The titles of the account's books in a database.
        func titles(in app: TestApp) async throws -> [String] {
            let id = reader.id.string ?? ""
            return try await app.database.withConnection { connection in
                try connection.texts(
                    "SELECT title FROM books WHERE user_id = '\(id)' ORDER BY title")
            }
        }
    }

    private static let books = "{ me { id books { nodes { title } } } }"

    private static func create(_ title: String) -> String {
        "mutation { createBook(input: {title: \"\(title)\", status: READ}) { id } }"
    }

    private func code(_ response: TestResponse) -> Value? {
        response.json["errors", 0, "extensions", "code"]
    }

    private static let identityTaken: Value =
        "This identity belongs to another account. Sign in with it to use that account."

    /// Links an identity, and returns the message of the error.
    private func link(
        _ subject: String, to reader: TestReader, _ world: World
    ) async throws -> Value? {
        let linked = try await reader.execute(
            "mutation($input: SignInInput!) { linkIdentity(input: $input) { id } }",
            [
                "input": [
                    "apple": ["identityToken": .string(world.home.identityToken(subject: subject))]
                ]
            ])
        return linked.json["errors", 0, "message"]
    }

    @Test func sessionGoesOnAfterTheMove() async throws {
        let world = try await World.make()
        let before = try await world.reader.execute(Self.books)
        try await world.move()
        #expect(try await world.reader.execute(Self.books).json == before.json)
        let created = try await world.reader.execute(Self.create("New"))
        #expect(code(created) == nil, "\(created.json)")
        #expect(try await world.titles(in: world.home) == [])
        #expect(try await world.titles(in: world.other) == ["Mine", "New"])
    }

    /// The first request after the move can also be one that changes something, signs in, or has another token.
    @Test(arguments: ["mutation", "refresh", "sign-in", "token", "subscription"])
    func anyRequestFindsTheAccount(first: String) async throws {
        let world = try await World.make()
        let reader = world.reader
        let secret = try await reader.requireValue(
            #"mutation { createAccessToken(input: {name: "T", scopes: [LIBRARY_READ]}) { secret } }"#,
            .null, "createAccessToken", "secret")
        try await world.move()
        switch first {
        case "mutation":
            _ = try await reader.requireValue(Self.create("New"), .null, "createBook", "id")
        case "refresh":
            let refreshed = try await world.home.execute(
                """
                mutation($token: String!) {
                  refreshSession(refreshToken: $token) { accessToken user { id books { nodes { title } } } }
                }
                """, ["token": .string(reader.refreshToken)])
            let user = refreshed.json["data", "refreshSession", "user"]
            #expect(user?["id"] == reader.id, "\(refreshed.json)")
            #expect(user?["books", "nodes", 0, "title"] == "Mine")
        case "sign-in":
            let signedIn = try await world.home.signIn(subject: reader.subject)
            let payload = signedIn.json["data", "signIn"]
            #expect(payload?["user", "id"] == reader.id, "\(signedIn.json)")
            #expect(payload?["isNewUser"] == false)
            let books = try await world.home.execute(
                Self.books, token: payload?["accessToken"]?.string)
            #expect(books.json["data", "me", "books", "nodes", 0, "title"] == "Mine")
        case "token":
            let books = try await world.home.execute(Self.books, token: secret.string)
            #expect(books.json["data", "me", "books", "nodes", 0, "title"] == "Mine")
        default:
            let subscription = try await world.home.subscribe(
                "subscription { changes { kind } }", token: reader.token)
            _ = try await reader.requireValue(Self.create("New"), .null, "createBook", "id")
            #expect(
                await subscription.next()["data", "changes", "kind"] != nil)
        }
        #expect(try await world.home.database.count("SELECT count(*) FROM users") == 0)
    }

    @Test func otherProtocolsFindTheAccount() async throws {
        let world = try await World.make()
        // A process knows a token after its first use.
        let known = try await EReader(world.reader)
        #expect(await known.authorize().status == 200)
        let unused = try await EReader(world.reader)
        let link = try await world.reader.requireValue(
            "mutation { exportLibrary { url } }", .null, "exportLibrary", "url")
        try await world.move()
        for reader in [known, unused] { #expect(await reader.authorize().status == 200) }
        let (pool, services) = (world.home.pool, world.home.services)
        let exported = link.string?.split(separator: "/").last?.dropLast(4) ?? ""
        let byteCount = try await Task(executorPreference: pool.executor) {
            try await ExportEndpoint(database: pool, services: services)
                .open(token: exported, requestID: "test").byteCount
        }.value
        #expect(byteCount > 0)
    }

    /// The home database does not know what was created in another one.
    @Test func homeDatabaseNeedNotKnowTheAccount() async throws {
        let world = try await World.make()
        let secret = try await world.reader.requireValue(
            #"mutation { createAccessToken(input: {name: "T", scopes: [LIBRARY_READ]}) { secret } }"#,
            .null, "createAccessToken", "secret")
        try await world.move()
        try await world.home.database.execute(
            "UPDATE account_moves SET user_id = gen_random_uuid(), known_hashes = '{}'")
        let books = try await world.home.execute(Self.books, token: secret.string)
        #expect(books.json["data", "me", "books", "nodes", 0, "title"] == "Mine", "\(books.json)")
        let refreshed = try await world.home.execute(
            "mutation($token: String!) { refreshSession(refreshToken: $token) { user { id } } }",
            ["token": .string(world.reader.refreshToken)])
        #expect(refreshed.json["data", "refreshSession", "user", "id"] == world.reader.id)
        let signedIn = try await world.home.signIn(subject: world.reader.subject)
        #expect(signedIn.json["data", "signIn", "user", "id"] == world.reader.id)
    }

    @Test func sessionThatNoDatabaseHasIsInvalid() async throws {
        let world = try await World.make()
        try await world.home.database.execute("DELETE FROM sessions")
        #expect(code(try await world.reader.execute(Self.books)) == "UNAUTHENTICATED")
        let refreshed = try await world.home.execute(
            "mutation($token: String!) { refreshSession(refreshToken: $token) { accessToken } }",
            ["token": .string(world.reader.refreshToken)])
        #expect(code(refreshed) == "UNAUTHENTICATED", "\(refreshed.json)")
        let secret = TokenFormat.characters([UInt8](repeating: 7, count: TokenFormat.secretCount))
        let unknown = try await world.home.execute(
            Self.books, token: TokenFormat.text(prefix: PersonalToken.prefix, secret: secret))
        #expect(code(unknown) == "UNAUTHENTICATED", "\(unknown.json)")
    }

    @Test func identityBelongsToOneAccountInAllDatabases() async throws {
        let world = try await World.make()
        try await world.move()
        let neighbor = try await world.home.makeReader()
        #expect(try await link(world.reader.subject, to: neighbor, world) == Self.identityTaken)
        #expect(try await link(neighbor.subject, to: world.reader, world) == Self.identityTaken)
        // An identity that the moved account has got later signs in to it.
        try await world.other.database.execute(
            """
            INSERT INTO identities (user_id, id, tenant_id, subject)
            SELECT user_id, gen_random_uuid(), tenant_id, 'second' FROM identities
            """)
        let signedIn = try await world.home.signIn(subject: "second")
        #expect(
            signedIn.json["data", "signIn", "user", "id"] == world.reader.id, "\(signedIn.json)")
    }

    // MARK: - Apps of other developers

    /// A request of an app for access, which the home database has.
    private struct Device {
        let client = UUID.version7()
        let code = OAuthSecret(.deviceCode)
        let world: World

        init(_ world: World) async throws {
            self.world = world
            let hash = lowercaseHex(code.hash)
            try await world.home.database.execute(
                """
                DELETE FROM oauth_requests;
                INSERT INTO oauth_clients (id, tenant_id, name, redirect_uris, scopes, allows_device)
                SELECT '\(client)', id, 'Display', '{}', '{LIBRARY_READ}', true FROM tenants WHERE slug = 'alpha';
                INSERT INTO oauth_requests (id, tenant_id, client_id, user_code, scopes, expires_at, device_hash)
                SELECT gen_random_uuid(), tenant_id, id, 'BCDFGHJK', '{LIBRARY_READ}', now() + interval '10 minutes', '\\x\(hash)'
                FROM oauth_clients
                WHERE id = '\(client)'
                """)
        }

        /// The reader allows the access.
        static func approve(_ reader: TestReader) async throws -> TestResponse {
            try await reader.execute(
                #"mutation { approveAuthorization(input: {code: "BCDF-GHJK"}) { clientName status } }"#
            )
        }

        /// The reader of the other database has claimed the request.
        func claim() async throws {
            try await world.home.database.execute(
                "UPDATE oauth_requests SET claimed_by = '\(world.reader.id.string ?? "")'")
        }

        /// The reader of the other database allows the access, and the server stops before it deletes the request in the home database.
        func approveWithoutEnd() async throws {
            let approved = try await Self.approve(world.reader)
            #expect(approved.json["errors"] == nil, "\(approved.json)")
            let id = try await world.other.database.text("SELECT id FROM oauth_requests")
            try await world.home.database.execute(
                """
                INSERT INTO oauth_requests (id, tenant_id, client_id, user_code, scopes, expires_at, device_hash)
                SELECT
                    '\(id)', tenant_id, id, 'BCDFGHJK', '{LIBRARY_READ}', now() + interval '10 minutes', sha256('\(code.text)')
                FROM oauth_clients
                """)
            try await claim()
        }

        /// The app asks the server for tokens.
        func tokens() async throws -> (status: Int, body: Value) {
            let endpoint = (world.home.pool, world.home.services)
            let body =
                "grant_type=urn:ietf:params:oauth:grant-type:device_code&device_code=\(code.text)&client_id=\(client)"
            let response = await Task(executorPreference: world.home.pool.executor) {
                await OAuthEndpoint(
                    database: endpoint.0, services: endpoint.1, publicURL: "http://localhost"
                ).token(
                    OAuthRequest(
                        path: "alpha", query: nil, body: Array(body.utf8),
                        contentType: "application/x-www-form-urlencoded",
                        authorization: nil, cookie: nil, acceptLanguage: nil, address: nil,
                        requestID: "test"))
            }.value
            return (Int(response.status), try parseJSON(response.body))
        }
    }

    private static let approved: Value = ["clientName": "Display", "status": "APPROVED"]

    /// The request of the app is in the home database, and the reader in another one.
    @Test func newAppGetsAccessToAMovedAccount() async throws {
        let world = try await World.make()
        try await world.move()
        let device = try await Device(world)
        let approved = try await Device.approve(world.reader)
        #expect(
            approved.json["data", "approveAuthorization"] == Self.approved, "\(approved.json)")
        let (status, tokens) = try await device.tokens()
        #expect(status == 200, "\(tokens)")
        let books = try await world.home.execute(
            Self.books, token: tokens["access_token"]?.string)
        #expect(books.json["data", "me", "books", "nodes", 0, "title"] == "Mine", "\(books.json)")
    }

    /// The readers are in different databases, and may decide at the same time.
    @Test func oneOfTwoReadersDecidesTheRequestOfAnApp() async throws {
        let world = try await World.make()
        let neighbor = try await world.home.makeReader()
        try await world.move()
        #expect(code(try await world.reader.execute(Self.books)) == nil)
        for _ in 1...8 {
            let device = try await Device(world)
            try await world.other.database.execute("DELETE FROM oauth_requests")
            async let first = Device.approve(world.reader)
            async let second = Device.approve(neighbor)
            let outcomes = try await [first, second]
            let winners = outcomes.filter {
                $0.json["data", "approveAuthorization"] == Self.approved
            }
            #expect(winners.count == 1, "\(outcomes.map(\.json))")
            #expect(outcomes.filter { code($0) == "NOT_FOUND" }.count == 1)
            let (status, tokens) = try await device.tokens()
            #expect(status == 200, "\(tokens)")
            let winner = outcomes[0].json["errors"] == nil ? world.reader : neighbor
            let owner = try await world.home.execute(
                Self.books, token: tokens["access_token"]?.string)
            #expect(owner.json["data", "me", "id"] == winner.id, "\(owner.json)")
        }
    }

    /// A server may stop after each step of a decision. The app keeps on waiting until the reader tries again.
    @Test(arguments: ["claimed", "decided"])
    func interruptedDecisionCanBeRepeated(after step: String) async throws {
        let world = try await World.make()
        try await world.move()
        let device = try await Device(world)
        if step == "decided" { try await device.approveWithoutEnd() }
        try await device.claim()
        let (status, pending) = try await device.tokens()
        #expect(status == 400)
        #expect(pending["error"] == "authorization_pending")
        // Another reader cannot decide it.
        let neighbor = try await world.home.makeReader()
        #expect(code(try await Device.approve(neighbor)) == "NOT_FOUND")
        let approved = try await Device.approve(world.reader)
        #expect(
            approved.json["data", "approveAuthorization"] == Self.approved, "\(approved.json)")
        #expect(try await world.home.database.count("SELECT count(*) FROM oauth_requests") == 0)
        // The second attempt within the interval of five seconds would be too early.
        try await world.other.database.execute("UPDATE oauth_requests SET polled_at = NULL")
        #expect(try await device.tokens().status == 200)
    }

    /// The home database still has the claimed request when the account comes back with the decision.
    @Test func decisionThatWasInterruptedMovesBack() async throws {
        let world = try await World.make()
        try await world.move()
        let device = try await Device(world)
        try await device.approveWithoutEnd()
        try await world.move(back: true)
        let (status, tokens) = try await device.tokens()
        #expect(status == 200, "\(tokens)")
    }

    /// Otherwise the browser could end a request that a reader of another database allows at the same time.
    @Test func claimedRequestIsNotCanceled() async throws {
        let world = try await World.make()
        try await world.move()
        let device = try await Device(world)
        try await device.claim()
        let secret = "browser"
        let hash = lowercaseHex(sha256(secret.utf8))
        try await world.home.database.execute(
            """
            UPDATE oauth_requests
            SET device_hash = NULL, redirect_uri = 'http://127.0.0.1/', browser_hash = '\\x\(hash)'
            """)
        let id = try await world.home.database.text("SELECT id FROM oauth_requests")
        let token = lowercaseHex(sha256("form:\(secret)".utf8))
        let (pool, services) = (world.home.pool, world.home.services)
        let page = await Task(executorPreference: pool.executor) {
            await OAuthEndpoint(
                database: pool, services: services, publicURL: "http://localhost"
            ).cancel(
                OAuthRequest(
                    path: "\(id)/cancel", query: nil, body: Array("token=\(token)".utf8),
                    contentType: "application/x-www-form-urlencoded", authorization: nil,
                    cookie: "\(OAuthEndpoint.cookieName)=\(secret)", acceptLanguage: nil,
                    address: nil, requestID: "test"))
        }.value
        #expect(page.status == 200)
        #expect(String(decoding: page.body, as: UTF8.self).contains("BCDF-GHJK"))
        let approved = try await Device.approve(world.reader)
        #expect(approved.json["data", "approveAuthorization", "status"] == "APPROVED")
    }

    // MARK: - Moves back

    @Test func accountCanMoveBack() async throws {
        let world = try await World.make()
        try await world.move()
        _ = try await world.reader.requireValue(Self.create("New"), .null, "createBook", "id")
        try await world.move(back: true)
        let books = try await world.reader.execute(Self.books)
        #expect(books.json["data", "me", "books", "nodes"]?.list?.count == 2, "\(books.json)")
        #expect(try await world.titles(in: world.home) == ["Mine", "New"])
        #expect(try await world.titles(in: world.other) == [])
    }

    /// The events of another database do not reach a subscription that has begun before.
    @Test func subscriptionEndsWhenItsAccountMoves() async throws {
        let world = try await World.make()
        let context = RequestContext(
            viewer: try viewer(of: world), database: world.home.pool,
            services: world.home.services, requestID: "test")
        try await world.move()
        let (pool, bound) = (world.home.pool, Unchecked(context))
        let (event, request) = await Task(executorPreference: pool.executor) {
            func failure(_ context: RequestContext) async -> BookplateError? {
                do throws(BookplateError) {
                    try await context.read { _, _ in }
                    return nil
                } catch {
                    return error
                }
            }
            let before = await failure(bound.value.makeEventContext())
            let request = await failure(bound.value)
            return (before, request)
        }.value
        #expect(event == .serviceUnavailable(retryAfterSeconds: 1, outcome: .notDone))
        #expect(request == nil)
    }

    private func viewer(of world: World) throws -> Viewer {
        Viewer(
            try AccessToken.verify(
                world.reader.token, keys: world.home.keys, now: unixSecondsNow()))
    }

    /// A context that the test uses on one event loop at a time.
    private struct Unchecked: @unchecked Sendable {
        let value: RequestContext

        init(_ value: RequestContext) { self.value = value }
    }

    /// The rows of the guest are in the home database, so they cannot be merged there.
    @Test func guestCannotBecomeAnAccountOfAnotherDatabase() async throws {
        let world = try await World.make()
        let guest = try await world.home.makeGuest()
        try await world.move()
        let response = try await world.home.signIn(
            token: world.home.identityToken(subject: world.reader.subject), as: guest)
        #expect(code(response) == "CONFLICT", "\(response.json)")
        let still = try await guest.execute("{ me { id } }")
        #expect(still.json["data", "me", "id"] == guest.id)
    }

    @Test func accountInADatabaseOfOtherServersHasMoved() async throws {
        let world = try await World.make()
        let foreign = try await TestApp.start(
            catalog: [], keyring: world.home.services.accounts.keyring)
        try await foreign.database.execute(
            "UPDATE installation SET id = gen_random_uuid(); DELETE FROM tenants")
        try await world.move(from: world.home, to: foreign, newURL: "https://new.example")
        let response = try await world.reader.execute(Self.books)
        #expect(
            response.json["errors", 0, "extensions"]
                == ["code": "ACCOUNT_MOVED", "url": "https://new.example"], "\(response.json)")
        #expect(code(try await world.home.signIn(subject: world.reader.subject)) == "ACCOUNT_MOVED")
        #expect(try await world.home.database.count("SELECT count(*) FROM users") == 0)
    }

    /// The other database was restored from a backup from before the move. Apps keep their tokens until the operator has undone the move.
    @Test func accountThatTheOtherDatabaseHasLostIsNotSignedOut() async throws {
        let world = try await World.make()
        let secret = try await world.reader.requireValue(
            #"mutation { createAccessToken(input: {name: "T", scopes: [LIBRARY_READ]}) { secret } }"#,
            .null, "createAccessToken", "secret")
        try await world.move()
        try await world.lose(in: world.other)
        let refresh =
            "mutation($token: String!) { refreshSession(refreshToken: $token) { accessToken } }"
        let byToken = try await world.home.execute(Self.books, token: secret.string)
        let refreshed = try await world.home.execute(
            refresh, ["token": .string(world.reader.refreshToken)])
        for response in [
            try await world.reader.execute(Self.books), byToken, refreshed,
            try await world.home.signIn(subject: world.reader.subject),
        ] {
            #expect(code(response) == "ACCOUNT_MOVED", "\(response.json)")
        }
        let notification = try await receive("consent-revoked", of: world.reader, world)
        #expect(notification == .unavailable)

        try await world.makeMove(from: world.home, to: world.other).undo()
        let books = try await world.home.execute(Self.books, token: secret.string)
        #expect(books.json["data", "me", "books", "nodes", 0, "title"] == "Mine", "\(books.json)")
        let again = try await world.home.execute(
            refresh, ["token": .string(world.reader.refreshToken)])
        #expect(code(again) == nil, "\(again.json)")
    }

    /// The sign-in would replace the only tokens of the guest, who returns with the next step of the operator.
    @Test func signInDoesNotReplaceALostGuest() async throws {
        var world = try await World.make()
        let guest = try await world.home.makeGuest()
        world.reader = guest
        try await world.move()
        try await world.lose(in: world.other)
        let response = try await world.home.signIn(
            token: world.home.identityToken(subject: "new"), as: guest)
        #expect(code(response) == "ACCOUNT_MOVED", "\(response.json)")
        try await world.makeMove(from: world.home, to: world.other).undo()
        let still = try await guest.execute("{ me { id } }")
        #expect(still.json["data", "me", "id"] == guest.id, "\(still.json)")
    }

    /// Its rows were deleted a day after the move, so only the operator can end this.
    @Test(arguments: [false, true])
    func identityOfALostAccountGetsNoOtherAccount(back: Bool) async throws {
        let world = try await World.make()
        let neighbor = try await world.home.makeReader()
        try await world.move()
        if back { try await world.move(back: true) }
        try await world.lose(in: back ? world.home : world.other)
        try await world.home.database.execute(
            "UPDATE account_moves SET known_hashes = ARRAY[identity_hash(tenant_id, '\(world.reader.subject)')]"
        )
        for app in [world.home, world.other] {
            try await app.database.execute("DELETE FROM account_parcels")
        }
        let signedIn = try await world.home.signIn(subject: world.reader.subject)
        #expect(code(signedIn) == "ACCOUNT_MOVED", "\(signedIn.json)")
        #expect(try await link(world.reader.subject, to: neighbor, world) == Self.identityTaken)
        #expect(try await receive("consent-revoked", of: world.reader, world) == .unavailable)
        for app in [world.home, world.other] {
            let identities = try await app.database.count(
                "SELECT count(*) FROM identities WHERE subject = '\(world.reader.subject)'")
            #expect(identities == 0)
        }

        try await world.other.database.execute(
            "SELECT forget_lost_account('\(world.reader.id.string ?? "")')")
        try await world.home.database.execute(
            "SELECT forget_lost_account('\(world.reader.id.string ?? "")')")
        let again = try await world.home.signIn(subject: world.reader.subject)
        #expect(again.json["data", "signIn", "isNewUser"] == true, "\(again.json)")
    }

    /// The home database has refused a request because it does not know the account, which then arrives before the search.
    @Test func accountThatArrivesBeforeASearchIsFound() async throws {
        let world = try await World.make()
        try await world.move()
        try await world.home.database.execute("DELETE FROM account_moves")
        let gate = try await Gate(before: "refuse_session()", in: world.home)
        async let response = world.reader.execute(Self.books)
        try await gate.waitForCaller()
        try await world.move(back: true)
        try gate.open()
        let found = try await response
        #expect(found.json["data", "me", "id"] == world.reader.id, "\(found.json)")
    }

    /// Makes the calls of an SQL function that refuses requests wait.
    private struct Gate {
        private static let lock = 7_305
        private let app: TestApp
        private let connection: AdminConnection

        /// - Parameter signature: The function with its parameters, each as a name and a type.
        init(before signature: String, in app: TestApp) async throws {
            self.app = app
            let parts = signature.dropLast().split(
                separator: "(", omittingEmptySubsequences: false)
            let argument = parts[1].prefix { $0 != " " }
            try await app.database.execute(
                """
                ALTER FUNCTION \(parts[0]) RENAME TO refuse_now;
                CREATE FUNCTION \(signature) RETURNS void LANGUAGE plpgsql STABLE SECURITY DEFINER
                SET search_path = public, pg_temp AS $$
                BEGIN
                    PERFORM pg_advisory_xact_lock_shared(\(Self.lock));
                    PERFORM refuse_now(\(argument));
                END $$;
                GRANT EXECUTE ON FUNCTION \(parts[0]) TO bookplate_app
                """)
            connection = try AdminConnection(try app.database.url(as: TestCluster.owner))
            try connection.execute("SELECT pg_advisory_lock(\(Self.lock))")
        }

        func waitForCaller() async throws {
            try await waitUntil("a request waits") {
                try await app.database.count(
                    "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = \(Self.lock) AND NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
                ) == 1
            }
        }

        func open() throws {
            try connection.execute("SELECT pg_advisory_unlock(\(Self.lock))")
        }
    }

    /// The account comes back to the first database while the second one is asked for it.
    @Test(arguments: ["session", "refresh"])
    func accountThatMovesBackDuringASearchIsFound(by credential: String) async throws {
        let world = try await World.make()
        try await world.move()
        let gate = try await Gate(before: "refuse_moved_user(owner uuid)", in: world.home)
        async let response =
            credential == "session"
            ? world.reader.execute(Self.books)
            : world.home.execute(
                "mutation($token: String!) { refreshSession(refreshToken: $token) { user { id books { nodes { title } } } } }",
                ["token": .string(world.reader.refreshToken)])
        try await gate.waitForCaller()
        try await world.move(back: true)
        try gate.open()
        let found = try await response
        let user = found.json["data", "refreshSession", "user"] ?? found.json["data", "me"]
        #expect(user?["id"] == world.reader.id, "\(found.json)")
        #expect(user?["books", "nodes", 0, "title"] == "Mine")
    }

    /// An app that gets ACCOUNT_MOVED does not sign in again.
    @Test(arguments: [false, true])
    func endedSessionIsInvalidAfterAMove(back: Bool) async throws {
        let world = try await World.make()
        try await world.move()
        let signedIn = try await world.home.signIn(subject: world.reader.subject)
        let second = signedIn.json["data", "signIn", "accessToken"]?.string
        #expect(code(try await world.reader.execute(Self.books)) == nil)
        if back { try await world.move(back: true) }
        let ended = try await world.home.execute(
            "mutation { signOut(everywhere: true) { endedSessions } }", token: second)
        #expect(ended.json["data", "signOut", "endedSessions"] != nil, "\(ended.json)")
        #expect(code(try await world.reader.execute(Self.books)) == "UNAUTHENTICATED")
        let refreshed = try await world.home.execute(
            "mutation($token: String!) { refreshSession(refreshToken: $token) { accessToken } }",
            ["token": .string(world.reader.refreshToken)])
        #expect(code(refreshed) == "UNAUTHENTICATED", "\(refreshed.json)")
    }

    /// Only a guest who sends the request is merged.
    @Test func callerOfAnotherDatabaseDoesNotPreventASignIn() async throws {
        let world = try await World.make()
        let neighbor = try await world.home.makeReader()
        try await world.move()
        let known = try await world.home.signIn(
            token: world.home.identityToken(subject: neighbor.subject), as: world.reader)
        #expect(known.json["data", "signIn", "user", "id"] == neighbor.id, "\(known.json)")
        let new = try await world.home.signIn(
            token: world.home.identityToken(subject: "new"), as: world.reader)
        #expect(new.json["data", "signIn", "isNewUser"] == true, "\(new.json)")
        #expect(try await world.home.database.count("SELECT count(*) FROM users") == 2)
    }

    /// The home database still knows the hash of the identity.
    @Test(arguments: [false, true])
    func identityOfADeletedAccountCanSignInAgain(back: Bool) async throws {
        let world = try await World.make()
        try await world.move()
        if back { try await world.move(back: true) }
        let deleted = try await world.reader.execute(
            "mutation($id: String!) { deleteAccount(confirm: $id) { __typename } }",
            ["id": world.reader.id])
        #expect(code(deleted) == nil, "\(deleted.json)")
        #expect(code(try await world.reader.execute(Self.books)) == "UNAUTHENTICATED")
        if !back {
            // The other database could have lost the account, which would then return.
            let early = try await world.home.signIn(subject: world.reader.subject)
            #expect(code(early) == "ACCOUNT_MOVED", "\(early.json)")
            try await world.home.database.execute("DELETE FROM account_parcels")
        }
        let signedIn = try await world.home.signIn(subject: world.reader.subject)
        #expect(signedIn.json["data", "signIn", "isNewUser"] == true, "\(signedIn.json)")
        #expect(try await world.home.database.count("SELECT count(*) FROM users") == 1)
    }

    /// While the rows are in a parcel, no database has the account.
    @Test func movingAccountIsNotSignedOut() async throws {
        let world = try await World.make()
        let secret = try await world.reader.requireValue(
            #"mutation { createAccessToken(input: {name: "T", scopes: [LIBRARY_READ]}) { secret } }"#,
            .null, "createAccessToken", "secret")
        try await world.move()
        try await world.move(from: world.other, to: world.home, until: .packed)
        #expect(code(try await world.reader.execute(Self.books)) == "SERVICE_UNAVAILABLE")
        let refreshed = try await world.home.execute(
            "mutation($token: String!) { refreshSession(refreshToken: $token) { accessToken } }",
            ["token": .string(world.reader.refreshToken)])
        #expect(code(refreshed) == "SERVICE_UNAVAILABLE", "\(refreshed.json)")
        let byToken = try await world.home.execute(Self.books, token: secret.string)
        #expect(code(byToken) == "SERVICE_UNAVAILABLE", "\(byToken.json)")
        let signedIn = try await world.home.signIn(subject: world.reader.subject)
        #expect(code(signedIn) == "SERVICE_UNAVAILABLE", "\(signedIn.json)")
    }

    /// The other database has only the tenants of moved accounts.
    @Test func tenantsAreThoseOfTheHomeDatabase() async throws {
        let world = try await World.make()
        try await world.move()
        #expect(code(try await world.reader.execute(Self.books)) == nil)
        // The tenants that were read before have expired.
        try await Task.sleep(for: .seconds(1))
        _ = try await world.home.execute(
            "mutation($input: SignInInput!) { linkIdentity(input: $input) { id } }",
            ["input": ["apple": ["identityToken": "x"]]], token: world.reader.token)
        #expect(code(try await world.home.signIn(subject: "beta", tenant: .beta)) == nil)
    }

    /// Both loads are refused by the home database at the same time.
    @Test func concurrentLoadsFindTheAccount() async throws {
        let world = try await World.make()
        try await world.move()
        let response = try await world.reader.execute(
            "{ me { books { nodes { title } } } feed(first: 3) { nodes { title } } }")
        #expect(response.json["errors"] == nil, "\(response.json)")
        #expect(response.json["data", "me", "books", "nodes", 0, "title"] == "Mine")
    }

    /// Apple sends a notification about the account to the server. It has the same ID each time.
    private func receive(
        _ type: String, of reader: TestReader, _ world: World
    ) async throws -> AppleNotifications.Outcome {
        let payload = try #require(
            TestApp.issuer.notification(
                type: type, subject: reader.subject,
                audience: TestApp.Tenant.alpha.audience, id: "moved"))
        let (pool, services) = (world.home.pool, world.home.services)
        return await Task(executorPreference: pool.executor) {
            await AppleNotifications.receive(
                Array(#"{"payload":"\#(payload)"}"#.utf8), database: pool, services: services,
                requestID: "test")
        }.value
    }

    @Test func notificationOfAppleReachesTheAccount() async throws {
        let world = try await World.make()
        try await world.move()
        #expect(try await receive("consent-revoked", of: world.reader, world) == .accepted)
        #expect(code(try await world.reader.execute(Self.books)) == "UNAUTHENTICATED")

        // Apple sends it again, when the account is elsewhere.
        try await world.move(back: true)
        let signedIn = try await world.home.signIn(subject: world.reader.subject)
        #expect(try await receive("consent-revoked", of: world.reader, world) == .accepted)
        let token = signedIn.json["data", "signIn", "accessToken"]?.string
        #expect(code(try await world.home.execute(Self.books, token: token)) == nil)
    }

    /// Its hash is still known from an account that had it before.
    @Test func notificationOfAppleReachesALaterAccountOfTheIdentity() async throws {
        let world = try await World.make()
        let neighbor = try await world.home.makeReader()
        try await world.move()
        try await world.home.database.execute(
            "UPDATE account_moves SET known_hashes = ARRAY[identity_hash(tenant_id, '\(neighbor.subject)')]"
        )
        #expect(try await receive("consent-revoked", of: neighbor, world) == .accepted)
        #expect(code(try await neighbor.execute(Self.books)) == "UNAUTHENTICATED")
    }

    @Test func unreachableDatabaseIsUnavailableForItsAccountsOnly() async throws {
        let world = try await World.make()
        let neighbor = try await world.home.makeReader()
        try await world.move()
        await world.other.close()
        let response = try await world.reader.execute(Self.books)
        #expect(code(response) == "SERVICE_UNAVAILABLE", "\(response.json)")
        let unaffected = try await neighbor.execute("{ me { id } }")
        #expect(unaffected.json["data", "me", "id"] == neighbor.id)
        _ = try await Device(world)
        let approved = try await Device.approve(neighbor)
        #expect(
            approved.json["data", "approveAuthorization"] == Self.approved, "\(approved.json)")
    }

    @Test func accountsOfTheHomeDatabaseTakeNoStatementMore() async throws {
        let world = try await World.make()
        let single = try await TestApp.start()
        let alone = try await single.makeReader().execute(Self.books)
        let beside = try await world.home.makeReader().execute(Self.books)
        #expect(beside.statements == alone.statements)
        #expect(beside.roundTrips == alone.roundTrips)
    }

    // MARK: - The catalog

    /// Runs the job of the other database until it has copied all changes.
    private func copyCatalog(_ world: World) async throws {
        let handlers = JobHandlers.all(world.other.services).filter { $0 is CopyCatalog }
        #expect(handlers.count == 1)
        #expect(!JobHandlers.all(world.home.services).contains { $0 is CopyCatalog })
        try await world.other.database.execute(
            "UPDATE jobs SET run_at = now() WHERE kind = 'catalog.copy'")
        let worker = try await TestWorker.start(world.other.database, handlers)
        try await waitUntil("the catalog is copied") {
            try await world.other.database.count(
                "SELECT count(*) FROM jobs WHERE kind = 'catalog.copy' AND run_at > now()") == 1
        }
        await worker.stop()
    }

    /// The editions of a catalog with all that follows from them.
    private func catalog(_ app: TestApp) async throws -> [String] {
        try await app.database.withConnection { connection in
            try connection.texts(
                """
                SELECT (
                    to_jsonb(e) - uncopied_edition_columns() - '{popularity,sources_requested_at,updated_at}'::text[] || jsonb_build_object(
                        'search', e.search_vector, 'founder', w.founder_id, 'rank', w.rank,
                        'sources', (
                            SELECT jsonb_agg(to_jsonb(s) ORDER BY s.source, s.key) FROM edition_sources s WHERE s.edition_id = e.id
                        ),
                        'keys', (
                            SELECT jsonb_agg(to_jsonb(k) ORDER BY k.source) FROM edition_work_keys k WHERE k.edition_id = e.id
                        ),
                        'genre ids', (
                            SELECT jsonb_agg(g.genre_id ORDER BY g.ordinal, g.genre_id) FROM edition_genres g WHERE g.edition_id = e.id
                        )
                    )
                )::text
                FROM editions e
                LEFT JOIN work_records w ON w.edition_id = e.id
                ORDER BY e.id
                """)
        }
    }

    @Test func catalogIsCopiedWithItsChanges() async throws {
        let world = try await World.make()
        try await copyCatalog(world)
        let editions = try await catalog(world.home)
        #expect(editions.count > 10)
        #expect(try await catalog(world.other) == editions)

        // New and changed editions, and keys.
        try await world.home.database.importCatalog(TestCatalog.lines(40))
        try await world.home.database.execute(
            """
            UPDATE editions SET title = 'Changed', updated_at = now() + interval '1 s' WHERE isbn13 = '\(TestCatalog.isbn(1))';
            SELECT save_work_keys(ARRAY[id], '{open_library}', '{OL1W}') FROM editions WHERE isbn13 = '\(TestCatalog.isbn(2))';
            INSERT INTO edition_sources (source, key, edition_id)
            SELECT 'goodreads', '77', id FROM editions WHERE isbn13 = '\(TestCatalog.isbn(3))'
            """)
        let changed = try await catalog(world.home)
        #expect(changed != editions)
        try await copyCatalog(world)
        #expect(try await catalog(world.other) == changed)
    }

    /// A reader of the other database may have looked up a book before it was copied.
    @Test func editionThatBothCatalogsHaveKeepsItsID() async throws {
        let world = try await World.make()
        let isbn = TestCatalog.isbn(1)
        try await world.other.database.execute(
            """
            INSERT INTO editions (id, isbn13, title, description, page_count)
            VALUES (gen_random_uuid(), '\(isbn)', 'Looked up', 'Found', 77)
            """)
        try await world.home.database.execute(
            "UPDATE editions SET description = NULL, page_count = NULL WHERE isbn13 = '\(isbn)'")
        let id = try await world.other.database.text("SELECT id FROM editions")
        try await copyCatalog(world)
        let title = try await world.home.database.text(
            "SELECT title FROM editions WHERE isbn13 = '\(isbn)'")
        #expect(
            try await world.other.database.text(
                "SELECT id || ' ' || title || ' ' || description || ' ' || page_count FROM editions WHERE isbn13 = '\(isbn)'"
            ) == "\(id) \(title) Found 77")
        #expect(
            try await world.other.database.count("SELECT count(*) FROM editions")
                == world.home.database.count("SELECT count(*) FROM editions"))
    }

    /// A transaction that began earlier can commit after a later one was copied.
    @Test func changeOfALongTransactionIsNotMissed() async throws {
        let world = try await World.make()
        try await copyCatalog(world)
        let long = try AdminConnection(try world.home.database.url(as: TestCluster.owner))
        try long.execute(
            "BEGIN; INSERT INTO editions (id, title) VALUES (gen_random_uuid(), 'Long')")
        try await world.home.database.execute(
            "INSERT INTO editions (id, title) VALUES (gen_random_uuid(), 'Short')")
        try await copyCatalog(world)
        try long.execute("COMMIT")
        try await copyCatalog(world)
        #expect(
            try await world.other.database.count(
                "SELECT count(*) FROM editions WHERE title IN ('Long', 'Short')") == 2)
    }

    /// The numbers of transactions begin again in a new cluster, and are lost with a timeline.
    @Test func copyBeginsAgainAfterARestore() async throws {
        let world = try await World.make()
        try await copyCatalog(world)
        for loss in [
            "UPDATE catalog_changes SET changed_in = '1000000000000'",
            "UPDATE timelines SET mark = gen_random_uuid()",
        ] {
            try await world.home.database.execute(loss)
            try await world.other.database.execute(
                "DELETE FROM editions WHERE isbn13 = '\(TestCatalog.isbn(1))'")
            // The first run gives new numbers.
            try await copyCatalog(world)
            try await copyCatalog(world)
            #expect(
                try await world.other.database.count(
                    "SELECT count(*) FROM editions WHERE isbn13 = '\(TestCatalog.isbn(1))'") == 1,
                "\(loss)")
        }
    }
}
