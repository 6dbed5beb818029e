import FoundationEssentials
import GraphQL
import Identity
import Postgres
import TestSupport
import Testing

@testable import Bookplate
@testable import Requests

/// Personal access tokens: creation, use, and revocation.
@Suite struct AccessTokenTests {
    static let app = Shared { try await TestApp.start(catalog: []) }

    private static let create = """
        mutation($input: CreateAccessTokenInput!) {
          createAccessToken(input: $input) {
            secret token { id name scopes lastCharacters expiresAt lastUsedAt }
          }
        }
        """

    private func input(_ members: [Value.Member] = []) -> Value {
        .object(
            [
                .init("name", "Kobo"), .init("scopes", ["PROGRESS"]),
            ]
                + members)
    }

    private func create(_ reader: TestReader, _ input: Value) async throws -> TestResponse {
        try await reader.execute(Self.create, ["input": input])
    }

    private func tokens(_ reader: TestReader) async throws -> [Value] {
        try await reader.requireValue(
            "{ me { accessTokens { id name lastUsedAt } } }", .null, "me", "accessTokens"
        ).list ?? []
    }

    @Test func secretIsShownOnceAndStoredAsAHash() async throws {
        let app = try await Self.app()
        let reader = try await app.makeReader()
        let response = try await create(
            reader, input([.init("expiresAt", "2126-01-01T00:00:00Z")]))
        let created = try #require(response["createAccessToken"], "\(response.json)")
        let secret = created["secret"]?.string ?? ""
        #expect(secret.hasPrefix("bp_") && secret.utf8.count == 41)
        #expect(created["token", "lastCharacters"]?.string == String(secret.suffix(4)))
        #expect(created["token", "expiresAt"] == "2126-01-01T00:00:00.000Z")
        #expect(created["token", "scopes"] == ["PROGRESS"])
        let rows = try await app.database.withConnection {
            try $0.texts("SELECT to_jsonb(t)::text FROM access_tokens t")
        }
        let hash = md5(secret.utf8).map { lowercaseHex($0) } ?? ""
        #expect(!rows.isEmpty)
        #expect(rows.allSatisfy { !$0.contains(secret) && !$0.contains(hash) })
    }

    /// If the response was lost, the app sends the same request again.
    @Test func repeatedCreationReturnsTheSameSecret() async throws {
        let reader = try await Self.app().makeReader()
        let id: Value = .string("\(UUID.version7())")
        let first = try await create(reader, input([.init("id", id)]))
        let again = try await create(reader, input([.init("id", id)]))
        #expect(first["createAccessToken"] != nil && again.json == first.json)
        #expect(try await tokens(reader).count == 1)
        let other = try await reader.execute(
            Self.create, ["input": ["id": id, "name": "Other", "scopes": ["PROGRESS"]]])
        #expect(other.code == "CONFLICT")
        try await Self.app().database.execute(
            "UPDATE access_tokens SET created_at = created_at - interval '61 s' WHERE id = '\(id.string ?? "")'"
        )
        #expect(try await create(reader, input([.init("id", id)])).code == "CONFLICT")
        // A token with the id of a revoked one is another token.
        _ = try await reader.execute(
            "mutation($id: ID!) { revokeAccessToken(id: $id) { id } }", ["id": id])
        let new = try await create(reader, input([.init("id", id)]))
        #expect(new["createAccessToken", "secret"] != first["createAccessToken", "secret"])
    }

    private static let invalid: [(Value, String)] = [
        (["name": " ", "scopes": ["PROGRESS"]], "name"),
        (["name": "Kobo", "scopes": []], "scopes"),
        (
            ["name": "Kobo", "scopes": ["PROGRESS"], "expiresAt": "2020-01-01T00:00:00Z"],
            "expiresAt"
        ),
        (["name": "Kobo", "scopes": ["PROGRESS"], "id": "x"], "id"),
        (["name": "Kobo", "scopes": ["PROGRESS"], "documents": []], "documents"),
        (["name": "Kobo", "scopes": ["PROGRESS"], "documents": ["unknown"]], "documents"),
        (["name": "Kobo", "scopes": ["PROGRESS"], "documents": ["\u{0}"]], "documents"),
    ]

    @Test(arguments: invalid)
    func invalidInputIsRefused(input: Value, field: String) async throws {
        let response = try await create(try await Self.app().makeReader(), input)
        #expect(response.code == "BAD_USER_INPUT")
        #expect(response.errors.first?["extensions", "field"] == .string(field))
    }

