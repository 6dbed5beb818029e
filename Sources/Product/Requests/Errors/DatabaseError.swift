import Postgres

/// The errors that the SQL functions of this product raise; the top of `migrations/functions/accounts.sql` lists them.
extension SQLState {
    static let sessionEnded = SQLState(rawValue: "BP401")
    /// The message is the name of an `ErrorReason`, as are those of `conflict` and `quotaExceeded`. The detail is the maximum, if
    /// there is one.
    static let notFound = SQLState(rawValue: "BP404")
    static let conflict = SQLState(rawValue: "BP409")
    /// The identity token was used before.
    package static let tokenReused = SQLState(rawValue: "BP411")
    /// The notification from Apple was processed before.
    package static let notificationProcessed = SQLState(rawValue: "BP412")
    package static let quotaExceeded = SQLState(rawValue: "BP413")
    /// The detail is the number of seconds to wait.
    static let tooManySignIns = SQLState(rawValue: "BP429")
}

extension BookplateError {
    /// Converts a database error that the client's input has caused: an error that an SQL function raises, or a violated
    /// constraint, which is recognized by its name.
    ///
    /// - Parameter constraints: The errors of the constraints that input can violate. Most input is validated before it reaches
    ///   the database, with better messages. The constraints also hold for concurrent requests.
    /// - Returns: nil for all other errors, which are the server's fault.
    init?(_ error: PostgresError, constraints: [String: BookplateError]) {
        guard case .server(let server) = error else { return nil }
        switch server.sqlState {
        case .sessionEnded, .tokenReused: self = .unauthenticated
        case .tooManySignIns:
            self = .rateLimited(retryAfterSeconds: server.detail.flatMap { Int($0) } ?? 60)
        case .notFound, .quotaExceeded, .conflict:
            guard let reason = ErrorReason(rawValue: server.message) else { return nil }
            let problem = InputProblem(reason, max: server.detail.flatMap { Double($0) })
            switch server.sqlState {
            case .notFound: self = .notFound(reason)
            case .quotaExceeded: self = .quotaExceeded(problem)
            default: self = .conflict(problem)
            }
        case .uniqueViolation, .checkViolation, .foreignKeyViolation:
            guard let constraint = server.constraint else { return nil }
            if constraint.hasSuffix("_user_id_fkey") {
                // The account was deleted during this request.
                self = .unauthenticated
            } else if let known = constraints[constraint] {
                self = known
            } else {
                return nil
            }
        default: return nil
        }
    }
}
