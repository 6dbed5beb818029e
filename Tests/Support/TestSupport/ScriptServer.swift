import FoundationEssentials
import Glibc

/// A server that a script of the project runs. It is killed when this object is released.
package final class ScriptServer: Sendable {
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// The text that the script wrote to its file when the server accepted connections, such as the port.
    package let announcement: String
    private let pid: pid_t

    /// Starts a script, and waits until it has written its file. The first start may install packages.
    ///
    /// - Parameters:
    ///   - script: The path of the script below the project. Its first argument is the path of the file.
    ///   - arguments: More arguments.
    package static func start(
        _ script: String, _ arguments: [String] = []
    ) async throws -> ScriptServer {
        var template = Array("/tmp/bookplate-script-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw Failure(description: "mkdtemp: errno \(errno)")
        }
        let folder = String(
            decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let (log, file) = (folder + "/log", folder + "/file")
        let pid = try spawn(["\(TestCluster.project)/\(script)", file] + arguments, log)
        // Installing the packages takes longer than starting.
        for _ in 0..<12_000 {
            if let announcement = text(of: file) {
                return ScriptServer(announcement: announcement, pid: pid)
            }
            guard kill(pid, 0) == 0, waitpid(pid, nil, WNOHANG) == 0 else { break }
            try await Task.sleep(for: .milliseconds(10))
        }
        kill(pid, SIGKILL)
        throw Failure(description: "\(script) did not start: \(text(of: log) ?? "")")
    }

    private init(announcement: String, pid: pid_t) {
        self.announcement = announcement
        self.pid = pid
    }

    deinit {
        kill(pid, SIGKILL)
        waitpid(pid, nil, 0)
    }

    private static func text(of file: String) -> String? {
        guard let bytes = FileManager.default.contents(atPath: file) else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func spawn(_ arguments: [String], _ output: String) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        // The threads of tests block signals, and the child process would inherit the signal mask.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        let pointers = arguments.map { strdup($0) } + [nil]
        let environment =
            ProcessInfo.processInfo.environment.map { strdup("\($0)=\($1)") } + [nil]
        defer { for pointer in pointers + environment { free(pointer) } }
        var pid: pid_t = 0
        let result = posix_spawnp(&pid, arguments[0], &actions, &attributes, pointers, environment)
        guard result == 0 else { throw Failure(description: "\(arguments[0]): errno \(result)") }
        return pid
    }
}
