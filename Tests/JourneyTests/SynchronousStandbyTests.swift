import GraphQL
import Postgres
import TestSupport
import Testing

/// A synchronous standby that is down. No write may be confirmed without it, because it may become the primary.
@Suite struct SynchronousStandbyTests {
    private struct Fixture {
        let standby: Standby
        let installation: Installation
        let server: RunningServer

        func administer<Value: Sendable>(
            _ work: @Sendable @escaping (AdminConnection) throws -> Value
        ) async throws -> Value {
            try await installation.database.withConnection(as: nil, work)
        }

        func requireStandby(_ isRequired: Bool) async throws {
            try await administer { connection in
                // Of this session only: these commits must not wait.
                try connection.execute("SET synchronous_commit = local")
                try connection.execute(
                    "ALTER SYSTEM SET synchronous_standby_names = '\(isRequired ? "*" : "")'")
                try connection.execute("SELECT pg_reload_conf()")
            }
        }

        /// The processes whose commit waits for the standby.
        func waitingWriters() async throws -> [Int32] {
            try await administer {
                try $0.query(
                    """
                    SELECT pid FROM pg_stat_activity
                    WHERE wait_event = 'SyncRep' AND usename = 'bookplate_app' AND datname = current_database()
                    """
                ).decode(Int32.self)
            }
        }

        func create(_ id: String, _ token: String) async throws -> Value {
            try await server.client.execute(
                "mutation ($id: ID!) { createShelf(input: {id: $id, name: \"Lost\"}) { id } }",
                ["id": .string(id)], token: token)
        }
    }

    @Test func aRepeatedMutationWaitsForTheStandbyAsTheFirstOneDid() async throws {
        let standby = try await Standby.start()
        let installation = try await Installation.ready(catalog: [], on: standby.primary)
        let server = try await installation.startServer()
        let fixture = Fixture(standby: standby, installation: installation, server: server)
        let token = try #require(try await server.signIn("careful")["accessToken"]?.string)
        try await standby.crashReplica()
        try await fixture.requireStandby(true)
        let id = "2f1d9a52-6a1c-4a38-9f0c-0d7e7b1f3a11"

        // An administrator ends the wait of the first commit, so that the row is visible although no standby has it.
        let first = Task { try await fixture.create(id, token) }
        try await waitUntil("the commit waits") { try await !fixture.waitingWriters().isEmpty }
        let waiting = try await fixture.waitingWriters()
        try await fixture.administer { connection in
            for pid in waiting { _ = try connection.query("SELECT pg_cancel_backend(\(pid))") }
        }
        _ = try await first.value

        let second = Task { try await fixture.create(id, token) }
        try await waitUntil("the repetition waits") { try await !fixture.waitingWriters().isEmpty }
        try await fixture.requireStandby(false)
        #expect(try await second.value == ["data": ["createShelf": ["id": .string(id)]]])
    }
}
