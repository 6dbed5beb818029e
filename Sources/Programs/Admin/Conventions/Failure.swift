import Basics
import Bookplate
import Config
import Operations
import Postgres

/// An error that ends a command, with a message for the operator.
struct Failure: Error {
    let message: String
    let status: ExitStatus

    static let interrupted = Failure("interrupted: run the same command again to continue")

    init(_ message: String, _ status: ExitStatus = .failed) {
        self.message = message
        self.status = status
    }

    /// Converts the errors that commands do not handle themselves.
    ///
    /// - Returns: nil for other errors, such as those of ArgumentParser.
    init?(_ error: any Error) {
        switch error {
        case let error as Failure: self = error
        case let error as UnreadableFile: self.init("\(error)")
        case let error as ConfigError: self.init("\(error)", .configuration)
        case let error as PostgresError: self.init(error)
        case MigrationError.database(let error): self.init(error)
        case let error as MigrationError: self.init("\(error)")
        case AdministrationError.database(let error): self.init(error)
        case AdministrationError.refused(let message): self.init(message)
        case StorageError.database(let error): self.init(error)
        case StorageError.cancelled: self = .interrupted
        case let error as StorageError: self.init(error.message)
        default: return nil
        }
    }

    init(_ error: PostgresError) {
        let reason = Self.reason(error)
        switch error {
        case .connectFailed:
            self.init(
                "\(reason)\nCheck the variables of the database URLs, or run bookplate-admin doctor, which checks each of them",
                .unavailable)
        case .connectionLost:
            self.init(
                "\(reason)\nRun the same command again. If that fails, run bookplate-admin doctor",
                .unavailable)
        case .server:
            self.init("\(reason)\nRun bookplate-admin doctor, which checks the schema and the role")
        case .timeout, .cancelled, .poolExhausted, .closed, .tooLarge, .rowsTooLarge,
            .unexpectedResult:
            self.init(
                "\(reason)\nRun the same command again. If that fails, run bookplate-admin doctor")
        }
    }

    /// Returns what has happened, without what to do about it.
    static func reason(_ error: PostgresError) -> String {
        switch error {
        case .connectFailed(let reason), .connectionLost(let reason):
            "the database cannot be reached: \(reason)"
        case .server(let server):
            "the database reported an error: \(server.message)"
        case .timeout, .cancelled, .poolExhausted, .closed, .tooLarge, .rowsTooLarge,
            .unexpectedResult:
            "the database failed: \(error)"
        }
    }
}
