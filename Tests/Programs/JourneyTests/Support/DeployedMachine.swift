import Foundation
import Glibc
import Synchronization
import TestSupport

/// One machine of the reference deployment: processes with a loopback address of their own.
final class DeployedMachine: Sendable {
    private enum Part { case etcd, patroni, server }

    let name: String
    let address: String
    let postgres: PostgresProcesses
    /// The folder of the configuration files and the data.
    private let folder: String
    private let programs = Mutex<[Part: RunningProgram]>([:])

    /// Writes the configuration files.
    ///
    /// - Parameters:
    ///   - folder: A folder that does not exist.
    ///   - values: New values for names in `deploy/settings`.
    init(
        name: String, address: String, folder: String, values: [String: String]
    ) async throws {
        self.name = name
        self.address = address
        self.folder = folder
        postgres = PostgresProcesses(data: "\(folder)/data")
        mkdir(folder, 0o755)
        var values = values
        values["postgres_data"] = postgres.data
        values["etcd_data"] = "\(folder)/etcd-data"
        let settings = try String(
            contentsOfFile: TestCluster.project + "/deploy/settings", encoding: .utf8)
        let lines = settings.split(separator: "\n").map { line in
            let name = String(line.prefix { $0 != "=" })
            return values[name].map { "\(name)=\($0)" } ?? String(line)
        }
        let file = "\(folder)/settings"
        try lines.joined(separator: "\n").write(toFile: file, atomically: false, encoding: .utf8)
        let outcome = try await Program(
            name: "configure", environment: ["PATH": "/usr/bin:/bin"], folder: folder,
            path: TestCluster.project + "/deploy/configure"
        ).run(file, name, folder)
        guard outcome.code == 0 else { throw Program.Failure(description: outcome.errors) }
        // The programs do not run as root.
        if geteuid() == 0, let postgres = getpwnam("postgres") {
            for path in [folder, "\(folder)/patroni.yml", "\(folder)/haproxy.cfg"] {
                chown(path, postgres.pointee.pw_uid, postgres.pointee.pw_gid)
            }
        }
    }

    deinit { kill() }

    /// Returns the text of a configuration file.
    func text(_ file: String) throws -> String {
        try String(contentsOfFile: "\(folder)/\(file)", encoding: .utf8)
    }

    /// Returns the variables of an environment file.
    func variables(_ file: String) throws -> [String: String] {
        let lines = try text(file).split(separator: "\n").filter { !$0.hasPrefix("#") }
        return Dictionary(
            uniqueKeysWithValues: lines.map { line in
                let parts = line.split(separator: "=", maxSplits: 1)
                return (String(parts[0]), parts[1].trimmingCharacters(in: ["'"]))
            })
    }

    /// Starts etcd.
    func startStore() async throws {
        let program = try await start("/usr/bin/etcd", [], try variables("etcd"), endsBy: "KILL")
        programs.withLock { $0[.etcd] = program }
    }

    /// Starts Patroni, which starts PostgreSQL.
    func startDatabase() async throws {
        // At SIGTERM Patroni stops PostgreSQL, too.
        let program = try await start(
            "/usr/bin/patroni", ["patroni.yml"], ["LANG": "C.UTF-8"], endsBy: "TERM")
        programs.withLock { $0[.patroni] = program }
    }

    /// Starts HAProxy, which does not end with this machine: in a real deployment several machines have one.
    func startBalancer() async throws -> RunningProgram {
        try await start("/usr/sbin/haproxy", ["-db", "-f", "haproxy.cfg"], [:], endsBy: "KILL")
    }

    /// - Parameter variables: Additional variables.
    func startServer(
        _ installation: Installation, _ variables: [String: String]
    ) async throws {
        let environment = try self.variables("bookplate.env").merging(variables) { $1 }
        let server = try await installation.startServer(environment)
        programs.withLock { $0[.server] = server.program }
    }

    private func start(
        _ path: String, _ arguments: [String], _ variables: [String: String],
        endsBy signal: String
    ) async throws -> RunningProgram {
        let program = Program(
            name: path,
            environment: variables.merging(["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"]) { $1 },
            folder: folder, path: path)
        let account =
            geteuid() == 0 ? ["--reuid=postgres", "--regid=postgres", "--init-groups"] : []
        return try await blocking {
            try program.start(
                arguments, by: ["setpriv"] + account + ["--pdeathsig=\(signal)", "--"])
        }
    }

    /// Kills all processes at the same time.
    func kill() {
        programs.withLock { programs in
            // Patroni must not notice that PostgreSQL ends first.
            programs[.patroni]?.send(SIGSTOP)
            postgres.killAll()
            for program in programs.values { program.send(SIGKILL) }
            programs = [:]
        }
    }

    /// Stops all processes, as a virtual machine that is moved to another host.
    func freeze() {
        programs.withLock { programs in
            for program in programs.values { program.send(SIGSTOP) }
            postgres.stopAll()
        }
    }

    /// Continues after `freeze()`.
    func resume() {
        programs.withLock { programs in
            postgres.continueAll()
            for program in programs.values { program.send(SIGCONT) }
        }
    }

    /// Kills the server.
    func killServer() {
        programs.withLock { programs in
            programs[.server]?.send(SIGKILL)
            programs[.server] = nil
        }
    }

    /// Asks Patroni about its node, as load balancers do.
    ///
    /// - Parameter role: `primary`, `replica`, or `synchronous`.
    func has(_ role: String) async -> Bool {
        let client = HTTPClient(address: address, port: 8008)
        return await (try? client.send("GET", "/\(role)"))?.status == 200
    }

    /// The last messages of its programs, for messages of failed tests.
    var errors: String {
        programs.withLock { programs in
            programs.map { "\($0.key): \(($0.value.output + $0.value.errors).suffix(3000))" }
                .joined(separator: "\n")
        }
    }
}
