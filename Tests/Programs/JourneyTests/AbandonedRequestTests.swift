import GraphQL
import Postgres
import SocketClient
import TestBasics
import TestSupport
import Testing

/// Clients that disconnect while their requests run: what the metrics and the log show.
@Suite struct AbandonedRequestTests {
    enum Transport: CaseIterable {
        case http, eventStream, multipart, webSocket, webSocketOperation
    }

    private static let query = "{ me { a: books(first: 1) { nodes { id } } shelves { id } } }"

    /// Sends the query.
    ///
    /// - Returns: a function that makes the client abandon the request.
    private static func begin(
        _ transport: Transport, _ client: HTTPClient, _ token: String?
    ) throws -> () throws -> Void {
        switch transport {
        case .http:
            return try client.begin(query, token: token).abandon
        case .eventStream:
            return try client.begin(query, token: token, accept: "text/event-stream").abandon
        case .multipart:
            return try client.begin(
                query, token: token, accept: #"multipart/mixed;subscriptionSpec="1.0""#
            ).abandon
        case .webSocket, .webSocketOperation:
            let socket = try SocketClient(port: client.port)
            try socket.initialize(token: token)
            try socket.send(
                #"{"id":"a","type":"subscribe","payload":{"query":\#(Browser.quoted(query))}}"#)
            return transport == .webSocket
                ? socket.abort : { try socket.send(#"{"id":"a","type":"complete"}"#) }
        }
    }

    @Test(arguments: Transport.allCases)
    func abandonedRequestsAreNotCountedAsErrors(transport: Transport) async throws {
        let installation = try await Installation.ready(catalog: [])
        let server = try await installation.startServer([
            // Disables the warning about slow operations: on a busy machine any operation may be slow.
            "BOOKPLATE_LOG_LEVEL": "debug", "BOOKPLATE_SLOW_OPERATION_MS": "0",
        ])
        let token = try await server.signIn("leaves")["accessToken"]?.string
        try await installation.database.withConnection { connection in
            func isWaiting() throws -> Bool {
                // Background jobs may wait for the table, too.
                try connection.query(
                    """
                    SELECT FROM pg_locks JOIN pg_stat_activity USING (pid)
                    WHERE NOT granted AND application_name <> 'bookplate jobs'
                    """
                ).count > 0
            }
            try connection.execute("BEGIN; LOCK TABLE books")
            let abandon = try Self.begin(transport, server.client, token)
            try waitUntilBlocking("the request waits for the lock", isWaiting)
            try abandon()
            // The server cancels the statement of an abandoned request.
            try waitUntilBlocking("the statement is canceled") { try !isWaiting() }
            try connection.execute("COMMIT")
        }
        try await waitUntil("the operation is counted") {
            try await server.client.send("GET", "/metrics").body.contains(
                #"bookplate_operations_abandoned_total{kind="query"} 1"#)
        }
        let metrics = try await server.client.send("GET", "/metrics").body
        #expect(metrics.contains(#"bookplate_errors_total{code="INTERNAL_SERVER_ERROR"} 0"#))
        #expect(!metrics.contains("CLIENT_CLOSED_REQUEST"))
        let isHTTP = [.http, .eventStream, .multipart].contains(transport)
        #expect(
            metrics.contains(#"bookplate_http_requests_total{route="/graphql",status="499"} 1"#)
                == isHTTP)
        // Abandoned requests are not problems, so they are logged only at debug level.
        let log = server.program.errors.split(separator: "\n")
        #expect(log.contains { $0.contains("abandoned") && $0.contains("DEBUG") })
        #expect(!log.contains { $0.contains("ERROR") || $0.contains("WARNING") })

        // An internal error is still counted.
        try await installation.database.execute("ALTER TABLE shelves RENAME TO gone")
        _ = try await server.client.execute("{ me { shelves { id } } }", token: token)
        #expect(
            try await server.client.send("GET", "/metrics").body.contains(
                #"bookplate_errors_total{code="INTERNAL_SERVER_ERROR"} 1"#))
    }
}
