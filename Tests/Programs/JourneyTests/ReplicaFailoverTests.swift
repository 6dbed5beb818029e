import GraphQL
import Postgres
import TestBasics
import TestSupport
import Testing

/// A primary with two replicas. The first one replaces the primary; the server reads from the second one.
@Suite(.serialized) struct ReplicaFailoverTests {
    private struct Fixture {
        let standby: Standby
        let database: TestDatabase
        let server: RunningServer
        let token: String

        static func start() async throws -> Fixture {
            let standby = try await Standby.start(count: 2)
            let installation = try await Installation.ready(catalog: [], on: standby.primary)
            let database = installation.database
            var url = try ConnectionString(database.url(as: TestCluster.app))
            let second = try ConnectionString(standby.urls[0])
            url["host"] = [url["host"], second["host"]].compactMap(\.self).joined(separator: ",")
            url["target_session_attrs"] = "read-write"
            let server = try await installation.startServer([
                "DATABASE_URL": url.description,
                "BOOKPLATE_READ_DATABASE_URL": try database.url(
                    as: TestCluster.app, on: standby.urls[1]),
            ])
            let token = try #require(try await server.signIn("ada")["accessToken"]?.string)
            let fixture = Fixture(
                standby: standby, database: database, server: server, token: token)
            try await fixture.waitUntilReplicaIsUsed()
            return fixture
        }

        func waitUntilReplicaIsUsed() async throws {
            try await waitUntil("a query is read from the replica") {
                let before = try await replicaReads()
                _ = try await server.client.execute("{ me { id } }", token: token)
                return try await replicaReads() > before
            }
        }

        /// The number of round trips to the replica.
        func replicaReads() async throws -> Int {
            let text = try await server.client.send("GET", "/metrics").body
            let line = text.split(separator: "\n").first {
                $0.hasPrefix("bookplate_replica_reads_total ")
            }
            return try #require(line?.split(separator: " ").last.flatMap { Int($0) })
        }

        /// Ends the primary, promotes the first replica, and waits until a mutation creates a shelf there.
        func failOver() async throws {
            try await standby.crashPrimary()
            try await standby.promote()
            try await waitUntil("the new primary accepts changes") {
                let response = try await server.client.execute(
                    #"mutation { createShelf(input: {name: "After"}) { name } }"#, token: token)
                // CONFLICT, if the response to an earlier attempt was lost.
                return response["data", "createShelf", "name"] == "After"
                    || response["errors", 0, "extensions", "code"] == "CONFLICT"
            }
        }

        func shelves() async throws -> Value {
            try await server.client.execute("{ me { shelves { name } } }", token: token)[
                "data", "me", "shelves"] ?? .null
        }
    }

    @Test func aReplicaThatFollowsTheNewPrimaryIsUsedAgain() async throws {
        let fixture = try await Fixture.start()
        try await fixture.failOver()
        try await fixture.standby.follow(fixture.standby.urls[0], replica: 1)
        try await fixture.waitUntilReplicaIsUsed()
        #expect(try await fixture.shelves() == [["name": "After"]])
    }

    /// The replica has received changes that the new primary lacks, so its position in the WAL is later, although it does not
    /// have the changes after the failover.
    @Test func aReplicaThatIsAheadOfTheNewPrimaryIsNotUsed() async throws {
        let fixture = try await Fixture.start()
        let standby = fixture.standby
        try await standby.follow(nil, replica: 0)
        // Without the change of the setting, the first replica may still receive changes.
        try await waitUntil("the first replica receives no changes") {
            try await blocking { [url = standby.urls[0]] in
                try AdminConnection(url).query("SELECT FROM pg_stat_wal_receiver").count == 0
            }
        }
        let written = try await fixture.database.withConnection(as: nil) { connection in
            for _ in 0..<8 {
                _ = try connection.query(
                    "SELECT pg_logical_emit_message(false, 'test', repeat('x', 1000000))")
            }
            return try connection.query("SELECT pg_current_wal_flush_lsn()::text").text(0, 0) ?? ""
        }
        try await waitUntil("the second replica has replayed the changes") {
            try await blocking { [url = standby.urls[1]] in
                try AdminConnection(url).query(
                    "SELECT pg_last_wal_replay_lsn() >= '\(written)'"
                ).bool(0, 0) == true
            }
        }
        try await fixture.failOver()
        let before = try await fixture.replicaReads()
        // Long enough for several comparisons of the replica with the primary.
        for _ in 0..<20 {
            #expect(try await fixture.shelves() == [["name": "After"]])
            try await Task.sleep(for: .milliseconds(100))
        }
        #expect(try await fixture.replicaReads() == before)
    }
}
