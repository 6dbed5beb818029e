import Glibc
import Postgres
import TestBasics
import TestSupport

/// A connection pooler in front of the cluster of the tests, from its Debian package.
enum PoolerProgram: String, Sendable {
    case pgbouncerInSessionMode, pgbouncerInTransactionMode, pgpool, pgpoolInRawMode

    private var path: String {
        switch self {
        case .pgbouncerInSessionMode, .pgbouncerInTransactionMode: "/usr/sbin/pgbouncer"
        case .pgpool, .pgpoolInRawMode: "/usr/sbin/pgpool"
        }
    }

    /// Runs work with a pooler.
    ///
    /// - Parameter work: Gets a function that changes a URL of the database so that it leads through the pooler.
    func run(
        before installation: Installation,
        _ work: (_ pooled: (String) throws -> String) async throws -> Void
    ) async throws {
        let port = try freePort()
        let program = try await start(port, before: installation)
        func pooled(_ url: String) throws -> String {
            var string = try ConnectionString(url)
            string["host"] = "127.0.0.1"
            string["port"] = "\(port)"
            return string.description
        }
        let outcome: Result<Void, any Error>
        do {
            let url = try pooled(installation.database.url(as: TestCluster.app))
            try await waitUntil("the pooler answers") {
                try await blocking { (try? AdminConnection(url)) != nil }
            }
            outcome = .success(try await work(pooled))
        } catch {
            outcome = .failure(error)
        }
        // Pgpool-II ends its own processes only if it stops in order. PgBouncer is killed when `program` is released.
        if [.pgpool, .pgpoolInRawMode].contains(self) {
            program.send(SIGINT)
            _ = try await blocking { try program.wait() }
        }
        try outcome.get()
    }

    private func start(_ port: Int, before installation: Installation) async throws
        -> RunningProgram
    {
        let server = try ConnectionString(installation.database.url())
        let folder = try Program.makeFolder()
        chmod(folder, 0o711)
        let configuration = configuration(
            port: port, folder: folder, host: server["host"] ?? "", serverPort: server["port"] ?? ""
        )
        for (name, text) in configuration.files {
            guard let stream = fopen("\(folder)/\(name)", "w") else {
                throw Program.Failure(description: "\(folder)/\(name): errno \(errno)")
            }
            fputs(text, stream)
            fclose(stream)
        }
        let program = Program(
            name: rawValue, environment: ["PATH": "/usr/sbin:/usr/bin:/bin"], folder: folder,
            path: path)
        // The poolers refuse to run as root, and only the account of the cluster may use its socket.
        let account =
            geteuid() == 0 ? ["--reuid=postgres", "--regid=postgres", "--init-groups"] : []
        if geteuid() == 0, let postgres = getpwnam("postgres") {
            chown(folder, postgres.pointee.pw_uid, postgres.pointee.pw_gid)
        }
        return try await blocking {
            try program.start(
                configuration.arguments, by: ["setpriv"] + account + ["--pdeathsig=INT", "--"])
        }
    }

    private func configuration(
        port: Int, folder: String, host: String, serverPort: String
    ) -> (files: [String: String], arguments: [String]) {
        switch self {
        case .pgbouncerInSessionMode, .pgbouncerInTransactionMode:
            let mode = self == .pgbouncerInSessionMode ? "session" : "transaction"
            return (
                [
                    "pgbouncer.ini": """
                    [databases]
                    * = host=\(host) port=\(serverPort)
                    [pgbouncer]
                    listen_addr = 127.0.0.1
                    listen_port = \(port)
                    unix_socket_dir =
                    auth_type = trust
                    auth_file = \(folder)/users
                    pool_mode = \(mode)
                    default_pool_size = 50

                    """,
                    "users": """
                    "\(TestCluster.app)" ""
                    "\(TestCluster.owner)" ""

                    """,
                ], ["\(folder)/pgbouncer.ini"]
            )
        case .pgpool, .pgpoolInRawMode:
            let mode = self == .pgpool ? "streaming_replication" : "raw"
            return (
                [
                    "pgpool.conf": """
                    backend_clustering_mode = '\(mode)'
                    backend_flag0 = 'ALWAYS_PRIMARY'
                    sr_check_period = 0
                    backend_hostname0 = '\(host)'
                    backend_port0 = \(serverPort)
                    listen_addresses = '127.0.0.1'
                    port = \(port)
                    socket_dir = '\(folder)'
                    pcp_listen_addresses = ''
                    pcp_socket_dir = '\(folder)'
                    pid_file_name = '\(folder)/pgpool.pid'
                    work_dir = '\(folder)'
                    logdir = '\(folder)'
                    num_init_children = 32
                    max_pool = 1

                    """,
                    "pcp.conf": "", "pool_hba.conf": "",
                ],
                [
                    "-n", "-f", "\(folder)/pgpool.conf", "-F", "\(folder)/pcp.conf", "-a",
                    "\(folder)/pool_hba.conf",
                ]
            )
        }
    }
}
