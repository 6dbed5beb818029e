import Glibc
import TestBasics
import TestSupport
import Testing

/// The tests detect when a program under test crashes.
@Suite struct CrashReportTests {
    private static let report = "==1==ERROR: AddressSanitizer: heap-use-after-free"

    private func start(_ command: String) throws -> RunningProgram {
        try Program(
            name: "sh", environment: ["PATH": "/usr/bin:/bin"], folder: try Program.makeFolder(),
            path: "/bin/sh"
        ).start(["-c", command])
    }

    @Test(arguments: [
        "kill -SEGV $$", "kill -BUS $$", "kill -ILL $$", "kill -TRAP $$", "kill -FPE $$",
        // The test process may block SIGABRT. The shell unblocks it only when it starts another program.
        "kill -ABRT $$; sleep 1",
        "echo '\(report)' >&2; exit 1", "echo '\(report)' >&2; kill -KILL $$",
    ])
    func waitingForACrashedProgramFails(command: String) async throws {
        let program = try start(command)
        let failure = await #expect(throws: Program.Failure.self) {
            try await blocking { try program.wait() }
        }
        #expect(failure?.description.hasPrefix("sh crashed (signal ") == true)
    }

    @Test(arguments: ["exit 0", "exit 1", "kill -KILL $$", "kill -TERM $$"])
    func otherExitsAreNotCrashes(command: String) async throws {
        let program = try start(command)
        _ = try await blocking { try program.wait() }
    }

    /// A server that several tests share is never stopped by a test, so its crash is reported when it is released.
    @Test func releasingACrashedProgramRecordsAnIssue() async throws {
        try await withKnownIssue {
            let program = try start("echo '\(Self.report)' >&2; sleep 60")
            try await waitUntil("the report is printed") { program.errors.hasSuffix("\n") }
        } matching: { issue in
            issue.comments.contains { $0.rawValue.contains(Self.report) }
        }
    }

    private static func longTurn(_ microseconds: Int) -> String {
        "WARNING  an event loop was busy for too long limit=5000 microseconds=\(microseconds) work=\"began GET /a 1\""
    }

    @Test(arguments: [
        // The times of the computations, and how many of them fail a test.
        ([], 0), ([14_000], 0), ([6_000, 16_000], 1), (Array(repeating: 6_000, count: 9), 0),
        (Array(repeating: 6_000, count: 10), 10),
    ])
    func longTurnsOfEventLoopsFail(times: [Int], count: Int) {
        let log = (["first"] + times.map(Self.longTurn) + ["last"]).joined(separator: "\n")
        #expect(RunningProgram.longTurns(in: log).count == times.count)
        #expect(RunningProgram.failingTurns(in: log).count == count)
    }

    @Test func longTurnOfAnEventLoopRecordsAnIssue() async throws {
        let line = Self.longTurn(16_000)
        try await withKnownIssue {
            let program = try start("echo '\(line)' >&2; sleep 60")
            try await waitUntil("the line is printed") { program.errors.hasSuffix("\n") }
        } matching: { issue in
            issue.comments.contains { $0.rawValue == line }
        }
    }
}
