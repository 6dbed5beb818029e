import Glibc
import Postgres
import TestSupport

/// A separate PostgreSQL cluster with a streaming replica. Both stop when the object is released.
final class Standby: Sendable {
    let primary: TestCluster
    /// The superuser's URL of the replica.
    let url: String
    private let program: RunningProgram

    private init(primary: TestCluster, url: String, program: RunningProgram) {
        self.primary = primary
        self.url = url
        self.program = program
    }

    /// Starts both and waits. They stop when the shell is killed.
    private static let script = """
        set -euo pipefail
        source scripts/packages; source scripts/cluster
        settings=(-c fsync=off -c shared_buffers=32MB -c autovacuum=off)
        cluster_use "$1/primary"; cluster_create; cluster_start "${settings[@]}"
        primary=$(cluster_url postgres postgres)
        cluster_use "$1/standby"
        "${cluster_as[@]}" "$cluster_programs/pg_basebackup" -D "$cluster_data" -d "$primary" -c fast -R
        cluster_start "${settings[@]}" -c hot_standby_feedback=on
        echo "$primary"; cluster_url postgres postgres; echo
        wait
        """

    static func start() async throws -> Standby {
        let folder = try Program.makeFolder()
        // If the tests run as root, the cluster runs as another user, who needs to enter the folder.
        chmod(folder, 0o711)
        let shell = Program(
            name: "bash", environment: ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"],
            folder: TestCluster.project, path: "/bin/bash")
        let program = try await shell.startServing(
            ["-c", script, "bash", folder], outputFolder: folder)
        for _ in 0..<600 {
            let urls = program.output.split(separator: "\n").map(String.init)
            if urls.count == 2, program.output.hasSuffix("\n") {
                return Standby(
                    primary: TestCluster(superuserURL: urls[0]), url: urls[1], program: program)
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

    /// Ends the replica immediately.
    func crashReplica() async throws {
        try await blocking { [url] in
            // SIGQUIT ends PostgreSQL without a shutdown, as if the machine had failed.
            _ = try? AdminConnection(url).execute(
                "COPY (SELECT 1) TO PROGRAM 'kill -QUIT $(head -n 1 postmaster.pid)'")
        }
    }
}
