/// What can go wrong between a statement and its rows.
package enum PostgresError: Error, Equatable, Sendable {
    /// The server refused a statement, and with it the whole segment: nothing of it was kept.
    indirect case server(ServerError)
    /// No connection could be made in the time the segment had; with libpq's last word on it.
    case connectFailed(String)
    /// The connection broke while the segment was under way: it may have been committed, or not.
    case connectionLost(String)
    /// The segment's deadline passed: it may have been committed, or not.
    case timeout
    /// The task was cancelled: the segment may have been committed, or not.
    case cancelled
    /// Too many segments wait already; nothing was sent.
    case poolExhausted
    /// The pool or listener has been closed; nothing was sent.
    case closed
    /// Above the limits of `Segment`; nothing was sent.
    case tooLarge(String)
    /// A result is not what the statement's author expected.
    case unexpectedResult(String)

    /// Whether the database is certainly as if the segment had never been run.
    package var hadNoEffect: Bool {
        switch self {
        case .server, .connectFailed, .poolExhausted, .closed, .tooLarge: true
        case .connectionLost, .timeout, .cancelled, .unexpectedResult: false
        }
    }

    /// Whether the same segment may well succeed if it is run again, and may be: it had no effect.
    package var isWorthRetrying: Bool {
        switch self {
        case .server(let error):
            [.serializationFailure, .deadlockDetected, .lockNotAvailable].contains(error.sqlState)
        case .connectFailed, .poolExhausted: true
        case .connectionLost, .timeout, .cancelled, .closed, .tooLarge, .unexpectedResult: false
        }
    }

    /// The state of a server's error, nil for any other.
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
        case .timeout: "the database did not answer in time"
        case .cancelled: "cancelled"
        case .poolExhausted: "too many requests wait for the database"
        case .closed: "the database connections have been closed"
        case .tooLarge(let what): "too much for one round trip: \(what)"
        case .unexpectedResult(let what): "an unexpected result: \(what)"
        }
    }
}

/// An error as the server tells it.
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
    /// Where in the segment the statement stands; nil when it was not one of them, as at COMMIT.
    package var statementIndex: Int?

    /// For a log: without the detail, which quotes the row.
    package var description: String {
        "\(message) (\(sqlState))" + (hint.map { "; hint: \($0)" } ?? "")
    }
}

/// A five-character error code.
///
/// Codes: https://www.postgresql.org/docs/15/errcodes-appendix.html
package struct SQLState: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    package let rawValue: String

    package init(rawValue: String) {
        self.rawValue = rawValue
    }

    package var description: String { rawValue }

    package static let featureNotSupported = SQLState(rawValue: "0A000")
    package static let notNullViolation = SQLState(rawValue: "23502")
    package static let foreignKeyViolation = SQLState(rawValue: "23503")
    package static let uniqueViolation = SQLState(rawValue: "23505")
    package static let checkViolation = SQLState(rawValue: "23514")
    package static let invalidStatementName = SQLState(rawValue: "26000")
    package static let serializationFailure = SQLState(rawValue: "40001")
    package static let deadlockDetected = SQLState(rawValue: "40P01")
    package static let insufficientPrivilege = SQLState(rawValue: "42501")
    package static let syntaxError = SQLState(rawValue: "42601")
    package static let undefinedTable = SQLState(rawValue: "42P01")
    package static let lockNotAvailable = SQLState(rawValue: "55P03")
    package static let queryCanceled = SQLState(rawValue: "57014")
    package static let adminShutdown = SQLState(rawValue: "57P01")
    package static let raisedException = SQLState(rawValue: "P0001")
}
