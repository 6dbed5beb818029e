import Glibc
import Postgres
import TestBasics
import TestSupport

/// Another machine, as far as the network is concerned: a network namespace in which HAProxy forwards connections to the cluster
/// of the tests. The loss of the machine is simulated by discarding all packets that it would send.
///
/// Only root can create network namespaces. The namespace disappears with the program.
struct RemoteMachine {
    /// The address of this machine in the network that the two share, and that of the other one.
    private let addresses: (here: String, there: String)
    private let program: RunningProgram
    /// The connection string of the database on the other machine.
    let url: ConnectionString

    /// The test compares times, which other programs of the machine change, so it runs on request:
    /// `BOOKPLATE_TEST_MACHINE_LOSS=1 scripts/test --filter MachineLossTests`, as root.
    static let isRequested = geteuid() == 0 && getenv("BOOKPLATE_TEST_MACHINE_LOSS") != nil

    static func start(before installation: Installation, as role: String) async throws
        -> RemoteMachine
    {
        var url = try ConnectionString(installation.database.url(as: role))
        let socket = "\(url["host"] ?? "")/.s.PGSQL.\(url["port"] ?? "5432")"
        let file = try installation.write(
            """
            defaults
                mode tcp
                timeout connect 5s
                timeout client 10m
                timeout server 10m
            listen database
                bind *:5432
                server local unix@\(socket)

            """, to: "machine.cfg")
        // Link-local addresses, which differ between test processes.
        let process = Int(getpid())
        let network = "169.254.\(64 + process / 60 % 128)"
        let base = process % 60 * 4
        let addresses = ("\(network).\(base + 1)", "\(network).\(base + 2)")
        let program = try await Program(
            name: "unshare", environment: ["PATH": "/usr/sbin:/usr/bin:/bin"],
            folder: installation.folder, path: "/usr/bin/unshare"
        ).startServing(["--net", "/usr/sbin/haproxy", "-db", "-f", file])
        let here = try namespace(of: "self")
        try await waitUntil("the namespace exists") {
            try await blocking { try namespace(of: "\(program.pid)") != here }
        }
        let (name, id) = ("bp\(process)", program.pid)
        try await run(
            """
            ip link add \(name)a type veth peer name \(name)b netns \(id)
            ip addr add \(addresses.0)/30 dev \(name)a
            ip link set \(name)a up
            nsenter -t \(id) -n ip addr add \(addresses.1)/30 dev \(name)b
            nsenter -t \(id) -n ip link set \(name)b up
            """)
        url["host"] = addresses.1
        url["port"] = "5432"
        try await waitUntil("the database answers on the other machine") {
            try await blocking { [url] in (try? AdminConnection(url.description)) != nil }
        }
        return RemoteMachine(addresses: addresses, program: program, url: url)
    }

    /// Discards all packets to this machine from now on. No connection is reset.
    func disappear() async throws {
        try await Self.run(
            "nsenter -t \(program.pid) -n ip route add blackhole \(addresses.here)/32")
    }

    private static func namespace(of process: String) throws -> String {
        var buffer = [CChar](repeating: 0, count: 256)
        let count = readlink("/proc/\(process)/ns/net", &buffer, buffer.count)
        return String(
            decoding: buffer.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private static func run(_ commands: String) async throws {
        let outcome = try await Program(
            name: "sh", environment: ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"],
            folder: try Program.makeFolder(), path: "/bin/sh"
        ).run("-ec", commands)
        guard outcome.code == 0 else { throw Program.Failure(description: outcome.errors) }
    }
}
