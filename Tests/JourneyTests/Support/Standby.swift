import Glibc
import Postgres
import TestSupport

/// A PostgreSQL cluster of a test's own with a streaming replica; both end with the last reference.
final class Standby: Sendable {
    let primary: TestCluster
    /// A superuser's URL of the replica.
    let url: String
    private let program: RunningProgram

    private init(primary: TestCluster, url: String, program: RunningProgram) {
        self.primary = primary
        self.url = url
        self.program = program
    }

    /// Both are stopped with the shell, which waits for them.
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
        // The cluster's account is not the test's where root runs it.
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
        throw Program.Failure(description: "no standby: \(program.errors)")
    }

    /// Keeps the replica from replaying what the primary does, or lets it go on.
    func hold(_ isHeld: Bool) async throws {
        try await blocking { [url] in
            try AdminConnection(url).execute(
                isHeld ? "SELECT pg_wal_replay_pause()" : "SELECT pg_wal_replay_resume()")
        }
    }

    /// Ends the replica, at once.
    func crashReplica() async throws {
        try await blocking { [url] in
            // As a machine that goes: nobody is told.
            _ = try? AdminConnection(url).execute(
                "COPY (SELECT 1) TO PROGRAM 'kill -QUIT $(head -n 1 postmaster.pid)'")
        }
    }
}
