/// An error of a pipeline, or of an `AdminConnection`.
package enum PostgresError: Error, Equatable, Sendable {
    /// The server rejected a statement, which rolled back the whole pipeline.
    indirect case server(ServerError)
    /// There is no usable connection, for example because none could be opened before the pipeline's deadline; nothing was sent.
    /// Carries the reason, usually libpq's message.
    case connectFailed(String)
    /// The connection was lost or closed while the pipeline was running. It may or may not have been committed.
    case connectionLost(String)
    /// The pipeline's deadline passed. It may or may not have been committed.
    case timeout
    /// The task was cancelled. The pipeline may or may not have been committed.
    case cancelled
    /// The queue of waiting pipelines is full, or the pipeline has waited in it until its deadline; nothing was sent.
    case poolExhausted
    /// The pool or listener is closed; nothing was sent.
    case closed
    /// The pipeline exceeds a limit; nothing was sent. `count` is the number that the limit counts.
    case tooLarge(Pipeline.Limit, count: Int)
    /// The rows of a read-only pipeline exceed its `rowBytesMax`.
    case rowsTooLarge(bytesMax: Int)
    /// A result does not have the shape that the caller expects.
    case unexpectedResult(String)

    /// Whether the pipeline certainly changed nothing in the database.
    package var hadNoEffect: Bool {
        switch self {
        case .server, .connectFailed, .poolExhausted, .closed, .tooLarge: true
        // The rows of a statement can arrive before its pipeline ends, with or without a commit.
        case .connectionLost, .timeout, .cancelled, .rowsTooLarge, .unexpectedResult: false
        }
    }

    /// Whether the cause is the state of the database or of the connection to it, and not the statements, so that the same
    /// pipeline can succeed later.
    package var isTemporary: Bool {
        switch self {
        case .connectFailed, .connectionLost, .timeout, .poolExhausted, .closed: true
        case .server(let error): error.sqlState.isTemporary
        case .cancelled, .tooLarge, .rowsTooLarge, .unexpectedResult: false
        }
    }

    /// Whether the caller has waited in vain, for example for a lock that another transaction holds.
    package var isTimeout: Bool {
        switch self {
        case .timeout: true
        case .server(let error): [.queryCanceled, .lockNotAvailable].contains(error.sqlState)
        default: false
        }
    }

    /// The SQLSTATE of a server error; nil for any other error.
    package var sqlState: SQLState? {
        if case .server(let error) = self { error.sqlState } else { nil }
    }
}

extension PostgresError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .server(let error): error.description
        case .connectFailed(let reason): "cannot connect to the database: \(reason)"
        case .connectionLost(let reason): "the connection to the database was lost: \(reason)"
        case .timeout: "the database did not respond in time"
        case .cancelled: "cancelled"
        case .poolExhausted: "too many requests are waiting for the database"
        case .closed: "the database connections have been closed"
        case .tooLarge(let limit, let count):
            "a database request exceeds a limit: \(count) \(limit.unit), at most \(limit.max)"
        case .rowsTooLarge(let max): "the rows of a database request exceed \(max) bytes"
        case .unexpectedResult(let what): "the database returned an unexpected result: \(what)"
        }
    }
}

/// An error reported by the server.
///
/// Fields: https://www.postgresql.org/docs/15/protocol-error-fields.html
package struct ServerError: Error, Equatable, Sendable, CustomStringConvertible {
    package var sqlState: SQLState
    package var message: String
    package var detail: String?
    package var hint: String?
    package var table: String?
    package var column: String?
    package var constraint: String?
    /// The index of the failed statement in its pipeline; nil if no statement caused the error, for
    /// example at COMMIT.
    package var statementIndex: Int?

    /// The message, code, and hint, for a log. The detail is left out because it quotes row values.
    package var description: String {
        "\(message) (\(sqlState))" + (hint.map { "; hint: \($0)" } ?? "")
    }
}

/// A five-character SQLSTATE error code.
///
/// Codes: https://www.postgresql.org/docs/15/errcodes-appendix.html
package struct SQLState: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    package let rawValue: String

    package init(rawValue: String) {
        self.rawValue = rawValue
    }

    package var description: String { rawValue }

    /// Whether the state of the server or a concurrent transaction is the cause: a server that is a standby or stops, missing
    /// resources, a conflict of transactions, or a statement that has waited too long.
    var isTemporary: Bool {
        let states: [SQLState] = [
            .readOnlyTransaction, .serializationFailure, .deadlockDetected, .adminShutdown,
            .crashShutdown, .cannotConnectNow, .lockNotAvailable, .queryCanceled,
        ]
        return states.contains(self) || rawValue.hasPrefix("53")
    }

    package static let featureNotSupported = SQLState(rawValue: "0A000")
    package static let foreignKeyViolation = SQLState(rawValue: "23503")
    package static let uniqueViolation = SQLState(rawValue: "23505")
    package static let checkViolation = SQLState(rawValue: "23514")
    package static let invalidStatementName = SQLState(rawValue: "26000")
    package static let readOnlyTransaction = SQLState(rawValue: "25006")
    package static let serializationFailure = SQLState(rawValue: "40001")
    package static let deadlockDetected = SQLState(rawValue: "40P01")
    package static let insufficientPrivilege = SQLState(rawValue: "42501")
    package static let syntaxError = SQLState(rawValue: "42601")
    package static let undefinedTable = SQLState(rawValue: "42P01")
    package static let duplicatePreparedStatement = SQLState(rawValue: "42P05")
    package static let lockNotAvailable = SQLState(rawValue: "55P03")
    package static let queryCanceled = SQLState(rawValue: "57014")
    package static let adminShutdown = SQLState(rawValue: "57P01")
    package static let crashShutdown = SQLState(rawValue: "57P02")
    package static let cannotConnectNow = SQLState(rawValue: "57P03")
}
