import Postgres
import TestSupport
import Testing

/// Servers whose connection to the database is cut while they start.
@Suite struct CutAtStartTests {
    /// After each cut the server connects again and becomes ready.
    @Test(arguments: [false, true])
    func serverBecomesReadyAlthoughAConnectionIsCut(isFromServer: Bool) async throws {
        let installation = try await Installation.ready(catalog: [])
        var url = try ConnectionString(try installation.database.url(as: TestCluster.app))
        let proxy = try FaultProxy(
            to: "\(try #require(url["host"]))/.s.PGSQL.\(url["port"] ?? "5432")")
        defer { proxy.stop() }
        url["host"] = proxy.folder
        for message in 1...Self.messages {
            proxy.cut(FaultProxy.Cut(isFromServer: isFromServer, messagesLeft: message))
            let server = try await installation.startServer(["DATABASE_URL": url.description])
            #expect(try await server.client.send("GET", "/health/ready").status == 200)
        }
        #expect(proxy.cutCount == Self.messages)
    }

    /// More than the checks at the start send or receive. Later messages belong to the connections of the pools.
    private static let messages = 16
}
