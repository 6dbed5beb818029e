import GraphQL
import Postgres
import TestBasics
import TestSupport
import Testing

/// The machine of the database disappears without closing its connections, as if its power had failed.
@Suite(.enabled(if: RemoteMachine.isRequested)) struct MachineLossTests {
    /// Both addresses lead to the same database, so the test needs no replication.
    private func start(
        _ installation: Installation, _ machine: RemoteMachine
    ) async throws -> RunningServer {
        var url = machine.url
        let local = try ConnectionString(installation.database.url(as: TestCluster.app))
        for keyword in ["host", "port"] {
            url[keyword] = [url[keyword], local[keyword] ?? "5432"]
                .compactMap(\.self).joined(separator: ",")
        }
        return try await installation.startServer(["DATABASE_URL": url.description])
    }

    @Test func writesAndSubscriptionsContinueOnAnotherMachine() async throws {
        let installation = try await Installation.ready(catalog: [])
        let machine = try await RemoteMachine.start(before: installation, as: TestCluster.app)
        let server = try await start(installation, machine)
        let other = try await installation.startServer()
        let token = try #require(try await server.signIn("survivor")["accessToken"]?.string)
        let live = try StreamClient(port: server.client.port)
        try await blocking {
            try live.send(
                "POST", "/graphql",
                headers: [
                    "authorization": "Bearer \(token)", "content-type": "application/json",
                    "accept": "text/event-stream",
                ],
                body: Array(#"{"query":"subscription { changes { typename } }"}"#.utf8))
            _ = try live.receive(until: "\r\n\r\n")
        }
        // The headers of the stream arrive before the subscription has started.
        _ = try await server.client.execute(
            #"mutation { createShelf(input: {name: "Before"}) { name } }"#, token: token)
        try await blocking { _ = try live.receive(until: "Shelf") }

        try await machine.disappear()
        let clock = ContinuousClock()
        let start = clock.now
        _ = try await other.client.execute(
            #"mutation { createShelf(input: {name: "Elsewhere"}) { name } }"#, token: token)
        let event = Task {
            _ = try await blocking { try live.receive(until: "Shelf") }
            return clock.now - start
        }
        try await waitUntil("a write succeeds") {
            let response = try await server.client.execute(
                #"mutation { createShelf(input: {id: "2f1d9a52-6a1c-4a38-9f0c-0d7e7b1f3a12", name: "After"}) { name } }"#,
                token: token)
            return response["data", "createShelf", "name"] == "After"
        }
        let writeTime = clock.now - start
        let eventTime = try await event.value
        print("after the loss of a machine: a write took \(writeTime), an event \(eventTime)")
        // Three seconds until the loss is noticed, and two to spare for a busy machine.
        #expect(writeTime < .seconds(5))
        #expect(eventTime < .seconds(5))
    }
}
