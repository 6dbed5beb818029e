import GraphQL
import TestSupport
import Testing

/// `bookplate-admin token list` and `token revoke`.
@Suite struct TokenAdminTests {
    private func json(_ outcome: Program.Outcome) throws -> Value {
        #expect(outcome.code == 0, "\(outcome.errors)")
        return try parseJSON(Array(outcome.output.utf8))
    }

    private static let create = """
        mutation($id: ID, $name: String!) {
          createAccessToken(input: {id: $id, name: $name, scopes: [FEED, LIBRARY_READ]}) {
            secret token { id lastCharacters createdAt }
          }
        }
        """

    @Test func listsAndRevokesTokens() async throws {
        let installation = try await Installation.ready(catalog: [])
        let server = try await installation.startServer()
        var secrets: [String] = []
        var ids: [Value] = []
        var accounts: [String] = []
        for name in ["ada", "grace"] {
            let session = try await server.signIn(name)
            accounts.append(try #require(session["user", "id"]?.string))
            let created = try await server.client.execute(
                Self.create, ["name": .string("Script of \(name)")],
                token: session["accessToken"]?.string)
            let payload = try #require(created["data", "createAccessToken"], "\(created)")
            secrets.append(try #require(payload["secret"]?.string))
            ids.append(try #require(payload["token", "id"]))
        }
        func isValid(_ secret: String) async throws -> Bool {
            try await server.client.execute("{ me { id } }", token: secret)["errors"] == nil
        }
        let listed = try await installation.admin("token", "list", accounts[0], "--json")
        #expect(secrets.allSatisfy { !listed.output.contains($0) })
        let token = try json(listed)[0]
        #expect(token?["id"] == ids[0])
        #expect(token?["userId"]?.string == accounts[0])
        #expect(token?["tenant"] == "reader")
        #expect(token?["name"] == "Script of ada")
        #expect(token?["scopes"] == ["FEED", "LIBRARY_READ"])
        #expect(token?["documents"] == .null)
        #expect(token?["lastCharacters"]?.string == String(secrets[0].suffix(4)))
        #expect(token?["expiresAt"] == .null)
        let all = try json(
            try await installation.admin("token", "list", "--tenant", "reader", "--json"))
        #expect(all.values(of: "id") == ids.reversed())

        let id = try #require(ids[0].string)
        let dry = try await installation.admin("token", "revoke", id, "--dry-run", "--json")
        #expect(try json(dry)["revoked"] == [.string(id)])
        #expect(try await isValid(secrets[0]))
        let revoked = try await installation.admin("token", "revoke", id)
        #expect(revoked.output == "revoked 1 token\n")
        #expect(try await !isValid(secrets[0]))
        #expect(try await isValid(secrets[1]))
        let again = try await installation.admin("token", "revoke", id)
        #expect(again.output == "revoked 0 tokens\n")
        let events = try json(
            try await installation.admin(
                "audit", "list", "--account", accounts[0], "--kind", "TOKEN_REVOKED", "--json"))
        #expect(events.list?.count == 1)
        #expect(events[0, "operator"]?.isNull == false)
    }

    /// Apps choose the ids of tokens, so they are unique only within an account.
    @Test func idOfSeveralAccountsNeedsTheAccount() async throws {
        let installation = try await Installation.ready(catalog: [])
        let server = try await installation.startServer()
        let id = "0198c0de-0000-7000-8000-000000000009"
        var accounts: [String] = []
        for name in ["ada", "grace"] {
            let session = try await server.signIn(name)
            accounts.append(try #require(session["user", "id"]?.string))
            _ = try await server.client.execute(
                Self.create, ["id": .string(id), "name": .string(name)],
                token: session["accessToken"]?.string)
        }
        let refused = try await installation.admin("token", "revoke", id)
        #expect(refused.code == 1)
        #expect(refused.errors.contains("several accounts have a token with one of these IDs"))
        let one = try await installation.admin("token", "revoke", id, "--user", accounts[0])
        #expect(one.output == "revoked 1 token\n")
        let rest = try json(
            try await installation.admin("token", "list", "--tenant", "reader", "--json"))
        #expect(rest.values(of: "userId").compactMap(\.string) == [accounts[1]])
    }

    @Test(arguments: [
        ["list"], ["list", "x"],
        ["list", "0198c0de-0000-7000-8000-000000000009", "--tenant", "reader"],
        ["revoke"], ["revoke", "x"],
        ["revoke", "0198c0de-0000-7000-8000-000000000009", "--user", "x"],
    ])
    func wrongArgumentsAreRefused(arguments: [String]) async throws {
        let installation = try await Installation.bare()
        #expect(try await installation.admin(["token"] + arguments).code == 64)
    }
}
