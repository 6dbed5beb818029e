import ArgumentParser
import Postgres

/// How a command exits, for scripts to read.
enum ExitStatus: Int32 {
    case done = 0
    case failed = 1
    /// A check found something wrong, and has printed what.
    case found = 2
    case usage = 64
    /// The database or something outside cannot be reached.
    case unavailable = 69
    case configuration = 78

    /// To be thrown by a check whose findings are printed already.
    var code: ExitCode { ExitCode(rawValue) }
}

/// Why a command failed, as a sentence for the operator, and how it exits.
struct Failure: Error {
    let message: String
    let status: ExitStatus

    init(_ message: String, _ status: ExitStatus = .failed) {
        self.message = message
        self.status = status
    }

    init(_ error: PostgresError) {
        switch error {
        case .connectFailed(let reason), .connectionLost(let reason):
            self.init("the database cannot be reached: \(reason)", .unavailable)
        case .server(let server):
            self.init("the database refused: \(server.message)")
        case .timeout, .cancelled, .poolExhausted, .closed, .tooLarge, .rowsTooLarge,
            .unexpectedResult:
            self.init("the database failed: \(error)")
        }
    }
}
