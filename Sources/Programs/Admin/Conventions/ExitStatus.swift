import ArgumentParser

/// The exit codes of commands.
enum ExitStatus: Int32 {
    case done = 0
    case failed = 1
    /// A check has found a problem and printed it.
    case found = 2
    case usage = 64
    /// The database or an external service cannot be reached.
    case unavailable = 69
    case configuration = 78

    /// The error to throw in a command that has already printed its findings.
    var code: ExitCode { ExitCode(rawValue) }
}
