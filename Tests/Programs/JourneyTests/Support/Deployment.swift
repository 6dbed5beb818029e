import Glibc
import Postgres
import TestSupport
import Testing

/// The reference deployment of the folder `deploy`, on this machine: its files with other values, started as its README says.
struct Deployment: Sendable {
    let machines: [DeployedMachine]
    let balancer: RunningProgram
    let installation: Installation
    /// A client of HAProxy.
    let client: HTTPClient
    /// The URL of the database with the role of its owner.
    let ownerURL: String
    /// The variables of `bookplate-admin`.
    let adminVariables: [String: String]

    /// More than the default, because the tests send their requests from one address.
    private static let serverVariables = ["BOOKPLATE_LIMITS": "rate=1000000,address=1000000"]

    static func start() async throws -> Deployment {
        let folder = try Program.makeFolder()
        chmod(folder, 0o711)
        let client = HTTPClient(port: try freePort())
        let values = try await values(folder: folder, port: client.port)
        var machines: [DeployedMachine] = []
        for name in ["one", "two", "three"] {
            machines.append(
                try await DeployedMachine(
                    name: name, address: values[name] ?? "", folder: "\(folder)/\(name)",
                    values: values))
        }
        let ownerURL = try #require(
            try machines[0].variables("admin.env")["BOOKPLATE_ADMIN_DATABASE_URL"])
        let deployment = Deployment(
            machines: machines, balancer: try await machines[2].startBalancer(),
            installation: Installation(
                database: TestDatabase(name: "bookplate", superuserURL: ownerURL), folder: folder),
            client: client, ownerURL: ownerURL,
            adminVariables: try machines[0].variables("bookplate.env").merging(
                try machines[0].variables("admin.env")
            ) { $1 })
        try await deployment.startDatabases(superuserPassword: values["superuser_password"] ?? "")
        try await deployment.startServers()
        return deployment
    }

    private static func values(folder: String, port: Int) async throws -> [String: String] {
        let shell = Program(
            name: "bash", environment: ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"],
            folder: TestCluster.project, path: "/bin/bash")
        let programs = try await blocking {
            try shell.start(
                ["-c", "source scripts/packages; postgres_programs"], outputFolder: folder
            ).wait()
        }
        let bucket = try await S3Server.shared().variables(
            prefix: "deployment-\(UInt64.random(in: 0...UInt64.max))")
        // Addresses that differ between test processes.
        let process = Int(getpid())
        let network = "127.\(64 + process / 250 % 128).\(process % 250 + 1)"
        var values = [
            "one": "\(network).1", "two": "\(network).2", "three": "\(network).3",
            "network": "127.0.0.0/8",
            "postgres_programs": programs.output, "postgres_memory": "32MB",
            "listen": "127.0.0.1:\(port)", "session_keys": "\(folder)/session-keys",
            "storage": bucket["BOOKPLATE_STORAGE"] ?? "",
            "storage_key": bucket["AWS_ACCESS_KEY_ID"] ?? "",
            "storage_secret": bucket["AWS_SECRET_ACCESS_KEY"] ?? "",
        ]
        for role in ["superuser", "replication", "rewind", "owner", "app"] {
            values["\(role)_password"] = "\(role)-\(UInt64.random(in: 0...UInt64.max))"
        }
        return values
    }

    private func startDatabases(superuserPassword: String) async throws {
        for machine in machines { try await machine.startStore() }
        // The first machine becomes the primary, because the others start later.
        try await machines[0].startDatabase()
        try await wait("there is a primary") { await machines[0].has("primary") }
        for machine in machines.dropFirst() { try await machine.startDatabase() }
        try await wait("there are two standbys") {
            for machine in machines.dropFirst() {
                guard await machine.has("replica") else { return false }
            }
            return true
        }
        try await wait("one standby is synchronous") { await synchronousStandby() != nil }
        let url =
            "postgresql://postgres:\(superuserPassword)@\(machines[0].address)/postgres"
        let statements = try machines[0].text("roles.sql").split(separator: ";\n")
        try await blocking {
            let connection = try AdminConnection(url)
            for statement in statements { try connection.execute(String(statement)) }
        }
    }

    private func startServers() async throws {
        for arguments in [
            ["keys", "rotate"], ["migrate", "up"],
            ["tenant", "add", "--slug", "reader", "--name", "Reader", "--audience", "com.example"],
        ] {
            let outcome = try await installation.admin(arguments, adminVariables)
            guard outcome.code == 0 else { throw Program.Failure(description: "\(outcome)") }
        }
        for machine in machines.prefix(2) { try await startServer(on: machine) }
        try await wait("HAProxy forwards requests") {
            await (try? client.post("{ __typename }"))?.status == 200
        }
    }

    func startServer(on machine: DeployedMachine) async throws {
        try await machine.startServer(installation, Self.serverVariables)
    }

    /// The machines one and two have a server.
    func hasServer(_ machine: DeployedMachine) -> Bool {
        machines.prefix(2).contains { $0 === machine }
    }

    /// Starts a machine that was killed, and waits until it is a standby.
    func restart(_ machine: DeployedMachine) async throws {
        try await machine.startStore()
        try await machine.startDatabase()
        if hasServer(machine) { try await startServer(on: machine) }
        try await wait("machine \(machine.name) is a standby") { await machine.has("replica") }
    }

    /// The machine of the primary. nil during a failover.
    func primary() async -> DeployedMachine? { await machine(with: "primary") }

    func synchronousStandby() async -> DeployedMachine? { await machine(with: "synchronous") }

    private func machine(with role: String) async -> DeployedMachine? {
        for machine in machines where await machine.has(role) { return machine }
        return nil
    }

    /// Waits for at least two minutes. The processes of three machines share this one.
    func wait(_ description: String, until condition: () async throws -> Bool) async throws {
        for _ in 0..<1200 {
            if try await condition() { return }
            try await Task.sleep(for: .milliseconds(100))
        }
        let errors = machines.map { "\($0.name):\n\($0.errors)" }.joined(separator: "\n")
        throw Program.Failure(description: "timed out waiting until \(description): \(errors)")
    }
}
