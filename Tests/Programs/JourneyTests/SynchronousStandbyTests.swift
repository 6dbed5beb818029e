import GraphQL
import Postgres
import Synchronization
import TestBasics
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

        /// Waits until a commit waits for the standby, and ends its wait. The processes of the database learn of the requirement one
        /// after the other.
        func waitUntilCommitsWait() async throws {
            try await waitUntil("commits wait for the standby") {
                let hasEnded = Atomic(false)
                let probe = Task {
                    try await administer {
                        try $0.execute("SELECT pg_logical_emit_message(true, 'probe', '')")
                    }
                    hasEnded.store(true, ordering: .releasing)
                }
                while !hasEnded.load(ordering: .acquiring) {
                    let cancelled = try await administer {
                        try $0.query(
                            """
                            SELECT pg_cancel_backend(pid) FROM pg_stat_activity
                            WHERE wait_event = 'SyncRep' AND usename = current_user AND query LIKE '%probe%'
                            """
                        ).decode(Bool.self)
                    }
                    if !cancelled.isEmpty {
                        _ = await probe.result
                        return true
                    }
                }
                return false
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

    /// The first attempt still waits for the standby and holds its locks, so the repetition waits for them in vain.
    @Test func repetitionWithoutTheStandbyIsUnavailable() async throws {
        let standby = try await Standby.start()
        let installation = try await Installation.ready(catalog: [], on: standby.primary)
        let server = try await installation.startServer()
        let fixture = Fixture(standby: standby, installation: installation, server: server)
        let token = try #require(try await server.signIn("patient")["accessToken"]?.string)
        try await standby.crashReplica()
        try await fixture.requireStandby(true)
        try await fixture.waitUntilCommitsWait()
        let id = "2f1d9a52-6a1c-4a38-9f0c-0d7e7b1f3a12"
        for outcome in ["UNKNOWN", "NOT_DONE"] {
            let response = try await fixture.create(id, token)
            let extensions = response["errors", 0, "extensions"]
            #expect(extensions?["code"] == "SERVICE_UNAVAILABLE", "\(response)")
            #expect(extensions?["outcome"] == .string(outcome), "\(response)")
        }
        // Only writes wait.
        let me = try await server.client.execute("{ me { id } }", token: token)
        #expect(me["errors"] == nil, "\(me)")
        #expect(try await server.client.send("GET", "/health/ready").status == 200)
        try await fixture.requireStandby(false)
        try await waitUntil("the shelf is created") {
            try await fixture.create(id, token)["errors"] == nil
        }
    }

    /// A call that is sent again because its response did not arrive.
    enum Call: CaseIterable {
        case createShelf, refresh, deleteAccount
    }

    /// An administrator ends the wait of the first commit, so that its change is visible although no standby has it. Therefore,
    /// neither the first call nor its repetition may be confirmed before the standby is back.
    @Test(arguments: Call.allCases)
    func neitherAWriteNorItsRepetitionIsConfirmedWithoutTheStandby(call: Call) async throws {
        let standby = try await Standby.start()
        let installation = try await Installation.ready(catalog: [], on: standby.primary)
        let server = try await installation.startServer()
        let fixture = Fixture(standby: standby, installation: installation, server: server)
        let session = try await server.signIn("careful")
        let token = try #require(session["accessToken"]?.string)
        let refreshToken = try #require(session["refreshToken"])
        let me = try await server.client.execute("{ me { id } }", token: token)
        let user = try #require(me["data"]?["me"]?["id"])
        try await standby.crashReplica()
        try await fixture.requireStandby(true)
        try await fixture.waitUntilCommitsWait()
        let send: @Sendable () async throws -> Value = {
            switch call {
            case .createShelf:
                try await fixture.create("2f1d9a52-6a1c-4a38-9f0c-0d7e7b1f3a11", token)
            case .refresh:
                try await server.client.execute(
                    "mutation ($token: String!) { refreshSession(refreshToken: $token) { refreshToken } }",
                    ["token": refreshToken])
            case .deleteAccount:
                try await server.client.execute(
                    "mutation ($id: String!) { deleteAccount(confirm: $id) { id } }", ["id": user],
                    token: token)
            }
        }

        let first = Task { try await send() }
        // Ends every wait, because background work may wait, too.
        let ender = Task {
            while !Task.isCancelled {
                let waiting = try await fixture.waitingWriters()
                try await fixture.administer { connection in
                    for pid in waiting {
                        _ = try connection.query("SELECT pg_cancel_backend(\(pid))")
                    }
                }
                try await Task.sleep(for: .milliseconds(50))
            }
        }
        let refused = try await first.value["errors"]?.list?.first
        ender.cancel()
        _ = await ender.result
        #expect(refused?["extensions"]?["code"] == "SERVICE_UNAVAILABLE")
        #expect(refused?["extensions"]?["outcome"] == "UNKNOWN")
        #expect(server.program.errors.contains("did not wait for the synchronous standby"))

        let second = Task { try await send() }
        try await waitUntil("the repetition waits") { try await !fixture.waitingWriters().isEmpty }
        try await fixture.requireStandby(false)
        let confirmed = try await second.value
        #expect(confirmed["errors"] == nil, "\(confirmed)")
    }
}
