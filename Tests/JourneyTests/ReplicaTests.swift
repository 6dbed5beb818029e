import GraphQL
import Postgres
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

        func token(_ subject: String) async throws -> String {
            try #require(try await server.signIn(subject)["accessToken"]?.string)
        }

        func shelves(_ token: String) async throws -> Value {
            try await server.client.execute("{ me { shelves { name } } }", token: token)[
                "data", "me", "shelves"] ?? .null
        }
    }

    private static let fixture = Shared { try await makeFixture() }

    private static func makeFixture() async throws -> Fixture {
        let standby = try await Standby.start()
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
}
