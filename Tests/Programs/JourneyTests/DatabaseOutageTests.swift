import GraphQL
import Postgres
import SocketClient
import TestBasics
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

    /// Returns the messages with the response to a query over a WebSocket.
    private static func query(_ socket: SocketClient) throws -> String {
        try socket.send(
            #"{"id":"q","type":"subscribe","payload":{"query":"{ me { id } }"}}"#)
        var messages = ""
        while !messages.contains(#""type":"complete""#), !messages.contains(#""type":"error""#) {
            messages += try socket.message()
        }
        return messages
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

    @Test func subscriptionsThatBeginDuringAnOutageWaitForItsEnd() async throws {
        let installation = try await Installation.ready(catalog: [])
        let server = try await installation.startServer()
        let token = try await server.signIn("patient subscriber")["accessToken"]?.string
        let page = try await server.client.execute(
            "{ changes(first: 500) { pageInfo { endCursor } } }", token: token)
        let cursor = try #require(page["data", "changes", "pageInfo", "endCursor"]?.string)
        let socket = try await blocking {
            let socket = try SocketClient(port: server.client.port)
            try socket.initialize(token: token)
            return socket
        }
        try await setReachable(false, installation)
        // The pool of the socket's event loop refuses pipelines, too.
        try await waitUntil("requests on the socket are refused") {
            try await blocking { try Self.query(socket).contains("SERVICE_UNAVAILABLE") }
        }
        try await blocking {
            try socket.send(
                #"{"id":"s","type":"subscribe","payload":{"query":"subscription { changes(after: \"\#(cursor)\") { nodeId } }"}}"#
            )
            // A later request on the socket was refused, so the subscription has begun.
            _ = try Self.query(socket)
        }
        try await setReachable(true, installation)
        // The pools of the event loops connect again one after the other.
        var id: String?
        try await waitUntil("a shelf is created") {
            id = try await server.client.post(
                #"mutation { createShelf(input: {name: "After the outage"}) { id } }"#, token: token
            ).json["data", "createShelf", "id"]?.string
            return id != nil
        }
        let message = try await blocking { try socket.message() }
        #expect(
            message
                == #"{"id":"s","type":"next","payload":{"data":{"changes":{"nodeId":"\#(id ?? "")"}}}}"#
        )
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
