import Config
import FoundationEssentials
import Glibc
import GraphQL
import Postgres
import SocketClient
import Synchronization
import TestBasics
import TestSupport

/// A server with the limits of production, a reader, and accounts that attack.
final class Neighbourhood: Sendable {
    let server: RunningServer
    let attackers: [NeighbourAccount]
    private let installation: Installation
    private let sources: StubSourcesServer
    private let reader: NeighbourReader
    private let idle = Mutex(NeighbourReader.Measurement())
    private let idleWork = Mutex((server: 0.0, postgres: 0.0))

    /// ISBNs of books that the catalog does not have, and that the sources have.
    static let unknownISBNs = (0..<200).map { TestCatalog.isbn(400_000_000 + $0) }
    private static let limits = Configuration.Limits()
    /// Ten accounts with the limit `rate` would reach the limit `address`.
    private static let accountsPerAddress = 8

    /// - Parameter environment: changes of the settings.
    init(
        _ installation: Installation, attackers count: Int, books: Int = 200,
        environment: [String: String?] = [:], by starter: [String] = []
    ) async throws {
        self.installation = installation
        sources = try StubSourcesServer(
            Dictionary(uniqueKeysWithValues: Self.unknownISBNs.map { ($0, "Book \($0)") }))
        let limits = Self.limits
        let settings: [String: String?] = [
            // The limits of production, which development does not have unless they are set.
            "BOOKPLATE_LIMITS":
                "rate=\(limits.requestsPerMinuteMax),address=\(limits.addressRequestsPerMinuteMax),"
                + "signin=\(limits.signInsPerMinuteMax),refresh=\(limits.refreshesPerMinuteMax),"
                + "guest=\(limits.guestsPerMinuteMax),tenant-guest=\(limits.tenantGuestsPerMinuteMax)",
            "BOOKPLATE_INCREMENTAL": "on", "BOOKPLATE_ON_ERROR": "on",
        ]
        server = try await installation.startServer(
            settings.merging(sources.environment) { $1 }.merging(environment) { $1 }, by: starter)
        attackers = try await NeighbourAccount.make(
            (0..<count).map { "127.0.1.\(1 + $0 / Self.accountsPerAddress)" }, books: books,
            on: server, installation.database)
        let accounts = try await NeighbourAccount.make(
            Array(
                repeating: NeighbourReader.address, count: NeighbourReader.accountCount), books: 30,
            on: server, installation.database)
        let isbns = try await installation.database.withConnection {
            try $0.query(
                "SELECT isbn13 FROM editions WHERE isbn13 IS NOT NULL ORDER BY popularity DESC LIMIT 500"
            ).decode(String.self)
        }
        reader = NeighbourReader(accounts, isbns: isbns, on: server)
    }

    // MARK: - Times without an attack

    var idleMedian: Double { idle.withLock { $0.milliseconds.percentile(0.5) } }
    var idleSourceMedian: Double { idle.withLock { $0.sourceMilliseconds.percentile(0.5) } }

    /// The CPU time of the server without an attack, in milliseconds.
    func idleServerWork(_ duration: Duration) -> Int {
        Int(idleWork.withLock { $0.server } * (duration / .seconds(1)))
    }

    /// The CPU time of PostgreSQL without an attack, in milliseconds.
    func idlePostgresWork(_ duration: Duration) -> Int {
        Int(idleWork.withLock { $0.postgres } * (duration / .seconds(1)))
    }

    /// Measures the times without an attack.
    func measureIdle(for duration: Duration) async throws {
        try await reader.connect()
        // The first requests of a server take longer.
        _ = try await reader.use(for: .seconds(1))
        let start = try await Work(server, installation.database)
        let measurement = try await reader.use(
            for: duration, scanning: Array(Self.unknownISBNs.suffix(100)))
        idle.withLock { $0 = measurement }
        let work = try await Work(server, installation.database) - start
        let seconds = duration / .seconds(1)
        idleWork.withLock { $0 = (Double(work.server) / seconds, Double(work.postgres) / seconds) }
        print(AttackResult.heading)
        print(
            AttackResult(
                name: "none", attack: Attack.Counts(), reader: measurement, duration: duration,
                units: nil, work: work, memoryBytes: try server.program.memoryBytes("VmRSS")))
        for failure in measurement.failures.prefix(5) { print("  idle: \(failure)") }
    }

    // MARK: - Attacks

    /// Runs an attack while the reader uses the server, prints a line about it, and waits until PostgreSQL has no work left.
    ///
    /// - Parameters:
    ///   - number: the number of the attacker.
    ///   - unknown: ISBNs that only the external sources have.
    ///   - sourceRequests: how many requests the sources must have received since the beginning of the attack before the reader
    ///     uses the server.
    func run(
        _ attack: Attack, by number: Int, for duration: Duration, scanning unknown: [String] = [],
        afterSourceRequests sourceRequests: Int = 0
    ) async throws -> AttackResult {
        let attacker = attackers[number]
        let running = RunningAttack(attack, by: attacker, on: server)
        try await reader.connect()
        let logged = longTurns.count
        let start = try await Work(server, installation.database)
        var measurement = NeighbourReader.Measurement()
        let begin = ContinuousClock.now
        let counts = try await running.run(installation.database) {
            let count = sources.server.requests.count
            try await waitUntil("the sources have received \(sourceRequests) requests") {
                sources.server.requests.count >= count + sourceRequests
            }
            measurement = try await reader.use(for: duration, scanning: unknown)
        }
        let result = AttackResult(
            name: attack.name, attack: counts, reader: measurement,
            duration: ContinuousClock.now - begin,
            units: try await unitsTaken(by: attacker),
            work: try await Work(server, installation.database) - start,
            memoryBytes: try server.program.memoryBytes("VmRSS"))
        print(result)
        for turn in longTurns.dropFirst(logged) { print("  server: \(turn)") }
        for failure in measurement.failures.prefix(3) { print("  reader: \(failure)") }
        for (kind, text) in counts.examples { print("  attacker, \(kind): \(text.prefix(300))") }
        if counts.internalErrors > 0 {
            let lines = server.program.errors.split(separator: "\n").filter { $0.contains("error") }
            for line in lines.suffix(3) { print("  server: \(line.prefix(600))") }
        }
        try await waitForQuiet()
        return result
    }

