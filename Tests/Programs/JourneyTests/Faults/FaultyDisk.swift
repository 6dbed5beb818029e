import Foundation
import Glibc
import TestSupport

/// A disk that can become slow or full for programs that are started with its environment variables. See disk.c.
final class FaultyDisk: Sendable {
    enum State {
        case healthy
        /// Each write takes this much longer.
        case slow(microseconds: Int32)
        /// No file can become larger.
        case full
    }

    /// The environment variables, as `NAME=VALUE`.
    let variables: [String]
    private let file: String

    /// - Parameter folder: A folder that the programs can read.
    init(in folder: String) async throws {
        file = "\(folder)/disk"
        let library = "\(folder)/disk.so"
        variables = ["LD_PRELOAD=\(library)", "BOOKPLATE_DISK=\(file)"]
        try write(.healthy)
        chmod(file, 0o644)
        let source = TestCluster.project + "/Tests/Programs/JourneyTests/Faults/disk.c"
        let path = getenv("PATH").map { String(cString: $0) } ?? ""
        let shell = Program(
            name: "bash", environment: ["PATH": path], folder: folder, path: "/bin/bash")
        let outcome = try await shell.run(
            "-ec",
            #"$(command -v clang || command -v cc) -shared -fPIC -O2 -Wall -Werror -o "$1" "$0" -ldl"#,
            source, library)
        guard outcome.code == 0 else { throw Program.Failure(description: outcome.errors) }
    }

    func set(_ state: State) {
        // The file exists, so writing its four bytes does not fail.
        try? write(state)
    }

    private func write(_ state: State) throws {
        let number: Int32 =
            switch state {
            case .healthy: 0
            case .slow(let microseconds): microseconds
            case .full: -1
            }
        guard let stream = fopen(file, access(file, F_OK) == 0 ? "r+" : "w") else {
            throw Program.Failure(description: "\(file): errno \(errno)")
        }
        defer { fclose(stream) }
        _ = withUnsafeBytes(of: number) { fwrite($0.baseAddress, 1, $0.count, stream) }
    }
}
