import Glibc
import Synchronization
import TestSupport
import Testing

/// One of the project's executables: the release build that `scripts/test` makes, or the debug build next to the test
/// bundle.
struct Program {
    let name: String
    let environment: [String: String]
    /// The working directory. Each test has its own, so that programs do not find `.env` or key files of other tests.
    let folder: String
    /// The path of the executable; nil for `name` in the build folder.
    var path: String?

    struct Outcome: Sendable {
        /// The exit code; nil if a signal ended the program.
        let code: Int32?
        let output: String
        let errors: String
    }

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    static func makeFolder() throws -> String {
        var template = Array("/tmp/bookplate-journey-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw Failure(description: "mkdtemp: errno \(errno)")
        }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Runs the program and waits until it exits.
    func run(_ arguments: String...) async throws -> Outcome {
        try await blocking { try start(arguments).wait() }
    }

    /// Starts a program that runs until the test releases it. The kernel kills it if the test process dies.
    ///
    /// - Parameter starter: a command that replaces itself with the program, such as `prlimit`.
    func startServing(
        _ arguments: [String], outputFolder: String? = nil, by starter: [String] = []
    ) async throws -> RunningProgram {
        // `pdeathsig` applies to the thread that starts the program, so that thread must live as long as the process.
        try await blocking {
            try start(
                arguments, outputFolder: outputFolder,
                by: ["setpriv", "--pdeathsig=KILL", "--"] + starter)
        }
    }

    /// - Parameters:
    ///   - outputFolder: the folder for its output; nil for the working directory.
    ///   - starter: a command that replaces itself with the program, such as `setpriv`.
    func start(
        _ arguments: [String], outputFolder: String? = nil, by starter: [String] = []
    ) throws -> RunningProgram {
        let id = UInt64.random(in: 0...UInt64.max)
        let (output, errors) = (
            "\(outputFolder ?? folder)/\(id).out", "\(outputFolder ?? folder)/\(id).err"
        )
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        posix_spawn_file_actions_addopen(&actions, 2, errors, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        let path = try self.path ?? Self.buildFolder() + "/" + name
        var pid: pid_t = 0
        var environment = environment
        // Options for programs that are built with AddressSanitizer.
        if let options = getenv("ASAN_OPTIONS") {
            environment["ASAN_OPTIONS"] = String(cString: options)
        }
        let variables = environment.map { "\($0.key)=\($0.value)" }
        // `env -C` changes to the folder and then executes the program.
        let result = withCStrings(["env", "-C", folder] + starter + [path] + arguments) {
            arguments in
            withCStrings(variables) { variables in
                posix_spawn(&pid, "/usr/bin/env", &actions, nil, arguments, variables)
            }
        }
        guard result == 0 else { throw Failure(description: "\(path): errno \(result)") }
        return RunningProgram(name: name, pid: pid, outputFile: output, errorFile: errors)
    }

    /// The folder of the programs under test: `BOOKPLATE_TEST_PROGRAMS`, or by default the folder of the test bundle.
    static func buildFolder() throws -> String {
        if let folder = getenv("BOOKPLATE_TEST_PROGRAMS"), folder.pointee != 0 {
            return String(cString: folder)
        }
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        guard count > 0 else { throw Failure(description: "/proc/self/exe: errno \(errno)") }
        let path = String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
            .joined(separator: "/")
    }
}

/// A running process. It is killed when the last reference to the object is released.
///
/// A crash, or a long computation on an event loop, is recorded as an issue of the test, even if no later request fails because of
/// it. If tests share the program until their process exits, a long computation fails the process.
final class RunningProgram: Sendable {
    private let name: String
    let pid: pid_t
    private let outputFile: String
    private let errorFile: String

    init(name: String, pid: pid_t, outputFile: String, errorFile: String) {
        self.name = name
        self.pid = pid
        self.outputFile = outputFile
        self.errorFile = errorFile
        Self.logs.withLock { $0[pid] = errorFile }
        _ = Self.examinesLogsAtExit
    }

    /// The files with the errors of the programs that have not been released.
    private static let logs = Mutex<[pid_t: String]>([:])

    private static let examinesLogsAtExit = {
        atexit {
            let turns = RunningProgram.logs.withLock { $0 }.values.flatMap {
                RunningProgram.failingTurns(in: text($0))
            }
            guard !turns.isEmpty else { return }
            print(
                "A program that tests shared has failed:", turns.joined(separator: "\n"),
                separator: "\n")
            fflush(nil)
            _exit(EXIT_FAILURE)
        }
    }()

    deinit {
        var status: Int32 = 0
        var found = waitpid(pid, &status, WNOHANG)
        if found == 0 {
            kill(pid, SIGKILL)
            found = waitpid(pid, &status, 0)
        }
        // After `wait()` has reaped the process, `waitpid` fails.
        if found == pid, let crash = Self.crash(of: name, status: status, errors: errors) {
            Issue.record("\(crash)")
        }
        for turn in Self.failingTurns(in: errors) { Issue.record("\(turn)") }
        Self.logs.withLock { _ = $0.removeValue(forKey: pid) }
    }

    /// Returns the lines of a log about computations on event loops that took longer than the server's limit.
    static func longTurns(in log: String) -> [String] {
        log.split(separator: "\n").filter { $0.contains(longTurnMessage) }.map(String.init)
    }

    /// Returns those that fail a test.
    ///
    /// On a core that other programs use, too, the same work has been seen to take three times its CPU time. Therefore, single
    /// computations fail a test only beyond that. A computation that takes too long on any machine is repeated often by the tests
    /// that attack the server, so ten of any length fail a test, too.
    static func failingTurns(in log: String) -> [String] {
        let turns = longTurns(in: log)
        guard turns.count <= repeatedTurnsMax else { return turns }
        return turns.filter { line in
            guard let limit = number(" limit=", in: line),
                let time = number(" microseconds=", in: line)
            else { return true }
            return time > sharedCoreFactor * limit
        }
    }

    private static let longTurnMessage = "an event loop was busy for too long"
    private static let sharedCoreFactor = 3
    private static let repeatedTurnsMax = 9

    private static func number(_ field: String, in line: String) -> Int? {
        line.firstRange(of: field).flatMap { Int(line[$0.upperBound...].prefix(while: \.isNumber)) }
    }

    /// Describes a crash: the signal that ended the program, or a report of AddressSanitizer. Returns nil for any other
    /// exit.
    ///
    /// - Parameters:
    ///   - status: from `waitpid`.
    ///   - errors: what the program printed.
    static func crash(of name: String, status: Int32, errors: String) -> String? {
        let signal = status & 0x7f
        guard
            [SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP].contains(signal)
                || errors.contains("AddressSanitizer")
        else { return nil }
        return "\(name) crashed (signal \(signal)). Its errors end: \(errors.suffix(20_000))"
    }

    func send(_ signal: Int32) { kill(pid, signal) }

    /// Returns a size from `/proc/PID/status`: `VmRSS`, the memory in use, or `VmHWM`, the most that was in use.
    func memoryBytes(_ name: String) throws -> Int {
        let line = text("/proc/\(pid)/status").split(separator: "\n")
            .first { $0.hasPrefix("\(name):") }
        guard
            let kilobytes = line?.split(whereSeparator: { !$0.isNumber }).first.flatMap({ Int($0) })
        else { throw Program.Failure(description: "/proc/\(pid)/status has no \(name)") }
        return kilobytes << 10
    }

    /// Waits until the program exits, for at least 30 seconds.
    ///
    /// - Throws: if the program is still running after that, or if it crashed.
    func wait() throws -> Program.Outcome {
        var status: Int32 = 0
        for _ in 0..<3000 {
            if waitpid(pid, &status, WNOHANG) == pid {
                let errors = errors
                if let crash = Self.crash(of: name, status: status, errors: errors) {
                    throw Program.Failure(description: crash)
                }
                let code = status & 0x7f == 0 ? (status >> 8) & 0xff : nil
                return Program.Outcome(code: code, output: output, errors: errors)
            }
            usleep(10_000)
        }
        throw Program.Failure(description: "\(name) did not exit within 30 s: \(errors)")
    }

    /// Whether the process has ended without having been reaped.
    var hasEnded: Bool {
        var info = siginfo_t()
        return waitid(P_PID, id_t(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0
            && info.si_signo == SIGCHLD
    }

    var output: String { text(outputFile) }
    var errors: String { text(errorFile) }
}

/// Returns the text of a file; the empty text if it cannot be read.
private func text(_ file: String) -> String {
    guard let stream = fopen(file, "r") else { return "" }
    defer { fclose(stream) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    while case let count = fread(&chunk, 1, chunk.count, stream), count > 0 {
        bytes += chunk[..<count]
    }
    return String(decoding: bytes, as: UTF8.self)
}

/// Calls `body` with a null-terminated array of C strings.
func withCStrings<Result>(
    _ texts: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
) -> Result {
    let pointers = texts.map { strdup($0) }
    defer { for pointer in pointers { free(pointer) } }
    return body(pointers + [nil])
}
