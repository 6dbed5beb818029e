import GraphQL
import Postgres
import TestSupport
import Testing

/// A server that reads from a streaming replica: what a person has changed is there at once all the same.
@Suite(.serialized) struct ReplicaTests {
    private struct Site {
        let standby: Standby
        let installation: Installation
        let server: RunningServer

        /// How many round trips have gone to the replica.
        func reads() async throws -> Int {
            let text = try await server.client.send("GET", "/metrics").body
            let line = text.split(separator: "\n").first {
                $0.hasPrefix("bookplate_replica_reads_total ")
            }
            return try #require(line?.split(separator: " ").last.flatMap { Int($0) })
        }

        /// Asks until the answer is read from the replica.
        func readsReplica(_ token: String) async throws -> Bool {
            for _ in 0..<200 {
                let before = try await reads()
                _ = try await server.client.execute("{ me { id } }", token: token)
                if try await reads() > before { return true }
                try await Task.sleep(for: .milliseconds(50))
            }
            return false
        }

        func token(_ subject: String) async throws -> String {
            try #require(try await server.signIn(subject)["accessToken"]?.string)
        }

        func shelves(_ token: String) async throws -> Value {
            try await server.client.execute("{ me { shelves { name } } }", token: token)[
                "data", "me", "shelves"] ?? .null
        }
    }

    private static let site = Shared { try await makeSite() }

    private static func makeSite() async throws -> Site {
        let standby = try await Standby.start()
        let installation = try await Installation.ready(on: standby.primary)
        let url = try installation.database.url(as: TestCluster.app, on: standby.url)
        return Site(
            standby: standby, installation: installation,
            server: try await installation.startServer(["BOOKPLATE_READ_DATABASE_URL": url]))
    }

    @Test func whoChangesNothingReadsFromTheReplica() async throws {
        let site = try await Self.site()
        let token = try await site.token("quiet")
        #expect(try await site.readsReplica(token))
        #expect(try await site.shelves(token) == [])
    }

    @Test func whatSomebodyChangedTheyReadAtOnceAndOthersStayWhereTheyAre() async throws {
        let site = try await Self.site()
        let (writer, reader) = (try await site.token("writer"), try await site.token("reader"))
        #expect(try await site.readsReplica(reader))
        #expect(try await site.readsReplica(writer))
        try await site.standby.hold(true)
        let made = try await site.server.client.execute(
            #"mutation { createShelf(input: {name: "Now"}) { name } }"#, token: writer)
        #expect(made["data", "createShelf", "name"] == "Now")
        let before = try await site.reads()
        #expect(try await site.shelves(writer) == [["name": "Now"]])
        #expect(try await site.reads() == before)
        #expect(try await site.shelves(reader) == [])
        #expect(try await site.reads() > before)
        try await site.standby.hold(false)
        #expect(try await site.readsReplica(writer))
        #expect(try await site.shelves(writer) == [["name": "Now"]])
    }

    @Test func whatAnotherServerChangedIsReadAtOnce() async throws {
        let site = try await Self.site()
        let token = try await site.token("two devices")
        #expect(try await site.readsReplica(token))
        try await site.standby.hold(true)
        let other = try await site.installation.startServer()
        _ = try await other.client.execute(
            #"mutation { createShelf(input: {name: "Elsewhere"}) { name } }"#, token: token)
        try await waitUntil("the shelf is there") {
            try await site.shelves(token) == [["name": "Elsewhere"]]
        }
        try await site.standby.hold(false)
    }

    @Test func aSessionThatEndedIsRefusedThoughTheReplicaKnowsItStill() async throws {
        let site = try await Self.site()
        let token = try await site.token("leaver")
        #expect(try await site.readsReplica(token))
        try await site.standby.hold(true)
        _ = try await site.server.client.execute("mutation { signOut }", token: token)
        let response = try await site.server.client.execute("{ me { id } }", token: token)
        #expect(response["errors", 0, "extensions", "code"] == "UNAUTHENTICATED")
        try await site.standby.hold(false)
    }

    @Test func aReplicaThatIsGoneIsMissedByNobody() async throws {
        let site = try await Self.makeSite()
        let token = try await site.token("stayer")
        #expect(try await site.readsReplica(token))
        try await site.standby.crashReplica()
        for _ in 0..<20 {
            #expect(try await site.shelves(token) == [])
        }
    }
}