    @Test func numberOfTokensIsLimited() async throws {
        let reader = try await Self.app().makeReader()
        let user = reader.id.string ?? ""
        try await Self.app().database.execute(
            """
            INSERT INTO access_tokens (user_id, id, name, scopes, token_hash, seed, last_characters)
            SELECT '\(user)', gen_random_uuid(), 'x', '{PROGRESS}', sha256(i::text::bytea), '', 'x'
            FROM generate_series(1, 100) i
            """)
        #expect(try await create(reader, input()).code == "BAD_USER_INPUT")
        // Expired tokens make room.
        try await Self.app().database.execute(
            """
            UPDATE access_tokens SET expires_at = now()
            WHERE user_id = '\(user)' AND id = (SELECT min(id::text)::uuid FROM access_tokens WHERE user_id = '\(user)')
            """)
        #expect(try await create(reader, input()).errors.isEmpty)
        #expect(try await tokens(reader).count == 100)
    }

    @Test func useIsRecordedAtMostEveryTenMinutes() async throws {
        let app = try await Self.app()
        let kobo = try await EReader(try await app.makeReader())
        #expect(try await tokens(kobo.reader).first?["lastUsedAt"] == .null)
        func use() async throws {
            _ = await kobo.authorize()
            try await app.services.environment.tokenUses.store(in: app.pool)
        }
        try await use()
        let first = try await tokens(kobo.reader)
        #expect(first.first?["lastUsedAt"] != .null)
        try await use()
        #expect(try await tokens(kobo.reader) == first)
        try await app.database.execute(
            """
            UPDATE access_tokens SET last_used_at = last_used_at - interval '11 minutes'
            WHERE user_id = '\(kobo.reader.id.string ?? "")'
            """)
        let shifted = try await tokens(kobo.reader)
        try await use()
        #expect(try await tokens(kobo.reader) != shifted)
    }

    private static let endings: [(String, String)] = [
        ("revoked", "mutation { revokeAccessToken(id: \"%\") { id } }"),
        ("signed out", "mutation { signOut(everywhere: true) { endedSessions } }"),
    ]

    @Test(arguments: endings)
    func endedTokenIsRefused(name: String, mutation: String) async throws {
        let kobo = try await EReader(try await Self.app().makeReader())
        let id = try await tokens(kobo.reader).first?["id"]?.string ?? ""
        #expect(await kobo.authorize().status == 200)
        let response = try await kobo.reader.execute(mutation.replacing("%", with: id))
        #expect(response.errors.isEmpty)
        #expect(await kobo.authorize().status == 401)
    }

    @Test func expiredTokenAndThatOfADeletedAccountAreRefused() async throws {
        let app = try await Self.app()
        let expired = try await EReader(try await app.makeReader())
        try await app.database.execute(
            "UPDATE access_tokens SET expires_at = now() WHERE user_id = '\(expired.reader.id.string ?? "")'"
        )
        #expect(await expired.authorize().status == 401)
        let deleted = try await EReader(try await app.makeReader())
        _ = try await deleted.reader.execute(
            "mutation($id: String!) { deleteAccount(confirm: $id) { id } }",
            ["id": deleted.reader.id])
        #expect(await deleted.authorize().status == 401)
    }

    /// Unlike a request with an invalid token of a session, the request is not executed as an anonymous one.
    @Test(arguments: ["bp_", "bp_wrong", nil])
    func unknownTokenIsRefused(text: String?) async throws {
        let app = try await Self.app()
        let kobo = try await EReader(try await app.makeReader())
        let token = text ?? String(kobo.secret.dropLast())
        let response = try await app.execute("{ __typename }", token: token)
        #expect(response.isRequestError && response.code == "UNAUTHENTICATED")
    }

    /// Scanners recognize a token by the regular expression of the documentation.
    @Test func tokenMatchesTheDocumentedPattern() async throws {
        let documentation = try String(
            contentsOfFile: TestCluster.project + "/docs/security.md", encoding: .utf8)
        #expect(documentation.contains("`bp_[0-9A-Za-z]{38}`"))
        let kobo = try await EReader(try await Self.app().makeReader())
        #expect(kobo.secret.wholeMatch(of: /bp_[0-9A-Za-z]{38}/) != nil)
    }

    // MARK: - The text of a token

    @Test func textIsRecognizedOnlyAsAWhole() throws {
        let keys = SessionKeys.generate()
        let (user, id) = (UUID.version7(), UUID.version7())
        let token = PersonalToken.derive(id, of: user, seed: [1], keys: keys)
        #expect(PersonalToken(token.text) == token)
        #expect(PersonalToken.derive(id, of: user, seed: [1], keys: keys) == token)
        #expect(PersonalToken.derive(id, of: user, seed: [2], keys: keys) != token)
        #expect(PersonalToken.derive(id, of: user, seed: [1], keys: .generate()) != token)
        #expect(!"\(token)".contains(token.lastCharacters))
        let bytes = Array(token.text.utf8)
        for index in bytes.indices {
            var damaged = bytes
            damaged[index] =
                damaged[index] == UInt8(ascii: "a") ? UInt8(ascii: "b") : UInt8(ascii: "a")
            #expect(PersonalToken(String(decoding: damaged, as: UTF8.self)) == nil, "\(index)")
        }
        for text in ["", "bp_", token.text + "a", String(token.text.dropLast())] {
            #expect(PersonalToken(text) == nil)
        }
    }
}
