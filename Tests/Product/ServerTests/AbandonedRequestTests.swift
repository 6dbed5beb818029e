import EchoServer
import NIOCore
import SocketClient
import Telemetry
import TestBasics
import Testing

@testable import GraphQLNIO

/// Requests whose clients close the connection before they receive a response.
@Suite struct AbandonedRequestTests {
    @Test(arguments: ["*/*", "text/event-stream"])
    func abandonedRequestsAreCountedWithStatus499(accept: String) async throws {
        let metrics = Metrics()
        let log = LogSpy(level: .debug)
        try await ProductServer.run(log: log, metrics: metrics) { server in
            let id = "abandoned-\(accept.utf8.count)"
            let client = try await onThread {
                let client = try RawClient(port: server.port)
                try client.send(.held(id, headers: "accept: \(accept)\r\n"))
                return client
            }
            try await EchoService.started(id)
            client.finishSending()
            try await waitUntil("the request is counted") {
                await metrics.text().contains(
                    #"bookplate_http_requests_total{route="/graphql",status="499"} 1"#)
            }
            let lines = log.lines.filter { $0.contains("request_id=\(id)") }
            #expect(lines.count == 1)
            #expect(lines.first?.contains("DEBUG") == true)
            #expect(lines.first?.contains("status=499") == true)
        }
    }

    /// A request whose task does not end after its cancellation is an error of the server.
    @Test func aRequestThatIgnoresItsCancellationIsAnInternalError() async throws {
        var limits = HTTPLimits.quick
        limits.responseTimeout = .milliseconds(50)
        limits.lingeringCloseTimeout = .milliseconds(50)
        let (releases, release) = AsyncStream.makeStream(of: Void.self)
        let metrics = Metrics()
        let log = LogSpy(level: .warning)
        try await ProductServer.run(
            limits: limits, log: log, metrics: metrics,
            routes: { _ in
                [
                    Route(.GET, "/endless") { _ in
                        // Waits in a task that is not cancelled with the request.
                        await Task.detached { for await _ in releases {} }.value
                        return HTTPResponse(.ok)
                    }
                ]
            }
        ) { server in
            try await onThread {
                let client = try RawClient(port: server.port)
                try client.send("GET /endless HTTP/1.1\r\nhost: test\r\n\r\n")
                #expect(client.isClosed())
            }
            try await waitUntil("the request is counted") {
                await metrics.text().contains(
                    #"bookplate_http_requests_total{route="/endless",status="500"} 1"#)
            }
            release.finish()
            #expect(!(await metrics.text().contains(#"status="499""#)))
            #expect(
                log.lines.contains {
                    $0.contains("request cancelled because its response took too long")
                })
        }
    }
}