    /// The lines that the server has logged about long computations on event loops.
    private var longTurns: [String] {
        RunningProgram.longTurns(in: server.program.errors)
    }

    /// Waits until the server has no running statement, for at most a minute.
    private func waitForQuiet() async throws {
        for _ in 0..<600 {
            let running = try await installation.database.withConnection(as: nil) {
                try $0.query(
                    """
                    SELECT count(*) FROM pg_stat_activity
                    WHERE datname = current_database() AND usename = '\(TestCluster.app)' AND state <> 'idle'
                    """
                ).int64(0, 0)
            }
            if running == 0 { return }
            try await Task.sleep(for: .milliseconds(100))
        }
    }

    /// Returns the units that the attacker's bucket lacks; nil if the attacker has overdrawn it.
    private func unitsTaken(by attacker: NeighbourAccount) async throws -> Int? {
        let port = server.client.port
        return try await blocking {
            let client = try RawClient(port: port, from: attacker.address, timeout: 30)
            try client.send(attacker.post("{ __typename }"))
            let response = try client.response()
            guard response.status == 200,
                let part = response.headers["ratelimit"]?.split(separator: ";").first(where: {
                    $0.hasPrefix("r=")
                }), let remaining = Int(part.dropFirst(2))
            else { return nil }
            return Self.limits.requestsPerMinuteMax - remaining - 1
        }
    }
}

/// The CPU time that the server and PostgreSQL have used, in milliseconds.
struct Work: Sendable {
    let server: Int
    let postgres: Int

    init(_ server: RunningServer, _ database: TestDatabase) async throws {
        self.server = Self.milliseconds(of: server.program.pid)
        postgres = try await database.withConnection(as: nil) { connection in
            try connection.query(
                "SELECT pid::text FROM pg_stat_activity WHERE datname = current_database() AND usename = '\(TestCluster.app)'"
            ).decode(String.self).reduce(0) { $0 + Self.milliseconds(of: pid_t($1) ?? 0) }
        }
    }

    private init(server: Int, postgres: Int) {
        self.server = server
        self.postgres = postgres
    }

    static func - (later: Work, earlier: Work) -> Work {
        Work(server: later.server - earlier.server, postgres: later.postgres - earlier.postgres)
    }

    /// Returns the user and system time of a process: the fields 14 and 15 of `/proc/PID/stat`, in ticks of 10 ms.
    private static func milliseconds(of pid: pid_t) -> Int {
        guard let line = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8) else {
            return 0
        }
        // The name of the program, in parentheses, may contain spaces.
        let fields = line.split(separator: ")").last?.split(separator: " ") ?? []
        guard fields.count > 12, let user = Int(fields[11]), let system = Int(fields[12]) else {
            return 0
        }
        return (user + system) * 10
    }
}

/// What an attack did, and how the other reader fared meanwhile.
struct AttackResult: Sendable, CustomStringConvertible {
    let name: String
    let attack: Attack.Counts
    let reader: NeighbourReader.Measurement
    let duration: Duration
    /// The units that the attacker's bucket lacks afterward; nil if it was overdrawn.
    let units: Int?
    let work: Work
    let memoryBytes: Int

    /// The largest number of requests that the attacker's limit allows, if each takes one unit.
    var unitsMax: Int { Configuration.Limits().requestsPerMinuteMax + unitsRefilled }

    /// The units that the attacker's bucket got during the attack, if it was not full.
    var unitsRefilled: Int {
        Int(duration / .seconds(60) * Double(Configuration.Limits().requestsPerMinuteMax)) + 1
    }

    static let heading =
        "attack                            |  sent   ok err 429 else lost open units | reader: p50   p99   max failed | "
        + "live p99 | source p50 | CPU ms: server PostgreSQL | MB"

    var description: String {
        func pad(_ text: String, _ width: Int) -> String {
            String(repeating: " ", count: max(0, width - text.count)) + text
        }
        func number(_ value: Double, _ width: Int) -> String {
            pad(value < 10 ? "\((value * 10).rounded() / 10)" : "\(Int(value))", width)
        }
        let title = String(name.prefix(33))
        return [
            title + String(repeating: " ", count: 33 - title.count),
            "|" + pad("\(attack.sent)", 6) + pad("\(attack.answered)", 5)
                + pad("\(attack.failed)", 4) + pad("\(attack.refused)", 4)
                + pad("\(attack.rejected)", 5) + pad("\(attack.lost)", 5)
                + pad("\(attack.abandoned)", 5)
                + pad(units.map { "\($0)" } ?? "all", 6),
            "|" + number(reader.milliseconds.percentile(0.5), 12)
                + number(reader.milliseconds.percentile(0.99), 6)
                + number(reader.milliseconds.max() ?? 0, 6) + pad("\(reader.failures.count)", 7),
            "|" + number(reader.liveMilliseconds.percentile(0.99), 9),
            "|" + number(reader.sourceMilliseconds.percentile(0.5), 11),
            "|" + pad("\(work.server)", 14) + pad("\(work.postgres)", 11),
            "|" + pad("\(memoryBytes >> 20)", 4),
        ].joined(separator: " ")
    }
}
