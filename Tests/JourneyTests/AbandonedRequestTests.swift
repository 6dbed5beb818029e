import GraphQL
import Postgres
import SocketClient
import TestSupport
import Testing

/// Clients that leave while their requests run, as metrics and the log have them.
@Suite struct AbandonedRequestTests {
    enum Transport: CaseIterable {
        case http, eventStream, multipart, socketThatEnds, operationThatIsCompleted
    }

    private static let query = "{ me { a: books(first: 1) { nodes { id } } shelves { id } } }"

    /// Sends the query.
    ///
    /// - Returns: what the client does to leave.
    private static func begin(
        _ transport: Transport, _ client: HTTPClient, _ token: String?
    ) throws -> () throws -> Void {
        switch transport {
        case .http:
            return try client.begin(query, token: token).leave
        case .eventStream:
            return try client.begin(query, token: token, accept: "text/event-stream").leave
        case .multipart:
            return try client.begin(
                query, token: token, accept: #"multipart/mixed;subscriptionSpec="1.0""#
            ).leave
        case .socketThatEnds, .operationThatIsCompleted:
            let socket = try SocketClient(port: client.port)
            try socket.initialize(token: token)
            try socket.send(
                #"{"id":"a","type":"subscribe","payload":{"query":\#(Browser.quoted(query))}}"#)
            return transport == .socketThatEnds
                ? socket.abort : { try socket.send(#"{"id":"a","type":"complete"}"#) }
        }
    }

    @Test(arguments: Transport.allCases)
    func areCountedApartFromInternalErrors(transport: Transport) async throws {
        let installation = try await Installation.ready(catalog: [])
        let server = try await installation.startServer([
            // On a busy machine any operation may be slow enough for a warning.
            "BOOKPLATE_LOG_LEVEL": "debug", "BOOKPLATE_SLOW_OPERATION_MS": "0",
        ])
        let token = try await server.signIn("leaves")["accessToken"]?.string
        try await installation.database.withConnection { connection in
            func isWaiting() throws -> Bool {
                try connection.query("SELECT FROM pg_locks WHERE NOT granted").count > 0
            }
            try connection.execute("BEGIN; LOCK TABLE books")
            let leave = try Self.begin(transport, server.client, token)
            while try !isWaiting() {}
            try leave()
            // The server cancels the statement of an abandoned request.
            while try isWaiting() {}
            try connection.execute("COMMIT")
        }
        try await waitUntil("the operation is counted") {
            try await server.client.send("GET", "/metrics").body.contains(
                #"bookplate_operations_abandoned_total{kind="query"} 1"#)
        }
        let metrics = try await server.client.send("GET", "/metrics").body
        #expect(!metrics.contains("INTERNAL_SERVER_ERROR"))
        #expect(!metrics.contains("CLIENT_CLOSED_REQUEST"))
        let isHTTP = [.http, .eventStream, .multipart].contains(transport)
        #expect(
            metrics.contains(#"bookplate_http_requests_total{route="/graphql",status="499"} 1"#)
                == isHTTP)
        // There is nothing for an operator to look at.
        let log = server.program.errors.split(separator: "\n")
        #expect(log.contains { $0.contains("abandoned") && $0.contains("DEBUG") })
        #expect(!log.contains { $0.contains("ERROR") || $0.contains("WARNING") })

        // An error of the server's own still counts.
        try await installation.database.execute("ALTER TABLE shelves RENAME TO gone")
        _ = try await server.client.execute("{ me { shelves { id } } }", token: token)
        #expect(
            try await server.client.send("GET", "/metrics").body.contains(
                #"bookplate_errors_total{code="INTERNAL_SERVER_ERROR"} 1"#))
    }
}
