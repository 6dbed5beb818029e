import Glibc
import Postgres
import TestBasics
import TestSupport

/// The kinds of faults. Each of them happens in real installations.
enum Fault: CaseIterable, Sendable {
    case killServer
    /// The server's processes get no CPU for a while.
    case pauseServer
    case killDatabase
    case killDatabaseProcess
    /// The processes of the database get no CPU for a while.
    case pauseDatabase
    /// The synchronous standby is down for a while, so that no commit is confirmed.
    case stopStandby
    /// The primary is killed, and the standby replaces it.
    case failOver
    /// A connection ends after a message of the server to the database.
    case cutRequest
    /// A connection ends after a message of the database to the server.
    case cutResponse
    /// No message between the server and the database arrives for a while, although the connections stay open.
    case holdConnections
    /// The clock of the server's machine jumps: back by less than the tolerance of tokens, or forward.
    case moveClock
    /// The database writes slowly.
    case slowDisk
    /// The files of the database cannot become larger.
    case fullDisk
}

/// A server and a database to which faults happen, one after the other.
actor FaultySystem {
    nonisolated let client: HTTPClient
    private let installation: Installation
    private let cluster: FaultCluster
    private let proxy: FaultProxy
    private let environment: [String: String?]
    private let clockFile: String
    private var server: RunningServer
    private var counts: [Fault: Int] = [:]

    init(_ installation: Installation, _ cluster: FaultCluster, _ proxy: FaultProxy) async throws {
        self.installation = installation
        self.cluster = cluster
        self.proxy = proxy
        var url = try ConnectionString(try installation.database.url(as: TestCluster.app))
        url["host"] = proxy.folder
        clockFile = try installation.write("+0s", to: "clock")
        var environment: [String: String?] = [
            "DATABASE_URL": url.description, "BOOKPLATE_LIMITS": "rate=1000000",
            "LD_PRELOAD": try Self.clockLibrary(), "FAKETIME_TIMESTAMP_FILE": clockFile,
            // Only the time of day jumps, as on a machine whose clock is set.
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        ]
        server = try await installation.startServer(environment)
        client = server.client
        // The next servers listen on the same port.
        environment["BOOKPLATE_PORT"] = "\(client.port)"
        self.environment = environment
    }

    /// The path of libfaketime, which depends on the machine's architecture.
    static func clockLibrary() throws -> String {
        var found = glob_t()
        defer { globfree(&found) }
        guard glob("/usr/lib/*/faketime/libfaketimeMT.so.1", 0, nil, &found) == 0,
            let path = found.gl_pathv[0]
        else { throw Program.Failure(description: "libfaketime is not installed") }
        return String(cString: path)
    }

    /// Causes random faults until a time, and then repairs everything.
    func causeFaults(
        until deadline: ContinuousClock.Instant, _ random: inout SeededGenerator
    ) async throws {
        while ContinuousClock.now < deadline {
            try await Task.sleep(for: .milliseconds(Int.random(in: 100...1000, using: &random)))
            guard let fault = Fault.allCases.randomElement(using: &random) else { break }
            counts[fault, default: 0] += 1
            try await cause(fault, &random)
        }
        proxy.cut(nil)
    }

    /// The numbers of faults that happened, for messages.
    var summary: String {
        counts.map { "\($0.key) \($0.value)" }.sorted().joined(separator: ", ")
            + "; \(proxy.cutCount) connections were cut after a message"
    }

    /// Starts the server on the port that it had. A client of another test may have the port for a moment.
    private func startServerAgain() async throws -> RunningServer {
        for _ in 0..<20 {
            do {
                return try await installation.startServer(environment)
            } catch let failure as Program.Failure
                where failure.description.contains("cannot listen on")
            {
                try await Task.sleep(for: .milliseconds(500))
            }
        }
        return try await installation.startServer(environment)
    }

    private func cause(_ fault: Fault, _ random: inout SeededGenerator) async throws {
        let pause = Duration.milliseconds(Int.random(in: 100...3000, using: &random))
        switch fault {
        case .killServer:
            server.program.send(SIGKILL)
            server = try await startServerAgain()
        case .pauseServer:
            server.program.send(SIGSTOP)
            try await Task.sleep(for: pause)
            server.program.send(SIGCONT)
        case .killDatabase: cluster.primary.processes.killAll()
        case .killDatabaseProcess: cluster.primary.processes.killOne(using: &random)
        case .pauseDatabase: try await cluster.primary.processes.pause(for: pause)
        case .stopStandby: try await cluster.standby.stop { try await Task.sleep(for: pause) }
        case .failOver:
            try await cluster.failOver()
            proxy.setTarget(cluster.primary.socket)
        case .cutRequest, .cutResponse:
            proxy.cut(
                FaultProxy.Cut(
                    isFromServer: fault == .cutResponse,
                    messagesLeft: Int.random(in: 1...60, using: &random)))
        case .holdConnections:
            proxy.setHolding(true)
            try await Task.sleep(for: pause)
            proxy.setHolding(false)
        case .moveClock:
            let seconds = Int.random(in: -50...120, using: &random)
            _ = try installation.write("\(seconds < 0 ? "" : "+")\(seconds)s", to: "clock")
        case .slowDisk, .fullDisk:
            cluster.primary.disk.set(
                fault == .fullDisk
                    ? .full : .slow(microseconds: .random(in: 1000...100_000, using: &random)))
            try await Task.sleep(for: pause)
            // Half of these faults also happen while the database recovers.
            if Bool.random(using: &random) {
                cluster.primary.processes.killAll()
                try await Task.sleep(for: pause)
            }
            cluster.primary.disk.set(.healthy)
        }
    }
}
