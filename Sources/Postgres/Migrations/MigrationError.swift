/// An error that prevents migrations from being read or run. The description says how to resolve it.
package enum MigrationError: Error, Equatable, Sendable, CustomStringConvertible {
    case unreadable(String, String)
    case badName(String)
    case missingReason(String)
    case duplicateVersion(String, String)
    /// No migration has the version that was requested as the target.
    case unknownTarget(Int64)
    /// Another session is migrating this database; carries a description of it.
    case locked(by: String)
    /// The files contradict the database's records, so nothing was run.
    case mismatch([MigrationProblem])
    /// A migration failed. Earlier migrations are committed; this one is rolled back if transactional.
    case failed(String, PostgresError)
    /// A migration ended the transaction that it ran in, so it may be applied only partly.
    case endedTransaction(String)
    case database(PostgresError)

    package var description: String {
        switch self {
        case .unreadable(let path, let reason): "\(path): \(reason)"
        case .badName(let file):
            "\(file): the name of a migration must be YYYYMMDDhhmmss_name_in_lower_case.sql, in UTC"
        case .missingReason(let file):
            "\(file): the first line must be \"-- Why: \" followed by the reason for the migration"
        case .duplicateVersion(let one, let other):
            "\(one) and \(other) have the same version; rename one of them"
        case .unknownTarget(let version): "no migration has the version \(version)"
        case .locked(let holder): "another migration is running: \(holder)"
        case .mismatch(let problems): problems.map(\.description).joined(separator: "\n")
        case .failed(let file, let error): "\(file): \(error.description)"
        case .endedTransaction(let file):
            "\(file) contains COMMIT or ROLLBACK; remove them, or add the line -- no-transaction"
        case .database(let error): error.description
        }
    }
}

/// A contradiction between the migration files and the migrations recorded in the database.
package enum MigrationProblem: Equatable, Sendable, CustomStringConvertible {
    /// The file was changed after it was run.
    case drifted(String)
    /// The database has run a migration without a file: this program is older than the database.
    case unknown(version: Int64, name: String)
    /// The migration has not been run, although a later one has.
    case gap(String)

    package var description: String {
        switch self {
        case .drifted(let file):
            "\(file) was changed after it was run; restore it and put the change into a new migration"
        case .unknown(let version, let name):
            "the database has run \(version)_\(name), which this program does not contain; use a newer version of the program"
        case .gap(let file): "\(file) has not been run, although a later migration has"
        }
    }

    /// Whether the problem must be fixed before any migration is run.
    var isBlocking: Bool {
        switch self {
        case .drifted, .unknown: true
        case .gap: false
        }
    }
}
