import Glibc
import Synchronization
import TestBasics
import TestSupport
import Testing

/// Two servers behind a load balancer are restarted one after the other, as `docs/how-to/upgrade.md` recommends.
@Suite struct RollingRestartTests {
    @Test(arguments: LoadBalancer.allCases)
    func noRequestFailsWhileTheServersAreRestarted(balancer: LoadBalancer) async throws {
        let installation = try await Installation.ready(catalog: [])
        let ports = [try freePort(), try freePort()]
        var servers: [RunningServer] = []
        for port in ports {
            servers.append(try await start(installation, port, behind: balancer))
        }
        let token = try await servers[0].signIn("ada")["accessToken"]?.string
        let front = HTTPClient(port: try freePort())
        let balancing = try await balancer.start(
            port: front.port, servers: ports, in: installation)
        try await waitUntil("the load balancer forwards requests") {
            await (try? front.send("GET", "/health/ready"))?.status == 200
        }

        let traffic = Traffic()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask { await traffic.run(front, token: token) }
            }
            for (index, port) in ports.enumerated() {
                try await waitUntilRequestsArrive(at: servers[index])
                servers[index].program.send(SIGTERM)
                let outcome = try await blocking { [server = servers[index]] in
                    try server.program.wait()
                }
                #expect(outcome.code == 0, "\(outcome.errors)")
                servers[index] = try await start(installation, port, behind: balancer)
                try await waitUntilRequestsArrive(at: servers[index])
            }
            try await waitUntil("5,000 requests were sent") { traffic.sent >= 5000 }
            traffic.end()
            try await group.waitForAll()
        }
        #expect(traffic.failures == [], "of \(traffic.sent) requests; \(balancing.errors)")
    }

    private func start(
        _ installation: Installation, _ port: Int, behind balancer: LoadBalancer
    ) async throws -> RunningServer {
        try await installation.startServer([
            "BOOKPLATE_PORT": "\(port)", "BOOKPLATE_STOP_DELAY": "\(balancer.stopDelaySeconds)",
        ])
    }

    /// Waits until the load balancer uses a server. An operator also waits for this before restarting the next one.
    private func waitUntilRequestsArrive(at server: RunningServer) async throws {
        try await waitUntil("requests arrive at the restarted server") {
            try await server.client.send("GET", "/metrics").body.contains(
                #"bookplate_http_requests_total{route="/graphql",status="200"}"#)
        }
    }
}

/// Requests of several clients, until they are told to stop.
private final class Traffic: Sendable {
    private let state = Mutex((sent: 0, isEnded: false, failures: [String]()))

    var sent: Int { state.withLock { $0.sent } }
    var failures: [String] { state.withLock { $0.failures } }

    func end() {
        state.withLock { $0.isEnded = true }
    }

    func run(_ client: HTTPClient, token: String?) async {
        while !state.withLock({ $0.isEnded }) {
            let failure: String?
            do {
                let response = try await client.post("{ me { id } }", token: token)
                failure = response.status == 200 ? nil : "\(response.status) \(response.body)"
            } catch {
                failure = "\(error)"
            }
            state.withLock {
                $0.sent += 1
                if let failure { $0.failures.append(failure) }
            }
        }
    }
}
