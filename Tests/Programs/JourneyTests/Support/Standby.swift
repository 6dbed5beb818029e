import Glibc
import Postgres
import TestSupport

/// A separate PostgreSQL cluster with streaming replicas. All stop when the object is released.
final class Standby: Sendable {
    let primary: TestCluster
    private let primaryURL: String
    /// The superuser's URLs of the replicas.
    let urls: [String]
    private let program: RunningProgram

    /// The superuser's URL of the first replica.
    var url: String { urls[0] }

    private init(primaryURL: String, urls: [String], program: RunningProgram) {
        primary = TestCluster(superuserURL: primaryURL)
        self.primaryURL = primaryURL
        self.urls = urls
        self.program = program
    }

    /// Starts all and waits. They stop when the shell is killed.
    private static let script = """
        set -euo pipefail
        source scripts/packages; source scripts/cluster
        settings=(-c fsync=off -c shared_buffers=32MB -c autovacuum=off)
        cluster_use "$1/primary"; cluster_create; cluster_start "${settings[@]}"
        primary=$(cluster_url postgres postgres)
        echo "$primary"
        for ((number = 0; number < $2; number++)); do
            cluster_use "$1/standby$number"
            "${cluster_as[@]}" "$cluster_programs/pg_basebackup" -D "$cluster_data" -d "$primary" -c fast -R
            cluster_start "${settings[@]}" -c hot_standby_feedback=on
            cluster_url postgres postgres; echo
        done
        wait
        """

    /// - Parameter count: The number of replicas, at least 1.
    static func start(count: Int = 1) async throws -> Standby {
        let folder = try Program.makeFolder()
        // If the tests run as root, the cluster runs as another user, who needs to enter the folder.
        chmod(folder, 0o711)
        let shell = Program(
            name: "bash", environment: ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"],
            folder: TestCluster.project, path: "/bin/bash")
        let program = try await shell.startServing(
            ["-c", script, "bash", folder, "\(count)"], outputFolder: folder)
        for _ in 0..<600 {
            let urls = program.output.split(separator: "\n").map(String.init)
            if urls.count == 1 + count, program.output.hasSuffix("\n") {
                return Standby(
                    primaryURL: urls[0], urls: Array(urls.dropFirst()), program: program)
            }
            try await Task.sleep(for: .milliseconds(50))
        }
        throw Program.Failure(description: "the standby did not start: \(program.errors)")
    }

    /// Pauses or resumes the replay of changes on the replica.
    func setReplayPaused(_ isPaused: Bool) async throws {
        try await blocking { [url] in
            try AdminConnection(url).execute(
                isPaused ? "SELECT pg_wal_replay_pause()" : "SELECT pg_wal_replay_resume()")
        }
    }

    /// Ends the first replica immediately.
    func crashReplica() async throws {
        try await crash(url)
    }

    func crashPrimary() async throws {
        try await crash(primaryURL)
    }

    private func crash(_ url: String) async throws {
        try await blocking {
            // SIGQUIT ends PostgreSQL without a shutdown, as if the machine had failed.
            _ = try? AdminConnection(url).execute(
                "COPY (SELECT 1) TO PROGRAM 'kill -QUIT $(head -n 1 postmaster.pid)'")
        }
    }

    /// Makes a replica receive changes from the server with a URL; nil for none.
    func follow(_ source: String?, replica: Int) async throws {
        try await blocking { [url = urls[replica]] in
            let connection = try AdminConnection(url)
            try connection.execute("ALTER SYSTEM SET primary_conninfo = '\(source ?? "")'")
            try connection.execute("SELECT pg_reload_conf()")
        }
    }

    /// Makes the first replica the primary.
    func promote() async throws {
        try await blocking { [url] in
            try AdminConnection(url).execute("SELECT pg_promote()")
        }
    }
}
