import FoundationEssentials
import Glibc
import GraphQL
import TestBasics
import TestSupport
import Testing

/// `bookplate-admin audit`, and the events of its other commands.
@Suite struct AuditAdminTests {
    private func json(_ outcome: Program.Outcome) throws -> Value {
        #expect(outcome.code == 0, "\(outcome.errors)")
        return try parseJSON(Array(outcome.output.utf8))
    }

    @Test func commandsAreRecordedWithTheirOperator() async throws {
        let installation = try await Installation.ready(catalog: [])
        let added = try await installation.admin(
            "tenant", "update", "reader", "--name", "Another", "--dry-run")
        #expect(added.code == 0, "\(added.errors)")
        let dry = try json(
            try await installation.admin("audit", "list", "--kind", "admin_command", "--json"))
        let isDry = dry.values(of: "detail").contains { "\($0)".contains("Another") }
        #expect(!isDry)
        #expect(
            try await installation.admin("tenant", "update", "reader", "--name", "New").code == 0)
        #expect(try await installation.admin("tenant", "update", "nobody", "--name", "x").code == 1)
        let events =
            try json(
                try await installation.admin(
                    "audit", "list", "--kind", "ADMIN_COMMAND", "--limit", "2", "--json")
            ).list ?? []
        let user = String(cString: getpwuid(geteuid()).pointee.pw_name)
        #expect(
            events.map { $0["detail"] ?? .null } == [
                [
                    "arguments": ["tenant", "update", "nobody", "--name", "x"],
                    "succeeded": false,
                ],
                [
                    "arguments": ["tenant", "update", "reader", "--name", "New"],
                    "succeeded": true,
                ],
            ])
        #expect(events.allSatisfy { $0["operator"]?.string?.hasSuffix(user) == true })
    }

    @Test func eventsThatACommandCausesNameItsOperator() async throws {
        let installation = try await Installation.ready(catalog: [])
        let server = try await installation.startServer()
        let session = try await server.signIn("ada")
        let account = try #require(session["user", "id"]?.string)
        let revoked = try await installation.admin("session", "revoke", account, "--all")
        #expect(revoked.code == 0, "\(revoked.errors)")
        let events = try json(
            try await installation.admin("audit", "list", "--account", account, "--json"))
        #expect(events.values(of: "kind") == ["SESSION_REVOKED", "SIGNED_IN"])
        #expect(events.values(of: "operator").map(\.isNull) == [false, true])
    }

    @Test func serverChainsEventsAndVerifyFindsChanges() async throws {
        let installation = try await Installation.ready(catalog: [])
        let server = try await installation.startServer()
        _ = try await server.signIn("ada")
        try await waitUntil("the events are in the chain") {
            let result = try json(try await installation.admin("audit", "verify", "--json"))
            return result["unchained"] == 0 && result["events"] != 0
        }
        let anchor = try #require(
            try json(try await installation.admin("audit", "verify", "--json"))["anchor"]?.string)
        let verified = try await installation.admin("audit", "verify", "--anchor", anchor)
        #expect(verified.code == 0 && verified.output.contains("anchor \(anchor)\n"))
        try await installation.database.execute(
            "UPDATE audit_events SET kind = 'OTHER' WHERE position = 1")
        let changed = try await installation.admin("audit", "verify")
        #expect(changed.code == 2 && changed.output.contains("Event 1 does not follow"))
        #expect(try await installation.admin("audit", "verify", "--anchor", "x").code == 64)
    }

    @Test func printsTheScopesOfDocuments() async throws {
        let installation = try await Installation.bare()
        let file = try installation.write(
            "query Books { me { books { nodes { title } } } }", to: "books.graphql")
        let outcome = try await installation.admin("documents", "scopes", file)
        #expect(outcome.output.contains("-\tBooks\tquery\tLIBRARY_READ\n"))
        let manifest = try installation.write(
            #"{"a": "mutation Out { signOut { endedSessions } }", "b": "{ nothing }"}"#,
            to: "manifest.json")
        let both = try await installation.admin("documents", "scopes", manifest, "--json")
        #expect(both.code == 2 && both.errors.contains("b: Cannot query field"))
        #expect(
            try parseJSON(Array(both.output.utf8)) == [
                [
                    "id": "a", "name": "Out", "type": "mutation", "scopes": [],
                    "isSessionOnly": true,
                ]
            ])
    }
}
