import GraphQL
import Postgres
import TestSupport
import Testing

/// A database that cannot be reached, and roles that the server refuses.
@Suite struct DatabaseOutageTests {
    private func setReachable(_ isReachable: Bool, _ installation: Installation) async throws {
        let name = installation.database.name
        try await blocking {
            // From another database, because this one accepts no connections.
            var url = try ConnectionString(try installation.database.url())
            url["dbname"] = "postgres"
            let connection = try AdminConnection(url.description)
            try connection.execute("ALTER DATABASE \(name) ALLOW_CONNECTIONS \(isReachable)")
            if !isReachable {
                try connection.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '\(name)'"
                )
            }
        }
    }

    @Test func requestsFailAtOnceAndSucceedAfterwards() async throws {
        let installation = try await Installation.ready(catalog: [])
        let server = try await installation.startServer()
        let token = try await server.signIn("patient")["accessToken"]?.string
        try await setReachable(false, installation)
        let query = "{ me { displayName } }"
        try await waitUntil("requests are refused") {
            try await server.client.post(query, token: token).status == 503
        }
        let response = try await server.client.post(query, token: token)
        #expect(response.headers["retry-after"] == "1")
        let extensions = response.json["errors", 0, "extensions"]
        #expect(extensions?["code"] == "SERVICE_UNAVAILABLE")
        #expect(extensions?["retryAfter"] == 1)
        #expect(extensions?["outcome"] == "NOT_DONE")
        #expect(try await server.client.send("GET", "/health/ready").status == 503)
        #expect(try await server.client.send("GET", "/health/live").status == 200)
        try await setReachable(true, installation)
        try await waitUntil("requests succeed") {
            try await server.client.post(query, token: token).status == 200
        }
        #expect(server.program.errors.contains("the database is unavailable"))
    }

    /// The check at the start is skipped if the database cannot be reached.
    @Test func superusersAreRefusedEvenIfTheDatabaseWasUnreachableAtTheStart() async throws {
        let installation = try await Installation.ready(catalog: [])
        try await setReachable(false, installation)
        let server = try await installation.startServer(
            ["DATABASE_URL": try installation.database.url()], readiness: 503)
        try await setReachable(true, installation)
        try await waitUntil("the role is refused") {
            server.program.errors.contains("is a superuser, so row-level security does not apply")
        }
        #expect(try await server.client.send("GET", "/health/ready").status == 503)
    }
}
