import Glibc
import Postgres
import TestSupport

/// A PostgreSQL cluster that is started again whenever its processes have been killed.
final class FaultCluster: Sendable {
    let cluster: TestCluster
    /// The path of its socket.
    let socket: String
    let disk: FaultyDisk
    let processes: PostgresProcesses
    private let program: RunningProgram

    private static let script = """
        set -euo pipefail
        source scripts/packages; source scripts/cluster
        cluster_use "$1/postgres"; cluster_create
        # Killed processes may still be ending.
        is_in_use() {
            local process
            for process in /proc/[0-9]*; do [[ ! $process/cwd -ef $cluster_data ]] || return 0; done
            return 1
        }
        # A start that fails, because the disk is full, is repeated.
        fail() { say "$2"; return 1; }
        export "${@:2}"
        started=''
        while :; do
            while is_in_use; do sleep 0.05; done
            if cluster_start -c fsync=off -c shared_buffers=32MB -c max_connections=100 && [[ -z $started ]]; then
                echo "$cluster_socket/.s.PGSQL.$cluster_port $(cluster_url postgres postgres)"
                started=yes
            fi
            wait "$cluster_pid" || true
        done
        """

    init() async throws {
        let folder = try Program.makeFolder()
        // If the tests run as root, the cluster runs as another user, who needs to enter the folder.
        chmod(folder, 0o711)
        let shell = Program(
            name: "bash", environment: ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"],
            folder: TestCluster.project, path: "/bin/bash")
        disk = try await FaultyDisk(in: folder)
        processes = PostgresProcesses(data: "\(folder)/postgres/data")
        program = try await shell.startServing(
            ["-c", Self.script, "bash", folder] + disk.variables, outputFolder: folder)
        try await waitUntil("the cluster listens") { [program] in program.output.hasSuffix("\n") }
        let words = program.output.split(whereSeparator: \.isWhitespace).map(String.init)
        socket = words[0]
        cluster = TestCluster(superuserURL: words[1])
    }
}
