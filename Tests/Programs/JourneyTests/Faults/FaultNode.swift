import Foundation
import Glibc
import TestBasics
import TestSupport

/// A PostgreSQL server that is started again whenever its processes have been killed. It is a primary, or the standby of
/// another node.
final class FaultNode: Sendable {
    /// The superuser's URL.
    let url: String
    /// The path of its socket.
    let socket: String
    let disk: FaultyDisk
    let processes: PostgresProcesses
    private let folder: String
    private let program: RunningProgram

    /// The file `held` prevents a start. The file `source` contains the URL of another node, which the next start copies.
    private static let script = """
        set -euo pipefail
        source scripts/packages; source scripts/cluster
        cluster_use "$1/postgres"
        [[ -e $1/source ]] || cluster_create
        # Killed processes may still be ending.
        is_in_use() {
            local process
            for process in /proc/[0-9]*; do [[ ! $process/cwd -ef $cluster_data ]] || return 0; done
            return 1
        }
        # A start that fails, because the disk is full, is repeated.
        fail() { say "$2"; return 1; }
        copy() {
            "${cluster_as[@]}" rm -rf "$cluster_data" &&
                "${cluster_as[@]}" "$cluster_programs/pg_basebackup" -D "$cluster_data" -d "$(cat "$1/source")" \
                    -c fast -R --no-sync && rm "$1/source"
        }
        export "${@:2}"
        # A commit waits for the standby, which is known by the name of its cluster.
        settings=(-c fsync=off -c shared_buffers=32MB -c max_connections=100 -c cluster_name=node
            -c synchronous_standby_names=node -c wal_keep_size=256MB -c wal_retrieve_retry_interval=100ms)
        started=''
        while :; do
            while is_in_use || [[ -e $1/held ]]; do sleep 0.05; done
            if [[ -e $1/source ]] && ! copy "$1"; then sleep 0.1; continue; fi
            if cluster_start "${settings[@]}" && [[ -z $started ]]; then
                echo "$cluster_socket/.s.PGSQL.$cluster_port $(cluster_url postgres postgres)"
                started=yes
            fi
            wait "$cluster_pid" || true
        done
        """

    /// - Parameter source: The node that this one copies and follows; nil for a new primary.
    init(copying source: FaultNode? = nil) async throws {
        folder = try Program.makeFolder()
        // If the tests run as root, the cluster runs as another user, who needs to enter the folder.
        chmod(folder, 0o711)
        let shell = Program(
            name: "bash", environment: ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"],
            folder: TestCluster.project, path: "/bin/bash")
        disk = try await FaultyDisk(in: folder)
        processes = PostgresProcesses(data: "\(folder)/postgres/data")
        if let source { try Self.write(source.url, to: "\(folder)/source") }
        program = try await shell.startServing(
            ["-c", Self.script, "bash", folder] + disk.variables, outputFolder: folder)
        try await waitUntil("the node listens") { [program] in program.output.hasSuffix("\n") }
        let words = program.output.split(whereSeparator: \.isWhitespace).map(String.init)
        socket = words[0]
        url = words[1]
    }

    /// Makes the next start copy another node and follow it.
    func copyAtNextStart(_ source: FaultNode) throws {
        try Self.write(source.url, to: "\(folder)/source")
    }

    /// Kills all processes, and starts PostgreSQL again when the work is done.
    func stop(while work: () async throws -> Void) async throws {
        let file = "\(folder)/held"
        try Self.write("", to: file)
        defer { unlink(file) }
        processes.killAll()
        try await work()
    }

    private static func write(_ text: String, to file: String) throws {
        try text.write(toFile: file, atomically: true, encoding: .utf8)
    }
}
