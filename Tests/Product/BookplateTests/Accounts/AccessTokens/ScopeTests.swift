import GraphQL
import GraphQLServing
import Identity
import Postgres
import TestBasics
import TestSupport
import Testing

@testable import Bookplate
@testable import Operations
@testable import Requests

/// GraphQL requests with personal access tokens.
@Suite struct ScopeTests {
    static let app = Shared { try await TestApp.start(catalog: []) }

    @Test func scriptReadsAndChangesTheLibrary() async throws {
        let token = try await ScopedReader(try await Self.app().makeReader(), ["LIBRARY_WRITE"])
        let created = try await token.execute(
            #"mutation { createBook(input: {title: "Dune"}) { id title } }"#)
        #expect(created["createBook", "title"] == "Dune")
        let books = try await token.execute("{ me { books { nodes { title } } } }")
        #expect(books["me", "books", "nodes"] == [["title": "Dune"]])
        try await token.revoke()
        #expect(try await token.execute("{ me { id } }").code == "UNAUTHENTICATED")
    }

    /// A token gives no access to the data of other readers.
    @Test func tokenOpensOnlyTheLibraryOfItsReader() async throws {
        let app = try await Self.app()
        let other = try await app.makeReader(.beta)
        let book = try await other.makeBook("Secret")
        let token = try await ScopedReader(try await app.makeReader(), ["LIBRARY_READ"])
        let response = try await token.execute(
            "query($id: ID!) { book(id: $id) { title } }", ["id": book])
        #expect(response.json == ["data": ["book": .null]])
    }

    @Test func refusalNamesTheMissingScopes() async throws {
        let token = try await ScopedReader(try await Self.app().makeReader(), ["PROGRESS"])
        let response = try await token.execute("{ me { email books { nodes { title } } } }")
        #expect(
            response.message
                == "The personal access token lacks the scopes LIBRARY_READ, ACCOUNT. Create a token with them."
        )
        let single = try await token.execute("{ me { email } }")
        #expect(
            single.message
                == "The personal access token lacks the scope ACCOUNT. Create a token with it.")
        let session = try await token.execute("mutation { signOut { endedSessions } }")
        #expect(session.code == "FORBIDDEN")
        #expect(session.message?.hasPrefix("Personal access tokens cannot run") == true)
    }

    /// A field that a request leaves out needs no scope. The tools show the scopes of all fields.
    @Test func skippedFieldsNeedNoScope() async throws {
        let token = try await ScopedReader(try await Self.app().makeReader(), ["LIBRARY_READ"])
        let query = "query Mail($mail: Boolean!) { me { id email @include(if: $mail) } }"
        #expect(try await token.execute(query, ["mail": false]).errors.isEmpty)
        #expect(try await token.execute(query, ["mail": true]).code == "FORBIDDEN")
        let schema = try BookplateSchema(sdl: BookplateSchema.text)
        #expect(
            try await schema.scopes(
                ofDocument: Array("\(query) mutation Out { signOut { endedSessions } }".utf8))
                == [
                    OperationScopes(
                        name: "Mail", kind: "query", scopes: ["ACCOUNT"], isSessionOnly: false),
                    OperationScopes(
                        name: "Out", kind: "mutation", scopes: [], isSessionOnly: true),
                ])
    }

    /// A fragment on an interface needs only the scopes of the type on which it is used.
    @Test func fragmentsNeedTheScopesOfTheirTypes() async throws {
        let schema = try BookplateSchema(sdl: BookplateSchema.text)
        func scopes(_ query: String) async throws -> [String] {
            try await schema.scopes(ofDocument: Array(query.utf8)).flatMap(\.scopes)
        }
        #expect(try await scopes(#"{ book(id: "x") { ... on Node { id } } }"#) == ["LIBRARY_READ"])
        #expect(try await scopes(#"{ node(id: "x") { ... on Work { title } } }"#) == [])
        #expect(
            try await scopes(#"{ node(id: "x") { ... on Work { inLibrary { id } } } }"#)
                == ["LIBRARY_READ"])
        #expect(
            try await scopes(#"{ node(id: "x") { __typename } }"#) == ["LIBRARY_READ", "PROGRESS"])
        #expect(try await scopes("{ __schema { queryType { name } } }") == [])
    }

    // MARK: - Trusted documents

    @Test func boundTokenRunsOnlyItsDocuments() async throws {
        let app = try await TestApp.start(catalog: [])
        let bodies = ["query Mine { me { id } }", "query Other { me { shelves { id } } }"]
        let manifest = try DocumentManifest(
            Array(
                #"{"mine": "\#(bodies[0])", "other": "\#(bodies[1])"}"#.utf8))
        try await app.database.withConnection { _ = try DocumentRecord.sync(manifest, $0) }
        let token = try await ScopedReader(
            try await app.makeReader(), ["LIBRARY_READ"], documents: ["mine"])
        #expect(try await token.execute(bodies[0]).errors.isEmpty)
        for query in [bodies[1], "{ me { id } }", bodies[0] + " "] {
            let response = try await token.execute(query)
            #expect(response.isRequestError && response.code == "FORBIDDEN", "\(query)")
            #expect(response.message?.contains("bound to trusted documents") == true)
        }
        let listed = try await token.reader.requireValue(
            "{ me { accessTokens { documents } } }", .null, "me", "accessTokens", 0, "documents")
        #expect(listed == [.string(lowercaseHex(sha256(bodies[0].utf8)))])
        // E-readers run no documents.
        let bound = try await ScopedReader(token.reader, ["PROGRESS"], documents: ["mine"])
        let kobo = try await EReader(token.reader, secret: bound.secret)
        #expect(await kobo.authorize().status == 401)
        // A document that the operator has removed is not trusted any more.
        let hash = lowercaseHex(sha256(bodies[1].utf8))
        let removed = try await ScopedReader(
            token.reader, ["LIBRARY_READ"], documents: [hash, "other"])
        try await app.database.execute("DELETE FROM documents")
        #expect(try await removed.execute(bodies[1]).code == "FORBIDDEN")
    }

    @Test func pruningKeepsDocumentsOfTokens() async throws {
        let app = try await TestApp.start(catalog: [])
        let manifest = try DocumentManifest(
            Array(
                #"{"bound": "{ me { id } }", "expired": "{ me { name: displayName } }", "free": "{ __typename }"}"#
                    .utf8))
        try await app.database.withConnection { _ = try DocumentRecord.sync(manifest, $0) }
        let reader = try await app.makeReader()
        let bound = try await ScopedReader(reader, ["LIBRARY_READ"], documents: ["bound"])
        _ = try await ScopedReader(reader, ["ACCOUNT"], documents: ["expired"])
        let expired = try await app.database.withConnection {
            try $0.query(
                "SELECT sha256 FROM documents WHERE id = 'expired'"
            ).decode(String.self).first
        }
        try await app.database.execute(
            """
            UPDATE access_tokens SET created_at = now() - interval '2 days', expires_at = now() - interval '1 day'
            WHERE documents = ARRAY['\(try #require(expired))'];
            UPDATE documents SET synced_at = now() - interval '200 days'
            """)
        let pruned = try await app.database.withConnection {
            try DocumentRecord.prune(olderThanDays: 180, $0)
        }
        #expect(pruned == .init(deleted: ["expired", "free"], kept: ["bound"]))
        #expect(try await bound.execute("{ me { id } }").errors.isEmpty)
    }

    // MARK: - Limits and outages

    /// A token that the server knows is charged to its user before the database is asked anything.
    @Test func limitedTokenCostsNoLookup() async throws {
        // Creating the token costs eleven units.
        let app = try await TestApp.start(catalog: [], rates: RateLimits(.init(perCaller: 13)))
        let token = try await ScopedReader(try await app.makeReader(), ["LIBRARY_READ"])
        #expect(try await token.execute("{ me { id } }").errors.isEmpty)
        try await app.database.execute(
            "ALTER FUNCTION find_access_token RENAME TO removed_function")
        #expect(try await token.execute("{ me { id } }").errors.isEmpty)
        let limited = try await token.execute("{ me { id } }")
        #expect(limited.code == "RATE_LIMITED" && limited.rate?.name == "user")
    }

    @Test func wrongTokensAreLimitedByAddress() async throws {
        let app = try await TestApp.start(catalog: [], rates: RateLimits(.init(signIns: 2)))
        let address = ClientAddress(high: 0, low: 0xFFFF_0A00_0001)
        var codes: [String?] = []
        for _ in 1...3 {
            codes.append(
                try await app.execute("{ __typename }", token: "bp_wrong", address: address).code)
        }
        #expect(codes == ["UNAUTHENTICATED", "UNAUTHENTICATED", "RATE_LIMITED"])
    }

    /// As during a failover, when the database accepts only reads.
    @Test func tokensWorkWhileTheDatabaseIsReadOnly() async throws {
        let app = try await TestApp.start(catalog: [])
        let token = try await ScopedReader(try await app.makeReader(), ["LIBRARY_READ"])
        let name = app.database.name
        try await app.database.withConnection(as: nil) { connection in
            try connection.execute(
                """
                ALTER DATABASE \(name) SET default_transaction_read_only = on;
                SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                WHERE datname = '\(name)' AND usename = 'bookplate_app'
                """)
        }
        try await waitUntil("a new connection answers") {
            try await token.execute("{ me { id } }").errors.isEmpty
        }
        await #expect(throws: PostgresError.self) {
            try await app.services.environment.tokenUses.store(in: app.pool)
        }
        try await app.database.withConnection(as: nil) { connection in
            try connection.execute("SET default_transaction_read_only = off")
            try connection.execute(
                """
                ALTER DATABASE \(name) RESET default_transaction_read_only;
                SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                WHERE datname = '\(name)' AND usename = 'bookplate_app'
                """)
        }
        // The use was kept.
        try await waitUntil("the use is stored") {
            try? await app.services.environment.tokenUses.store(in: app.pool)
            return try await app.database.withConnection {
                try $0.texts("SELECT last_used_at::text FROM access_tokens") != [""]
            }
        }
    }

    @Test func expiredTokenIsRefusedAlsoIfItIsKnown() async throws {
        let app = try await Self.app()
        let token = try await ScopedReader(try await app.makeReader(), ["LIBRARY_READ"])
        #expect(try await token.execute("{ me { id } }").errors.isEmpty)
        try await app.database.execute(
            "UPDATE access_tokens SET expires_at = now() WHERE id = '\(token.id.string ?? "")'")
        #expect(try await token.execute("{ me { id } }").code == "UNAUTHENTICATED")
    }
}
