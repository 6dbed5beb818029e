import GraphQL
import Postgres
import TestBasics
import TestSupport
import Testing

/// A server that reads from a streaming replica. Users see their own changes immediately even if the replica lags.
@Suite(.serialized) struct ReplicaTests {
    private struct Fixture {
        let standby: Standby
        let installation: Installation
        let server: RunningServer

        /// The number of round trips to the replica.
        func replicaReads() async throws -> Int {
            let text = try await server.client.send("GET", "/metrics").body
            let line = text.split(separator: "\n").first {
                $0.hasPrefix("bookplate_replica_reads_total ")
            }
            return try #require(line?.split(separator: " ").last.flatMap { Int($0) })
        }

        /// Repeats a query until the server reads from the replica for this user.
        func waitUntilReplicaIsUsed(_ token: String) async throws {
            try await waitUntil("a query is read from the replica") {
                let before = try await replicaReads()
                _ = try await server.client.execute("{ me { id } }", token: token)
                return try await replicaReads() > before
            }
        }

        /// Starts another server with other settings.
        func startServer(_ variables: [String: String]) async throws -> Fixture {
            Fixture(
                standby: standby, installation: installation,
                server: try await installation.startServer(variables))
        }

        func token(_ subject: String) async throws -> String {
            try #require(try await server.signIn(subject)["accessToken"]?.string)
        }

        func shelves(_ token: String) async throws -> Value {
            try await server.client.execute("{ me { shelves { name } } }", token: token)[
                "data", "me", "shelves"] ?? .null
        }
    }

    private static let fixture = Shared { try await makeFixture(replicas: 2) }

    private static func makeFixture(replicas: Int = 1) async throws -> Fixture {
        let standby = try await Standby.start(count: replicas)
        let installation = try await Installation.ready(on: standby.primary)
        let url = try installation.database.url(as: TestCluster.app, on: standby.url)
        return Fixture(
            standby: standby, installation: installation,
            server: try await installation.startServer(["BOOKPLATE_READ_DATABASE_URL": url]))
    }

    @Test func usersWithoutChangesReadFromTheReplica() async throws {
        let fixture = try await Self.fixture()
        let token = try await fixture.token("quiet")
        try await fixture.waitUntilReplicaIsUsed(token)
        #expect(try await fixture.shelves(token) == [])
    }

    @Test func writersReadTheirChangesAndOthersKeepUsingTheReplica() async throws {
        let fixture = try await Self.fixture()
        let (writer, reader) = (
            try await fixture.token("writer"), try await fixture.token("reader")
        )
        try await fixture.waitUntilReplicaIsUsed(reader)
        try await fixture.waitUntilReplicaIsUsed(writer)
        try await fixture.standby.setReplayPaused(true)
        let created = try await fixture.server.client.execute(
            #"mutation { createShelf(input: {name: "Now"}) { name } }"#, token: writer)
        #expect(created["data", "createShelf", "name"] == "Now")
        let before = try await fixture.replicaReads()
        #expect(try await fixture.shelves(writer) == [["name": "Now"]])
        #expect(try await fixture.replicaReads() == before)
        #expect(try await fixture.shelves(reader) == [])
        #expect(try await fixture.replicaReads() > before)
        try await fixture.standby.setReplayPaused(false)
        try await fixture.waitUntilReplicaIsUsed(writer)
        #expect(try await fixture.shelves(writer) == [["name": "Now"]])
    }

    @Test func changesThroughAnotherServerAreVisible() async throws {
        let fixture = try await Self.fixture()
        let token = try await fixture.token("two devices")
        try await fixture.waitUntilReplicaIsUsed(token)
        try await fixture.standby.setReplayPaused(true)
        let other = try await fixture.installation.startServer()
        _ = try await other.client.execute(
            #"mutation { createShelf(input: {name: "Elsewhere"}) { name } }"#, token: token)
        try await waitUntil("the shelf is visible") {
            try await fixture.shelves(token) == [["name": "Elsewhere"]]
        }
        try await fixture.standby.setReplayPaused(false)
    }

    @Test func endedSessionsAreRefusedEvenIfTheReplicaLags() async throws {
        let fixture = try await Self.fixture()
        let token = try await fixture.token("leaver")
        try await fixture.waitUntilReplicaIsUsed(token)
        try await fixture.standby.setReplayPaused(true)
        _ = try await fixture.server.client.execute(
            "mutation { signOut { endedSessions } }", token: token)
        let response = try await fixture.server.client.execute("{ me { id } }", token: token)
        #expect(response["errors", 0, "extensions", "code"] == "UNAUTHENTICATED")
        try await fixture.standby.setReplayPaused(false)
    }

    @Test func requestsSucceedAfterTheReplicaHasFailed() async throws {
        let fixture = try await Self.makeFixture()
        let token = try await fixture.token("stayer")
        try await fixture.waitUntilReplicaIsUsed(token)
        try await fixture.standby.crashReplica()
        for _ in 0..<20 {
            #expect(try await fixture.shelves(token) == [])
        }
    }

    @Test func serversReadFromDifferentReplicas() async throws {
        let fixture = try await Self.fixture()
        let database = fixture.installation.database
        let second = fixture.standby.urls[1]
        let other = try await fixture.startServer([
            "BOOKPLATE_READ_DATABASE_URL": try database.url(as: TestCluster.app, on: second)
        ])
        let token = try await fixture.token("wanderer")
        try await fixture.waitUntilReplicaIsUsed(token)
        try await other.waitUntilReplicaIsUsed(token)
        for replica in fixture.standby.urls {
            let sessions = try await blocking {
                try AdminConnection(replica).query(
                    "SELECT FROM pg_stat_activity WHERE usename = '\(TestCluster.app)'"
                ).count
            }
            #expect(sessions > 0)
        }
    }

    /// The server could not know that a user has changed something on another server.
    @Test func theReplicaIsNotUsedWhileNotificationsDoNotArrive() async throws {
        let fixture = try await Self.fixture()
        let database = fixture.installation.database
        var direct = try ConnectionString(try database.url(as: TestCluster.app))
        let proxy = try FaultProxy(
            to: "\(try #require(direct["host"]))/.s.PGSQL.\(direct["port"] ?? "5432")")
        defer { proxy.stop() }
        direct["host"] = proxy.folder
        let other = try await fixture.startServer([
            "BOOKPLATE_READ_DATABASE_URL": try database.url(
                as: TestCluster.app, on: fixture.standby.url),
            "BOOKPLATE_DATABASE_DIRECT_URL": direct.description,
        ])
        let token = try await fixture.token("unheard")
        try await other.waitUntilReplicaIsUsed(token)
        proxy.setHolding(true)
        try await waitUntil("a query is not read from the replica") {
            let before = try await other.replicaReads()
            #expect(try await other.shelves(token) == [])
            return try await other.replicaReads() == before
        }
        let before = try await other.replicaReads()
        for _ in 0..<20 {
            #expect(try await other.shelves(token) == [])
        }
        #expect(try await other.replicaReads() == before)
        proxy.setHolding(false)
        try await other.waitUntilReplicaIsUsed(token)
    }
}
