import EventLoops
import Glibc
import GraphQL
import NIOPosix
import Postgres
import TestBasics
import TestSupport
import Testing

/// Connection poolers between the server and its database.
@Suite(.serialized) struct PoolerTests {
    private func doctor(_ installation: Installation, _ url: String) async throws -> [Value] {
        let outcome = try await installation.admin(
            ["doctor", "--offline", "--json"], ["DATABASE_URL": url])
        let findings = try parseJSON(Array(outcome.output.utf8))["findings"]?.list ?? []
        return findings.filter { $0["check"] == "pooler" }
    }

    @Test(arguments: [PoolerProgram.pgbouncerInSessionMode, .pgpool])
    func serversWorkThroughPoolersThatGiveEachClientASession(pooler: PoolerProgram) async throws {
        let installation = try await Installation.ready(catalog: [])
        try await pooler.run(before: installation) { pooled in
            let url = try pooled(installation.database.url(as: TestCluster.app))
            let server = try await installation.startServer(["DATABASE_URL": url])
            let other = try await installation.startServer()
            let token = try #require(try await server.signIn("pooled")["accessToken"]?.string)
            let live = try StreamClient(port: server.client.port)
            try await blocking {
                try live.send(
                    "POST", "/graphql",
                    headers: [
                        "authorization": "Bearer \(token)", "content-type": "application/json",
                        "accept": "text/event-stream",
                    ],
                    body: Array(#"{"query":"subscription { changes { kind typename } }"}"#.utf8))
                _ = try live.receive(until: "\r\n\r\n")
            }
            // The change of another server arrives by a notification, or by polling.
            for name in ["One", "Two"] {
                let response = try await other.client.execute(
                    #"mutation { createShelf(input: {name: "\#(name)"}) { name } }"#, token: token)
                #expect(
                    response["data", "createShelf", "name"] == .string(name), "\(response)")
                _ = try await blocking { try live.receive(until: "Shelf") }
            }
            let shelves = try await server.client.execute(
                "{ me { shelves { name } } }", token: token)
            #expect(shelves["data", "me", "shelves"] == [["name": "One"], ["name": "Two"]])
            #expect(!server.program.errors.contains("do not arrive"))
            let findings = try await doctor(installation, url)
            #expect(findings.allSatisfy { $0["state"] == "ok" })
            #expect(findings.isEmpty == (pooler == .pgpool))
        }
    }

    @Test func notificationsComeOverTheDirectConnection() async throws {
        let installation = try await Installation.ready(catalog: [])
        try await PoolerProgram.pgbouncerInSessionMode.run(before: installation) { pooled in
            let url = try installation.database.url(as: TestCluster.app)
            var direct = try ConnectionString(url)
            direct["application_name"] = "direct"
            let server = try await installation.startServer([
                "DATABASE_URL": try pooled(url),
                "BOOKPLATE_DATABASE_DIRECT_URL": direct.description,
            ])
            // The server uses this address to listen.
            let directCount: @Sendable () async throws -> Int64? = {
                try await installation.database.withConnection(as: nil) {
                    try $0.query(
                        """
                        SELECT count(*) FROM pg_stat_activity
                        WHERE datname = current_database() AND application_name = 'direct'
                        """
                    ).decode(Int64.self).first
                }
            }
            try await waitUntil("the server listens") { try await directCount() ?? 0 > 0 }
            // Requests use the pooler.
            let session = try await server.signIn("direct")
            #expect(session["accessToken"]?.string != nil)
            #expect(!server.program.errors.contains("do not arrive"))
        }
    }

    /// In this mode, Pgpool-II confirms writes that it does not commit.
    @Test func serversRefusePgpoolInRawMode() async throws {
        let installation = try await Installation.ready(catalog: [])
        try await PoolerProgram.pgpoolInRawMode.run(before: installation) { pooled in
            let url = try pooled(installation.database.url(as: TestCluster.app))
            let outcome = try await installation.serverOutcome(["DATABASE_URL": url])
            #expect(outcome.code == 78)
            #expect(outcome.errors.contains("Pgpool-II in its mode raw"))
            #expect(try await doctor(installation, url).map { $0["state"] } == ["wrong"])
            let executor = EventLoopTaskExecutor(MultiThreadedEventLoopGroup.singleton.next())
            var configuration = PostgresConfiguration(url: url)
            configuration.connectionCount = 1
            let pool = try await ConnectionPool.start(configuration, on: executor)
            var pipeline = Pipeline(isReadOnly: true, timeout: .seconds(2))
            pipeline.append(Statement("SELECT 1"))
            await #expect(throws: PostgresError.connectFailed(Pooler.rawRefusal)) {
                try await pool.run(pipeline)
            }
            await pool.close()
        }
    }

    /// In transaction mode, settings and prepared statements of one client would apply to others.
    @Test func serversRefusePoolersInTransactionMode() async throws {
        let installation = try await Installation.ready(catalog: [])
        try await PoolerProgram.pgbouncerInTransactionMode.run(before: installation) { pooled in
            let url = try pooled(installation.database.url(as: TestCluster.app))
            let outcome = try await installation.serverOutcome(["DATABASE_URL": url])
            #expect(outcome.code == 78)
            #expect(outcome.errors.contains("a connection pooler in transaction mode"))
            #expect(try await doctor(installation, url).map { $0["state"] } == ["wrong"])

            let executor = EventLoopTaskExecutor(MultiThreadedEventLoopGroup.singleton.next())
            var configuration = PostgresConfiguration(url: url)
            configuration.connectionCount = 1
            let pool = try await ConnectionPool.start(configuration, on: executor)
            var pipeline = Pipeline(isReadOnly: true, timeout: .seconds(2))
            pipeline.append(Statement("SELECT 1"))
            await #expect(throws: PostgresError.connectFailed(Pooler.refusal)) {
                try await pool.run(pipeline)
            }
            await pool.close()
            // Nothing has changed the settings of the sessions that other clients use.
            let settings = try await blocking {
                try AdminConnection(url).query("SELECT current_setting('plan_cache_mode')").text(
                    0, 0)
            }
            #expect(settings == "auto")
        }
    }
}
