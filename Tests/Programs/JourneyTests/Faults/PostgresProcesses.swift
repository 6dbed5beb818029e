import Foundation
import Glibc
import TestBasics
import TestSupport

/// The processes of a PostgreSQL server that runs on this machine.
struct PostgresProcesses: Sendable {
    /// The path of its data folder.
    let data: String

    /// The process that starts all others. nil while PostgreSQL is not running.
    private var postmaster: pid_t? {
        guard
            let process = Self.text("\(data)/postmaster.pid").split(separator: "\n").first
                .flatMap({ pid_t($0) })
        else { return nil }
        // The file remains after a kill, and its number may belong to another process.
        let folder = try? FileManager.default.destinationOfSymbolicLink(
            atPath: "/proc/\(process)/cwd")
        return folder == URL(fileURLWithPath: data).resolvingSymlinksInPath().path ? process : nil
    }

    /// The postmaster and its children.
    private var all: [pid_t] {
        guard let postmaster else { return [] }
        let children = Self.text("/proc/\(postmaster)/task/\(postmaster)/children")
        return [postmaster] + children.split(separator: " ").compactMap { pid_t($0) }
    }

    private static func text(_ file: String) -> String {
        (try? String(contentsOfFile: file, encoding: .utf8)) ?? ""
    }

    /// Kills all processes at once, so that PostgreSQL loses what it has not written. Unlike in a power failure, what it
    /// has written is kept, even without fsync.
    func killAll() {
        for process in stopAll().reversed() { kill(process, SIGKILL) }
    }

    /// Stops all processes until `continueAll()` is called.
    ///
    /// - Returns: The stopped processes.
    @discardableResult
    func stopAll() -> [pid_t] {
        guard let postmaster else { return [] }
        // A stopped postmaster starts no more processes.
        kill(postmaster, SIGSTOP)
        for _ in 0..<1000 where !Self.isStopped(postmaster) { usleep(1000) }
        let stopped = all
        for process in stopped { kill(process, SIGSTOP) }
        return stopped
    }

    func continueAll() {
        for process in all.reversed() { kill(process, SIGCONT) }
    }

    /// Whether a process is stopped or has ended.
    private static func isStopped(_ process: pid_t) -> Bool {
        // The state follows the name, which is in parentheses.
        let fields = text("/proc/\(process)/stat").split(separator: ")").last?
            .split(separator: " ")
        return fields?.first.map { ["T", "Z", "X"].contains($0) } ?? true
    }

    /// Kills one process other than the postmaster, which then ends all others and recovers.
    func killOne(using random: inout SeededGenerator) {
        guard let process = all.dropFirst().randomElement(using: &random) else { return }
        kill(process, SIGKILL)
    }

    /// Stops all processes for a while, as a machine that gets no CPU does.
    func pause(for duration: Duration) async throws {
        stopAll()
        defer { continueAll() }
        try await Task.sleep(for: duration)
    }
}
